"""The languages inside Argo's strings, without a cluster and without Argo: on the standard library and msgspec alone.

| language | where it stands | read by | evaluated by |
|---|---|---|---|
| tags | `{{…}}` in any string | `tags.scan` | `filling.fill` |
| expressions (expr-lang) | `{{=…}}`, fields named `expression` | `parser.parse` | `evaluation.evaluate` |
| conditions (govaluate) | `when` | `govaluate.tree` | `conditions.condition` |
| `depends` | a task of a `dag` | `depends.parse_depends` | `depends.decided` |

The files of expressions, in the order in which a text passes through them:

    tokens, escapes, operators; parser, operands; nodes     its words, then its tree
    chains                                                  which variables a tree reads; other names for them
    checks/                                                 the types that Argo refuses before it evaluates
    evaluation; operating, loops, members; arithmetic       its value
    functions/                                              what it may call, and what of Go's library that needs

`values.py` has the types of Go that Python lacks, `environment.py` makes variables of names with dots, and
`problems.py` has the two exceptions. In `functions/`, `catalog.py` has all functions by name: `builtin.py` and
`dates.py` are the language's own, `conversions.py` and `jsonpath.py` Argo's, `sprig/` those of that library. They rest
on `gotime.py`, `spans.py`, `goformat.py`, `semver.py` and `regex/`.

Facts are those of Argo Workflows 4.0.7 and of the libraries it is built with. Nothing here imports anything of ours.
Whatever the text, the functions here raise `SyntaxProblem` and `EvaluationProblem` alone, and they end.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from couler_py.argolang.chains import Hyphenated, Reference, chain, hyphenated, references, replaced
    from couler_py.argolang.conditions import condition, parse_condition, stand_ins
    from couler_py.argolang.depends import (
        RESERVED,
        RESULTS,
        AllDepend,
        AnyDepend,
        Depends,
        DependsOn,
        NotDepends,
        decided,
        parse_depends,
        print_depends,
        tasks_of,
    )
    from couler_py.argolang.environment import expanded
    from couler_py.argolang.escapes import quoted
    from couler_py.argolang.evaluation import evaluate
    from couler_py.argolang.filling import fill, rendered, required
    from couler_py.argolang.functions.catalog import FUNCTIONS
    from couler_py.argolang.functions.goformat import formatted, to_json
    from couler_py.argolang.parser import parse
    from couler_py.argolang.problems import EvaluationProblem, SyntaxProblem
    from couler_py.argolang.tags import Literal, Part, Tag, scan, tags_in, unclosed, written

_PLACES = {
    "conditions": ("condition", "parse_condition", "stand_ins"),
    "depends": (
        "RESERVED",
        "RESULTS",
        "AllDepend",
        "AnyDepend",
        "Depends",
        "DependsOn",
        "NotDepends",
        "decided",
        "parse_depends",
        "print_depends",
        "tasks_of",
    ),
    "environment": ("expanded",),
    "escapes": ("quoted",),
    "evaluation": ("evaluate",),
    "filling": ("fill", "rendered", "required"),
    "functions.catalog": ("FUNCTIONS",),
    "functions.goformat": ("formatted", "to_json"),
    "parser": ("parse",),
    "problems": ("EvaluationProblem", "SyntaxProblem"),
    "chains": ("Hyphenated", "Reference", "chain", "hyphenated", "references", "replaced"),
    "tags": ("Literal", "Part", "Tag", "scan", "tags_in", "unclosed", "written"),
}
_MODULES = {name: module for module, names in _PLACES.items() for name in names}

__all__ = [
    "FUNCTIONS",
    "RESERVED",
    "RESULTS",
    "AllDepend",
    "AnyDepend",
    "Depends",
    "DependsOn",
    "EvaluationProblem",
    "Hyphenated",
    "Literal",
    "NotDepends",
    "Part",
    "Reference",
    "SyntaxProblem",
    "Tag",
    "chain",
    "condition",
    "decided",
    "evaluate",
    "expanded",
    "fill",
    "formatted",
    "hyphenated",
    "parse",
    "parse_condition",
    "parse_depends",
    "print_depends",
    "quoted",
    "references",
    "rendered",
    "replaced",
    "required",
    "scan",
    "stand_ins",
    "tags_in",
    "tasks_of",
    "to_json",
    "unclosed",
    "written",
]


def __getattr__(name: str) -> Any:
    """The public names, each imported when it is first asked for."""
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)
    globals()[name] = value
    return value
