"""How it looks: the workflow's own function, for each thing that can be said."""

from __future__ import annotations

import datetime
from pathlib import Path
from typing import Any, NamedTuple

import pytest

import couler_py as couler
from tests.unit.printer.rebuilt import printed


class Scored(NamedTuple):
    score: float
    model: Path


@couler.step
def load(seed: int) -> Path:
    return Path(str(seed))


@couler.step
def train(data: Path, c: float = 1.0) -> Scored:
    return Scored(c, data)


@couler.step
def numbers() -> list[int]:
    return [1, 2]


@couler.step
def double(n: int) -> int:
    return 2 * n


@couler.step
def publish(model: Path) -> str:
    return str(model)


@couler.step
def alert(score: float) -> str:
    return str(score)


@couler.step
def note(text: str) -> None:
    print(text)


def body(workflow: Any) -> str:
    """The function of the workflow, as it is printed."""
    source = printed(couler.build(workflow))
    return source[source.rindex("@couler.workflow") :]


def test_values_and_conditions() -> None:
    @couler.workflow
    def main(seed: int = 0):
        best = train(load(seed), 0.5)
        return couler.when(best.score > 0.9, lambda: publish(best.model), otherwise=lambda: alert(best.score))

    assert body(main) == (
        "@couler.workflow\n"
        "def main(seed: int = 0):\n"
        "    train_result = train(load(seed), 0.5)\n"
        "    return couler.when(\n"
        "        train_result.score > 0.9, lambda: publish(train_result.model), "
        "otherwise=lambda: alert(train_result.score)\n"
        "    )\n"
    )


def test_a_fan_out_and_its_items() -> None:
    @couler.workflow
    def main(data: str = "x"):
        file = load(1)
        runs = couler.map(lambda c: train(file, c), [0.1, 1.0], parallel=2, tolerate=1)
        note(couler.format("{} of {}", runs.score, couler.inputs(runs)))

    assert body(main) == (
        "@couler.workflow\n"
        'def main(data: str = "x"):\n'
        "    load_result = load(1)\n"
        "    train_result = couler.map(lambda c: train(load_result, c), [0.1, 1.0], parallel=2, tolerate=1)\n"
        '    note(couler.format("{} of {}", train_result.score, couler.inputs(train_result)))\n'
    )


def test_a_fan_out_over_pairs_takes_them_apart() -> None:
    @couler.workflow
    def main():
        file = load(1)
        couler.map(lambda n, c: train.named("fit")(file, c), [(1, 0.5), (2, 0.25)])
        couler.map(double, couler.sequence(count=3))

    assert "couler.map(double, couler.sequence(count=3))" in body(main)


def test_a_fan_out_of_several_steps_is_a_function_in_place() -> None:
    @couler.workflow
    def main():
        def each(n: int) -> int:
            return double(double(n))

        return couler.map(each, numbers())

    assert body(main) == (
        "@couler.workflow\n"
        "def main():\n"
        "    def each(n):\n"
        "        return double(double(n))\n"
        "\n"
        "    return couler.map(each, numbers())\n"
    )


def test_edges_and_defaults() -> None:
    @couler.workflow
    def main():
        first, second = double(1), double(2)
        couler.after(note("later"), first, second)
        couler.after(note("mend"), first, kind="on_failure")
        return couler.when(first > 3, lambda: double(first)).or_else(couler.first(first, second))

    text = body(main)
    assert 'couler.after(note("later"), n, double_result)' in text
    assert 'couler.after(note("mend"), n, kind="on_failure")' in text
    assert "return double_result_2.or_else(couler.first(n, double_result))" in text


def test_loops() -> None:
    @couler.workflow
    def main():
        return couler.loop(double, until=lambda n: n > 100, initial=1, max_iterations=9)

    assert "return couler.loop(double, until=lambda result: result > 100, initial=1, max_iterations=9)" in body(main)


def test_handlers_and_what_they_read() -> None:
    @couler.workflow
    def main():
        value = double(1)
        couler.publish("twice", value)
        couler.on_failure(lambda: note(couler.format("{}: {}", couler.run_info.status, couler.published("twice"))))

    assert body(main) == (
        "@couler.workflow\n"
        "def main():\n"
        "    double_result = double(1)\n"
        '    couler.publish("twice", double_result)\n'
        '    couler.on_failure(lambda: note(couler.format("{}: {}", couler.run_info.status, '
        'couler.published("twice"))))\n'
    )


def test_a_workflow_as_a_step() -> None:
    @couler.workflow
    def inner(x: int) -> int:
        """What it is for."""
        return double(double(x))

    @couler.workflow
    def main():
        return inner.named("here")(inner(1))

    source = printed(couler.build(main))
    assert (
        "@couler.workflow\n"
        "def inner(x: int) -> int:\n"
        '    """What it is for."""\n'
        "    return double(double(x))\n" in source
    )
    assert 'return inner.named("here")(inner(1))' in source


def test_options_of_a_workflow() -> None:
    @couler.workflow(
        schedule="0 3 * * *",
        timezone="Europe/Berlin",
        parallelism=4,
        deadline="2h",
        mutex="nightly",
        labels={"team": "ml"},
        entrypoint="start",
    )
    def main():
        note(couler.format("{}", couler.run_info.scheduled_time))

    text = body(main)
    for option in (
        'entrypoint="start"',
        'schedule="0 3 * * *"',
        'timezone="Europe/Berlin"',
        "parallelism=4",
        'deadline="2h"',
        'mutex="nightly"',
        'labels={"team": "ml"}',
    ):
        assert option in text


def test_options_of_a_step() -> None:
    @couler.step(
        image="python:3.12",
        packages=["requests>=2"],
        cpu=2,
        memory="4Gi",
        gpu=1,
        retries=couler.retry(3, delay="10s", factor=2.0, when=couler.last_attempt.exit_code == 137),
        timeout="10m",
        cache=couler.cache(max_age="1d"),
        env={"TOKEN": couler.secret("api", "token"), "MODE": "fast"},
        volumes={"/data": couler.existing_claim("data", "training-data")},
        tolerations=[couler.Toleration(key="gpu", operator="Exists")],
    )
    def work() -> int:
        return 1

    @couler.workflow
    def main():
        return work()

    source = printed(couler.build(main))
    assert source[source.index("@couler.step") :] == (
        "@couler.step(\n"
        '    image="python:3.12",\n'
        '    packages=["requests>=2"],\n'
        "    cpu=2,\n"
        '    memory="4Gi",\n'
        "    gpu=1,\n"
        '    env={"TOKEN": couler.secret("api", "token"), "MODE": "fast"},\n'
        '    retries=couler.retry(3, delay="10s", factor=2.0, when=couler.last_attempt.exit_code == 137),\n'
        '    timeout="10m",\n'
        '    cache=couler.cache(max_age="1d"),\n'
        '    volumes={"/data": couler.existing_claim("data", "training-data")},\n'
        '    tolerations=[couler.Toleration(key="gpu", operator="Exists")],\n'
        ")\n"
        "def work() -> int:\n"
        "    return 1\n"
        "\n"
        "\n"
        "@couler.workflow\n"
        "def main():\n"
        "    return work()\n"
    )


def test_steps_that_are_no_functions() -> None:
    shout = couler.container(
        "alpine:3.20",
        ["tr", "a-z", "A-Z"],
        [couler.argument("word")],
        name="shout",
        inputs={"word": str},
        outputs={"loud": couler.stdout()},
    )
    count = couler.script(
        "alpine:3.20",
        'echo "$word" |\n  wc -c\n',
        name="count",
        inputs={"word": str},
        outputs={"n": couler.stdout(int)},
    )
    wait = couler.suspend("10m", name="wait")
    ask = couler.suspend(name="ask", outputs={"ok": bool, "why": (str, "no reason")})
    get = couler.http("https://example.org/", name="get", headers={"Authorization": couler.secret("api", "token")})
    apply = couler.resource(
        {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "x"}, "data": {"k": couler.argument("value")}},
        action="apply",
        name="apply",
        inputs={"value": str},
    )

    @couler.workflow
    def main():
        loud = shout("hello")
        couler.after(wait(), count(loud))
        ask()
        apply(get())

    source = printed(couler.build(main))
    assert 'COUNT_SOURCE = """echo "$word" |\n  wc -c\n"""\n' in source
    assert (
        "shout = couler.container(\n"
        '    "alpine:3.20",\n'
        '    ["tr", "a-z", "A-Z"],\n'
        '    [couler.argument("word")],\n'
        '    name="shout",\n'
        '    inputs={"word": str},\n'
        '    outputs={"loud": couler.stdout()},\n'
        ")\n" in source
    )
    assert 'wait = couler.suspend("10m", name="wait")\n' in source
    assert 'ask = couler.suspend(name="ask", outputs={"ok": bool, "why": (str, "no reason")})\n' in source
    assert '"data": {"k": couler.argument("value")}' in source
    assert "couler.template" not in source


def test_types_of_parameters_have_classes() -> None:
    class Point(NamedTuple):
        x: int
        y: int

    @couler.workflow
    def inner(point: Point, at: datetime.datetime) -> int:
        return double(point.x)

    @couler.workflow
    def main():
        return inner({"x": 1, "y": 2}, couler.run_info.start)

    source = printed(couler.build(main))
    assert "class Point(TypedDict):\n    x: int\n    y: int\n" in source
    assert "def inner(point: Point, at: datetime) -> int:\n" in source


@pytest.mark.parametrize("length", [90, 5400, 86400, 36.5])
def test_lengths_of_time_come_back(length: float) -> None:
    @couler.step(timeout=length)
    def work() -> None:
        pass

    @couler.workflow
    def main():
        work()

    printed(couler.build(main))
