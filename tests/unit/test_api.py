"""`couler.run` and `couler.build`: where a run goes, and when the call returns."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

import couler_py as couler
from couler_py.backends.base import Bundle, NotOffered, RunStatus
from couler_py.ir import Document, Suspend, Template, Workflow

PAUSE = Workflow("pause", "main", (Template("main", Suspend(1.0)),))


class Elsewhere:
    """A client whose runs end as soon as somebody watches them."""

    engine = "argo"

    def __init__(self) -> None:
        self.submitted: list[tuple[Bundle, Mapping[str, Any] | None, dict[str, Any]]] = []
        self.watched: list[str] = []

    def submit(self, bundle: Bundle, *, parameters: Mapping[str, Any] | None = None, **options: Any) -> str:
        self.submitted.append((bundle, parameters, options))
        return "argo:default/pause"

    def status(self, run: str) -> RunStatus:
        return RunStatus(run, "pause", "Succeeded" if run in self.watched else "Running", self.engine)

    def watch(self, run: str) -> Iterator[RunStatus]:
        yield self.status(run)
        self.watched.append(run)
        yield self.status(run)


@pytest.mark.parametrize(("wait", "status"), [(None, "Running"), (False, "Running"), (True, "Succeeded")])
def test_a_run_elsewhere_is_waited_for_only_where_that_is_said(wait: bool | None, status: str) -> None:
    client = Elsewhere()
    assert couler.run(PAUSE, submitter=client, wait=wait).status == status


def test_options_of_the_engine_s_compiler_and_of_its_client_go_their_own_ways() -> None:
    client = Elsewhere()
    couler.run(PAUSE, submitter=client, parameters={}, compile_options={"crds": "minimal"}, labels={"team": "a"})
    ((bundle, parameters, options),) = client.submitted
    assert bundle.documents == couler.compile(PAUSE, to="argo", crds="minimal").documents
    assert (parameters, options) == ({}, {"labels": {"team": "a"}})


def test_a_submitter_is_asked_for_its_client() -> None:
    class Submitter:
        def client(self) -> Elsewhere:
            return client

    client = Elsewhere()
    assert couler.run(PAUSE, submitter=Submitter()).id == "argo:default/pause"


def test_a_submitter_that_is_no_client_is_refused() -> None:
    with pytest.raises(TypeError, match="42 is neither the name of an engine nor a client of one"):
        couler.run(PAUSE, submitter=42)


def test_the_default_submitter_is_used_where_none_is_given() -> None:
    client = Elsewhere()
    couler.set_default_submitter(client)
    try:
        assert couler.run(PAUSE).id == "argo:default/pause"
    finally:
        couler.set_default_submitter(None)


@pytest.mark.parametrize("model", [PAUSE, Document("Workflow", PAUSE)], ids=["workflow", "document"])
def test_ir_is_built_already(model: Any) -> None:
    assert couler.build(model) is PAUSE


def test_outputs_of_a_run_that_failed_raise() -> None:
    run = couler.run(PAUSE, submitter=Failing())
    with pytest.raises(couler.RunFailedError, match="argo:default/pause failed: out of memory"):
        _ = run.outputs


class Failing(Elsewhere):
    """A client whose runs have failed."""

    def status(self, run: str) -> RunStatus:
        return RunStatus(run, "pause", "Failed", self.engine, message="out of memory")


def test_the_ir_takes_no_options() -> None:
    with pytest.raises(TypeError, match="takes no options, and got crds"):
        couler.compile(PAUSE, to="ir", crds="minimal")


@couler.step
def _halve(x: int) -> int:
    return 6 // x


@couler.workflow
def _halving(x: int = 2):  # type: ignore[no-untyped-def]  # as its readers write it
    return _halve(x)


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("COULER_HOME", str(tmp_path / ".couler"))
    return tmp_path


def test_a_run_that_fails_raises_where_that_is_asked_for(here: Path) -> None:
    assert couler.run(_halving, parameters={"x": 0}).status == "Failed"
    with pytest.raises(couler.RunFailedError, match="failed"):
        couler.run(_halving, parameters={"x": 0}, check=True)
    assert couler.run(_halving, check=True).outputs == {"result": 3}


def test_a_run_is_retried_started_anew_explained_and_exported(here: Path) -> None:
    first = couler.run(_halving)
    assert first.retry(start=["_halve"]).status == "Succeeded"
    again = first.rerun({"x": 3})
    assert (again.outputs, again.id != first.id) == ({"result": 2}, True)
    assert again.why("_halve").kind == "no cache"
    assert (again.export(here / "mailed") / "run.json").is_file()


def test_what_only_runs_of_this_machine_can_do_is_said() -> None:
    run = couler.run(PAUSE, submitter=Elsewhere())
    with pytest.raises(NotOffered, match="rerun is for runs on this machine, and argo:default/pause is on argo"):
        run.rerun()
