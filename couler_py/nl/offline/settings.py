"""What a text says of how steps run, beside what they are: attempts, time, resources, cache, who is told, engine."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, Literal, TypeAlias

import msgspec

from couler_py.nl.offline import lexicon, notices
from couler_py.nl.offline.numbers import COUNT, LENGTH, count, length, number
from couler_py.nl.offline.script import Script
from couler_py.nl.outline import Notice, Resources, Retry

Scope: TypeAlias = Literal["here", "all", "run", "named"]
_T = rf"{COUNT}\s*(?:x\b|times?\b|more times?\b|retries\b|attempts?\b|mal\b|veces\b|fois\b|volte\b|vezes\b|keer\b|razy\b|раза?\b|次|回|번)?"
_FAILS = r"(?:(?:,? ?(?:if|when|in case|should) (?:it|they|that|this|one|any of them|a step|any step|something)? ?(?:ever )?(?:fails?|breaks?|crash\w*|errors?)(?: out)?)|(?:on|upon) (?:failure|errors?))?"


class Said(msgspec.Struct, frozen=True):
    """One setting: `what` it is, its value, where it was said, and for which steps ("named": those of `name`)."""

    what: Literal["retry", "timeout", "resources", "cache", "parallel", "image"]
    value: Any
    start: int
    scope: Scope = "here"
    name: str = ""


class Settings(msgspec.Struct, frozen=True):
    """All settings of a text."""

    said: tuple[Said, ...] = ()
    notices: tuple[Notice, ...] = ()
    engine: Literal["", "local", "argo", "airflow"] = ""


_ALL = r"(?:every|each|all|any)(?: of (?:the|these|those))?(?: single)? (?:steps?|tasks?|stages?|jobs?)|everything|alle schritte|jeder schritt|cada paso|todos los pasos|chaque étape|toutes les étapes|ogni passo|cada passo|每个步骤|每一步|各ステップ"
_RUN = r"(?:the |this |a )?(?:whole|entire|full|complete)(?: (?:thing|run|workflow|pipeline|job|process))?|the (?:run|workflow|pipeline|job)|a run|it all|everything|all of it|overall|in total"
_SUBJECT = re.compile(rf"(?:^|[.;,:\n(]|\band\b)\s*(?:please |also |but )*(?:(?P<all>{_ALL})|(?P<run>{_RUN}))[^.;\n]*$")
_OF_STEP = re.compile(
    r"(?:^|[,:(]|\band\b)\s*(?:and |but |also |please |only )*(?P<the>the |our |each |every |no )?(?P<noun>[a-z-]+(?: [a-z-]+)?)(?P<step> step| task| job| stage| part)?s?"
    r"(?P<needs> (?:needs?|requires?|wants?|gets?|has|have|uses?|takes?|should|must|may|might|can|could|will|is|are|to|be|have|get|run|runs|ask for|asks for))*\s*$"
)
_NEEDS = re.compile(
    r"\s*(?:and |,)?\s*(?:needs?|requires?|wants?|gets?|has|uses?|asks? for|should|must|may|can|is|are|times out)\b"
)
_NAMED = re.compile(
    r"\s*(?:for|on|in|to)\s+(?:the |all |each |every )?((?!all\b|every\b|each\b|argo\b|airflow\b|image\b)[a-z][a-z -]{2,40}?)(?=\s*(?:[.,;:)\n]|$|\band\b|\bwith\b|\bthen\b|\bin\b))"
)
_NAMED_ALL = re.compile(rf"\s*(?:for|on|in|to)\s+(?:{_ALL})")
_RETRY = (
    rf"(?:(?:can |may |should |must |shall |will |to )?(?:be |is |are |gets? )?(?:re-?tr(?:y|ies|ied|ying)|try again|tried again|re-?run|repeat(?:ed)?|wiederhol\w*|reintenta\w*|réessa\w*|riprova\w*|tent(?:e|ar) (?:novamente|de novo)|probeer opnieuw|ponów|повтор\w*|försök igen|重试|重試|リトライ|再試行|재시도)"
    rf"(?: (?:it|them|that|this|the step|each|on failure|failed (?:steps|tasks)|(?:the )?(?P<obj>(?!up\b|at\b|max|a\b|{COUNT}\b)[a-z][a-z_-]*(?: [a-z][a-z_]*)?)(?= (?:up to |at most )?(?:once|twice|thrice|{COUNT} ?(?:x|times?|more)))))?{_FAILS},? ?(?:up to |at most |a maximum of |max(?:imum)? |maximal |bis zu |hasta |jusqu'à |fino a |até |tot |do |до )?(?P<n1>{_T})(?![a-z\d%]))"
    rf"|(?:keep (?:on )?trying|keep retrying)(?: it)? (?:up to |at most |for )?(?P<n2>{_T})"
    rf"|(?:try|tried|attempt(?:ed)?)(?: it| this| that)? (?:up to |at most |a maximum of )?(?P<n3>{COUNT}) times?(?: in total| overall| altogether)?"
    rf"|(?:with |up to |at most |max(?:imum)?(?: of)? |allow )?(?P<n4>{COUNT}) (?:re-?tries|retry|wiederholungen|reintentos)(?![\w])"
    rf"|(?:give|grant|allow|gets?) (?:it|them|that|this|each)? ?(?:up to |at most )?(?P<n9>{COUNT}) (?:more |further |extra |another )?(?:tries|attempts|chances|goes|retries)"
    rf"|(?:with |up to |at most |max(?:imum)?(?: of)? )?(?P<n5>{COUNT}) attempts(?: in total)?"
    rf"|re-?tries\s*[:=]?\s*(?P<n6>\d+)"
    rf"|(?P<n8>{COUNT}) ?(?:mal|x) (?:wiederhol\w+|versuchen|probieren|retry)"
    rf"|(?:re-?try|try again)(?: (?:it|that|the step))? (?:once|one more time)(?P<n7>)"
)
_BACKOFF = re.compile(
    rf"[,\s]*(?:and |with |using |by )?(?:an? )?(?:(?P<exp>exponential(?:ly)?(?: \w+)?(?: back-?off)?)(?:,? ?(?:starting (?:at|from|with)|beginning (?:at|with)|of|from|,)? ?(?P<first>{LENGTH}))?"
    rf"|(?:wait(?:ing)?|pauses? of|delay of|a pause of|back-?off of|sleep(?:ing)?) (?P<wait>{LENGTH})(?: (?:between|in between|before|after)[^.,;)\n]*)?"
    rf"|(?P<gap>{LENGTH}) (?:between(?: (?:the |each |them|attempts|tries|retries)+)?|apart|delay|pause|back-?off|in between)(?: (?:attempts|tries|retries|each))?)"
)
_AFTER_RETRY = re.compile(rf"{_FAILS}" r"(?: before giving up| and then give up)?")
_SOME_RETRIES = re.compile(
    rf"(?:,? ?(?:and |but )?)(?:please )?(?:re-?try|try again|repeat)(?: it| them| that| this)?(?: (?:a few|several|some|a couple of|many|multiple) (?:more )?times{_FAILS}| (?:on failure|on errors?|if (?:it|something|anything) fails|when (?:it|something|anything) fails))(?=\s*(?:[.,;\n]|$|and\b))"
)  # how often is asked
_LIMIT = r"(?:more|longer) than|over|beyond|exceed"
_TIMEOUT = re.compile(
    rf"(?:(?:must|should|may|can|shall|is|are|does|do)?(?: ?not| ?never|n't)? ?(?:allowed to )?(?:take|run|last|be running)s?(?: for)? (?:no )?(?:{_LIMIT}|at most|up to|max(?:imum)?) (?P<a>{LENGTH}))"
    rf"|(?:time-?\s?outs?(?: (?:of|after|at|is|in))?[:=]?\s*(?P<b>{LENGTH}))|(?P<c>{LENGTH}) time-?\s?out"
    rf"|(?:times out|give up|giving up|abort|kill|cancel|stop|fail)s?(?:(?:ped|ed|led))?(?: (?:it|on it|on the whole thing|the whole thing|the run|everything|the step|the job|trying|them))?(?: if it takes more than| after) (?P<d>{LENGTH})"
    rf"|(?:has to|have to|must|should|needs to|is to) (?:finish|be done|complete|be finished|end|be through|be over|be ready|be completed|be stopped)(?: \w+)? (?:within|in(?: under)?|in less than|after) (?P<e>{LENGTH})"
    rf"|(?:(?:may|must|can|should|shall) )?(?:not )?(?:take|run|last)s? (?P<g>{LENGTH}) (?:at (?:the )?most|max(?:imum)?|tops)"
    rf"|(?:no longer than|at most|max(?:imum|\.)?|maximal) (?P<f>{LENGTH})(?: each| per (?:step|task|item))?"
)
_RESOURCE = re.compile(
    r"(?:(?:each |it )?(?:with|on|use|uses|using|needs?|requires?|wants?|give (?:it|them|each)|gets?|ask(?:s)? for|and|request(?:s)?|has|have|mit|con|avec|usando|,) )?(?:at least )?"
    r"(?:(?P<gpu>\d+|an?|one|two|three|four|eight|ein\w*|una?|une|两|一)\s*(?:x\s*)?(?:nvidia |amd |a100 |h100 |v100 |t4 |l4 |个|块|張|张)*\s*gpus?\b(?! memory)(?: each| per (?:step|task|model|node|trial|job))?"
    r"|(?P<cpu>\d+(?:\.\d+)?|an?|one|two|three|four|eight)\s*(?:v?cpus?|cores?|cpu cores?|v?cpu cores?|kerne|processors?)\b(?: each| per (?:step|task|model|job))?"
    r"|(?P<mem>\d+(?:\.\d+)?)\s*(?P<unit>gib?|gb|g|mib?|mb|tib?|tb)\b(?: of)?(?P<what> (?:ram|memory|mem|disk(?: space)?|storage|arbeitsspeicher|de (?:ram|memoria|mémoire)))?(?: each)?)"
)
_UNITS = {"g": "Gi", "gb": "Gi", "gi": "Gi", "gib": "Gi", "m": "Mi", "mb": "Mi", "mi": "Mi", "mib": "Mi", "t": "Ti", "tb": "Ti", "ti": "Ti", "tib": "Ti"}  # fmt: skip
_CACHE = re.compile(
    r"\(?\s*(?:(?:please )?cache (?:this(?: step)?|it|that|them|these|those|the results?|the output|results)|(?:should be |is |are |be )?cached|use (?:a |the )?cache|with (?:a |the )?cach(?:e|ing)(?: enabled)?|re-?use (?:the |its )?(?:old |cached )?(?:results?|output)[^.,;)\n]*|cache (?=the |each )|缓存|キャッシュ)(?:[,;]? (?:as|because|since)?\s*(?:it|this|that) (?:never|rarely|doesn't|does not) changes?)?\s*\)?"
)
_PARALLEL = re.compile(
    rf"\(?\s*,?\s*(?:but |and )?(?:(?:at most|no more than|not more than|max(?:imum|\.)?(?: of)?|up to|only|never more than|never over|höchstens|como máximo|au plus|al massimo|no máximo|最多|同时最多) ?(?P<a>{COUNT})(?: (?!times|gpus?\b|cpus?\b|gb\b)[a-z]+)?(?: (?:running|run|should run|may run))? (?:at (?:once|the same time|a time|one time)|in parallel|simultaneously|concurrently|gleichzeitig|a la vez|à la fois|alla volta)"
    rf"|(?<=[,(] )(?P<f>{COUNT}) (?:[a-z]+ )?(?:at once|simultaneously|at the same time|in parallel|concurrently)(?: is enough| at most)?(?=\s*(?:[,.;)\n]|$))|(?P<b>{COUNT}) (?:[a-z]+ )?at a time(?: is enough)?|(?:max(?:imum)? )?(?:parallelism|concurrency)(?: of| is|:|=)? ?(?P<c>\d+)|max(?:imum)? (?P<d>{COUNT}) parallel(?: [a-z]+)?|(?P<e>{COUNT}) in parallel at (?:most|a time))\s*\)?"
)
_IMAGE = re.compile(
    r"(?:,? ?(?:and )?(?:run |running |runs )?(?:everything |all steps |it |them )?(?:in|with|using|use|inside|on) )?(?:the |a |an )?(?:docker |container )?(?:image|container)s?:? ((?:[\w.-]+/)*[\w.-]*\w:[\w][\w.-]*\w|(?:[\w.-]+/)+[\w.-]*\w)(?: (?:for (?:all|every) steps?))?"
    r"|(?:use|using|run in|runs in|running in) ((?:[\w.-]+/)+[\w.-]+:[\w.-]*\w)"
)
_ENGINE: tuple[tuple[str, Literal["local", "argo", "airflow"]], ...] = (
    (r"(?:(?:please )?(?:run|submit|deploy|compile|execute)? ?(?:it |this |everything )?)?(?:\bon|\bto|\bwith|\busing|\bfor|\bvia|\bin|\bauf|\ben|\bsur|\bmit|\bals) (?:an? )?(?:argo)(?: ?workflows?)?\b(?: please)?|\bargo workflows?\b", "argo"),
    (r"(?:(?:please )?(?:run|submit|deploy|compile|execute)? ?(?:it |this |everything )?)?(?:\bon|\bto|\bwith|\busing|\bfor|\bvia|\bin|\bauf|\ben|\bsur|\bmit|\bals) (?:an? )?(?:apache )?airflow(?: dag)?\b(?: please)?|\bairflow dag\b", "airflow"),
    (r"\b(?:run (?:it |this )?)?(?:locally|on (?:this machine|my (?:laptop|machine|computer)|localhost))\b", "local"),
)  # fmt: skip


def read(script: Script) -> Settings:
    """Take all settings of a text out of it."""
    said: list[Said] = []
    said += _retries(script)
    told = notices.read(script)
    said += _images(script)
    engine = _engine(script)
    said += _amounts(script, _PARALLEL, "parallel", lambda found: count(_first(found)))
    said += _timeouts(script)
    said += _resources(script)
    for found in script.find(_CACHE):
        said.append(Said("cache", True, found.start(), *_scope(script, found)))
        script.take(*found.span())
    return Settings(tuple(said), told, engine)


def _first(found: re.Match[str]) -> str:
    return next(group for group in found.groups() if group is not None)


def _scope(script: Script, found: re.Match[str]) -> tuple[Scope, str]:
    """Which steps a setting is for: what follows it by "for …", or what its sentence is about."""
    rest = script.rest
    after = _NAMED_ALL.match(rest, found.end())
    if after is not None:
        script.take(*after.span())
        return "all", ""
    after = _NAMED.match(rest, found.end())
    if after is not None:
        script.take(*after.span())
        return "named", after[1].strip()
    before = re.split(r"[.;\n]", rest[: found.start()])[-1]
    numbered = re.search(r"(?:^|[,(]|\band\b)\s*(?:for |in |on )?step (\d{1,2})\b[^.,;]*$", before)
    if numbered is not None:
        script.take(found.start() - len(before) + numbered.start(), found.start())
        return "named", f"#{numbered[1]}"
    of = _OF_STEP.search(before)
    if of is not None and _is_about(of, found.group()):
        script.take(found.start() - len(before) + of.start("noun"), found.start())
        return "named", of["noun"]
    subject = _SUBJECT.search(before)
    if subject is not None:
        start = found.start() - len(before) + subject.start("all" if subject["all"] else "run")
        if not rest[start : found.start()].strip(" ,").count(","):
            script.take(start, found.start())
        return ("all", "") if subject["all"] and subject["all"] != "everything" else ("run", "")
    return "here", ""


def _is_about(of: re.Match[str], said: str) -> bool:
    """Whether words before a setting name the step that it is for: "the training step needs", "evaluation should be"."""
    words = of["noun"].split()
    verb = next((found for word in reversed(words) if (found := lexicon.verb(word)) is not None), None)
    if verb is None or verb[0] == "run" or words[0] in lexicon.FILLERS or not (of["needs"] or _NEEDS.match(said)):
        return False
    noun = of["the"] or of["step"] or words[-1].endswith(("ing", "ion", "ment", "al"))
    return bool(noun)


def _retries(script: Script) -> list[Said]:
    found_all = []
    for found in script.find(re.compile(_RETRY)):
        groups = {key: value for key, value in found.groupdict().items() if value is not None and key != "obj"}
        key, text = next(iter(groups.items())) if groups else ("n7", "one")
        limit = 1 if key == "n7" else count(re.match(COUNT, text.strip())[0])  # type: ignore[index]
        total = key in ("n3", "n5")
        if (
            key == "n3"
            and "total" not in found.group()
            and not found.group().startswith(("try it", "try this", "tried"))
            and re.match(r"\s*(?:before|and then give up)", script.rest[found.end() :]) is None
        ):
            continue
        if total:
            limit = max(0, limit - 1)
        scope, name = _scope(script, found)
        if found["obj"]:
            everything = re.search(rf"{_ALL}", found["obj"]) is not None
            scope, name = ("all", "") if everything else ("named", re.sub(r"\s*\bsteps?\b", "", found["obj"]))
        start, end = found.span()
        wait, factor = 0.0, 1.0
        back = _BACKOFF.match(script.rest, end)
        if back is not None and back.end() > end:
            spoken = back["first"] or back["wait"] or back["gap"]
            wait = length(spoken) if spoken else 10.0
            factor = 2.0 if back["exp"] else 1.0
            end = back.end()
        more = _AFTER_RETRY.match(script.rest, end)
        end = max(end, more.end() if more is not None else end)
        before = re.search(
            r"(?:(?:,? ?and |, )?(?:if|when) (?:[a-z]+ ){0,6}fails?,? ?|(?:on failure,? ?))$", script.rest[:start]
        )
        if before is not None and scope == "here":
            start = before.start()
        script.take(start, end)
        found_all.append(Said("retry", Retry(min(limit, 100), min(wait, 86400), factor), found.start(), scope, name))
    for found in script.find(_SOME_RETRIES):
        script.take(*found.span())
    return found_all


def _images(script: Script) -> list[Said]:
    found_all: list[Said] = []
    several = len(list(_IMAGE.finditer(script.rest))) > 1
    for found in script.find(_IMAGE):
        before = re.split(r"[.;\n]", script.rest[: found.start()])[-1]
        if re.search(r"\b(?:build|push|pull|deploy|publish|scan|tag|release|upload)\w*\s*$", before):
            continue
        everything = bool(re.search(r"\brun\s*$|everything|all steps|every step", before + found.group()))
        alone = not before.replace("run", "").strip(" ,") or "all" in found.group() or "every" in found.group()
        start = found.start()
        scope: Scope = "all" if everything or alone else "here"
        if re.match(r"\s*run\b", found.group()) and not alone:
            scope = "all"
        if several:
            scope = "here"
        again = re.compile(r"(?:,? ?(?:and )?(?:in|with|using|use) )?the same image").search(script.rest, found.end())
        if again is not None:
            found_all.append(
                Said("image", script.text[slice(*found.span(found.lastindex or 1))], again.start(), "here")
            )
            script.take(*again.span())
            scope = "here"
        script.take(start, found.end())
        found_all.append(Said("image", script.text[slice(*found.span(found.lastindex or 1))], start, scope))
    return found_all


def _engine(script: Script) -> Literal["", "local", "argo", "airflow"]:
    for pattern, name in _ENGINE:
        found = re.search(pattern, script.rest)
        if found is not None:
            script.take(*found.span())
            return name
    return ""


def _amounts(script: Script, pattern: re.Pattern[str], what: Any, value: Callable[[re.Match[str]], Any]) -> list[Said]:
    found_all = []
    for found in script.find(pattern):
        found_all.append(Said(what, value(found), found.start(), *_scope(script, found)))
        script.take(*found.span())
        before = re.split(r"[.;\n]", script.rest[: found.start()])[-1]
        if what == "parallel" and len(before.split()) > 1 and len(found.group()) > 5:
            script.left[found.end() - 5 : found.end()] = list(
                " each"
            )  # it says of its clause that it is done several times
    return found_all


def _timeouts(script: Script) -> list[Said]:
    found_all = []
    for found in script.find(_TIMEOUT):
        seconds = length(_first(found))
        scope, name = _scope(script, found)
        if re.search(r"whole thing|the run|everything", found.group()):
            scope, name = "run", ""
        start = found.start()
        before = re.search(
            r"(?:the run|the whole (?:thing|run|pipeline|workflow)|it) (?:must|should|may|has to|needs to)?\s*$",
            script.rest[:start],
        )
        if before is not None:
            if not before.group().startswith("it"):
                scope = "run"
            start = before.start()
        script.take(start, found.end())
        found_all.append(Said("timeout", seconds, found.start(), scope, name))
    return found_all


def _resources(script: Script) -> list[Said]:
    found_all: list[Said] = []
    waiting: list[int] = []
    last_end = -1
    for found in script.find(_RESOURCE):
        one = _resource(found)
        if one is None:
            continue
        scope, name = _scope(script, found)
        script.take(*found.span())
        together = last_end >= 0 and re.fullmatch(
            r"[\s,]*(?:and|&|,|und|y|et)?[\s,]*", script.rest[last_end : found.start()]
        )
        if not together:
            waiting = []
        elif scope == "here":
            scope, name = found_all[-1].scope, found_all[-1].name
        found_all.append(Said("resources", one, found.start(), scope, name))
        waiting.append(len(found_all) - 1)
        last_end = found.end()
        if scope != "here":
            for at in waiting:
                found_all[at] = msgspec.structs.replace(found_all[at], scope=scope, name=name)
    return found_all


def _resource(found: re.Match[str]) -> Resources | None:
    if found["gpu"]:
        word = found["gpu"]
        many = 1 if word.startswith(("a", "ein", "un")) else count(word)
        return Resources(gpu=many) if 1 <= many <= 64 else None
    if found["cpu"]:
        many_cores = 1.0 if found["cpu"].startswith("a") else number(found["cpu"])
        return Resources(cpu=many_cores) if 0 < many_cores <= 1000 else None
    amount, unit, what = float(found["mem"]), _UNITS[found["unit"]], found["what"] or ""
    if amount <= 0 or amount > 100000:
        return None
    if amount != int(amount):
        amount, unit = amount * 1024, {"Ti": "Gi", "Gi": "Mi"}.get(unit, unit)
    quantity = f"{int(amount)}{unit}"
    return Resources(disk=quantity) if "disk" in what or "storage" in what else Resources(memory=quantity)


__all__ = ["Said", "Settings", "read"]
