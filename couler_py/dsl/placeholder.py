"""What a call returns while a workflow is recorded: a value that is known only when the workflow runs.

Comparison, arithmetic, `[]` and attributes build expressions. What Python would need the value for raises
at its line and names the way out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NoReturn

from couler_py.dsl import compute, ordering
from couler_py.dsl.frames import Node, Reference
from couler_py.dsl.problems import MissingMemberError, PlaceholderError, fail, problem
from couler_py.ir import expr as ir
from couler_py.ir.model import Source, Template
from couler_py.ir.types import ANY, STR, ListOf, Record, Type, describe
from couler_py.ir.types import Field as RecordField


class _Shadowed:
    """A property that a member of the value with the same name may stand before."""

    def __init__(self, get: Callable[[Any], Any]):
        self._get = get
        self.__doc__ = get.__doc__

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        return self if instance is None else self._get(instance)


class Placeholder:
    """A value of a running workflow: a parameter, an output, an item, or an expression of these.

    A file or folder has the type None. Members named like a method here (`after`, `status`, `inputs`,
    `or_else`) stand before it; the functions `couler.after`, `couler.status`, … work in any case.
    """

    def __init__(self, expr: Any, type_: Type | None, label: str, source: Source | None = None):
        # past __setattr__: every recorded call comes here
        mine = self.__dict__
        mine["_couler_expr"] = expr
        mine["_couler_type"] = type_
        mine["_couler_label"] = label
        mine["_couler_source"] = source

    _couler_expr: Any
    _couler_type: Type | None
    _couler_label: str
    _couler_source: Source | None

    # ---- what builds expressions

    def __eq__(self, other: object) -> Any:
        return compute.compare("==", self, other)

    def __ne__(self, other: object) -> Any:
        return compute.compare("!=", self, other)

    def __lt__(self, other: Any) -> Any:
        return compute.compare("<", self, other)

    def __le__(self, other: Any) -> Any:
        return compute.compare("<=", self, other)

    def __gt__(self, other: Any) -> Any:
        return compute.compare(">", self, other)

    def __ge__(self, other: Any) -> Any:
        return compute.compare(">=", self, other)

    def __add__(self, other: Any) -> Any:
        return compute.arithmetic("+", self, other)

    def __radd__(self, other: Any) -> Any:
        return compute.arithmetic("+", other, self)

    def __sub__(self, other: Any) -> Any:
        return compute.arithmetic("-", self, other)

    def __rsub__(self, other: Any) -> Any:
        return compute.arithmetic("-", other, self)

    def __mul__(self, other: Any) -> Any:
        return compute.arithmetic("*", self, other)

    def __rmul__(self, other: Any) -> Any:
        return compute.arithmetic("*", other, self)

    def __truediv__(self, other: Any) -> Any:
        return compute.arithmetic("/", self, other)

    def __rtruediv__(self, other: Any) -> Any:
        return compute.arithmetic("/", other, self)

    def __floordiv__(self, other: Any) -> Any:
        return compute.arithmetic("//", self, other)

    def __rfloordiv__(self, other: Any) -> Any:
        return compute.arithmetic("//", other, self)

    def __mod__(self, other: Any) -> Any:
        return compute.arithmetic("%", self, other)

    def __rmod__(self, other: Any) -> Any:
        return compute.arithmetic("%", other, self)

    def __neg__(self) -> Any:
        return compute.arithmetic("*", -1, self)

    def __pos__(self) -> Any:
        return compute.arithmetic("*", 1, self)

    def __and__(self, other: Any) -> Any:
        return compute.all_of(self, other)

    def __rand__(self, other: Any) -> Any:
        return compute.all_of(other, self)

    def __or__(self, other: Any) -> Any:
        return compute.any_of(self, other)

    def __ror__(self, other: Any) -> Any:
        return compute.any_of(other, self)

    def __invert__(self) -> Any:
        return compute.not_(self)

    def __getitem__(self, key: Any) -> Any:
        return compute.access(self, key)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        return self._couler_member(name)

    def _couler_member(self, name: str) -> Any:
        if self._couler_type is None:
            _no_member(self, name, "it is a file or folder: read it in a step")
        return compute.member(self, name)

    # ---- what needs the value

    def __bool__(self) -> bool:
        _unknown(self, "if, and, or, not, in", "couler.when(condition, ...) for `if`; `&`, `|`, `~`, couler.contains")

    def __len__(self) -> int:
        _unknown(self, "len()", "couler.length(value)")

    def __contains__(self, member: object) -> bool:
        _unknown(self, "in", "couler.contains(value, member)")

    def __iter__(self) -> Iterator[Any]:
        _unknown(self, "iteration and unpacking", "couler.map(function, value), or an index")

    def __int__(self) -> int:
        _unknown(self, "int()", "a step that converts it")

    def __index__(self) -> int:
        _unknown(self, "an index or range()", "couler.map(function, couler.sequence(count=value)), or value[index]")

    def __float__(self) -> float:
        _unknown(self, "float()", "a step that converts it")

    def __complex__(self) -> complex:
        _unknown(self, "complex()", "a step that converts it")

    def __str__(self) -> str:
        _unknown(self, "str() and print()", 'couler.format("... {}", value) for a text; a step can print it')

    def __format__(self, spec: str) -> str:
        _unknown(self, "an f-string or format()", 'couler.format("... {}", value)')

    def __bytes__(self) -> bytes:
        _unknown(self, "bytes()", "a step that converts it")

    def __fspath__(self) -> str:
        _unknown(self, "opening a file", "a step with a parameter of type Path")

    def __hash__(self) -> int:
        _unknown(self, "a set or the key of a dict", "a list, or the values of a dict")

    def __abs__(self) -> Any:
        _unknown(self, "abs()", "a step")

    def __round__(self, digits: int | None = None) -> Any:
        _unknown(self, "round()", "a step")

    def __pow__(self, other: Any) -> Any:
        _unknown(self, "**", "a step")

    def __rpow__(self, other: Any) -> Any:
        _unknown(self, "**", "a step")

    def __matmul__(self, other: Any) -> Any:
        _unknown(self, "@", "a step")

    def __setattr__(self, name: str, value: Any) -> None:
        if name.startswith("_couler_"):
            object.__setattr__(self, name, value)
        else:
            _unknown(self, f"setting {name!r}", "a step that returns the changed value")

    def __setitem__(self, key: Any, value: Any) -> None:
        _unknown(self, "setting an element", "a step that returns the changed value")

    # ---- order and absence

    def __rshift__(self, other: Any) -> Any:
        ordering.after(other, self)
        return other

    def __rrshift__(self, other: Any) -> Any:
        ordering.after(self, other)
        return self

    def __lshift__(self, other: Any) -> Any:
        ordering.after(self, other)
        return other

    def after(self, *others: Any, kind: Any = "order") -> Any:
        """Run the task of this value after others: `b.after(a)`. Returns this value. See `couler.after`."""
        return ordering.after(self, *others, kind=kind)

    def or_else(self, default: Any) -> Any:
        """This value, or the default where its task was skipped. See `couler.or_else`."""
        from couler_py.dsl.choice import or_else

        return or_else(self, default)

    @_Shadowed
    def status(self) -> Any:
        """How the task of this value ended. See `couler.status`."""
        return status(self)

    @_Shadowed
    def inputs(self) -> Any:
        """Of a fan-out: the items that succeeded, aligned with its outputs. See `couler.inputs`."""
        return inputs(self)

    # ---- what tools ask

    def __repr__(self) -> str:
        type_ = "Path" if self._couler_type is None else describe(self._couler_type)
        return f"<{self._couler_label}: {type_}, known when the workflow runs>"

    def __copy__(self) -> Any:
        return self

    def __deepcopy__(self, memo: Any) -> Any:
        return self

    def __reduce__(self) -> NoReturn:
        _unknown(self, "pickling", "the value itself, in a step")


class Output(Placeholder):
    """What a task gives back. Of several outputs, each is an attribute; of one, this is the value."""

    def __init__(self, node: Node, members: dict[str, Type | None] | None, expr: Any, type_: Type | None):
        mine = self.__dict__
        mine["_couler_node"] = node
        mine["_couler_members"] = members
        Placeholder.__init__(self, expr, type_, node.name, node.source)
        if members:
            for name in members.keys() & _OWN:
                self.__dict__[name] = self._couler_member(name)

    _couler_node: Node
    _couler_members: dict[str, Type | None] | None

    def _couler_member(self, name: str) -> Any:
        members = self._couler_members
        if members is None:
            return Placeholder._couler_member(self, name)
        if name not in members:
            _no_member(self, name, _has(members))
        return part(self._couler_node, name, members[name])

    def __getitem__(self, key: Any) -> Any:
        if self._couler_members is not None and isinstance(key, str):
            return self._couler_member(key)
        return Placeholder.__getitem__(self, key)

    def __iter__(self) -> Iterator[Any]:
        # A NamedTuple can be unpacked; a single value can't.
        if self._couler_members:
            return iter([self._couler_member(name) for name in self._couler_members])
        return Placeholder.__iter__(self)

    def __repr__(self) -> str:
        if self._couler_members is None:
            return Placeholder.__repr__(self)
        return f"<output of {self._couler_node.name}: {', '.join(self._couler_members) or 'nothing'}>"


class Outputs(list[Any]):
    """The outputs of a verb of Couler's, as the list that it returns: several values, and not one list."""


_OWN = frozenset({"after", "or_else", "status", "inputs"})


def part(node: Node, name: str, type_: Type | None) -> Placeholder:
    """One output of a task as a value; of a fan-out, the list of its items' (of files, a folder)."""
    reference = Reference(node, name, "artifact" if type_ is None else "output")
    if node.each is not None and type_ is not None:
        type_ = ListOf(type_)
    return Placeholder(reference, type_, f"{node.name}.{name}", node.source)


def output_of(node: Node, template: Template | None) -> Output:
    """What the call of a template returns. Without a template (it stands on the engine), any output."""
    if template is None:
        return AnyOutput(node, {}, None, None)
    members, one = node.frame.recorder.templates.outputs(template)
    if one is None:
        return Output(node, members, None, None)
    return output_one(node, one, members[one])


def output_one(node: Node, name: str, type_: Type | None) -> Output:
    """What a task with one output returns: the value itself."""
    reference = Reference(node, name, "artifact" if type_ is None else "output")
    if node.each is not None and type_ is not None:
        type_ = ListOf(type_)
    return Output(node, None, reference, type_)


class AnyOutput(Output):
    """What a template on the engine gives back: any output by name, its type unknown; files by `artifact(name)`."""

    def _couler_member(self, name: str) -> Any:
        return part(self._couler_node, name, ANY)

    def artifact(self, name: str) -> Placeholder:
        """An output of this name that is a file or folder."""
        return part(self._couler_node, name, None)


def expression(value: Placeholder) -> tuple[Any, Type | None]:
    """The expression and type of a placeholder; of several values, the object of all.

    Raises `PlaceholderError` where there is no value, or a file among several.
    """
    members = value.__dict__.get("_couler_members")
    if members is None:
        return value._couler_expr, value._couler_type
    found = {name: value._couler_member(name) for name in members}
    if not found:
        reason = value.__dict__.get("_couler_reason", "annotate what it returns")
        raise nothing(value, f"{reason}; to only order two steps, use `b.after(a)`")
    pairs = {name: expression(item) for name, item in found.items()}
    files = [name for name, (_, type_) in pairs.items() if type_ is None]
    if files:
        fail(
            "CLR143",
            f"the member {files[0]!r} of {value!r} is a file and can't travel inside a value",
            help=f"pass the members one by one: {', '.join(members)}",
            kind=PlaceholderError,
        )
    fields = tuple(RecordField(name, type_ or ANY) for name, (_, type_) in pairs.items())
    name = value._couler_node.base if isinstance(value, Output) else "object"
    return ir.Record(tuple(pairs), tuple(expr for expr, _ in pairs.values())), Record(name, fields)


def nothing(value: Placeholder, help_: str) -> PlaceholderError:
    """The error of a value that isn't one."""
    return problem(  # type: ignore[return-value]
        "CLR143",
        f"{value!r} gives nothing back that could be used here",
        help=help_,
        kind=PlaceholderError,
        related=(("made here", value._couler_source),) if value._couler_source else (),
    )


def task_of(value: Any) -> Node:
    """The task whose output a value is. Raises `RecordingError` for other values."""
    if isinstance(value, Output):
        return value._couler_node
    nodes: tuple[Node, ...] = getattr(value, "_couler_nodes", ())
    if len(nodes) == 1:
        return nodes[0]
    if isinstance(value, Placeholder):
        inner = value._couler_expr
        while isinstance(inner, ir.Access):
            inner = inner.value
        if isinstance(inner, Reference):
            return inner.node
    raise problem(
        "CLR144",
        f"{_shown(value)} is not the output of a task",
        help="give what a call of a step returned",
        kind=PlaceholderError,
    )


def status(value: Any) -> Placeholder:
    """How the task of a value ended: "Succeeded", "Failed", "Skipped" or "Blocked".

    Reading it makes an order edge, unless the reader has another edge to the task.

    >>> couler.when(couler.status(upload) == "Skipped", lambda: report())  # doctest: +SKIP
    """
    node = task_of(value)
    return Placeholder(Reference(node, "", "status"), STR, f"{node.name}.status", node.source)


def inputs(value: Any) -> Placeholder:
    """The items of a fan-out that succeeded, in order: they match the lists of its outputs.

    >>> runs = couler.map(train, ["svm", "forest"])  # doctest: +SKIP
    >>> report(couler.inputs(runs), runs.score)  # doctest: +SKIP
    """
    node = task_of(value)
    if node.each is None:
        fail(
            "CLR144",
            f"{node.name} is not a fan-out, so it has no items",
            help="`.inputs` belongs to what couler.map returns",
            kind=PlaceholderError,
        )
    return Placeholder(Reference(node, "", "items"), ListOf(node.each.type), f"{node.name}.inputs", node.source)


def _has(members: dict[str, Any]) -> str:
    return f"it has {', '.join(members)}" if members else "its step returns nothing: annotate what it returns"


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 80 else f"{text[:77]}..."


def _no_member(value: Placeholder, name: str, help_: str) -> NoReturn:
    fail(
        "CLR146",
        f"{value!r} has no member {name!r}",
        help=help_,
        kind=MissingMemberError,
        related=(("made here", value._couler_source),) if value._couler_source else (),
    )


def _unknown(value: Placeholder, what: str, instead: str) -> NoReturn:
    fail(
        "CLR142",
        f"{value!r} can't be used in {what}",
        why="the value is known only when the workflow runs, and this needs it while the workflow is built",
        help=f"use {instead}",
        kind=PlaceholderError,
        related=(("made here", value._couler_source),) if value._couler_source else (),
    )
