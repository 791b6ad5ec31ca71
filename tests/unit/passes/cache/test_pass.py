"""The pass: which steps get a cache where that is asked for, what is said of caches, and that nothing else changes."""

from __future__ import annotations

from hypothesis import given, settings
from msgspec.structs import replace

from couler_py.ir.model import (
    Cache,
    Graph,
    InputArtifact,
    Inputs,
    OutputParameter,
    Outputs,
    Parameter,
    Task,
    Template,
    Workflow,
)
from couler_py.ir.pod import Container
from couler_py.passes.cache import apply
from couler_py.passes.history import History, Observed, work_of
from couler_py.passes.situation import Situation
from couler_py.settings import Settings
from couler_py.settings.model import CacheSettings
from tests.strategies import workflows

STEP = Template(
    "step", Container("alpine"), Inputs((Parameter("x", default=""),)), Outputs((OutputParameter("out", path="/out"),))
)
ASKED = Situation(options={"cache_steps": True})


def flow(*steps: Template) -> Workflow:
    graph = Graph(tuple(Task(each.name, each.name) for each in steps))
    return Workflow("flow", "main", (Template("main", graph), *steps))


def cached(workflow: Workflow, situation: Situation = ASKED) -> set[str]:
    return {each.name for each in apply(workflow, situation).workflow.templates if each.cache is not None}


def test_without_being_asked_nothing_gets_a_cache() -> None:
    assert apply(flow(STEP), Situation()).workflow == flow(STEP)


def test_steps_that_only_turn_inputs_into_outputs_get_a_cache() -> None:
    writes = replace(STEP, name="writes", effects=("db",))
    serves = replace(STEP, name="serves", daemon=True)
    nothing = replace(STEP, name="nothing", outputs=Outputs())
    assert cached(flow(STEP, writes, serves, nothing)) == {"step"}


def test_on_argo_a_step_that_reads_files_gets_none() -> None:
    reads = replace(STEP, name="reads", inputs=Inputs(artifacts=(InputArtifact("f", "/f", optional=True),)))
    assert cached(flow(STEP, reads)) == {"step", "reads"}
    assert cached(flow(STEP, reads), replace(ASKED, engine="argo")) == {"step"}


def test_what_a_step_says_of_its_cache_stays() -> None:
    own = replace(STEP, cache=Cache(max_age=60.0, version="2"))
    assert apply(flow(own), ASKED).workflow == flow(own)


def seen(step: Template, seconds: float, size: int) -> Observed:
    return Observed("flow", step.name, work_of(step), 1, seconds=(seconds,), outputs={"out": (size,)})


def test_under_a_budget_what_saves_least_for_its_bytes_goes_first() -> None:
    dear, cheap = (replace(STEP, name=name, cache=Cache(), body=Container(name)) for name in ("dear", "cheap"))
    history = History.of(seen(dear, 60.0, 600), seen(cheap, 1.0, 600))
    within = Settings(cache=CacheSettings(budget="1kB"))
    notes = apply(flow(cheap, dear), Situation(settings=within, history=history)).notes
    assert [(each.place, each.what, each.saves) for each in notes] == [
        ("dear", "is kept", "60 s a run"),
        ("cheap", "goes first", ""),
    ]
    assert notes[0].why == "600 B for 60 s of work, within 1kB"
    assert {each.what for each in apply(flow(cheap, dear), Situation(history=history)).notes} == {"is kept"}


def test_what_is_larger_than_the_budget_alone_isn_t_kept_and_that_is_why() -> None:
    huge = replace(STEP, name="huge", cache=Cache())
    history = History.of(seen(huge, 60.0, 5000))
    [note] = apply(flow(huge), Situation(settings=Settings(cache=CacheSettings(budget="1kB")), history=history)).notes
    assert (note.what, note.why) == ("isn't kept", "4.88 KiB for 60 s of work: alone it is larger than 1kB")


@given(workflows())
@settings(max_examples=30, deadline=None)
def test_it_is_idempotent_and_changes_nothing_but_caches(workflow: Workflow) -> None:
    once = apply(workflow, ASKED).workflow
    assert apply(once, ASKED).workflow == once
    assert [replace(each, cache=None) for each in once.templates] == [
        replace(each, cache=None) for each in workflow.templates
    ]
