"""Expressions: what a condition, an argument or a piece of text says, for every engine alike.

An expression is a frozen tree. It is evaluated by `couler_py.ir.evaluate` (the reference), by an
engine's own expression language where a table of cases proves that equal, or by the step that
made the values. `Raw` holds an engine's own text, from an import, and travels to that engine only.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, TypeAlias
from typing import Literal as OneOf

import msgspec

RunField: TypeAlias = OneOf[
    "id", "name", "namespace", "scheduled_time", "start", "attempt", "status", "failures", "duration"
]
RetryField: TypeAlias = OneOf["exit_code", "status", "message", "duration"]
Comparison: TypeAlias = OneOf["==", "!=", "<", "<=", ">", ">="]
Arithmetic: TypeAlias = OneOf["+", "-", "*", "/", "//", "%"]


# The leaves have gc=False: a graph of 10,000 tasks has as many of them, and none can hold what leads back to it.
# Other expressions do while a workflow is recorded: a comparison of a task's output holds the task.
class _Node(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    pass


class Literal(_Node, frozen=True, tag="literal", gc=False):
    """A JSON value known when the workflow is built, in its wire form (NaN is the string "NaN")."""

    value: Any


class NonFinite(_Node, frozen=True, tag="nonfinite"):
    """A float that JSON can't say, where it is compared or computed with."""

    name: OneOf["NaN", "Infinity", "-Infinity"]


class Input(_Node, frozen=True, tag="input", gc=False):
    """An input parameter of the template that the expression stands in."""

    name: str


class InputArtifact(_Node, frozen=True, tag="input_artifact", gc=False):
    """An input artifact of the template that the expression stands in."""

    name: str


class WorkflowParameter(_Node, frozen=True, tag="parameter", gc=False):
    """A parameter of the run, visible in every template."""

    name: str


class TaskOutput(_Node, frozen=True, tag="output", gc=False):
    """An output parameter of a task in the same graph; of a fan-out, the list over its items."""

    task: str
    name: str


class TaskArtifact(_Node, frozen=True, tag="artifact", gc=False):
    """An output artifact of a task in the same graph; of a fan-out, a folder with one entry an item."""

    task: str
    name: str


class TaskStatus(_Node, frozen=True, tag="status", gc=False):
    """The state of a task in the same graph: Succeeded, Failed, Skipped or Blocked."""

    task: str


class TaskItems(_Node, frozen=True, tag="items", gc=False):
    """The items of a fan-out that Succeeded, in order: they match the lists of its outputs."""

    task: str


class Own(_Node, frozen=True, tag="own"):
    """An output of the template that the expression stands in (of a loop: of its body)."""

    name: str


class Item(_Node, frozen=True, tag="item"):
    """The element that this task of a fan-out works on."""


class Run(_Node, frozen=True, tag="run"):
    """A fact about the run. `status` and `failures` are for exit handlers, `attempt` (from 0) for steps."""

    field: RunField


class Published(_Node, frozen=True, tag="published"):
    """A value that a task published by name (`OutputParameter.global_name`), for exit handlers.

    It is absent where its task didn't succeed.
    """

    name: str


class LastRetry(_Node, frozen=True, tag="last_retry"):
    """A fact about the attempt before, for a retry condition; `duration` is in seconds."""

    field: RetryField


class OrElse(_Node, frozen=True, tag="or_else"):
    """The value, or the default where the value is absent. References inside make order edges."""

    value: Expr
    default: Expr


class First(_Node, frozen=True, tag="first"):
    """The first of several task outputs (or artifacts) that is present. Together they make one `first` edge."""

    options: tuple[Expr, ...]


class Compare(_Node, frozen=True, tag="compare"):
    op: Comparison
    left: Expr
    right: Expr


class AllOf(_Node, frozen=True, tag="and"):
    operands: tuple[Expr, ...]


class AnyOf(_Node, frozen=True, tag="or"):
    operands: tuple[Expr, ...]


class Not(_Node, frozen=True, tag="not"):
    operand: Expr


class Compute(_Node, frozen=True, tag="compute"):
    """Arithmetic on numbers; `+` also joins two strings or two lists."""

    op: Arithmetic
    left: Expr
    right: Expr


class Access(_Node, frozen=True, tag="access"):
    """A member of an object (string key) or an element of a list (int index, negative from the end)."""

    value: Expr
    key: Expr


class Length(_Node, frozen=True, tag="length"):
    """The length of a string (in code points), list or object."""

    value: Expr


class Contains(_Node, frozen=True, tag="contains"):
    """Whether a list holds an element, an object a key, or a string a part."""

    container: Expr
    member: Expr


class Record(_Node, frozen=True, tag="object"):
    """A JSON object or list put together from expressions: keys empty for a list."""

    keys: tuple[str, ...]
    values: tuple[Expr, ...]
    form: OneOf["object", "list"] = "object"


class Zip(_Node, frozen=True, tag="zip"):
    """Several lists of equal length as one list of lists. Unequal lengths are an error."""

    lists: tuple[Expr, ...]


class Text(_Node, frozen=True, tag="text"):
    """A string with values in it: literal parts and expressions, kept apart.

    A string value goes in as it is, None as "null", booleans as "true" and "false", every other
    value as its JSON text.
    """

    parts: tuple[str | Expr, ...]


class FromJson(_Node, frozen=True, tag="from_json"):
    """The value that a JSON text says (imports: Argo's `withParam` is text)."""

    text: Expr


class Condition(_Node, frozen=True, tag="condition"):
    """An imported condition: a text whose values are filled in first and which is then read in Argo's own words.

    What the values hold is read with it, as Argo does: a quote or a space in one makes it an error.
    """

    text: TextLike


class Raw(_Node, frozen=True, tag="raw"):
    """An expression in an engine's own language. Not portable: engines that can't evaluate it refuse it."""

    engine: str
    text: str


Expr: TypeAlias = (
    Literal
    | NonFinite
    | Input
    | InputArtifact
    | WorkflowParameter
    | TaskOutput
    | TaskArtifact
    | TaskStatus
    | TaskItems
    | Own
    | Item
    | Run
    | Published
    | LastRetry
    | OrElse
    | First
    | Compare
    | AllOf
    | AnyOf
    | Not
    | Compute
    | Access
    | Length
    | Contains
    | Record
    | Zip
    | Text
    | FromJson
    | Condition
    | Raw
)
TextLike: TypeAlias = str | Text

LEAVES = (
    Literal,
    NonFinite,
    Input,
    InputArtifact,
    WorkflowParameter,
    TaskOutput,
    TaskArtifact,
    TaskStatus,
    TaskItems,
    Own,
    Item,
    Run,
    Published,
    LastRetry,
    Raw,
)
_LEAVES = frozenset(LEAVES)


def children(expr: Expr) -> tuple[Expr, ...]:
    """The expressions directly inside one, in reading order."""
    if type(expr) in _LEAVES:  # most are, and large graphs ask a million times
        return ()
    match expr:
        case OrElse(value=value, default=default):
            return (value, default)
        case First(options=options):
            return options
        case Compare(left=left, right=right) | Compute(left=left, right=right):
            return (left, right)
        case AllOf(operands=operands) | AnyOf(operands=operands):
            return operands
        case Not(operand=operand):
            return (operand,)
        case Access(value=value, key=key):
            return (value, key)
        case Length(value=value):
            return (value,)
        case Contains(container=container, member=member):
            return (container, member)
        case Record(values=values):
            return values
        case Zip(lists=lists):
            return lists
        case Text(parts=parts):
            return tuple(part for part in parts if not isinstance(part, str))
        case FromJson(text=source):
            return (source,)
        case Condition(text=Text() as condition):
            return (condition,)
        case _:
            return ()


def walk(expr: Expr | str | None) -> Iterator[Expr]:
    """Every expression in the tree, outermost first. Plain text and None hold none."""
    if expr is None or isinstance(expr, str):
        return
    stack: list[Expr] = [expr]
    while stack:
        node = stack.pop()
        yield node
        if type(node) not in _LEAVES:
            stack.extend(reversed(children(node)))


def rewrite(expr: Expr, change: Callable[[Expr], Expr]) -> Expr:
    """The tree with `change` applied to every node, innermost first."""
    match expr:
        case OrElse(value=value, default=default):
            expr = OrElse(rewrite(value, change), rewrite(default, change))
        case First(options=options):
            expr = First(tuple(rewrite(option, change) for option in options))
        case Compare(op=op, left=left, right=right):
            expr = Compare(op, rewrite(left, change), rewrite(right, change))
        case Compute(op=sign, left=left, right=right):
            expr = Compute(sign, rewrite(left, change), rewrite(right, change))
        case AllOf(operands=operands):
            expr = AllOf(tuple(rewrite(operand, change) for operand in operands))
        case AnyOf(operands=operands):
            expr = AnyOf(tuple(rewrite(operand, change) for operand in operands))
        case Not(operand=operand):
            expr = Not(rewrite(operand, change))
        case Access(value=value, key=key):
            expr = Access(rewrite(value, change), rewrite(key, change))
        case Length(value=value):
            expr = Length(rewrite(value, change))
        case Contains(container=container, member=member):
            expr = Contains(rewrite(container, change), rewrite(member, change))
        case Record(keys=keys, values=values, form=form):
            expr = Record(keys, tuple(rewrite(value, change) for value in values), form)
        case Zip(lists=lists):
            expr = Zip(tuple(rewrite(value, change) for value in lists))
        case Text(parts=parts):
            expr = Text(tuple(part if isinstance(part, str) else rewrite(part, change) for part in parts))
        case FromJson(text=source):
            expr = FromJson(rewrite(source, change))
        case Condition(text=Text() as condition):
            changed = rewrite(condition, change)
            expr = Condition(changed) if isinstance(changed, Text) else expr
        case _:
            pass
    return change(expr)
