"""What a cached step is found again by, on a real Airflow: what it is, what it reads of the run, its inputs or key."""

from __future__ import annotations

import resource
import runpy
import time
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import couler_py as couler
from couler_py.ir.expr import Input, TaskOutput, Text, WorkflowParameter
from couler_py.ir.model import (
    Argument,
    Cache,
    Graph,
    Inputs,
    OutputParameter,
    Outputs,
    Parameter,
    Task,
    Template,
    Workflow,
)
from couler_py.ir.pod import Container
from couler_py.ir.types import STR
from tests.airflow import harness

if TYPE_CHECKING:
    from airflow.sdk import DAG

DRAW = ("sh", "-c", "cat /proc/sys/kernel/random/uuid")


def flow(name: str, cache: Cache, *read: Any) -> Workflow:
    """A step that gives something else whenever it runs; it is given `word`, and its command has what is read."""
    drawn = Template(
        "draw",
        Container("alpine:3", DRAW, args=read),
        Inputs((Parameter("word", STR),)),
        Outputs((OutputParameter("o", STR, stdout=True),)),
        cache=cache,
    )
    given = Argument("word", WorkflowParameter("word"))
    body = Graph((Task("draw", "draw", (given,)),))
    outputs = Outputs((OutputParameter("o", STR, value=TaskOutput("draw", "o")),))
    parameters = (Parameter("word", STR), Parameter("beside", STR))
    return Workflow(name, "main", (Template("main", body, outputs=outputs), drawn), parameters)


FLOWS = {
    each.name: each
    for each in (
        flow("cached-by-what-is-read", Cache(), Text((WorkflowParameter("beside"),))),
        flow("cached-by-a-fixed-key", Cache(key="always"), Text((Input("word"),))),
        flow("cached-by-a-made-key", Cache(key=Text((Input("word"), "!")))),
        flow("cached-by-key-and-read", Cache(key="always"), Text((WorkflowParameter("beside"),))),
    )
}


@couler.step(cache=True)
def drawn_file() -> Path:
    """Gives another text whenever it runs."""
    place = Path("drawn")
    place.write_text(Path("/proc/sys/kernel/random/uuid").read_text())
    return place


@couler.workflow(name="cached-file")
def cached_file() -> Path:
    return drawn_file()


FLOWS["cached-file"] = cached_file.build()


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("store")


@pytest.fixture(scope="module")
def dags(airflow_home: Path, store: Path) -> Mapping[str, DAG]:
    texts = {
        name.replace("-", "_"): couler.compile(each, to="airflow", operators="local", artifacts=str(store)).text
        for name, each in FLOWS.items()
    }
    return harness.load(texts, airflow_home)


@pytest.fixture(autouse=True)
def no_naps(monkeypatch: pytest.MonkeyPatch) -> None:
    """Airflow's loop for one DAG sleeps a second whenever only states have to be passed on."""
    monkeypatch.setattr(time, "sleep", lambda seconds: None)


@pytest.mark.parametrize(
    ("name", "word", "beside"),
    [
        ("cached-by-what-is-read", False, False),
        ("cached-by-a-fixed-key", True, True),
        ("cached-by-a-made-key", False, True),
        ("cached-by-key-and-read", True, False),
    ],
)
def test_a_step_is_found_again(name: str, word: bool, beside: bool, dags: Mapping[str, DAG]) -> None:
    """Whether it still is where another `word` is given, and another `beside`."""

    def drawn(**given: str) -> Any:
        ended = harness.run(dags[name.replace("-", "_")], FLOWS[name], {"word": "a", "beside": "b"} | given)
        assert ended.status == "Succeeded"
        return ended.outputs["o"]

    first = drawn()
    assert drawn() == first
    assert [drawn(word="c") == first, drawn(beside="c") == first] == [word, beside]


def test_a_step_runs_again_where_a_file_that_it_left_or_its_record_is_not_whole(
    dags: Mapping[str, DAG], store: Path
) -> None:
    def drawn() -> Any:
        ended = harness.run(dags["cached_file"], FLOWS["cached-file"], {})
        assert ended.status == "Succeeded"
        return ended.outputs["result"]

    before = set((store / "cache").glob("*"))
    first = drawn()
    assert drawn() == first
    (record,) = set((store / "cache").glob("*")) - before
    (kept,) = (each for each in store.glob("cached-file/**/*") if each.is_file())
    kept.unlink()
    second = drawn()
    assert second != first
    assert drawn() == second
    record.write_bytes(record.read_bytes()[:-1])
    third = drawn()
    assert third not in (first, second)
    assert drawn() == third
    assert set((store / "cache").glob("*")) - before == {record}, "no part of a record is left"


def test_a_record_whose_writing_breaks_off_has_no_name(dags: Mapping[str, DAG], tmp_path: Path) -> None:
    file = runpy.run_path(dags["cached_file"].fileloc)
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (4096, hard))
    try:
        with pytest.raises(OSError, match="File too large"):
            file["write_record"](str(tmp_path / "key.json"), {"o": "x" * 100_000})
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert [each.suffix for each in tmp_path.iterdir()] == [".part"]
    assert file["read_record"]({"cache": {"seconds": None}}, str(tmp_path / "key.json")) is None
