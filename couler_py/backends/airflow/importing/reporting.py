"""What there is to say of a DAG that is read, each with its place in the file."""

from __future__ import annotations

import re
from pathlib import Path

from couler_py.backends.airflow.importing import facts
from couler_py.backends.airflow.importing.facts import marked
from couler_py.backends.findings import Findings
from couler_py.dsl.sources import shown
from couler_py.ir.model import Source


class Report(Findings):
    """The findings of one DAG."""

    def __init__(self, dag: facts.Dag):
        super().__init__()
        self.dag = dag
        self.file = shown(dag.file)

    def warn(self, code: str, message: str, help_: str = "", task: facts.Task | None = None, why: str = "") -> None:
        """Note something about a task, or about the DAG as a whole."""
        self.problem(
            code,
            message,
            severity="warning",
            step=task.id if task is not None else self.dag.id,
            source=self.source(task),
            why=why,
            help=help_,
        )

    def source(self, task: facts.Task | None) -> Source:
        """Where a task stands; without one, the DAG."""
        return self.place() if task is None else Source(self.file, self.line(task))

    def place(self) -> Source:
        """The file of the DAG."""
        return Source(self.file, 1)

    def line(self, task: facts.Task) -> int:
        """Where a task stands in the file: its function, or the line that first names it."""
        fact = task.given.get("python_callable")
        if marked(fact) == "function" and isinstance(fact, dict) and fact["file"] == self.dag.file:
            return int(fact["line"])
        named = re.compile(rf"""["']{re.escape(task.label)}["']""")
        path = Path(self.dag.file)
        lines = path.read_text(encoding="utf-8").split("\n") if path.is_file() else []
        return next((number for number, line in enumerate(lines, 1) if named.search(line)), 1)
