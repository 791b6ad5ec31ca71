"""How tightly the operators of expressions bind, and which functions the language reads itself."""

from __future__ import annotations

UNARY = {"not": 50, "!": 50, "-": 90, "+": 90}
BINARY = {
    "|": 0,
    **dict.fromkeys(("or", "||"), 10),
    **dict.fromkeys(("and", "&&"), 15),
    **dict.fromkeys(("==", "!=", "<", ">", ">=", "<="), 20),
    **dict.fromkeys(("in", "matches", "contains", "startsWith", "endsWith"), 20),
    "..": 25,
    **dict.fromkeys(("+", "-"), 30),
    **dict.fromkeys(("*", "/", "%"), 60),
    **dict.fromkeys(("**", "^"), 100),
    "??": 500,
}
RIGHT = frozenset(("**", "^"))
ORDER = frozenset(("<", ">", ">=", "<="))
NEGATABLE = frozenset(("in", "matches", "contains", "startsWith", "endsWith"))

# the functions that evaluate something for each element: what their arguments are, the optional ones in brackets
PREDICATES: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(
        ("all", "none", "any", "one", "filter", "map", "find", "findIndex", "findLast", "findLastIndex", "groupBy"),
        ("value", "predicate"),
    ),
    **dict.fromkeys(("count", "sum"), ("value", "[predicate]")),
    **dict.fromkeys(("sortBy", "reduce"), ("value", "predicate", "[value]")),
}
BUILTINS = frozenset(PREDICATES) | frozenset(
    """
    len type abs ceil floor round int float string trim trimPrefix trimSuffix upper lower split splitAfter replace
    repeat join indexOf lastIndexOf hasPrefix hasSuffix max min mean median toJSON fromJSON toBase64 fromBase64 now
    duration date timezone first last get take keys values toPairs fromPairs reverse uniq concat flatten sort
    bitand bitor bitxor bitnand bitshl bitshr bitushr bitnot
    """.split()  # noqa: SIM905 - readable as a text
)
