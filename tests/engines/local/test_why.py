"""Why a step was computed: what is said of each part of its key that differs from an earlier success."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import msgspec
import pytest

from couler_py.backends.base import RunNotFoundError
from couler_py.backends.local import execute
from couler_py.backends.local.cache.why import Why, explain
from couler_py.ir.expr import Item, Literal, TaskArtifact
from couler_py.ir.interface import ArtifactArgument
from couler_py.ir.model import Argument, Cache, Each, InputArtifact, Inputs, OutputArtifact, Outputs, Task, Template
from couler_py.ir.pod import Container, EnvVar
from couler_py.ir.types import FLOAT, INT
from couler_py.store.content import remove
from tests.engines.local.flows import flow, graph, python, shell


def step(source: str = "return int(c)", **options: Any) -> Template:
    text = f"def fit(c: float) -> int:\n    {source}"
    return python("fit", text, inputs={"c": FLOAT}, output=INT, cache=Cache(), **options)


def run(home: Path, template: Template, **given: Any) -> str:
    arguments = tuple(Argument(name, Literal(value)) for name, value in given.items())
    record = execute(flow(template, graph(Task("a", template.name, arguments))), home=home)
    assert record.status == "Succeeded", record.message
    return record.id


def said(home: Path, run_id: str, task: str = "a") -> list[str]:
    return [change.text for change in explain(run_id, task, home=home).changes]


def test_the_first_run_has_nothing_to_use(home: Path) -> None:
    found = explain(run(home, step(), c=1.0), "a", home=home)
    assert (found.kind, found.text) == ("first", "no earlier success of fit is kept")


def test_an_input_that_changed_is_said_with_both_values(home: Path) -> None:
    first = run(home, step(), c=1.0)
    found = explain(run(home, step(), c=2.0), "a", home=home)
    assert (found.kind, found.earlier) == ("changed", f"{first}/a")
    assert [change.text for change in found.changes] == ["the input 'c' was 1.0, is 2.0"]


def test_source_that_changed_is_said_with_its_lines(home: Path) -> None:
    run(home, step(), c=1.0)
    found = explain(run(home, step("return int(c) + 1"), c=1.0), "a", home=home)
    (change,) = found.changes
    assert change.text == "its source changed"
    assert [line for line in change.diff if line[0] in "+-"] == ["-    return int(c)", "+    return int(c) + 1"]


def test_of_packages_the_image_and_variables_it_is_said_what_changed(home: Path) -> None:
    run(home, step(), c=1.0)
    other = step()
    body = msgspec.structs.replace(other.body, packages=("pytest",), image="python:3.12", env=(EnvVar("MODE", "x"),))
    assert said(home, run(home, msgspec.structs.replace(other, body=body), c=1.0)) == [
        "the image was python:3.11, is python:3.12",
        "the environment variable MODE is new",
        "the package set was none, is pytest",
    ]


def test_the_version_of_a_cache_is_said(home: Path) -> None:
    run(home, msgspec.structs.replace(step(), cache=Cache(version="1")), c=1.0)
    later = run(home, msgspec.structs.replace(step(), cache=Cache(version="2")), c=1.0)
    assert said(home, later) == ["the version of its cache was 1, is 2"]


def test_of_a_file_the_digests_are_said(home: Path) -> None:
    def of(text: str) -> str:
        make = Template(
            "make",
            Container("busybox", ("sh",), ("-c", f"echo {text} > /tmp/couler-why.txt")),
            outputs=Outputs(artifacts=(OutputArtifact("f", path="/tmp/couler-why.txt"),)),
        )
        read = shell("read", "true", cache=Cache())
        read = msgspec.structs.replace(read, inputs=Inputs(artifacts=(InputArtifact("data", path="/tmp/couler-in"),)))
        given = (ArtifactArgument("data", TaskArtifact("m", "f")),)
        record = execute(flow(make, read, graph(Task("m", "make"), Task("r", "read", artifacts=given))), home=home)
        assert record.status == "Succeeded", record.message
        return record.id

    of("one")
    (text,) = said(home, of("two"), "r")
    assert text.startswith("the file of the input 'data' is another: its digest was ")


def test_one_that_is_too_old_is_said_with_its_age(home: Path) -> None:
    first = run(home, step(), c=1.0)
    with closing(sqlite3.connect(home / "couler.sqlite")) as connection, connection:
        connection.execute("UPDATE cache SET created=created-259200")
    later = run(home, msgspec.structs.replace(step(), cache=Cache(max_age=86_400.0)), c=1.0)
    found = explain(later, "a", home=home)
    assert (found.kind, found.max_age) == ("expired", 86_400.0)
    assert found.text == f"what {first}/a made was 3 d old, and max_age is 1 d"


def test_files_that_are_gone_are_said(home: Path, tmp_path: Path) -> None:
    body = Container("busybox", ("sh",), ("-c", f"echo x > {tmp_path}/f"))
    make = Template(
        "make", body, outputs=Outputs(artifacts=(OutputArtifact("f", path=f"{tmp_path}/f"),)), cache=Cache()
    )
    first = run(home, make)
    for blob in (home / "artifacts").glob("??/*"):
        remove(str(blob))
    found = explain(run(home, make), "a", home=home)
    assert found.kind == "gone"
    assert found.text.startswith(f"files that {first}/a made are gone from the store")


def test_one_that_was_used_names_who_made_it(home: Path) -> None:
    first = run(home, step(), c=1.0)
    found = explain(run(home, step(), c=1.0), "a", home=home)
    assert (found.kind, found.earlier) == ("cached", f"{first}/a")


def test_a_step_is_compared_with_the_same_task_of_another_run(home: Path) -> None:
    def mapped(offset: int) -> str:
        worker = shell("work", f"echo {offset}", inputs=["x"], output=INT, cache=Cache())
        task = Task("m", "work", (Argument("x", Item()),), each=Each(Literal([1, 2, 3])))
        return execute(flow(worker, graph(task)), home=home).id

    first = mapped(1)
    found = explain(mapped(2), "m[1]", home=home)
    assert found.earlier == f"{first}/m[1]"
    assert [change.part for change in found.changes] == ["command"]


def test_a_step_without_a_cache_says_so(home: Path) -> None:
    plain = msgspec.structs.replace(step(), cache=None)
    assert explain(run(home, plain, c=1.0), "a", home=home).kind == "no cache"


def test_a_task_that_is_not_there_is_said(home: Path) -> None:
    with pytest.raises(RunNotFoundError, match="has no task 'fit'"):
        explain(run(home, step(), c=1.0), "fit", home=home)


def test_it_is_plain_data() -> None:
    assert msgspec.json.decode(msgspec.json.encode(Why("r", "a", "first", "no")), type=Why).kind == "first"
