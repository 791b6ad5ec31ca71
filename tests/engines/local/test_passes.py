"""What passes make of a workflow gives the same results on this machine."""

from __future__ import annotations

import random
from enum import Enum
from pathlib import Path
from typing import NamedTuple

import pytest

import couler_py as couler
from couler_py.ir.expr import Literal, TaskOutput, WorkflowParameter
from couler_py.ir.model import (
    Argument,
    Function,
    Graph,
    Inputs,
    OutputParameter,
    Outputs,
    Parameter,
    Piece,
    Task,
    Template,
    Workflow,
)
from couler_py.ir.types import INT
from couler_py.passes.parallel import apply
from couler_py.passes.resources.advice import advise
from couler_py.passes.situation import Situation
from couler_py.store.history import history
from tests.conformance.random_graphs import random_workflow

DROP = Situation(options={"drop_order_edges": True})


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COULER_HOME", str(tmp_path / "home"))


def changed(seeds: range) -> list[Workflow]:
    found = [random_workflow(seed) for seed in seeds]
    return [workflow for workflow in found if apply(workflow, DROP).workflow != workflow]


@pytest.mark.parametrize("workflow", changed(range(80))[:12])
def test_without_order_edges_a_run_ends_the_same(workflow: Workflow) -> None:
    before = couler.run(workflow, runtime="process").refresh()
    now = couler.run(workflow, runtime="process", drop_order_edges=True).refresh()
    assert (now.status, now.outputs) == (before.status, before.outputs)
    if before.status == "Succeeded":
        assert {task.name: task.status for task in now.tasks} == {task.name: task.status for task in before.tasks}


@couler.step
def cut_off_once() -> int:
    if couler.run_info.attempt == 0:
        raise ConnectionResetError(104, "Connection reset by peer")
    return couler.run_info.attempt


@couler.step
def wrong_once() -> int:
    if couler.run_info.attempt == 0:
        raise ValueError("Connection reset by peer")
    return couler.run_info.attempt


@couler.step(effects="mail")
def cut_off_with_effects() -> int:
    raise ConnectionResetError(104, "Connection reset by peer")


def attempts(step: object) -> tuple[str, int]:
    repeated = step.with_options(retries=couler.retry(2, delay="0.01s", platform_only=True))  # type: ignore[attr-defined]

    @couler.workflow
    def again():
        return repeated()

    [task] = couler.run(again).refresh().tasks
    return task.status, task.attempts


def test_only_faults_of_the_platform_are_tried_again_where_that_is_asked_for() -> None:
    assert attempts(cut_off_once) == ("Succeeded", 2)
    assert attempts(wrong_once) == ("Failed", 1)


def test_what_may_have_had_its_effects_isn_t_tried_again() -> None:
    assert attempts(cut_off_with_effects) == ("Failed", 1)


def test_a_failed_run_says_whose_fault_it_was(capfd: pytest.CaptureFixture[str]) -> None:
    @couler.workflow
    def once():
        return cut_off_once()

    couler.run(once)
    assert "a fault of the platform (machine): a connection was cut by the other side" in capfd.readouterr().err


@couler.step
def fill(size: int) -> int:
    held = bytearray(b"x" * size)
    return len(held)


@couler.workflow
def filling():
    return couler.map(lambda size: fill(size), [10_000_000, 100_000_000, 200_000_000])


def test_what_steps_used_is_measured_and_they_run_as_well_when_they_ask_for_it() -> None:
    before = couler.run(filling)
    [found] = [each for each in history().all() if each.template == "fill"]
    advice = advise("fill", found.attempts)
    assert advice.used_memory is not None
    assert advice.memory_limit is not None
    assert 200_000_000 < advice.used_memory < advice.memory_limit < 800_000_000
    assert couler.run(filling, right_size=True).outputs == before.outputs == {"result": [10**7, 10**8, 2 * 10**8]}


OPERATIONS = (
    "def {name}(x, y=1):\n    return x + y",
    "def {name}(x, y=3):\n    print('{name}', x)\n    return x * y",
    "def {name}(x, y=2):\n    if x > 40: raise ValueError(x)\n    return x - y",
)


def random_program(seed: int) -> Workflow:
    """A workflow of up to nine Python steps over numbers, most of them in chains; some fail."""
    chance = random.Random(f"couler chain {seed}")
    tasks, templates = [], []
    for number in range(chance.randint(4, 9)):
        name = f"t{number}"
        body = Function(name, (Piece(chance.choice(OPERATIONS).format(name=name)),), "one")
        inputs = Inputs((Parameter("x", INT), Parameter("y", INT, default=chance.randint(0, 9))))
        templates.append(Template(name, body, inputs, Outputs((OutputParameter("result", INT),))))
        near = [f"t{number - 1}"] if number and chance.random() < 0.75 else [f"t{i}" for i in range(number)]
        read = chance.choice(near) if near and chance.random() < 0.9 else None
        arguments = [Argument("x", Literal(number) if read is None else TaskOutput(read, "result"))]
        if chance.random() < 0.3:
            arguments.append(Argument("y", WorkflowParameter("by")))
        tasks.append(Task(name, name, tuple(arguments)))
    last = tasks[-1].name
    out = Outputs((OutputParameter("result", INT, value=TaskOutput(last, "result")),))
    main = Template("main", Graph(tuple(tasks)), outputs=out)
    return Workflow("program", "main", (main, *templates), parameters=(Parameter("by", INT, default=4),))


@pytest.mark.parametrize("seed", range(10))
def test_joined_steps_end_and_return_the_same(seed: int) -> None:
    workflow = random_program(seed)
    before = couler.run(workflow, runtime="process").refresh()
    now = couler.run(workflow, runtime="process", merge_chains="all").refresh()
    assert (now.status, now.outputs) == (before.status, before.outputs)
    ended = {task.name: task.status for task in before.tasks}
    blocked_before = {task.name: "Failed" if ended[task.name] == "Blocked" else ended[task.name] for task in now.tasks}
    assert {task.name: "Failed" if task.status == "Blocked" else task.status for task in now.tasks} == blocked_before


def test_the_log_and_the_failure_of_joined_steps_say_which_it_was() -> None:
    ended = couler.run(twofold, merge_chains="all", parameters={"x": -1})
    assert [line.text for line in ended.logs("square")][:4] == [
        "couler: halve (1 of 2)",
        "halving -1",
        "couler: square (2 of 2)",
        "Traceback (most recent call last):",
    ]
    [task] = ended.refresh().tasks
    assert "in square" in task.message
    assert task.message.endswith("ValueError: -0.5 is negative")
    assert couler.run(twofold, merge_chains="all").outputs == {"result": 16.0}


class Both(NamedTuple):
    number: float
    text: str


class Size(Enum):
    SMALL = "s"
    LARGE = "l"


@couler.step
def both(x: int, text: str, size: Size, times: float) -> Both:
    assert isinstance(size, Size)
    return Both(float("nan") if x == 5 else x * times, text + size.value)


@couler.step
def joined(numbers: list[float], texts: list[str]) -> str:
    return f"{numbers} {texts}"


@couler.workflow
def many(times: float = 1.5):
    items = [(i, f"{i}{{{{x}}}}\n", Size.LARGE if i % 3 else Size.SMALL) for i in range(11)]
    found = couler.map(lambda item: both(item[0], item[1], item[2], times), items)
    return joined(found.number, found.text)


@pytest.mark.parametrize("size", [2, 4, 10, 11])
def test_items_in_batches_give_the_same(size: int) -> None:
    before = couler.run(many)
    now = couler.run(many, batch_fanouts=size)
    assert now.outputs == before.outputs
    assert len(now.tasks) == (len(before.tasks) if size == 11 else 3 + -(-11 // size))


@couler.step
def noted(x: int, folder: str) -> int:
    from pathlib import Path

    Path(folder, str(x)).write_text("")
    if x in (1, 4):
        raise ValueError(f"no {x}")
    return x


def test_where_items_fail_the_others_are_worked_on_all_the_same(tmp_path: Path) -> None:
    @couler.workflow
    def noting(folder: str = str(tmp_path)):
        return couler.map(lambda x: noted(x, folder), range(7))

    ended = couler.run(noting, batch_fanouts=3)
    assert ended.status == "Failed"
    assert sorted(path.name for path in tmp_path.iterdir() if path.name.isdigit()) == [str(i) for i in range(7)]
    assert {name: task.status for name, task in ended.tasks.items()} == {
        "noted-batches": "Failed",
        "noted-batches[0]": "Failed",
        "noted-batches[1]": "Failed",
        "noted-batches[2]": "Succeeded",
        "noted": "Blocked",
    }


@couler.step
def halve(x: int) -> float:
    print("halving", x)
    return x / 2


@couler.step
def square(x: float) -> float:
    if x < 0:
        raise ValueError(f"{x} is negative")
    return x * x


@couler.workflow
def twofold(x: int = 8):
    return square(halve(x))


@couler.step
def one() -> int:
    return 1


@couler.step(effects=["db:orders", "mail"])
def write() -> int:
    return 2


@couler.workflow
def chain():
    first, second, third = one(), one(), write()
    first >> second >> third
    return third


def test_effects_of_a_step_reach_the_pass_and_the_pass_the_engine() -> None:
    def order(**options: object) -> list[tuple[str, ...]]:
        from couler_py.ir.codec import from_json

        made = from_json(couler.compile(chain, to="local", **options).text)
        assert isinstance(made, Workflow)
        body = next(each.body for each in made.templates if isinstance(each.body, Graph))
        return [tuple(after.task for after in task.after) for task in body.tasks]

    assert order() == [(), ("one",), ("one-2",)]
    assert order(drop_order_edges=True) == [(), (), ("one-2",)]
    assert order(drop_order_edges=True, without=["parallel"]) == order()
