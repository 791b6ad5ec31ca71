"""Passes run in their order, can be left out or asked for, and say what they did."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from msgspec.structs import replace

from couler_py.ir.model import Graph, Task, Template, Workflow
from couler_py.ir.pod import Container
from couler_py.passes.pipeline import Applied, Asked, Pass, UnknownPassError, options_of, transform
from couler_py.passes.situation import Note, Outcome, PassOptionError, Situation

FLOW = Workflow("flow", "main", (Template("main", Graph((Task("a", "work"),))), Template("work", Container("alpine"))))


def named(suffix: str) -> Callable[[Workflow, Situation], Outcome]:
    return lambda workflow, situation: Outcome(replace(workflow, name=workflow.name + suffix))


def test_passes_run_in_order_and_can_be_left_out() -> None:
    passes = (Pass("first", "", named("!")), Pass("second", "", named("?")), Pass("none", "", named("")))
    made, applied = transform(FLOW, without={"second"}, passes=passes)
    assert made.name == "flow!"
    assert applied == (Applied("first", "changed"), Applied("second", "off"), Applied("none", "unchanged"))


def test_a_pass_that_isn_t_for_everybody_waits_for_one_of_its_options() -> None:
    asked = Pass("merge", "", named("!"), default=False, asked=(Asked("merge_chains", "Merge them."),))
    assert transform(FLOW, passes=(asked,)) == (FLOW, (Applied("merge", "off"),))
    situation = Situation(options={"merge_chains": True})
    assert transform(FLOW, situation, passes=(asked,))[0].name == "flow!"
    assert options_of((asked,)) == asked.asked


def test_what_a_pass_says_is_kept() -> None:
    note = Note("a", "dropped", "nobody reads it", "1 step")
    tells = Pass("tells", "", lambda workflow, situation: Outcome(workflow, (note,)))
    assert transform(FLOW, passes=(tells,))[1] == (Applied("tells", "unchanged", "", (note,)),)


def test_a_workflow_in_argo_s_own_words_stays_as_it_is_written() -> None:
    written = replace(FLOW, dialect="argo")
    assert transform(written, passes=(Pass("first", "", named("!")),)) == (written, (Applied("first", "off"),))


def test_where_a_pass_that_was_asked_for_can_t_work_it_says_so() -> None:
    asked = Pass("merge", "", named("!"), default=False, asked=(Asked("merge_chains", "Merge them."),))
    [applied] = transform(replace(FLOW, dialect="argo"), Situation(options={"merge_chains": True}), passes=(asked,))[1]
    assert applied.notes == (Note("flow", "--merge-chains changes nothing", "it is in Argo's own words"),)


def test_a_pass_that_isn_t_there_can_t_be_left_out() -> None:
    with pytest.raises(UnknownPassError, match="there is no pass 'cash'; there are first"):
        transform(FLOW, without={"cash"}, passes=(Pass("first", "", named("!")),))


def test_one_pass_may_be_named_without_a_list() -> None:
    passes = (Pass("first", "", named("!")), Pass("second", "", named("?")))
    assert transform(FLOW, without="second", passes=passes)[0].name == "flow!"


OFF: list[dict[str, object]] = [{each.name: given} for each in options_of() for given in (None, False, "off")]


@pytest.mark.parametrize("options", OFF, ids=str)
def test_every_option_of_a_pass_can_be_off(options: dict[str, object]) -> None:
    assert transform(FLOW, Situation(options=options)) == transform(FLOW)


ODD: list[dict[str, object]] = [
    {each.name: given} for each in options_of() for given in (("", -1, "x") if each.metavar else ("", 0, 1, "yes"))
]


@pytest.mark.parametrize("options", ODD, ids=str)
def test_what_an_option_of_a_pass_can_t_be_is_an_error_that_says_which(options: dict[str, object]) -> None:
    [(name, given)] = options.items()
    with pytest.raises(PassOptionError) as refused:
        transform(FLOW, Situation(options=options))
    assert str(refused.value).startswith(f"{name}={given!r}")


@pytest.mark.parametrize("name", ["batch_fanouts", "merge_chains"])
def test_nothing_at_a_time_is_an_error_and_not_off(name: str) -> None:
    with pytest.raises(PassOptionError, match=f"{name}=0 is "):
        transform(FLOW, Situation(options={name: 0}))


def test_how_often_is_a_number_and_not_yes() -> None:
    with pytest.raises(PassOptionError, match="retry_platform=True is not a number"):
        transform(FLOW, Situation(options={"retry_platform": True}))
