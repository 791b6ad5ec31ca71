"""Names that an engine accepts, made from the names that people write.

The rule, the same everywhere: a legal name is used verbatim. Otherwise letters with marks lose them,
every run of illegal characters becomes one "-" ("_" where the engine prefers it), an illegal start
gets a letter before it, and the result is cut; whenever anything but case-preserving spelling was
changed by a cut, or the name is a reserved word or already taken, "-" and the first 8 hex digits of
the sha256 of the original are appended. The rule is versioned by this sentence: names of version 1.
"""

from __future__ import annotations

import functools
import hashlib
import re
import unicodedata
from collections.abc import Container, Iterable
from typing import Literal, TypeAlias

import msgspec

Engine: TypeAlias = Literal["ir", "argo", "airflow", "kubernetes"]
Kind: TypeAlias = Literal["workflow", "cron", "template", "task", "parameter", "artifact", "volume", "label"]

INDEX_DIGITS = 6
"""The entries of the folder that a fan-out leaves are named by the index of their item, zero-padded to this length."""

# Words of Argo's expression language: a task named so breaks `depends` at run time, though lint accepts it.
EXPRESSION_WORDS = frozenset(
    "else in if and or not let nil true false matches contains startsWith endsWith".split()  # noqa: SIM905
)


class Rule(msgspec.Struct, frozen=True):
    """What an engine accepts as a name: a pattern, a greatest length in characters, words that are taken."""

    pattern: re.Pattern[str]
    length: int
    illegal: re.Pattern[str]
    lower: bool = False
    joiner: str = "-"
    reserved: frozenset[str] = frozenset()


_LABEL = Rule(re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?"), 63, re.compile(r"[^a-z0-9]+"), lower=True)
_FIELD = Rule(re.compile(r"[a-zA-Z0-9]([-a-zA-Z0-9]*[a-zA-Z0-9])?"), 128, re.compile(r"[^a-zA-Z0-9]+"))
_TASK = Rule(
    re.compile(r"[a-zA-Z]([-a-zA-Z0-9]*[a-zA-Z0-9])?"), 128, re.compile(r"[^a-zA-Z0-9]+"), reserved=EXPRESSION_WORDS
)
_PARAMETER = Rule(re.compile(r"[-a-zA-Z0-9_]+"), 128, re.compile(r"[^a-zA-Z0-9_]+"))
_AIRFLOW = Rule(re.compile(r"[a-zA-Z0-9_][-a-zA-Z0-9_]*"), 240, re.compile(r"[^a-zA-Z0-9_]+"), joiner="_")
_FREE = Rule(re.compile(r"[^\W\d][\w-]*"), 250, re.compile(r"[^\w]+"))
_FILE = re.compile(r"\w[\w.-]*").fullmatch
_FILE_BYTES = 240
"""File systems take names of 255 bytes; a suffix follows."""

RULES: dict[tuple[Engine, Kind], Rule] = {
    # Kubernetes: names of objects become label values, 63 characters; a CronWorkflow appends 11 of its own.
    ("argo", "workflow"): _LABEL,
    ("argo", "cron"): msgspec.structs.replace(_LABEL, length=52),
    # Argo field names: workflow/validate, 128 characters; names that begin with a digit break `depends`.
    ("argo", "template"): _FIELD,
    ("argo", "task"): _TASK,
    ("argo", "parameter"): _PARAMETER,
    ("argo", "artifact"): _PARAMETER,
    ("argo", "volume"): _LABEL,
    ("argo", "label"): _LABEL,
    # Airflow ids: at most 250 of letters, digits, "-", "." and "_"; "." joins task groups. Logs are in folders
    # `task_id=ID`, whose names have 255 bytes on file systems; the file of a DAG has its id and more in its name.
    ("airflow", "workflow"): msgspec.structs.replace(_AIRFLOW, length=230),
    ("airflow", "task"): _AIRFLOW,
    ("airflow", "template"): _AIRFLOW,
    ("airflow", "parameter"): _AIRFLOW,
    ("kubernetes", "workflow"): _LABEL,
    ("kubernetes", "volume"): _LABEL,
    ("kubernetes", "label"): _LABEL,
}


def rule(engine: Engine, kind: Kind) -> Rule:
    """The rule for one kind of name on one engine. Names in the IR are free but for blanks and signs."""
    return RULES.get((engine, kind), _FREE)


def legal(engine: Engine, kind: Kind, name: str) -> bool:
    """Whether the engine takes the name as it is."""
    return _fits(rule(engine, kind), name)


def _fits(ruled: Rule, name: str) -> bool:
    return (
        len(name) <= ruled.length
        and ruled.pattern.fullmatch(name) is not None
        and (not ruled.reserved or name.casefold() not in _casefolded(ruled.reserved))
    )


def legal_name(engine: Engine, kind: Kind, name: str, *, distinct: bool = False) -> str:
    """A legal name made from any text, by the rule at the top of this module.

    With `distinct`, the hash is appended in any case: for a name that is already taken.

    >>> legal_name("argo", "workflow", "My Flow_2")
    'my-flow-2'
    >>> legal_name("argo", "task", "in")
    'in-58296753'
    """
    if not distinct and legal(engine, kind, name):
        return name
    ruled = rule(engine, kind)
    plain = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode()
    plain = ruled.illegal.sub(ruled.joiner, plain.lower() if ruled.lower else plain).strip("-_")
    if not plain:
        plain, distinct = "x", True
    if ruled.pattern.fullmatch(plain) is None:
        plain = f"n{ruled.joiner}{plain}"
    tail = f"{ruled.joiner}{fingerprint(name)}"
    if len(plain) > ruled.length or plain.casefold() in _casefolded(ruled.reserved):
        distinct = True
    return plain[: ruled.length - len(tail)].rstrip("-_") + tail if distinct else plain


def file_stem(name: str) -> str:
    """The name of a workflow's file, without its suffix: a document's name may hold anything, `../` too.

    >>> file_stem("my.flow-2"), file_stem("../flow")
    ('my.flow-2', 'flow')
    """
    return name if _FILE(name) and len(name.encode()) <= _FILE_BYTES else legal_name("argo", "workflow", name)


def free_name(wanted: str, taken: Container[str], joiner: str = "-") -> str:
    """The name itself, or, where it is taken, the name with the first counter from 2 that isn't.

    >>> free_name("fit", {"fit", "fit-2"})
    'fit-3'
    """
    found, number = wanted, 1
    while found in taken:
        number += 1
        found = f"{wanted}{joiner}{number}"
    return found


def take_name(wanted: str, taken: set[str], joiner: str = "-") -> str:
    """A name as `free_name` gives it, which is taken from now on."""
    found = free_name(wanted, taken, joiner)
    taken.add(found)
    return found


def fingerprint(text: str) -> str:
    """The first 8 hex digits of the sha256 of a text."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:8]


class Namer:
    """Legal names for one scope of an engine, each given once: the same text always gets the same name."""

    def __init__(self, engine: Engine, kind: Kind):
        self._engine: Engine = engine
        self._kind: Kind = kind
        self._rule = rule(engine, kind)
        self._given: dict[str, str] = {}
        self._taken: set[str] = set()

    def keep(self, texts: Iterable[str]) -> None:
        """Give each text that is a legal name itself, so that none loses its own to a name made from another text."""
        for text in texts:
            if _fits(self._rule, text):
                self._given[text] = text
                self._taken.add(text)

    def name(self, text: str) -> str:
        """The name for a text in this scope.

        Raises `ValueError` where even the name with a hash is taken, which takes 32 equal bits of sha256.
        """
        known = self._given.get(text)
        if known is not None:
            return known
        found = legal_name(self._engine, self._kind, text)
        if found in self._taken:
            found = legal_name(self._engine, self._kind, text, distinct=True)
        if found in self._taken:
            raise ValueError(f"{text!r} can't be named {found!r} on {self._engine}: the name is taken")
        self._taken.add(found)
        self._given[text] = found
        return found


@functools.cache
def _casefolded(words: frozenset[str]) -> frozenset[str]:
    return frozenset(word.casefold() for word in words)
