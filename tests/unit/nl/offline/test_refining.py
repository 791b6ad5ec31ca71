"""A workflow that is there is changed by text; what the text doesn't speak of stays."""

from __future__ import annotations

import difflib

import pytest

from couler_py.ir.model import Schedule, Workflow
from couler_py.nl import ask
from couler_py.printer import print_python

TEXT = "Load customers.csv, clean it, train a model with 10 folds and evaluate it"


@pytest.fixture(scope="module")
def flow() -> Workflow:
    workflow = ask(TEXT).workflow
    assert workflow is not None
    return workflow


def changes(flow: Workflow, text: str) -> list[str]:
    draft = ask(text, refine=flow)
    lines = difflib.ndiff(print_python(flow).splitlines(), draft.source.splitlines())
    return [line for line in lines if line[:2] in ("+ ", "- ")]


def test_a_number_is_changed_where_it_stands(flow: Workflow) -> None:
    assert changes(flow, "use five folds") == [
        "-     evaluate(train_model(clean_data, 10), clean_data)",
        "+     evaluate(train_model(clean_data, 5), clean_data)",
    ]


def test_a_step_that_is_named_gets_the_policy(flow: Workflow) -> None:
    assert changes(flow, "retry train 3 times") == ["- @couler.step", "+ @couler.step(retries=3)"]


def test_a_schedule_is_added_and_its_time_changed_later(flow: Workflow) -> None:
    first = ask("every night at 3 Berlin time", refine=flow).workflow
    assert first is not None
    assert first.schedule == Schedule(("0 3 * * *",), "Europe/Berlin")

    second = ask("every day at 4", refine=first).workflow
    assert second is not None
    assert second.schedule == Schedule(("0 4 * * *",), "Europe/Berlin")


def test_somebody_is_told_of_a_failure(flow: Workflow) -> None:
    found = ask("email ops@example.org on failure", refine=flow).workflow
    assert found is not None

    assert [handler.on for handler in found.handlers] == ["failure"]
    assert found.templates[: len(flow.templates)] == flow.templates


def test_a_step_whose_result_nobody_reads_is_removed(flow: Workflow) -> None:
    found = ask("remove the evaluate step", refine=flow).workflow
    assert found is not None

    assert "evaluate" not in [each.name for each in found.templates]


@pytest.mark.parametrize("text", ["remove the clean step", "use 7 trees", "make it nicer"])
def test_what_can_not_be_done_is_asked_about(flow: Workflow, text: str) -> None:
    draft = ask(text, refine=flow)

    assert draft.workflow is None
    assert draft.questions
