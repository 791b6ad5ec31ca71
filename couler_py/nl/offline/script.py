"""A text on its way through the grammar: what is left to read, what was used, and the atoms in it.

Atoms (places, files, quoted texts, addresses, …) are cut out first and stand in the rest as a sign that no rule
takes for a word. All texts keep their length, so that a place in what is left is a place in what was typed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Literal, TypeAlias

import msgspec

SIGN = "\ue000"
"""What stands where an atom was."""

AtomKind: TypeAlias = Literal["command", "quote", "place", "file", "email", "channel", "template"]

_IN_URL = r"[^\s,;，；。、()\"'`<>{}\u3040-\u30ff\u3400-\u9fff\uac00-\ud7a3]*"
_URL = rf"[a-z][a-z0-9+]{{1,12}}://{_IN_URL}(?:[<{{][a-z_]{{1,20}}[>}}]{_IN_URL})*"
_EMAIL = r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+"
_EXTENSIONS = (
    "csv|tsv|parquet|json|jsonl|ndjson|txt|log|xlsx?|xml|ya?ml|toml|html?|pdf|md|png|jpe?g|gif|tiff?|svg|mp[34]|wav|flac"
    "|avi|mov|zip|tar|gz|tgz|bz2|xz|7z|pkl|pickle|joblib|pt|pth|onnx|h5|hdf5|npy|npz|safetensors|bin|db|sqlite|sql"
    "|ipynb|py|sh|r|jar|avro|orc|feather|arrow|geojson|shp|model|ckpt|gguf|vcf|bam|fasta|fastq|fa|fq|dat|data"
)
_W = r"A-Za-z0-9_À-ɏЀ-ӿ"  # what names of files are made of; other scripts write their words right beside them
_FILE = rf"(?:[{_W}~.*-]*/)*[{_W}*{{}}<>-]+(?:\.[{_W}-]+)*\.(?:{_EXTENSIONS})(?:\.(?:gz|bz2|zip|xz))?(?![{_W}.]*[{_W}])"
_PATH = r"(?<![\w/<])/(?:[\w.*{}-]+/?)+"
_TEMPLATE = r"\{\{[^}\n]*\}\}|\$\{[^}\n]*\}|\$\([^)\n]*\)|\$[A-Z][A-Z0-9_]{2,}"
_PATTERNS: tuple[tuple[AtomKind, str], ...] = (
    ("command", r"```[^`]+```|`[^`\n]+`"),
    ("template", _TEMPLATE),
    ("place", _URL),
    ("place", r"git@[\w.-]+:[\w./-]*\w"),
    ("email", _EMAIL),
    ("quote", r"\"[^\"\n]{1,200}\"|“[^”\n]{1,200}”|«[^»\n]{1,200}»|「[^」\n]{1,200}」|(?<!\w)'[^'\n]{1,200}'(?!\w)"),
    ("file", _FILE),
    ("place", _PATH),
    ("channel", r"(?<![\w&])#[a-z][\w-]+"),
)
_ATOM = re.compile("|".join(f"(?P<a{at}>{pattern})" for at, (_, pattern) in enumerate(_PATTERNS)), re.IGNORECASE)


class Atom(msgspec.Struct, frozen=True):
    """A part of a text that is no word: its value is what stands between its quotes."""

    kind: AtomKind
    value: str
    start: int
    end: int


class Script:
    """A text, what is left of it to read, and which of its signs were used."""

    def __init__(self, text: str):
        self.text = text
        self.atoms: dict[int, Atom] = {}
        self.used = bytearray(len(text))
        self.left = list(_lower(text))
        for found in _ATOM.finditer(text):
            kind = _PATTERNS[int((found.lastgroup or "a0")[1:])][0]
            start, end = found.span()
            value = found.group()
            while kind in ("place", "file") and value and value[-1] in ".:!?'":
                value, end = value[:-1], end - 1
            if kind in ("command", "quote"):
                value = value.strip("`") if kind == "command" else value[1:-1]
            self.atoms[start] = Atom(kind, value.strip(), start, end)
            self.left[start:end] = SIGN * (end - start)

    @property
    def rest(self) -> str:
        """What is left to read, in lower case, as long as the text."""
        return "".join(self.left)

    def use(self, start: int, end: int) -> None:
        """Take note that a part was used, and leave it where it is."""
        self.used[start:end] = b"\x01" * (end - start)

    def take(self, start: int, end: int) -> None:
        """Use a part and take it out of what is left."""
        self.use(start, end)
        self.left[start:end] = " " * (end - start)

    def drop(self, start: int, end: int) -> None:
        """Take a part out of what is left, with the atoms in it, without having used it."""
        self.left[start:end] = " " * (end - start)
        for at in [at for at in self.atoms if start <= at < end]:
            del self.atoms[at]

    def find(self, pattern: re.Pattern[str]) -> Iterator[re.Match[str]]:
        """The matches of a pattern in what is left, each looked for after the one before was taken."""
        at = 0
        while (found := pattern.search(self.rest, at)) is not None:
            yield found
            at = max(found.end(), at + 1)

    def atoms_in(self, start: int, end: int) -> list[Atom]:
        """The atoms that begin in a part and are still there."""
        return [atom for at, atom in sorted(self.atoms.items()) if start <= at < end and self.left[at] == SIGN]

    def unused(self) -> tuple[str, ...]:
        """The words that nothing was made of, in order."""
        return tuple(
            word.group()
            for word in re.finditer(r"[^\W_][\w'-]*", self.text)
            if not any(self.used[word.start() : word.end()])
        )


def _lower(text: str) -> str:
    """A text in lower case, sign by sign: as long as before."""
    return "".join(low if len(low := sign.lower()) == 1 else sign for sign in text)
