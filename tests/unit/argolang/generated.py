"""Random expressions over the variables of `cases.py`: most are well formed, and every third has a value."""

from __future__ import annotations

from random import Random

LEAVES = (
    "1",
    "2",
    "0",
    "-1",
    "1.5",
    "3.0",
    "'a'",
    "'abc'",
    "''",
    "true",
    "false",
    "nil",
    "[]",
    "{a:1}",
    "'10'",
    "1..3",
    "x",
    "#",
    "[1, 2, 3]",
    "['a', 'b']",
    "{a: {b: nil} }",
    "fromJSON('[1, \"a\", null]')",
    "fromJSON('{\"a\": 1}')",
    "fromJSON('2')",
    "fromJSON('true')",
    "fromJSON('null')",
    "duration('1h')",
    "date('2020-01-01')",
    "inputs.parameters.text",
    "inputs.parameters.number",
    "inputs.parameters.json",
    "inputs.parameters.nope",
)
BINARY = (
    "+",
    "-",
    "*",
    "/",
    "%",
    "**",
    "==",
    "!=",
    "<",
    "<=",
    ">",
    ">=",
    "&&",
    "||",
    "and",
    "or",
    "in",
    "contains",
    "startsWith",
    "endsWith",
    "matches",
    "..",
    "??",
)
LOOPS = (
    "filter",
    "map",
    "all",
    "any",
    "none",
    "one",
    "count",
    "find",
    "findIndex",
    "findLast",
    "sum",
    "sortBy",
    "reduce",
)
BODIES = ("#", "# == 1", "# > 1", ".a", "#index", "{# + 1}", "#acc + #", "len(#)", "string(#)")
ONE = (
    "len",
    "type",
    "abs",
    "int",
    "float",
    "string",
    "upper",
    "toJSON",
    "fromJSON",
    "first",
    "last",
    "reverse",
    "uniq",
    "flatten",
    "sort",
    "max",
    "min",
    "mean",
    "sum",
    "count",
    "asInt",
    "asFloat",
    "toJson",
    "trim",
    "ceil",
    "round",
    "toBase64",
    "sprig.empty",
    "sprig.toString",
    "sprig.int64",
    "sprig.kindOf",
    "sprig.trim",
)
TWO = (
    "split",
    "indexOf",
    "join",
    "take",
    "get",
    "concat",
    "max",
    "bitand",
    "sprig.default",
    "sprig.add",
    "sprig.join",
    "sprig.has",
    "sprig.append",
    "sprig.cat",
    "sprig.contains",
    "sprig.coalesce",
    "hasPrefix",
    "trimSuffix",
    "sprig.max",
    "sprig.addf",
    "sprig.div",
)


def an_expression(source: Random, depth: int = 0) -> str:
    """A text that is probably an expression."""
    if depth > 3 or source.random() < 0.25:
        return source.choice(LEAVES)
    a, b, c = (an_expression(source, depth + 1) for _ in range(3))
    return source.choice(
        (
            f"{a} {source.choice(BINARY)} {b}",
            f"{a} {source.choice(BINARY)} {b}",
            f"{a} not in {b}",
            f"({a})",
            f"{source.choice(('!', 'not ', '-', '+'))}{a}",
            f"{a} ? {b} : {c}",
            f"{a}[{b}]",
            f"{a}[{source.choice(('', '0', '1', '-1'))}:{source.choice(('', '1', '2', '-1'))}]",
            f"{a}{source.choice(('.', '?.'))}{source.choice(('a', 'b', 'text'))}",
            f"{source.choice(LOOPS)}({a}, {source.choice((*BODIES, b))})",
            f"{source.choice(ONE)}({a})",
            f"{source.choice(TWO)}({a}, {b})",
            f"[{a}, {b}]",
            f"{{a: {a}, 'b': {b} }}",
            f"let v = {a}; v",
            f"if {a} {{ {b} }} else {{ {c} }}",
            f"{a} | {source.choice(('len()', 'string()', 'filter(# == 1)', 'type()'))}",
            f"{a}; {b}",
        )
    )


def spoiled(source: Random, text: str) -> str:
    """A text with a character too few, too many or wrong."""
    place = source.randrange(len(text))
    taken = source.choice((0, 1, 1))
    return text[:place] + source.choice(("", *"()[]{.,?:!#'\"|&=<> a1-+*/;`\\")) + text[place + taken :]
