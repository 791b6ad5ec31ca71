"""The functions that expressions may call: the language's own, and those that Argo adds."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from couler_py.argolang.functions.builtin import PLAIN
from couler_py.argolang.functions.conversions import as_float, as_int, from_json
from couler_py.argolang.functions.dates import TIMES
from couler_py.argolang.functions.goformat import to_json
from couler_py.argolang.functions.jsonpath import query
from couler_py.argolang.functions.sprig import SPRIG
from couler_py.argolang.operators import PREDICATES
from couler_py.argolang.values import Function

BUILTIN: Mapping[str, Function] = MappingProxyType({**PLAIN, **TIMES})

ARGO: Mapping[str, Function] = MappingProxyType(
    {
        "asInt": Function("asInt", ("any",), apply=as_int),
        "asFloat": Function("asFloat", ("any",), apply=as_float),
        "jsonpath": Function("jsonpath", ("string", "string"), apply=lambda text, path: query(from_json(text), path)),
        "toJson": Function("toJson", ("any",), apply=to_json),
    }
)

ENVIRONMENT: Mapping[str, Any] = MappingProxyType({**ARGO, "sprig": dict(SPRIG)})

# every function by the name that an expression calls it by; `apply` is None for those that are only known
FUNCTIONS: Mapping[str, Function] = MappingProxyType(
    {
        **{
            name: Function(
                name,
                tuple(kind.strip("[]") for kind in kinds),
                optional=sum(kind.startswith("[") for kind in kinds),
                apply=lambda *arguments: None,
            )
            for name, kinds in PREDICATES.items()
        },
        **BUILTIN,
        **ARGO,
        **{f"sprig.{name}": function for name, function in SPRIG.items()},
    }
)
