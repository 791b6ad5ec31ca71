"""What of a built-in step travels: its own source, and nothing that only this package has."""

from __future__ import annotations

import ast

import pytest

from couler_py import steps
from couler_py.dsl.modules import IN_STEPS
from couler_py.dsl.step import StepFunction

STEPS = {
    f"{name}.{each}": getattr(getattr(steps, name), each)
    for name in steps.MODULES
    for each in getattr(steps, name).__all__
    if name != "katib" and isinstance(getattr(getattr(steps, name), each), StepFunction)
} | {name: getattr(steps, name) for names in steps.STEPS.values() for name in names}

TRAINING = {
    *("edit.prepare", "edit.evaluate", "lora.dispatch", "lora.evaluate", "lora.export"),
    *("hybrid.profile_devices", "hybrid.plan_straggler", "hybrid.plan_elastic", "hybrid.plan_migration"),
    *("hybrid.fit_cost", "hybrid.propose_strategies", "hybrid.dispatch_and_pack"),
    *("hybrid.plan_slices", "hybrid.simulate_schedule"),
    *("dlrm.generate", "dlrm.prepare", "dlrm.evaluate", "dlrm.export"),
}
"""Steps that run where this package is installed, with what it needs to train (docs/steps.md says so)."""

IMPORTS = (ast.Import, ast.ImportFrom)


def modules(node: ast.Import | ast.ImportFrom) -> list[str]:
    return [node.module or ""] if isinstance(node, ast.ImportFrom) else [each.name for each in node.names]


@pytest.mark.parametrize("name", sorted(STEPS))
def test_a_step_needs_of_this_package_only_what_the_runner_brings(name: str) -> None:
    body = STEPS[name].template().body
    imports = [node for piece in body.pieces for node in ast.walk(ast.parse(piece.text)) if isinstance(node, IMPORTS)]
    ours = [node for node in imports if any(name.startswith("couler_py") for name in modules(node))]
    assert name in TRAINING or {each.name for node in ours for each in node.names} <= IN_STEPS
    assert [piece.text for piece in body.pieces if "@step" in piece.text] == []
    assert {piece.file.partition("/")[0] for piece in body.pieces} == {"couler_py"}


def test_all_steps_are_looked_at() -> None:
    assert len(STEPS) == 36
