"""The words of the grammar: verbs of workflows by role, in English with their forms, in other languages by stem."""

from __future__ import annotations

import functools
import re
from typing import Literal, TypeAlias

Gives: TypeAlias = Literal["nothing", "value", "number", "flag", "text", "list", "file"]

_ENGLISH = {
    "load": "load read fetch download ingest pull get import collect extract retrieve query crawl scrape receive consume open grab gather_data grab poll acquire obtain harvest",
    "clean": "clean cleanse preproc preprocess prepare scrub tidy dedupe deduplicate impute denoise filter prep drop_nulls sanitize sanitise anonymize anonymise mask redact dedup strip trim fill fix repair correct exclude discard curate",
    "validate": "validate verify check inspect profile audit analyze analyse examine explore ensure assert reconcile",
    "split": "split cut carve divide partition chunk shard slice sample",
    "features": "featurize featurise engineer",
    "transform": "transform total tally record filter_rows price convert normalize normalise enrich process parse resize scale standardize standardise encode decode decompress unzip unpack compress zip gzip geocode map reshape pivot rotate crop augment blur detect segment translate transcribe label annotate tag lemmatize stem vectorize vectorise resample reassemble assemble render format compute calculate derive simulate transcode quantize quantise prune distill distil shuffle sort group tokenize tokenise flag caption transpose interpolate extrapolate sign count sum score_rows flatten unnest window discretize discretise binarize align call trim deblur stitch convert_data mosaic produce generate create make write_code synthesize synthesise encrypt decrypt hash rename match rescale upscale downscale downsample upsample reformat restructure cluster subtitle rewrite redraw estimate_data add attach extend",
    "join": "join merge combine fuse concat concatenate union unify stitch_together blend ensemble stack average reduce gather",
    "aggregate": "aggregate summarize_data rollup",
    "embed": "embed",
    "index": "index",
    "train": "train retrain fit learn teach pretrain",
    "finetune": "finetune fine-tune",
    "tune": "tune sweep vary gridsearch optimize optimise search hyperparameter",
    "evaluate": "evaluate eval assess score measure benchmark backtest validate_model grade judge crossvalidate",
    "test": "test lint scan typecheck smoke-test unit-test",
    "predict": "predict infer forecast classify apply estimate recommend",
    "compare": "compare rank diff contrast",
    "select": "select choose pick",
    "export": "export publish upload push write save store persist put copy sink dump archive backup back-up move transfer mirror load_into sync_to release_data insert append upsert commit sync quarantine deliver share replicate stash",
    "register": "register log_model version",
    "deploy": "deploy release serve ship promote rollout roll-out swap launch activate switch install provision upgrade migrate expose host",
    "notify": "notify email mail alert page ping tell inform slack message send announce post warn",
    "report": "report summarize summarise document write_report",
    "plot": "plot viz draw visualize visualise chart graph",
    "build": "build compile package bundle containerize dockerize checkout clone bake",
    "delete": "delete remove rm clear purge clean-up cleanup tear-down teardown destroy drop expire evict terminate erase wipe decommission deprovision shutdown",
    "restore": "restore rollback roll-back revert recover undo recreate",
    "approve": "approve review confirm sign-off",
    "wait": "wait sleep pause",
    "run": "run execute start trigger launch_job submit perform do invoke",
    "try": "try",
    "monitor": "monitor watch track observe",
    "print": "print show display echo log say",
    "list": "list enumerate",
    "update": "update refresh rebuild set reload invalidate warm reindex bump",
    "ticket": "file raise",
    "stop": "stop abort cancel halt",
    "flip": "flip toss roll",
    "repeat": "repeat loop iterate",
    "use": "",
}
_NOUNS = {
    "preprocessing": "clean", "cleaning": "clean", "cleansing": "clean", "training": "train", "evaluation": "evaluate", "validation": "validate",
    "deployment": "deploy", "ingestion": "load", "extraction": "load", "transformation": "transform", "normalization": "transform",
    "tokenization": "transform", "deduplication": "clean", "aggregation": "aggregate", "prediction": "predict", "inference": "predict",
    "fine-tuning": "finetune", "finetuning": "finetune", "tuning": "tune", "selection": "select", "comparison": "compare",
    "registration": "register", "notification": "notify", "approval": "approve", "backup": "export", "review": "approve", "benchmarking": "evaluate",
    "scoring": "evaluate", "testing": "test", "linting": "test", "visualization": "plot", "forecasting": "predict", "indexing": "index",
    "embedding": "embed", "calibration": "transform", "quantization": "transform", "distillation": "transform", "pretraining": "train",
    "pre-training": "train", "retraining": "train", "release": "deploy", "rollback": "restore", "cleanup": "delete", "compression": "transform",
    "simulation": "transform", "removal": "delete", "analysis": "validate", "analyses": "validate", "retrieval": "load", "conversion": "transform", "measurement": "evaluate", "assessment": "evaluate",
    "enrichment": "transform", "detection": "transform", "verification": "validate", "classification": "predict", "publication": "export", "computation": "transform",
    "calculation": "transform", "collection": "load", "generation": "transform", "teardown": "delete", "clustering": "transform", "publishing": "export", "segmentation": "transform", "augmentation": "transform", "optimization": "tune",
}  # fmt: skip
_FILES = "load clean split features transform join aggregate embed index train finetune predict build report plot"
_NOTHINGS = "export register deploy notify delete restore approve wait stop print ticket update test"
_GIVES: dict[str, Gives] = {
    "evaluate": "number",
    **dict.fromkeys(_FILES.split(), "file"),
    "list": "list",
    **dict.fromkeys(_NOTHINGS.split(), "nothing"),
}
_SCORES = ("evaluate", "test", "validate", "compare", "select", "predict", "tune", "try", "train", "finetune")
_PHRASES: tuple[tuple[str, str], ...] = (
    (r"see (?:how (?:good|well)|whether|if)[^,.;\n]*", "evaluate"),
    (r"how (?:good|accurate|well|bad) (?:is|are|does|do|was|it|the)[^,.;\n]*", "evaluate"),
    (r"(?:add|sum|tally|total)(?:s|ed|ing)? (?:it |them |everything |all )?up", "sum"),
    (r"(?:find out|look at|check) how (?:good|well)[^,.;\n]*", "evaluate"),
    (r"clean(?:s|ed|ing)? (?:it |them |this |things )?up", "clean"),
    (r"tidy (?:it |them |this |things )?up(?: a bit)?", "tidy"),
    (r"roll(?:s|ed|ing)? (?:it |them )?out", "rollout"),
    (r"roll(?:s|ed|ing)? (?:it |them |everything )?back", "rollback"),
    (r"(?:take|make|create|do)(?:s)? (?:a |an )?(?:full |fresh |new )?backup", "backup"),
    (r"back(?:s|ed|ing)? (?:it |them )?up", "backup"),
    (r"put(?:s|ting)? (?:it|them|everything) (?:in|on)to", "put"),
    (r"go live", "golive"),
    (r"read(?:s|ing)? (?:it |them )?in", "read"),
    (r"sign(?:s|ed)? off", "approve"),
    (r"(?:a |the )?(?:human|person|manager|someone|somebody|reviewer|lead|team lead|we|i|ops)(?: \w+)?(?: (?:has|have|must|needs?|should) to)? (?:approve|confirm|review|sign off|check)s?(?: (?:it|this|that|them))?", "approve"),
    (r"(?:ask|wait|waiting) (?:\w+ ){0,4}(?:approval|confirmation|sign-off|ok|go-ahead)(?: from [a-z ]+)?", "approve"),
    (r"wait(?:s|ing)? (?:for|until) (?:\w+ ){0,4}(?:approves?|approved|to approve|to confirm|confirms?|confirmed|signs? off|to sign off|says? (?:yes|ok|go)|gives? (?:the )?(?:ok|go-ahead|green light))", "approve"),
    (r"(?:manual|human) (?:approval|review|sign-off|check|confirmation|gate)", "approve"),
    (r"get (?:\w+ )?(?:approval|sign-off)(?: from [a-z ]+)?", "approve"),
    (r"open(?:s|ing)? (?:a |an )?(?:\w+ )?(?:ticket|issue|pull request|pr)", "open_ticket"),
    (r"(?:keep|take)(?:s|ing)?(?= (?:only )?(?:whichever|the (?:best|better|winner|winning|top|one))\b)", "keep"),
    (r"take(?:s)?(?= (?:the |our |my |all )?(?:[a-z]+ )?(?:data|dataset|csv|tables?|files?|pdfs?|images?|documents?|records?|logs|texts?|outputs?|results?)\b)", "load"),
    (r"check(?:s|ed|ing)? out(?= (?:the |our |my )?(?:code|repo|repository|source|sources|branch|project)\b)", "checkout"),
    (r"do(?:es)? nothing|nothing (?:more |else )?happens", "stop"),
    (r"(?:give|leave|let) (?:it|them|that|this|the [a-z]+)(?: [a-z]+)?(?: for)? (?:\d+|a|an|two|three|five|ten) (?:s|sec|seconds?|min|minutes?|hours?|h|moment)(?: rest| time)?", "wait"),
    (r"(?:all of )?(?:this|that|it|these|everything) (?:again|all over)(?: and again)?", "repeat"),
    (r"take(?:s)?(?= (?:the |our |my |all )?(?:[a-z]+ ){1,3}from\b)", "load"),
    (r"(?:a |the )?(?:human|person|someone|somebody) (?:approved|signed off|signs off|confirmed|agreed|agrees)", "approve"),
    (r"(?:shut|bring|take|tear)(?:s|ting|ing)? (?:it |them |everything |(?:the |this |that )?(?:[a-z]+ ){1,2})?down", "teardown"),
    (r"(?:turn|switch)(?:s|es|ing)? (?:it |them |(?:the )?[a-z]+ )?off", "teardown"),
    (r"get(?:s|ting)? rid of", "remove"),
    (r"(?:set|bring|stand|start)(?:s|ting|ing)? up(?= (?:a|an|the|our) (?:[a-z]+ )?(?:cluster|vm|server|instance|machine|environment|node|database|container))", "launch"),
    (r"mak(?:e|es|ing) sure(?: that)?", "ensure"),
    (r"kick(?:s|ed|ing)? off", "launch_job"),
    (r"spin(?:s|ning)? up", "launch"),
    (r"fine[- ]?tun(?:e|es|ed|ing)", "finetune"),
)  # fmt: skip
PHRASES = tuple((re.compile(rf"(?<!\w){pattern}(?!\w)"), lemma) for pattern, lemma in _PHRASES)
_PHRASE_ROLES = {
    "tidy": "clean",
    "rollout": "deploy",
    "rollback": "restore",
    "backup": "export",
    "golive": "deploy",
    "open_ticket": "ticket",
    "put": "export",
    "keep": "select",
    "read": "load",
    "finetune": "finetune",
}

LIFE = frozenset(
    "load clean validate split train finetune tune evaluate test predict deploy build approve join".split()
)
"""Roles of which a text speaks by another word: "once trained" of what was fitted."""

METRICS = (
    r"(?:val(?:idation)?[ _-]?|test[ _-]?|train(?:ing)?[ _-]?|mean |average |overall |total |final |the |its |their |our )*"
    r"(?:f1(?:[ -]?score)?|accuracy|acc|precision|recall(?:@\d+)?|auc(?:[ -]?roc)?|roc[ -]?auc|rmse|mse|mae|mape|smape|wape|r2|r²|loss|val_loss|perplexity|bleu|rouge(?:-\w+)?|wer|cer|map(?:@\d+)?|ndcg(?:@\d+)?|mrr|hit rate|iou|miou|dice|psnr|fid|score|quality|coverage|test coverage|error(?: rate)?|latency|drift|psi|win rate|kappa|silhouette|logloss|log loss|lift|ctr|throughput|toxicity|safety score|pass rate|ks|gini|size|number of [a-z ]+?|count|genauigkeit|precisión|exactitud|précision|exactitude|accuratezza|acurácia|precisão|nauwkeurigheid|dokładność|точность|noggrannhet|doğruluk|准确率|精度|正確率|准确度|正解率|정확도)"
)
AUXILIARIES = frozenset(
    "is are be been being was were has have had will would should shall must can could may might to do does did i we you he she it they us me my our your its their this that these those then".split()
)
ITEM_AND = frozenset("and und y e et och en i ve и plus & + or oder 和 与 與 と 및 와 과 、".split())
DETERMINERS = frozenset("a an the some any my our your its their his her this these those both all each every".split())
FILLERS = frozenset(
    "please always automatically immediately directly simply again still simultaneously eventually subsequently manually quickly carefully properly then next finally first second third fourth fifth sixth secondly thirdly firstly lastly also afterwards after that thereafter subsequently now just simply only so basically hey hi hello ok okay well and or plus & i we you i'd we'd i'll we'll you'll like want need have to would should could can will must let let's us me get got going gonna wanna it them be is are was were been being gets the a an this that which who with by using via of for on in at as into from onto than too both either all each every its their our my your some any new up out there here it's once when while but same time step steps stage task afterward dann danach und zuerst anschließend schließlich luego después y primero finalmente por último puis ensuite et enfin d'abord poi quindi infine e prima depois em seguida finalmente e primeiro daarna dan en eerst ten slotte następnie potem i najpierw na końcu затем потом и сначала наконец sedan därefter och först slutligen sonra ardından ve önce son olarak".split()
)


@functools.cache
def _forms() -> dict[str, tuple[str, str]]:
    """Every form of an English verb, by itself: its role and its lemma."""
    found: dict[str, tuple[str, str]] = {}
    for role, words in _ENGLISH.items():
        for lemma in words.split():
            if "_" in lemma:
                continue
            plain = lemma.replace("-", "")
            for form in (*_inflected(lemma), *_inflected(plain)):
                found.setdefault(form, (role, plain))
    for noun, role in _NOUNS.items():
        found.setdefault(noun, (role, role if noun not in ("backup", "rollback", "release") else noun))
    return found


_IRREGULAR = {
    "read": "read", "write": "wrote written", "get": "got", "send": "sent", "make": "made", "build": "built", "teach": "taught", "learn": "learnt",
    "choose": "chose chosen", "split": "split", "put": "put", "fit": "fit", "set": "set", "tell": "told", "draw": "drew drawn", "run": "ran run", "do": "did done does",
}  # fmt: skip


def _inflected(lemma: str) -> tuple[str, ...]:
    forms = [lemma, *_IRREGULAR.get(lemma, "").split()]
    if lemma.endswith("e"):
        forms += [f"{lemma}s", f"{lemma}d", f"{lemma[:-1]}ing"]
    elif lemma.endswith("y") and lemma[-2:-1] not in "aeiou":
        forms += [f"{lemma[:-1]}ies", f"{lemma[:-1]}ied", f"{lemma}ing"]
    else:
        last = lemma[-1]
        double = lemma + last if re.search(r"[^aeiou][aeiou][bdgklmnprt]$", lemma) and len(lemma) < 7 else lemma
        plural = f"{lemma}es" if lemma.endswith(("s", "x", "z", "ch", "sh")) else f"{lemma}s"
        forms += [plural, f"{lemma}ed", f"{lemma}ing", f"{double}ed", f"{double}ing"]
    return tuple(forms)


def role_of(lemma: str) -> str:
    """The role of a lemma that a phrase stands for."""
    found = _forms().get(lemma)
    return _PHRASE_ROLES.get(lemma) or (found[0] if found else lemma)


def verb(word: str) -> tuple[str, str] | None:
    """The role and lemma of a form of an English verb; None for another word.

    >>> verb("trained"), verb("cleaning"), verb("table")
    (('train', 'train'), ('clean', 'clean'), None)
    """
    return _forms().get(word) or _coined(word)


_AHEAD = frozenset(
    "meta re pre post auto un de over under sub co cross batch bulk instruction hyper smoke stress unit health sanity dry soft hard double".split()
)
_NO_VERBS = frozenset("recall recalls research reserve reserves resort resorts preset presets prefix".split())
_MADE = re.compile(
    r"[a-z]{3,}(?:(?<!s)iz|(?:al|ar|er|or|on|at|it|im|an|en|in|ul|il|ym)is)(?:e|es|ed|ing)|[a-z]{3,}(?:ify|ifies|ified|ifying)"
)


@functools.lru_cache(maxsize=8192)
def _coined(word: str) -> tuple[str, str] | None:
    """A verb that is made of another, as "recompute" and "post-process", or by an ending, as "sessionize"."""
    if word in _NO_VERBS:
        return None
    ahead, _, last = word.rpartition("-")
    if not ahead and word.startswith("re") and len(word) > 6:
        ahead, last = "re", word[2:]
    found = _forms().get(last) if ahead in _AHEAD else None
    if found is not None and not word.endswith("ed"):
        return found[0], f"{ahead}_{found[1]}" if "-" in word else f"{ahead}{found[1]}"
    if _MADE.fullmatch(word):
        return "transform", re.sub(r"(?:e|es|ed|ing)$", "e", word) if not re.search(
            "if(?:y|ies|ied|ying)$", word
        ) else re.sub(r"if\w+$", "ify", word)
    return None


def is_thing_made(word: str) -> bool:
    """Whether a word is a noun for something that is done: "evaluation", "tests"."""
    found = verb(word)
    if found is None or word == found[1]:
        return word in ("tests", "test", "check", "review", "rollback", "backup")
    return word.endswith(("ion", "ment", "al", "tests", "checks", "scan", "up"))


ARTICLES = frozenset(
    "the a an all every each our my your these those this that its it them le la les los las el il lo gli i un une una uno des os as o de het een die der das den dem eine einen ein".split()
)
"""What follows a word that can only be a verb."""

CLOSED = frozenset(
    "because since there where what when while which whose about above below under over during between within without unless until although though because than then else from into onto with using through after before behind against toward towards across along around every each some none nothing anything something everything nobody somebody also only just even both either neither such same other another more most less least very much many few several whole half dear hello thanks note hope best kind given here well".split()
)
"""Words that are no verbs, whatever follows them."""

THINGS = frozenset(
    "data set sets model models test tests log logs index indexes document documents file files page pages message messages label labels sample samples report reports"
    " build builds release releases cluster clusters chart charts graph graphs map maps window windows group groups match matches mail mails email emails version versions"
    " score scores count counts sum sums alert alerts backup backups archive archives run runs image images display post posts plot plots package packages record records stack sort cache".split()
)
"""Forms of verbs that name a thing where another word says which: "error logs", "new files"."""


def gives(role: str) -> Gives:
    """What a step of a role gives."""
    return _GIVES.get(role, "value")


def is_score(role: str) -> bool:
    """Whether a step of a role is one that says how good something is."""
    return role in _SCORES
