"""The languages inside Argo's strings, without a cluster and without Argo: on the standard library and msgspec alone.

- tags (`tags.py`, `filling.py`): `scan` finds `{{…}}`, `fill` puts values there;
- expressions (`parser.py`, `chains.py`, `evaluation.py`): what stands in `{{=…}}`, in `valueFrom.expression` and in
  `retryStrategy.expression`;
- conditions (`conditions.py`): `when`;
- `depends` (`depends.py`).

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
