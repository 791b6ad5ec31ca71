"""What leaves this machine when a model is asked: said before the first call, and without what looks like a secret.

Recognised are the forms that providers give their keys, private keys, tokens in three parts, passwords in URLs and
after words as "password=", and long runs of random characters. It is a net with holes: a password that looks like a
word, said like a word, is sent.
"""

from __future__ import annotations

import math
import re
from collections import Counter

import msgspec

REMOVED = "<secret removed>"

_NAMED = r"(?:password|passwd|pwd|secret|token|api[_-]?key|access[_-]?key|client[_-]?secret|auth(?:orization)?|bearer)"

PATTERNS: tuple[tuple[str, re.Pattern[str]], ...] = (
    ("private key", re.compile(r"-----BEGIN [A-Z ]*PRIVATE KEY-----.*?(?:-----END [A-Z ]*PRIVATE KEY-----|\Z)", re.S)),
    ("key of OpenAI or Anthropic", re.compile(r"\bsk-[A-Za-z0-9_-]{16,}")),
    ("key of AWS", re.compile(r"\b(?:AKIA|ASIA)[A-Z0-9]{16}\b")),
    ("token of GitHub", re.compile(r"\b(?:gh[pousr]_[A-Za-z0-9]{20,}|github_pat_[A-Za-z0-9_]{20,})")),
    ("token of GitLab", re.compile(r"\bglpat-[A-Za-z0-9_-]{16,}")),
    ("token of Slack", re.compile(r"\bxox[a-z]-[A-Za-z0-9-]{10,}")),
    ("address of a webhook", re.compile(r"https://hooks\.slack\.com/services/\S+")),
    ("key of Google", re.compile(r"\bAIza[A-Za-z0-9_-]{30,}")),
    ("token of Hugging Face", re.compile(r"\bhf_[A-Za-z0-9]{20,}")),
    ("JSON web token", re.compile(r"\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]*")),
    ("password in a URL", re.compile(r"(?<=://)[^\s/@:]*:[^\s/@]+(?=@)")),
    ("password", re.compile(rf"(?i)\b{_NAMED}[\"']?\s*(?:[:=]|\bis\b)\s*[\"']?(?:bearer\s+)?([^\s\"',;]{{4,}})")),
)
_RUN = re.compile(r"[A-Za-z0-9+/_=-]{24,}")
RANDOM = 4.0
"""Bits a character from which a run of 24 or more characters, letters and digits mixed, is taken for random."""


class Cleaned(msgspec.Struct, frozen=True):
    """A text without its secrets, and how many of which kind were taken out."""

    text: str
    removed: dict[str, int] = {}

    @property
    def count(self) -> int:
        """How many were taken out."""
        return sum(self.removed.values())


class Sending(msgspec.Struct, frozen=True):
    """What is about to be sent: to which `model`, at which `place`, the first `prompt` as it stands.

    `steps` names the entries of the user's own lake that later prompts may show, with their `source` or without.
    """

    model: str
    place: str
    prompt: str
    steps: tuple[str, ...] = ()
    source: bool = False
    removed: dict[str, int] = {}

    def said(self) -> str:
        """It as text for a person."""
        lines = [f"to {self.model} at {self.place}:", "", *(f"  {line}" for line in self.prompt.splitlines()), ""]
        what = "with their source" if self.source else "signatures and docstrings, no source"
        if self.steps:
            lines.append(f"later, of your steps what fits ({what}): {', '.join(self.steps)}")
        if self.removed:
            kinds = ", ".join(f"{count} x {kind}" for kind, count in self.removed.items())
            lines.append(f"taken out, for it looks like a secret: {kinds}")
        return "\n".join(lines)


def clean(text: str) -> Cleaned:
    """A text without what looks like a secret.

    >>> clean("load s3://data, the password is hunter2!").text
    'load s3://data, the password is <secret removed>'
    >>> clean("load https://bob:pw@example.com/x.csv").removed
    {'password in a URL': 1}
    """
    removed: Counter[str] = Counter()

    def replace(kind: str, match: re.Match[str]) -> str:
        whole = match[0]
        if whole.endswith(REMOVED) or (match.re.groups and match[1].startswith("<secret")):
            return whole
        removed[kind] += 1
        if not match.re.groups:
            return REMOVED
        start, end = match.start(1) - match.start(), match.end(1) - match.start()
        return whole[:start] + REMOVED + whole[end:]

    for kind, pattern in PATTERNS:
        text = pattern.sub(lambda match, kind=kind: replace(kind, match), text)  # type: ignore[misc]

    def random(match: re.Match[str]) -> str:
        if not looks_random(match[0]):
            return match[0]
        removed["long random text"] += 1
        return REMOVED

    return Cleaned(_RUN.sub(random, text), dict(removed))


def looks_random(text: str) -> bool:
    """Whether a run of characters is more like a key than like a name or a path.

    >>> looks_random("s3-bucket-of-customer-events"), looks_random("9f8A7xQ2mL0pZ4vK6tR1wB3y")
    (False, True)
    """
    if not (re.search(r"[0-9]", text) and re.search(r"[A-Za-z]", text)):
        return False
    if re.fullmatch(r"[0-9a-fA-F]{32,}", text):
        return True
    # Words have few digits among them, and separators between.
    if any(len(part) < 12 for part in re.split(r"[/_=-]", text) if part) and text.count("/") + text.count("-") > 1:
        return False
    counts = Counter(text)
    entropy = -sum(count / len(text) * math.log2(count / len(text)) for count in counts.values())
    return entropy >= RANDOM
