"""Parts of a text that try to make something else of it: they are flagged, and taken out before anything is read."""

from __future__ import annotations

import re

from couler_py.nl.draft import Flag
from couler_py.nl.offline import lexicon
from couler_py.nl.offline.script import Script

_SENTENCE = re.compile(r"[^.!?\n。！？]+(?:[.!?](?!\s|$)[^.!?\n。！？]*)*[.!?。！？]*")
_INSTRUCTIONS = r"(?:ignor\w*|disregard\w*|forget|override|vergiss\w*|ignoriere\w*|olvida\w*|ignora\w*|oublie\w*|dimentica\w*|zignoruj|忽略|無視|игнорир\w*|забудь)"
_OLD = (
    r"(?:previous|prior|above|earlier|all|any|your|the|these|those|vorherig\w*|alle|bisherig\w*|anterior\w*|précédent\w*"
    r"|precedent\w*|poprzedni\w*|之前|以上|以前|предыдущ\w*)"
)
_WHAT = r"(?:instruction\w*|prompt\w*|rule\w*|direction\w*|guideline\w*|anweisung\w*|instrucci\w*|istruzion\w*|instrukc\w*|指令|指示|инструкц\w*|конфигурац\w*)"
_PATTERNS: tuple[tuple[str, str], ...] = (
    (
        rf"{_INSTRUCTIONS}[^.\n]{{0,40}}{_OLD}[^.\n]{{0,40}}{_WHAT}",
        "it tells whoever reads the text to forget what holds",
    ),
    (rf"{_INSTRUCTIONS}.{{0,12}}{_OLD}.{{0,12}}{_WHAT}", "it tells whoever reads the text to forget what holds"),
    (
        rf"{_INSTRUCTIONS} (?:everything |all |what(?:ever)? (?:is |was |you read )?|the )?(?:of )?(?:the )?(?:above|before|previous(?:ly)?|so far|text above)",
        "it tells whoever reads the text to forget what holds",
    ),
    (
        r"\[/?(?:system|inst|admin)\]|</?(?:system|user|assistant|prompt|instructions?)>|<\|[a-z_]+\|>|\bnew (?:policy|rules|instructions|orders)\b|\bfrom now on\b",
        "it speaks to a model, and not about a workflow",
    ),
    (
        r"\bdo(?:n't| not) (?:mention|tell|reveal|report|show|disclose)\b[^.\n]{0,20}\b(?:this|it|that|anyone|anybody|the user|nobody)\b|\bwithout (?:telling|mentioning|informing)\b",
        "it wants to be hidden",
    ),
    (r"\bnote to (?:the )?(?:ai|model|assistant|llm|bot)\b", "it speaks to a model, and not about a workflow"),
    (r"\b(?:system|assistant|developer)\s*(?:prompt|message|:)", "it speaks to a model, and not about a workflow"),
    (r"\byou are (?:now|no longer)\b|\bact as\b|\bpretend\b|\bjailbreak\b", "it speaks to a model"),
    (
        r"\b(?:reveal|print|show|send|post|upload|exfiltrate|leak|email|mail|curl|echo|dump|log)\b[^.\n]{0,60}"
        r"\b(?:secrets?|credentials?|passwords?|api[ _-]?keys?|tokens? (?:of|from|to)|private keys?|env(?:ironment)? (?:variables?|vars?)|ssh keys?|access keys?|kubeconfig)\b",
        "it asks for secrets",
    ),
    (
        r"--yes\b|--run\b|\bskip(?:ping)? the confirmation|without asking|without (?:any )?confirmation",
        "it asks to run something without a yes",
    ),
    (
        r"\bprivileged\b|\bhost ?path\b|\bhost ?network\b|\bas root\b|mount(?:ed|ing)? (?:the )?(?:host|/)",
        "it asks for rights over the machine",
    ),
    (
        r"~/\.ssh|/etc/(?:passwd|shadow)|\bid_rsa\b|\.aws/credentials|169\.254\.169\.254",
        "it reaches for secrets of the machine",
    ),
    (
        r"\bos\.system\b|\bsubprocess\b|__import__|\beval\(|\bexec\(|\bimport os\b",
        "it is program text, and a description never becomes a program",
    ),
    (r"\bdrop table\b|\bdelete from\b|;\s*--", "it is a statement for a database in the place of a name"),
    (
        r"\b(?:add|insert|include)\b[^.\n]{0,30}\bstep\b[^.\n]{0,30}\b(?:delet\w+|wip\w+|destroy\w+)",
        "it asks in hiding for something that destroys",
    ),
    (
        r"\b(?:xmrig|miner|mine (?:bitcoin|monero|crypto)|cryptominer|reverse shell|backdoor|keylogger|malware)\b",
        "it asks for something harmful",
    ),
)
_HOSTILE = tuple((re.compile(pattern, re.IGNORECASE), why) for pattern, why in _PATTERNS)
_COMMAND = re.compile(
    r"(?:curl|wget)\b.*(?:\|\s*(?:ba|z|da)?sh\b|&&\s*(?:ba|z)?sh\b|\|\s*python)|rm\s+-\w*[rf]\w*\s+(?:-\w+\s+)*[/~](?:\s|$|\*)"
    r"|mkfs|:\(\)\s*\{|/dev/tcp/|\bnc\s+-\w*e|base64\s+(?:-d|--decode)|drop table|>\s*/dev/sd|chmod\s+777\s+/|\b(?:env|printenv)\b\s*\|"
    r"|/etc/(?:passwd|shadow)|id_rsa|\.aws/credentials|kubectl\s+get\s+secrets?|cat\s+~/\.",
    re.IGNORECASE,
)
_HIDDEN = re.compile(r"<!--.*?(?:-->|$)", re.DOTALL)
_BREAKOUT = re.compile(r"[\"'`]?\s*\)\s*;.*?(?=#|//|\n|$)(?:#|//)?|[\"'`];.*?(?:--|#)", re.DOTALL)
_DATA = re.compile(r"^(-{3,}|={3,}|<data>|#{3,})[^\n]*\n.*?(?:^\1[^\n]*$|\Z)", re.DOTALL | re.MULTILINE | re.IGNORECASE)
_INVISIBLE = re.compile("[\u200b-\u200f\u202a-\u202e\u2060-\u2064\u2066-\u2069\ufeff\U000e0000-\U000e007f]+")


def cut(script: Script) -> tuple[Flag, ...]:
    """Take out of a text what isn't part of a description, and say what it was."""
    flags: dict[str, Flag] = {}

    def flag(start: int, end: int, why: str) -> None:
        said = " ".join(script.text[start:end].split())
        if said:
            flags.setdefault(said, Flag(said[:200], why))
        script.drop(start, end)

    for found in _INVISIBLE.finditer(script.text):
        flag(*found.span(), "signs that nobody sees")
    for found in _HIDDEN.finditer(script.text):
        flag(*found.span(), "a comment that is hidden where the text is shown")
    for found in _DATA.finditer(script.text):
        why = _why(found.group())
        if why:
            flag(*found.span(), f"in a sample of data {why}")
        script.drop(*found.span())
    for found in _BREAKOUT.finditer(script.text):
        why = _why(found.group()) or "it is program text, and a description never becomes a program"
        flag(*found.span(), why)
    for atom in list(script.atoms.values()):
        if atom.kind == "template":
            flag(atom.start, atom.end, "a reference to what the engine or the environment holds, never followed")
        elif _COMMAND.search(atom.value) or (atom.kind == "command" and _why(atom.value)):
            start, end = _around(script, atom.start, atom.end)
            if _works(script.text[start : atom.start]):
                start, end = atom.start, atom.end
            flag(start, end, "a command that does harm or hands over the machine")
    for found in _SENTENCE.finditer(script.text):
        why = _why(_standing(script, *found.span()))
        if why:
            start, end = _narrow(script, *found.span())
            flag(start, end, why)
    return tuple(flags.values())


def _works(text: str) -> bool:
    """Whether words say what is done to something, and not that it is run."""
    found = [verb for word in re.findall(r"[a-z-]+", text.lower()) if (verb := lexicon.verb(word)) is not None]
    return bool(found) and all(role not in ("run", "try", "use", "export", "print", "update") for role, _ in found)


def _why(text: str) -> str:
    for pattern, why in _HOSTILE:
        if pattern.search(text):
            return why
    return "a command that does harm or hands over the machine" if _COMMAND.search(text) else ""


def _standing(script: Script, start: int, end: int) -> str:
    """A part of the text without what was taken out of it."""
    signs = zip(script.text[start:end], script.left[start:end], strict=True)
    return "".join(" " if left == " " else sign for sign, left in signs)


def _around(script: Script, start: int, end: int) -> tuple[int, int]:
    """The clause around a part: from the comma, "and" or full stop before it to the one after it."""
    before = [found.end() for found in re.finditer(r"[.;!?\n]\s|\n|,|\band\b|\bthen\b|\bund\b", script.text[:start])]
    after = re.search(r"[.;!?\n]|,|\band\b|\bthen\b|\bund\b", script.text[end:])
    return (before[-1] if before else 0), (end + after.start() if after else len(script.text))


def _narrow(script: Script, start: int, end: int) -> tuple[int, int]:
    """Of a sentence with something hostile in it, the part from the first hostile word on, if steps come before it."""
    text = _standing(script, start, end)
    first = min(found.start() for pattern, _ in (*_HOSTILE, (_COMMAND, "")) if (found := pattern.search(text)))
    breaks = [found.end() for found in re.finditer(r"[,;]\s*(?:and |then |but |also )?|\band\b", text[:first])]
    return (start + breaks[-1] if breaks else start), end
