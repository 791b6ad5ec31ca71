"""What the variables of a printed program stand for, and which of them it reads."""

from __future__ import annotations

from typing import Any

from couler_py.backends.argo.native.tasks import Form
from couler_py.printer.names import Names, identifier


class Scope:
    """The templates of a document that are written already, and the tasks of the graph at hand.

    Whoever reads a variable marks it used: what nobody reads gets none.
    """

    def __init__(self, names: Names):
        self.names = names
        self._templates: dict[str, str] = {}
        self._inputs: dict[str, frozenset[str]] = {}
        self._tasks: dict[str, str] = {}
        self.used: set[str] = set()
        self.form: Form = "dag"

    def define_template(self, name: str, inputs: frozenset[str]) -> str:
        """The variable of a template that is written now, with these inputs."""
        self._inputs[name] = inputs
        found = self._templates[name] = self.names.free(*wished(name, "template"))
        return found

    def graph(self, form: Form) -> Scope:
        """The scope of a graph's tasks."""
        found = Scope(self.names.inner())
        found._templates = self._templates
        found._inputs = self._inputs
        found.used = self.used
        found.form = form
        return found

    def define_task(self, name: str) -> str:
        """The variable of a task that is written now."""
        found = self._tasks[name] = self.names.free(*wished(name, "step" if self.form == "steps" else "task"))
        return found

    def template(self, name: str) -> str | None:
        """The variable of a template; None for one that isn't written yet, or elsewhere."""
        return self._use(self._templates.get(name))

    def inputs(self, name: Any) -> frozenset[str] | None:
        """The inputs of a template; None for one that isn't written yet, or elsewhere."""
        return self._inputs.get(name) if isinstance(name, str) else None

    def task(self, name: str) -> str | None:
        """The variable of a task of this graph; None for one that isn't written yet."""
        return self._use(self._tasks.get(name))

    def _use(self, variable: str | None) -> str | None:
        if variable is not None:
            self.used.add(variable)
        return variable


def wished(name: str, kind: str) -> tuple[str, str]:
    """The variables that a name would like: small letters, and, where that is taken, its kind behind."""
    plain = identifier(name).lower()
    return plain, f"{plain.rstrip('_')}_{kind}"
