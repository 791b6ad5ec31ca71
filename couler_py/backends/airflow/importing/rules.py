"""Trigger rules as edges: which task waits for which how, and under which condition it runs.

Airflow skips what waits for a skipped task (`all_success`), where our order goes on; so where a task before can be
skipped, the task asks how it ended.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import msgspec

from couler_py.backends.airflow.importing.levels import Level, Node
from couler_py.backends.airflow.importing.made import RESULT, Made
from couler_py.backends.airflow.importing.values import tasks_in
from couler_py.ir import expr as x
from couler_py.ir.model import After
from couler_py.ir.types import ListOf

BRANCHES = ("BaseBranchOperator",)
SHORT_CIRCUITS = ("ShortCircuitOperator",)
DONE = ("all_done", "all_done_min_one_success", "all_done_setup_success", "none_skipped", "one_done")
"""Rules that are, or are nearest to, running whatever happened."""
FAILED = ("all_failed", "one_failed")
NEAREST = {
    "all_done_min_one_success": "it runs whatever happened, also where nothing succeeded",
    "all_done_setup_success": "it runs whatever happened, also where the setup didn't succeed",
    "none_skipped": "it runs whatever happened, also where something was skipped",
    "one_done": "it waits for all",
    "one_success": "it waits for all, and runs where one succeeded and none failed",
    "all_skipped": "a failure before it blocks it, where Airflow skips it",
    "one_failed": "it waits for all, where Airflow starts it with the first failure",
}
"""Rules without an edge of their own, and what is different of the nearest."""


class Edges(msgspec.Struct, frozen=True):
    """How a task waits.

    `reads` takes an expression and gives it with a default wherever a value may be absent. `join` are tasks whose end
    is one thing to wait for: the task then waits for a failure of any of them.
    """

    after: tuple[After, ...]
    when: x.Expr | None
    reads: Callable[[x.Expr], x.Expr]
    join: tuple[str, ...] = ()
    about: tuple[str, ...] = ()


class Rules:
    """The edges of one level. `made` are the templates of its tasks so far, by node."""

    def __init__(self, level: Level, made: Mapping[str, Made]):
        self.level = level
        self.made = made
        self._skippable: dict[str, bool] = {}

    # ---- conditions

    def conditions(self, node: Node) -> list[x.Expr]:
        """What branches and short circuits before a task ask, in the order of the tasks."""
        found = []
        for before in self.level.ancestors(node.id):
            other = self.level.nodes[before]
            if other.task is None:
                continue
            direct = before in node.upstream
            if direct and other.task.is_a(*BRANCHES) and not other.task.is_a(*SHORT_CIRCUITS):
                found.append((before, self._chosen(other, node)))
            elif other.task.is_a(*SHORT_CIRCUITS):
                everywhere = other.task.given.get("ignore_downstream_trigger_rules", True) is not False
                if direct or (everywhere and node.rule != "all_success"):
                    found.append((before, self._result(other, node, x.Literal(True))))
        order = list(self.level.nodes)
        return [each for _, each in sorted(found, key=lambda pair: order.index(pair[0]))]

    def _result(self, other: Node, node: Node, default: x.Expr) -> x.Expr:
        """What a branch gave; where it was skipped itself, it skips nothing that doesn't mind."""
        given = x.TaskOutput(other.name, RESULT)
        if node.rule == "all_success" or not self.skippable(other):
            return given
        return x.OrElse(given, default)

    def _chosen(self, branch: Node, node: Node) -> x.Expr:
        """Whether a branch chose a task, or one that leads to it."""
        ways = [
            each
            for each in self.level.downstream(branch.id)
            if each.id == node.id or each.id in self.level.ancestors(node.id)
        ]
        ids = [name for each in sorted(ways, key=lambda each: each.id != node.id) for name in each.chosen_by]
        made = self.made.get(branch.id)
        if made is not None and made.choices:
            ids = [each for each in ids if each in made.choices] or ids[:1]
        listed = (
            made is not None and bool(made.outputs.parameters) and isinstance(made.outputs.parameters[0].type, ListOf)
        )
        first = x.Literal(ids[0])
        given = self._result(branch, node, x.Record((), (first,), "list") if listed else first)
        asked: list[x.Expr] = [
            x.Contains(given, x.Literal(each)) if listed else x.Compare("==", given, x.Literal(each)) for each in ids
        ]
        return asked[0] if len(asked) == 1 else x.AnyOf(tuple(asked))

    def skippable(self, node: Node) -> bool:
        """Whether a task may be skipped: by a branch, or because what it waits for was."""
        if node.id not in self._skippable:
            self._skippable[node.id] = self._may_be_skipped(node)
        return self._skippable[node.id]

    def _may_be_skipped(self, node: Node) -> bool:
        if node.rule in ("all_failed", "one_failed", "all_skipped") or self.conditions(node):
            return True
        before = [self.skippable(self.level.nodes[each]) for each in node.upstream]
        if node.rule in ("all_success", "one_success", "none_skipped"):
            return any(before)
        return node.rule == "none_failed_min_one_success" and bool(before) and all(before) and not self._one_runs(node)

    def _one_runs(self, node: Node) -> bool:
        """Whether a task waits for all that a branch surely chooses among."""
        for before in self.level.ancestors(node.id):
            branch = self.level.nodes[before]
            made = self.made.get(before)
            if made is None or not made.choices or self.skippable(branch):
                continue
            ways = [each for each in self.level.downstream(before) if each.id in node.upstream]
            alone = {name for each in ways if each.upstream == (before,) for name in each.chosen_by}
            if alone.issuperset(made.choices):
                return True
        return False

    # ---- edges

    def edges(self, node: Node, arguments: Mapping[str, x.Expr]) -> Edges:
        """How a task waits that is given some arguments."""
        conditions = self.conditions(node)
        nodes = {each: self.level.nodes[each] for each in node.upstream}
        rule = node.rule
        about = [NEAREST[rule]] if rule in NEAREST and (rule != "one_failed" or len(nodes) > 1) else []
        if conditions and (rule in DONE or (rule in FAILED and self._apart(node))):
            about.append("it also runs where a branch or short circuit before it would skip it")
        if rule in DONE:
            after = tuple(After(each.name, "always") for each in nodes.values())
            return Edges(after, None, self._with_defaults(arguments, everything=True), about=tuple(about))
        if rule == "always":
            return Edges((), None, self._with_defaults(arguments), about=tuple(about))
        if rule in FAILED and nodes:
            # A condition would wait for its task to succeed, and is not needed: what was skipped hasn't failed.
            failed = {each.name for each in nodes.values()}
            reads = self._with_defaults(arguments, never=failed)
            if rule == "one_failed" and len(nodes) > 1:
                return Edges((), None, reads, tuple(each.name for each in nodes.values()), tuple(about))
            after = tuple(After(each.name, "on_failure") for each in nodes.values())
            return Edges(after, None, reads, about=tuple(about))
        return self._waiting(node, nodes, conditions, arguments, tuple(about))

    def _apart(self, node: Node) -> bool:
        """Whether a task waits for one that has nothing to do with the branches before it."""
        for before in self.level.ancestors(node.id):
            other = self.level.nodes[before]
            if other.task is None or not other.task.is_a(*BRANCHES, *SHORT_CIRCUITS):
                continue
            near = {before} | self.level.ancestors(before)
            if any(each not in near and before not in self.level.ancestors(each) for each in node.upstream):
                return True
        return False

    def _waiting(
        self,
        node: Node,
        nodes: Mapping[str, Node],
        conditions: list[x.Expr],
        arguments: Mapping[str, x.Expr],
        about: tuple[str, ...],
    ) -> Edges:
        """The rules under which a failure before blocks a task."""
        strict = node.rule in ("all_success", "none_skipped")
        direct = {each.name for each in nodes.values()}
        reads = self._with_defaults(arguments, kept=direct if strict else set())
        given = {name for value in arguments.values() for name in tasks_in([value])} | tasks_in(conditions)
        after = tuple(After(each.name) for each in nodes.values() if each.name not in given)
        asked: list[x.Expr] = []
        if strict:
            asked = [succeeded(each.name) for each in nodes.values() if each.name not in given and self.skippable(each)]
        elif node.rule in ("none_failed_min_one_success", "one_success"):
            if all(self.skippable(each) for each in nodes.values()) and not self._one_runs(node):
                asked = _any([succeeded(each.name) for each in nodes.values()])
        elif node.rule == "all_skipped":
            asked = [x.Compare("==", x.TaskStatus(each.name), x.Literal("Skipped")) for each in nodes.values()]
        return Edges(after, _all([*asked, *conditions]), reads, about=about)

    def _with_defaults(
        self,
        arguments: Mapping[str, x.Expr],
        *,
        kept: set[str] = frozenset(),  # type: ignore[assignment]
        never: set[str] = frozenset(),  # type: ignore[assignment]
        everything: bool = False,
    ) -> Callable[[x.Expr], x.Expr]:
        """Values of tasks that may be skipped are None where these were, as `xcom_pull` gives it.

        Not those of `kept`, whose skip is the reader's too; those of `never` are None in any case.
        """
        by_name = {each.name: each for each in self.level.nodes.values()}

        def change(expr: x.Expr) -> x.Expr:
            match expr:
                case x.Access(value=x.OrElse(value=value, default=default), key=key):
                    return x.OrElse(x.Access(value, key), default)
            if not isinstance(expr, x.TaskOutput):
                return expr
            if expr.task in never:
                return x.Literal(None)
            known = by_name.get(expr.task)
            if everything or (known is not None and expr.task not in kept and self.skippable(known)):
                return x.OrElse(expr, x.Literal(None))
            return expr

        return lambda expr: x.rewrite(expr, change)


def succeeded(name: str) -> x.Expr:
    """Whether a task of the graph succeeded."""
    return x.Compare("==", x.TaskStatus(name), x.Literal("Succeeded"))


def _any(asked: list[x.Expr]) -> list[x.Expr]:
    return asked if len(asked) < 2 else [x.AnyOf(tuple(asked))]


def _all(asked: list[x.Expr]) -> x.Expr | None:
    if not asked:
        return None
    return asked[0] if len(asked) == 1 else x.AllOf(tuple(asked))
