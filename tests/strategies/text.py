"""Text that breaks programs which splice it, and names."""

from __future__ import annotations

from tests.strategies.dice import Dice, chance, pick

HOSTILE = (
    "",
    "plain",
    " lead and trail ",
    'it\'s "quoted"',
    "two\nlines",
    "ends\n",
    "\r\ntab\t",
    "{{x}}",
    "{{=1+1}}",
    "{{workflow.name}} {{",
    "{{inputs.parameters.x}}",
    "}}",
    "{% raw %}{# c #}",
    "${x} $x $(x) $$(x)",
    "`id` ; rm -rf / && echo | cat > f",
    "back\\slash \\n",
    '{"a": [1, "b", null]}',
    "[1, 2]",
    "null",
    "true",
    "yes",
    "0x1F",
    "1e3",
    "007",
    "NaN",
    "-Infinity",
    "~",
    "# no comment",
    "- item: value",
    "&anchor *alias !tag %dir @at",
    "<script>alert(1)</script>",
    "%s {0} %(x)d",
    'couler:json:"x"',
    "couler:base64:eA==",
    "couler:items:[]",
    "naïve ünïcödé",
    "中文 العربية",
    "\U0001f600 \u200b\u202e",
    "\u2028\u2029\x85",
    "\ufeffbom",
    "\x07\x1b[31m\x7f",
    "'''\"\"\"",
    "nul\0byte",
)
NAMES = (
    "a", "b", "step", "load", "in", "not", "True", "a-b", "a_b", "A", "map", "item", "x1", "class", "été", "中",
    "outcome", "start", "end", "main-2", "v1.2", "0day", "a" * 70,
)  # fmt: skip
IDENTIFIERS = ("x", "y", "data", "a_b", "X", "size", "in_", "run", "name", "self", "été", "_p", "value2")


def hostile(dice: Dice) -> str:
    """Text from the list, or any."""
    return dice.text() if chance(dice, 15) else pick(dice, HOSTILE)


def printable(dice: Dice) -> str:
    """Hostile text without NUL, which no program can be started with."""
    return hostile(dice).replace("\0", "")


def name(dice: Dice, taken: set[str], options: tuple[str, ...] = NAMES) -> str:
    """A name that isn't taken, and then is."""
    found = pick(dice, options)
    if found in taken:
        number = len(taken)
        while f"{found}{number}" in taken:
            number += 1
        found = f"{found}{number}"
    taken.add(found)
    return found
