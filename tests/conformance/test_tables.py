"""The tables of the cases, written by hand, and the functions in `couler_py.ir` say the same."""

from __future__ import annotations

import pytest

from tests.conformance.case import Case
from tests.conformance.cases import PODLESS, pairs_of_edges
from tests.conformance.interpreter import interpret


@pytest.mark.parametrize("case", [*PODLESS, *pairs_of_edges.PACKED], ids=str)
def test_hand_written_table_agrees_with_the_ir(case: Case) -> None:
    result = interpret(case.build())
    assert {name: result.tasks.get(name) for name in case.tasks} == case.tasks
    assert result.state == case.status
    if case.status == "Succeeded":
        assert result.outputs == case.outputs
