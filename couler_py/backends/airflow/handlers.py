"""What runs when the run has ended, and how that counts."""

from __future__ import annotations

from couler_py.backends.airflow.calls import Caller
from couler_py.backends.airflow.emission import Emission
from couler_py.backends.airflow.names import HANDLERS
from couler_py.backends.airflow.scope import Scope
from couler_py.backends.airflow.source import Assign, Edges, Statement, Within
from couler_py.ir.expr import AllOf, Compare, Expr, Literal, Run
from couler_py.ir.model import Handler, Task
from couler_py.ir.names import legal_name
from couler_py.printer.layout import call
from couler_py.printer.literal import quoted
from couler_py.printer.names import Names

STATUS = {"success": "Succeeded", "failure": "Failed"}


def handler_statements(emission: Emission, scope: Scope, names: Names, result: str) -> list[Statement]:
    """The handlers side by side behind the run's last task, and a task that fails if one of them or the run did."""
    inside = Scope(parameters=scope.parameters, published=emission.published, outcome=result)
    caller = Caller(emission, inside, names)
    made: list[Statement] = []
    edges: list[Statement] = []
    ends = [result]
    gate = names.free("ended")
    made.append(Assign(gate, call("gate", quoted("ended"), "TriggerRule.ALL_DONE", result)))
    for handler in emission.workflow.handlers:
        task = Task(
            handler.name,
            handler.call,
            arguments=handler.arguments,
            artifacts=handler.artifacts,
            when=_condition(handler),
            source=handler.source,
        )
        node, statements = caller.task(task, legal_name("airflow", "task", handler.name), "")
        made += statements
        edges.append(Edges((gate,), node.start))
        ends.append(node.end)
    inner = (*made, *edges)
    last = call("gate", quoted("finish"), "TriggerRule.NONE_FAILED", *ends)
    return [Within(HANDLERS, inner), Assign("", last)]


def _condition(handler: Handler) -> Expr | None:
    parts: list[Expr] = []
    if handler.on in STATUS:
        parts.append(Compare("==", Run("status"), Literal(STATUS[handler.on])))
    if handler.when is not None:
        parts.append(handler.when)
    return None if not parts else parts[0] if len(parts) == 1 else AllOf(tuple(parts))
