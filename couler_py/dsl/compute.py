"""Expressions over values of a running workflow: comparison, arithmetic, members, text.

What these mean is defined by `couler_py.ir.evaluate`; kinds that can't go together are refused here,
at the line that puts them together.
"""

from __future__ import annotations

import builtins
import string
from typing import Any, NoReturn

from couler_py.dsl.lifting import Lifted, lift
from couler_py.dsl.problems import MissingMemberError, PlaceholderError, fail, problem
from couler_py.ir import expr as ir
from couler_py.ir.types import (
    ANY,
    BOOL,
    FLOAT,
    INT,
    STR,
    Choice,
    DictOf,
    ListOf,
    Record,
    Scalar,
    Type,
    UnionOf,
    describe,
    join,
    type_of_scalar,
)


def made(expr: Any, type_: Type | None, label: str = "an expression") -> Any:
    """A placeholder for an expression."""
    from couler_py.dsl.placeholder import Placeholder
    from couler_py.dsl.sources import caller

    return Placeholder(expr, type_, label, caller())


_KINDS = {
    "int": frozenset({"number"}),
    "float": frozenset({"number"}),
    "str": frozenset({"string"}),
    "datetime": frozenset({"string"}),
    "bool": frozenset({"boolean"}),
    "none": frozenset({"null"}),
}


def kinds(type_: Type) -> frozenset[str]:
    """The kinds of JSON value that a type may have, as comparison knows them; empty where anything may come."""
    match type_:
        case Scalar(name=name):
            return _KINDS.get(name, frozenset())
        case Choice(values=values):
            return frozenset().union(*(kinds(type_of_scalar(value)) for value in values))
        case ListOf():
            return frozenset({"list"})
        case DictOf() | Record():
            return frozenset({"object"})
        case UnionOf(options=options):
            found = [kinds(option) for option in options]
            return frozenset() if frozenset() in found else frozenset().union(*found)


def compare(op: ir.Comparison, left: Any, right: Any) -> Any:
    """A comparison. Raises `PlaceholderError` where the two kinds can never be compared so."""
    a, b = _value(left, op), _value(right, op)
    mine, other = kinds(_type(a)), kinds(_type(b))
    if mine and other and not mine & other:
        _unfit(
            f"{_shown(left, a)} {op} {_shown(right, b)}",
            "values of different kinds are never equal and have no order",
        )
    if op not in ("==", "!="):
        for value, found in ((left, mine), (right, other)):
            if found and not found & {"number", "string"}:
                _unfit(f"{_shown(value, lift(value))} has no order", f"{op} compares numbers and strings")
    return made(ir.Compare(op, a.expr, b.expr), BOOL, f"{_named(left)} {op} {_named(right)}")


def arithmetic(op: ir.Arithmetic, left: Any, right: Any) -> Any:
    """Arithmetic on numbers; `+` also joins two strings or two lists."""
    a, b = _value(left, op), _value(right, op)
    types = (_type(a), _type(b))
    mine, other = kinds(types[0]), kinds(types[1])
    allowed = {"number", "string", "list"} if op == "+" else {"number"}
    for value, found, lifted in ((left, mine, a), (right, other, b)):
        if found and not found & allowed:
            help_ = "couler.format joins values into a text" if found & {"string"} else ""
            why = f"{op} is for {', '.join(sorted(allowed))}"
            _unfit(f"{_shown(value, lifted)} can't be used with {op}", why, help_)
    if mine and other and not mine & other:
        _unfit(f"{_shown(left, a)} {op} {_shown(right, b)}", "the two are of different kinds", 'couler.format("{}", x)')
    return made(ir.Compute(op, a.expr, b.expr), _result(op, *types), f"{_named(left)} {op} {_named(right)}")


def _named(value: Any) -> str:
    """A value as it stands in the name of an expression."""
    label = getattr(value, "_couler_label", None)
    text = label if isinstance(label, str) else repr(value)
    return text if len(text) <= 40 else f"{text[:37]}..."


def _result(op: str, left: Type, right: Type) -> Type:
    if ANY in (left, right):
        return ANY
    if isinstance(left, ListOf) and isinstance(right, ListOf):
        return ListOf(join((left.item, right.item)))
    if kinds(left) == kinds(right) == {"string"}:
        return STR
    if op != "/" and left == right == INT:
        return INT
    return FLOAT if kinds(left) == kinds(right) == {"number"} else ANY


def all_of(*conditions: Any) -> Any:
    """True where every condition is: `couler.all_of(a > 1, b == "x")`, the same as `(a > 1) & (b == "x")`.

    Read from left to right, up to the first that is false.

    >>> couler.when(couler.all_of(a.score > 0.9, b.score > 0.9), lambda: publish(a))  # doctest: +SKIP
    """
    return made(ir.AllOf(tuple(_condition(condition) for condition in conditions)), BOOL, "a condition")


def any_of(*conditions: Any) -> Any:
    """True where at least one condition is: the same as `a | b`.

    Read from left to right, up to the first that is true.

    >>> couler.when(couler.any_of(day == "Saturday", day == "Sunday"), lambda: rest())  # doctest: +SKIP
    """
    return made(ir.AnyOf(tuple(_condition(condition) for condition in conditions)), BOOL, "a condition")


def not_(condition: Any) -> Any:
    """True where the condition is false: the same as `~condition`.

    >>> couler.when(couler.not_(check.passed), lambda: repair(data))  # doctest: +SKIP
    """
    return made(ir.Not(_condition(condition)), BOOL, "a condition")


def _condition(value: Any) -> Any:
    lifted = _value(value, "a condition")
    found = kinds(_type(lifted))
    if found and "boolean" not in found:
        _unfit(
            f"{_shown(value, lifted)} is not a condition",
            "there is no truthiness: a condition is true or false",
            "compare it: `x > 0`, `x != ''`, `couler.length(x) > 0`",
        )
    return lifted.expr


def condition(value: Any) -> Any:
    """The expression of a condition. Raises `PlaceholderError` where it isn't true or false."""
    return _condition(value)


def access(value: Any, key: Any) -> Any:
    """A member of an object, or an element of a list (from its end, where negative)."""
    lifted = _value(value, "[]")
    if isinstance(key, slice):
        _unfit(f"{_shown(value, lifted)} can't be sliced here", "expressions have no slices", "slice it in a step")
    index = _value(key, "[]")
    type_ = _type(lifted)
    asked, found = kinds(_type(index)), kinds(type_)
    if (asked == {"number"} and _type(index) == FLOAT) or asked & {"boolean", "null", "list", "object"}:
        _unfit(f"{_shown(key, index)} is no index", "lists are indexed by int, objects by str")
    if (found == {"list"} and asked == {"string"}) or (found == {"object"} and asked == {"number"}):
        _unfit(f"{_shown(value, lifted)}[{key!r}]", "lists are indexed by int, objects by str")
    if found and not found & {"list", "object"}:
        _unfit(f"{_shown(value, lifted)} has no elements", "only lists and objects have", "take it apart in a step")
    label = f"{value._couler_label}[{key!r}]" if hasattr(value, "_couler_label") else "an element"
    return made(ir.Access(lifted.expr, index.expr), _element(value, type_, key), label)


def _element(value: Any, type_: Type, key: Any) -> Type:
    match type_:
        case ListOf(item=item):
            return item
        case DictOf(value=inner):
            return inner
        case Record(fields=fields) if isinstance(key, str):
            for field in fields:
                if field.name == key:
                    return field.type
            raise problem(
                "CLR146",
                f"{value!r} has no member {key!r}",
                help=f"it has {', '.join(field.name for field in fields)}",
                kind=MissingMemberError,
            )
        case _:
            return ANY


def member(value: Any, name: str) -> Any:
    """An attribute of a placeholder: a field of a record, or a member of an object."""
    type_ = value._couler_type
    found = kinds(type_)
    if found and "object" not in found:
        fail(
            "CLR146",
            f"{value!r} has no member {name!r}",
            why=f"a {describe(type_)} has no members that are known before it is there",
            help="do it in a step, or use couler.format, couler.length, couler.contains",
            kind=MissingMemberError,
        )
    return access(value, name)


def length(value: Any) -> Any:
    """The length of a list, object or string (in code points), where Python would say `len(value)`.

    >>> couler.when(couler.length(rows) > 0, lambda: load(rows))  # doctest: +SKIP
    """
    lifted = _value(value, "couler.length")
    found = kinds(_type(lifted))
    if found and not found & {"list", "object", "string"}:
        _unfit(f"{_shown(value, lifted)} has no length", "lists, objects and strings have one")
    return made(ir.Length(lifted.expr), INT)


def contains(container: Any, member: Any) -> Any:
    """Whether a list holds an element, an object a key, or a string a part, where Python would say `in`.

    >>> couler.when(couler.contains(check.problems, "empty"), lambda: repair(data))  # doctest: +SKIP
    """
    outer, inner = _value(container, "couler.contains"), _value(member, "couler.contains")
    found = kinds(_type(outer))
    if found and not found & {"list", "object", "string"}:
        _unfit(f"{_shown(container, outer)} can't hold anything", "lists, objects and strings can")
    return made(ir.Contains(outer.expr, inner.expr), BOOL, "a condition")


def format(template: str, *values: Any, **named: Any) -> Any:  # noqa: A001  the verb that the messages name
    """Text with values in it, where Python would say an f-string.

    Fields are `{}`, `{0}`, `{name}`, with members as `{run.score}` and elements as `{scores[0]}`; `{{` is a brace.
    A string goes in as it is, None as null, booleans as true and false, everything else as its JSON text.
    A format like `{:.2f}` works on values known now; of others it is refused.

    >>> couler.format("{} reached {score}", model, score=run.score)  # doctest: +SKIP
    """
    from couler_py.dsl.placeholder import Placeholder

    parts: list[Any] = []
    count = 0
    formatter = string.Formatter()
    for text, name, spec, conversion in formatter.parse(template):
        parts.append(text)
        if name is None:
            continue
        if name == "" or name[0] in ".[":
            name, count = f"{count}{name}", count + 1
        try:
            value = formatter.get_field(name, values, named)[0]
        except (IndexError, KeyError):
            fail("CLR147", f"{template!r} asks for {name!r}, which isn't given", kind=PlaceholderError)
        if isinstance(value, Placeholder):
            if spec or conversion:
                _unfit(
                    f"{value!r} can't be formatted by {'!' + conversion if conversion else ':' + str(spec)}",
                    "values known only when the workflow runs go in as their text",
                    "format it in a step",
                )
            parts.append(_value(value, "couler.format").expr)
        else:
            parts.append(builtins.format(formatter.convert_field(value, conversion), spec or ""))
    joined: list[Any] = []
    for part in parts:
        if isinstance(part, str) and joined and isinstance(joined[-1], str):
            joined[-1] += part
        elif part != "":
            joined.append(part)
    return made(ir.Text(tuple(joined)), STR, "a text")


def _value(value: Any, what: str) -> Lifted:
    lifted = lift(value, compared=True)
    if lifted.type is None:
        _unfit(f"{value!r} can't be used with {what}", "it is a file or folder", "read it in a step")
    return lifted


def _type(lifted: Lifted) -> Type:
    assert lifted.type is not None
    return lifted.type


def _shown(value: Any, lifted: Lifted) -> str:
    from couler_py.dsl.placeholder import Placeholder

    return repr(value) if isinstance(value, Placeholder) else f"{value!r} ({describe(_type(lifted))})"


def _unfit(message: str, why: str, help_: str = "") -> NoReturn:
    fail("CLR147", message, why=why, help=help_, kind=PlaceholderError)
