"""What tasks are given, as expressions: plain values, results of other tasks, items of what is mapped, templates."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from couler_py.backends.airflow.importing import facts, settings, templating
from couler_py.backends.airflow.importing.facts import MARK, marked, plain
from couler_py.backends.airflow.importing.made import Slots
from couler_py.backends.airflow.importing.unsayable import UnsayableError
from couler_py.ir import expr as x
from couler_py.ir.expr import TextLike

ELEMENT = "element"
"""The mark of an argument that each item of a mapped task has its own of."""


class Values:
    """Reads the values of one task.

    `result` gives what a task's XCom is, `item` an argument of the mapped group that the task is in, `date` a name of
    the run's date. `modules` are the plain values of the modules with the functions, by file. `whole` is the list of
    objects that the task is mapped over, if it is one whose members aren't known; `inside` are the inputs of the graph
    of a mapped group.
    """

    def __init__(
        self,
        dag: facts.Dag,
        task: facts.Task,
        result: Callable[[str, str], x.Expr],
        item: Callable[[str], x.Expr],
        date: Callable[[str], x.Expr],
        modules: Mapping[str, Mapping[str, Any]],
    ):
        self.dag = dag
        self.task = task
        self.result = result
        self.date = date
        self._item = item
        self.modules = modules
        self.whole: facts.Expansion | None = None
        self.inside: Slots | None = None
        self.types = {each.name: each.type for each in settings.parameters(dag)}
        self.elements: dict[str, list[Any] | None] = {}

    # ---- Surroundings of templates

    def param(self, name: str) -> x.Expr:
        """A parameter of the run; one that only this task has is a value. Raises `UnsayableError`."""
        if name in self.dag.params:
            found = x.WorkflowParameter(name)
            return found if self.inside is None else self.inside.input(found, name)
        if name in self.task.params:
            return self.expr(self.task.params[name])
        raise UnsayableError(
            f"{name!r} is no parameter of the DAG", f"give the DAG params={{{name!r}: ...}}, and import it again"
        )

    def dag_id(self) -> str:
        return self.dag.id

    def task_id(self) -> str:
        return self.task.id

    # ---- values

    def expr(self, value: Any, *, templated: bool = True) -> x.Expr:
        """A value as an expression. Raises `UnsayableError` for what is neither JSON nor a reference."""
        match marked(value):
            case "xcom":
                return self.result(value["task"], value["key"])
            case "item":
                return self._item(value["name"])
            case "element":
                return self.element(value["name"])
            case "member":
                return x.Access(self.element(value["name"]), x.Literal(value["key"]))
            case "param":
                return self.param(value["name"])
            case "seconds" | "datetime":
                return x.Literal(value["value"])
            case "":
                pass
            case _:
                raise UnsayableError(
                    f"the value {value.get('text', value.get('type', marked(value)))} can't travel",
                    "pass what it is made of as plain values, and make it inside the step",
                )
        if isinstance(value, str) and templated and templating.is_template(value):
            return self._whole(value)
        if plain(value) and not (templated and _holds_templates(value)):
            return x.Literal(value)
        if isinstance(value, list):
            return x.Record((), tuple(self.expr(each, templated=templated) for each in value), "list")
        return x.Record(tuple(value), tuple(self.expr(each, templated=templated) for each in value.values()))

    def _whole(self, text: str) -> x.Expr:
        found = templating.parts(text, self)
        if self.dag.native and len(found) == 1 and not isinstance(found[0], str):
            return found[0]
        return x.Text(found)

    def native(self, text: str) -> x.Expr | None:
        """The value that a template is made of and nothing else; None for other templates."""
        found = templating.parts(text, self)
        return found[0] if len(found) == 1 and not isinstance(found[0], str) else None

    def element(self, name: str) -> x.Expr:
        """An argument that each item has its own of."""
        return x.Item() if tuple(self.elements) == (name,) else x.Access(x.Item(), x.Literal(name))

    def text(self, value: Any) -> TextLike:
        """A value as text. Raises `UnsayableError`."""
        found = self.expr(value)
        if isinstance(found, x.Text):
            return found
        if isinstance(found, x.Literal):
            return found.value if isinstance(found.value, str) else str(found.value)
        return x.Text((found,))

    # ---- objects and lists whose members are looked at

    def mapping(self, value: Any, what: str) -> dict[str, Any]:
        """An object by its keys, also where each item has its own. Raises `UnsayableError`."""
        if marked(value) == ELEMENT:
            known = self.elements.get(value["name"])
            if known and all(isinstance(each, dict) and each.keys() == known[0].keys() for each in known):
                return {key: {MARK: "member", "name": value["name"], "key": key} for key in known[0]}
        elif value is None or (isinstance(value, dict) and not marked(value)):
            return dict(value or {})
        raise UnsayableError(f"{what} isn't known before the run", "write it as an object in the DAG")

    def sequence(self, value: Any, what: str) -> list[Any]:
        """A list by its elements, also where each item has its own. Raises `UnsayableError`."""
        if marked(value) == ELEMENT:
            known = self.elements.get(value["name"])
            if known and all(isinstance(each, list) and len(each) == len(known[0]) for each in known):
                return [{MARK: "member", "name": value["name"], "key": index} for index in range(len(known[0]))]
        elif value is None or isinstance(value, list):
            return list(value or [])
        raise UnsayableError(f"{what} isn't known before the run", "write it as a list in the DAG")


def _holds_templates(value: Any) -> bool:
    return any(isinstance(each, str) and templating.is_template(each) for each in facts.walk(value))


def tasks_in(exprs: Iterable[x.Expr | str | None]) -> set[str]:
    """The tasks whose values expressions read."""
    return {node.task for each in exprs for node in x.walk(each) if isinstance(node, x.TaskOutput)}
