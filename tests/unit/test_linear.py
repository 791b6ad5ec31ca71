"""Twice the workflow, twice the work: calls of functions are counted, not seconds."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import couler_py as couler
from benchmarks.shapes import SHAPES

N = 100


@couler.step
def number(x: int = 0) -> int:
    return x


@couler.step
def numbers(x: int = 0) -> list[int]:
    return [x]


@couler.step
def total(xs: list[int]) -> int:
    return sum(xs)


@couler.workflow
def twice(x: int = 1) -> int:
    return number(number(x))


def shape(name: str, distinct: bool) -> Callable[[int], None]:
    """One of the graphs that compilers are timed on, its tasks containers."""

    def record(n: int) -> None:
        def template(i: int) -> Any:
            return couler.container(
                f"image-{i}:1",
                ["echo"],
                [couler.argument("value")],
                inputs={"value": str},
                name=f"echo-{i}",
            )

        templates = [template(i) for i in range(n)] if distinct else [template(0)] * n
        tasks: list[Any] = []
        for i, producers in enumerate(SHAPES[name](n)):
            tasks.append(templates[i](value=f"v{i}"))
            for producer in producers:
                tasks[producer] >> tasks[i]

    return record


def values(n: int) -> None:
    x: Any = 1
    for _ in range(n):
        x = number(x)


def fan_outs(n: int) -> None:
    for i in range(n):
        total(couler.map(number, numbers(i)))


def fan_in(n: int) -> None:
    total([number(i) for i in range(n)])  # type: ignore[list-item]


def branches(n: int) -> None:
    x: Any = number()
    for _ in range(n):
        x = couler.when(x > 0, lambda x=x: number(x), otherwise=lambda x=x: number(x))


def sub_workflows(n: int) -> None:
    for i in range(n):
        twice(i)


def failures(n: int) -> None:
    for i in range(n):
        watched = number(i)
        couler.after(number(i), watched, kind="on_failure")
        couler.after(number(i), watched, kind="always")


def findings(n: int) -> None:
    for i in range(n):
        couler.container("alpine:{{x}}", ["echo"], name=f"echo-{i}")()


def calls_to_compile(record: Callable[[int], None], n: int) -> int:
    """How many functions are called, C functions too, from the first line of a program to its YAML."""
    called = 0

    def count(frame: object, event: str, argument: object) -> None:
        nonlocal called
        called += event in ("call", "c_call")

    before = sys.getprofile()
    sys.setprofile(count)
    try:
        with couler.Workflow("linear") as workflow:
            record(n)
        try:
            couler.compile(workflow, to="argo", crds="minimal")
        except couler.DiagnosticError as error:
            assert len(error.diagnostics) == n  # noqa: PT017 - what isn't expected is raised below
            assert record is findings
    finally:
        sys.setprofile(before)
    return called


@pytest.mark.parametrize(
    "record",
    [
        *(
            pytest.param(shape(name, distinct), id=f"{name}-{'distinct' if distinct else 'shared'}")
            for name in ("chain", "wide")
            for distinct in (False, True)
        ),
        values,
        fan_outs,
        fan_in,
        branches,
        sub_workflows,
        failures,
        findings,
    ],
)
def test_twice_the_tasks_take_twice_the_calls(record: Callable[[int], None]) -> None:
    calls_to_compile(record, 10)  # what is loaded and remembered once isn't counted
    assert calls_to_compile(record, 2 * N) / calls_to_compile(record, N) < 2.1


def test_many_python_steps_take_no_more_calls_each(tmp_path: Path) -> None:
    def defined(n: int) -> Callable[[int], None]:
        file = tmp_path / f"steps_{n}.py"
        steps = (f"@couler.step\ndef step_{i}(x: int) -> int:\n    return x + {i}\n" for i in range(n))
        file.write_text("import couler_py as couler\n\n\n" + "\n\n".join(steps))

        def record(_: int) -> None:
            spec = importlib.util.spec_from_file_location(file.stem, file)
            assert spec is not None
            assert spec.loader is not None
            module = importlib.util.module_from_spec(spec)
            sys.modules[file.stem] = module
            try:
                spec.loader.exec_module(module)
            finally:
                del sys.modules[file.stem]
            x: Any = 1
            for i in range(n):
                x = getattr(module, f"step_{i}")(x)

        return record

    calls_to_compile(defined(10), 10)
    assert calls_to_compile(defined(2 * N), 0) / calls_to_compile(defined(N), 0) < 2.1
