"""A split workflow on the local engine: the states and outputs of the whole, whatever its tasks do."""

from __future__ import annotations

from pathlib import Path

import pytest

import couler_py as couler
from couler_py.backends.base import backend
from couler_py.backends.local.client import LocalClient
from couler_py.ir import Workflow
from couler_py.ir.expr import Input, TaskOutput, Text
from couler_py.ir.graph import templates_by_name
from couler_py.ir.model import (
    After,
    Argument,
    Graph,
    Inputs,
    OutputParameter,
    Outputs,
    Parameter,
    Suspend,
    Task,
    Template,
)
from couler_py.passes.check import check
from couler_py.passes.pipeline import transform
from couler_py.passes.situation import Situation
from couler_py.passes.split import Budget, SplitError
from couler_py.passes.split.applying import apply
from couler_py.passes.split.mark import parts_of
from couler_py.passes.split.nesting import nested
from couler_py.passes.split.preparing import prepared
from couler_py.passes.split.splitting import Splitting, Weights, not_split, split
from tests.conformance.case import Case
from tests.conformance.harness import Result, comparable, run_local
from tests.conformance.random_graphs import random_workflow
from tests.conformance.suite import WRITTEN

NAMES = (
    "branch-one-step-each",
    "branch-over-texts-with-quotes",
    "artifact-files-of-a-tolerant-fan-out",
    "or-else",
    "fan-out-tolerating",
)
CHOSEN = [case for case in WRITTEN if case.name.startswith(NAMES) and not not_split(case.build())]


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COULER_HOME", str(tmp_path))


def in_parts(workflow: Workflow, most: int) -> tuple[Splitting, Workflow]:
    """A workflow in parts of at most so many tasks, without those that stand for others."""
    ready = prepared(workflow)
    graph = templates_by_name(ready)[ready.entrypoint].body
    assert isinstance(graph, Graph)
    sizes = {task.name: (1,) for task in graph.tasks}
    made = split(ready, Budget(slots=2), Weights(("tasks",), (most,), sizes, (0,), (0,), (0,)))
    return made, nested(ready, made)


def own_tasks(result: Result, splitting: Splitting) -> dict[str, str]:
    """The states of the tasks of a split run, without those that stand for others, by their names in the whole."""
    inside = {(part.name, name) for part in splitting.parts for name in part.tasks}
    found = {}
    for path, state in result.tasks.items():
        part, _, task = path.partition("/")
        if (part, task.split("/")[0].split("[")[0].split("#")[0]) in inside:
            found[task] = state
    return found


def assert_equal(case: Case, most: int) -> None:
    workflow = case.build()
    splitting, made = in_parts(workflow, most)
    assert [each for each in check(made) if each.severity == "error"] == []
    whole = run_local(case)
    parts = run_local(Case(case.name, lambda: made, {}, "", parameters=case.parameters))
    assert parts.status == whole.status
    assert comparable(parts.outputs) == comparable(whole.outputs)
    states = own_tasks(parts, splitting)
    assert {name: states.get(name) for name in whole.tasks} == whole.tasks


def can_be_split(workflow: Workflow) -> bool:
    return not not_split(workflow)


SEEDS = [seed for seed in range(300) if can_be_split(random_workflow(seed, 12))][:60]


@pytest.mark.parametrize("seed", SEEDS)
def test_random_graphs_end_as_the_whole(seed: int) -> None:
    assert_equal(Case(f"graph {seed}", lambda: random_workflow(seed, 12), {}, ""), 3)


@pytest.mark.parametrize("case", CHOSEN, ids=str)
def test_written_cases_end_as_the_whole(case: Case) -> None:
    assert_equal(case, 4)


def wide(tasks: int, width: int) -> Workflow:
    """Layers of tasks that join the texts of two of the layer before; without processes."""
    nothing = Template("nothing", Suspend(duration=0))
    say = Template(
        "say",
        Graph((Task("wait", "nothing"),)),
        Inputs((Parameter("a"), Parameter("b"))),
        Outputs((OutputParameter("out", value=Text((Input("a"), "-", Input("b")))),)),
    )
    made = []
    for number in range(tasks):
        layer, place = divmod(number, width)
        if layer:
            before = [(layer - 1) * width + (place + step) % width for step in (0, 1)]
            text = [TaskOutput(f"t{each}", "out") for each in before]
            values = [Text((f"{number % 7}",)), text[0] if layer % 5 == 0 else Text((f"{place}",))]
            after = tuple(After(f"t{each}") for each in before)
        else:
            values, after = [Text(("x",)), Text((f"{place}",))], ()
        arguments = tuple(Argument(name, value) for name, value in zip("ab", values, strict=True))
        made.append(Task(f"t{number}", "say", arguments, after=after))
    outputs = tuple(OutputParameter(f"o{n}", value=TaskOutput(f"t{n}", "out")) for n in range(tasks - width, tasks))
    main = Template("main", Graph(tuple(made)), outputs=Outputs(outputs))
    return Workflow("wide", "main", (main, say, nothing))


def test_5000_tasks_in_parts_give_the_same_outputs() -> None:
    workflow = wide(5000, 100)
    run = couler.run(workflow, runtime="process")
    parts = couler.run(workflow, runtime="process", split=Budget(tasks=600, slots=16))
    assert len({path.partition("/")[0] for path in parts.tasks if path.startswith("part-")}) >= 10
    assert parts.outputs == run.outputs
    assert len(parts.outputs) == 100


def test_what_fits_stays_whole_and_what_is_split_is_not_split_again() -> None:
    workflow = wide(60, 10)
    asked = Situation(options={"split": "tasks=30"})
    made, applied = transform(workflow, asked)
    [split_once] = [each for each in applied if each.name == "split"]
    assert split_once.state == "changed"
    assert "parts of" in split_once.notes[0].what
    assert "level slices" in split_once.notes[0].why
    assert len(parts_of(made)) > 1
    assert transform(made, asked)[0] == made
    assert transform(workflow, Situation(options={"split": "tasks=60"}))[0] == workflow
    assert transform(workflow, Situation())[0] is workflow


def test_a_part_too_small_for_a_task_is_an_error_that_names_it() -> None:
    with pytest.raises(SplitError, match=r"t10 can't be in any: .*4 tasks"):
        apply(wide(60, 10), Situation(options={"split": Budget(tasks=4)}))


@pytest.mark.parametrize("text", ["tasks=x", "parts=3", "half", "tasks=0", "tasks=5,tasks=6", "start=nan", "", 0])
def test_budgets_that_mean_nothing_are_refused(text: object) -> None:
    with pytest.raises(SplitError):
        transform(wide(60, 10), Situation(options={"split": text}))


def failing_once(there: Path) -> Workflow:
    """Two chains in parts; the second begins with a step that fails until a file is there."""

    @couler.step
    def picky(n: int, file: str) -> int:
        from pathlib import Path

        if file and not Path(file).exists():
            raise ValueError("not yet")
        return n

    @couler.step
    def plus(a: int, b: int) -> int:
        return a + b

    @couler.workflow
    def chains():  # type: ignore[no-untyped-def]
        good, bad = picky(1, ""), picky(2, str(there))
        for _ in range(4):
            good = plus(good, 1)
        for _ in range(4):
            bad = plus(bad, 1)
        return {"good": good, "bad": bad}

    return couler.build(chains)


def test_what_splitting_adds_is_not_shown_and_a_retry_runs_what_failed_with_all_that_follows(tmp_path: Path) -> None:
    there = tmp_path / "there"
    made, _ = transform(failing_once(there), Situation(options={"split": "tasks=7,slots=2"}))
    client = LocalClient()
    run = client.submit(backend("local").compile(made), runtime="process")
    *_, failed = client.watch(run)
    inside = {task.name.partition("/")[2]: task for task in failed.tasks if "/" in task.name}
    blocked = {f"plus-{number}" for number in range(5, 9)}
    assert failed.status == "Failed"
    assert failed.message == "tasks in its parts failed"
    assert set(inside) == {"picky", "picky-2", *(f"plus-{number}" for number in range(2, 9)), "plus"}
    assert {name for name, task in inside.items() if task.status == "Failed"} == {"picky-2"}
    assert {name for name, task in inside.items() if task.status == "Blocked"} == blocked
    there.write_text("")
    client.retry(run)
    *_, last = client.watch(run)
    assert (last.status, last.outputs) == ("Succeeded", {"good": 5, "bad": 6})
    began = {task.name.partition("/")[2]: task.started for task in last.tasks if "/" in task.name}
    assert {name for name in inside if began[name] != inside[name].started} == {"picky-2", *blocked}
