"""What the variables of a printed program stand for, and which of them it reads."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from couler_py.backends.argo.native.tasks import Form
from couler_py.printer.names import Names, identifier

LONGEST = 50
"""Signs of a variable: the rest of a name tells a reader no more, and lines have an end."""


class Variables(Names):
    """The names of a program. Those of one graph's tasks may be another's too, and are nothing else's.

    Blocks have no scope of their own in Python: a variable that was a task can't become a template.
    """

    def __init__(self, taken: Iterable[str] = ()):
        super().__init__(taken)
        self.of_tasks: set[str] = set()

    def __contains__(self, name: str) -> bool:
        return self.is_own(name) or name in self.of_tasks

    def is_own(self, name: str) -> bool:
        """Whether a name is that of a template or document."""
        return super().__contains__(name)

    def inner(self) -> Names:
        """The names of a graph's tasks."""
        return _Tasks(self)

    def copy(self) -> Variables:
        """The names as they stand."""
        found = Variables()
        found.restore(self)
        return found

    def restore(self, before: Names) -> None:
        """Forget what was claimed since `before` was copied."""
        super().restore(before)
        self.of_tasks = set(before.of_tasks) if isinstance(before, Variables) else set()


class _Tasks(Names):
    """The names of the tasks of one graph."""

    def __init__(self, variables: Variables):
        super().__init__()
        self._variables = variables

    def __contains__(self, name: str) -> bool:
        return super().__contains__(name) or self._variables.is_own(name)

    def take(self, name: str) -> str:
        """Claim exactly this name."""
        self._variables.of_tasks.add(name)
        return super().take(name)


class Scope:
    """The templates of a document that are written already, and the tasks of the graph at hand.

    Whoever reads a variable marks it used: what nobody reads gets none.
    """

    def __init__(self, variables: Variables):
        self._variables = variables
        self._names: Names = variables
        self._templates: dict[str, str] = {}
        self._inputs: dict[str, frozenset[str]] = {}
        self._tasks: dict[str, str] = {}
        self.used: set[str] = set()
        self.form: Form = "dag"

    def define_template(self, name: str, inputs: frozenset[str]) -> str:
        """The variable of a template that is written now, with these inputs."""
        self._inputs[name] = inputs
        found = self._templates[name] = self._variables.free(*wished(name, "template"))
        return found

    def graph(self, form: Form) -> Scope:
        """The scope of a graph's tasks."""
        found = Scope(self._variables)
        found._names = self._variables.inner()
        found._templates = self._templates
        found._inputs = self._inputs
        found.used = self.used
        found.form = form
        return found

    def define_task(self, name: str) -> str:
        """The variable of a task that is written now."""
        found = self._tasks[name] = self._names.free(*wished(name, "step" if self.form == "steps" else "task"))
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
    plain = plain if len(plain) <= LONGEST else plain[:LONGEST].rstrip("_")
    return plain, f"{plain.rstrip('_')}_{kind}"
