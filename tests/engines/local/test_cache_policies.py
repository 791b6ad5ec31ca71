"""The cache held to its budget by a policy: on real runs, while others go on, and read back as traces."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
from msgspec.structs import replace

from couler_py.backends.local import execute
from couler_py.backends.local.cache.settling import surplus
from couler_py.ir.expr import Literal, TaskArtifact
from couler_py.ir.model import (
    Argument,
    ArtifactArgument,
    Cache,
    InputArtifact,
    OutputArtifact,
    Outputs,
    Task,
    Workflow,
)
from couler_py.passes.cache.forecast import forecast
from couler_py.passes.cache.policies import POLICIES
from couler_py.passes.cache.replay import replay
from couler_py.store import cache
from couler_py.store.database import connect
from couler_py.store.home import open_home
from couler_py.store.traces import recent, traced
from tests.engines.local.flows import flow, graph, shell

Budget = Callable[[str, str], None]


@pytest.fixture
def held(monkeypatch: pytest.MonkeyPatch) -> Budget:
    """Hold the cache to a budget, by a policy."""

    def to(budget: str, policy: str) -> None:
        monkeypatch.setenv("COULER_CACHE_BUDGET", budget)
        monkeypatch.setenv("COULER_CACHE_POLICY", policy)

    return to


def pipeline(c: str, size: int = 3000) -> Workflow:
    """`data` makes a file, soon had; `model` a tenth of it, with work."""
    data = replace(
        shell("data", f"head -c {size} /dev/zero > /tmp/f", cache=Cache()),
        outputs=Outputs(artifacts=(OutputArtifact("f", "/tmp/f"),)),
    )
    model = shell("model", f"sleep 0.3; head -c {size // 10} /tmp/d > /tmp/m", inputs=["c"], cache=Cache())
    model = replace(
        model,
        inputs=replace(model.inputs, artifacts=(InputArtifact("d", "/tmp/d"),)),
        outputs=Outputs(artifacts=(OutputArtifact("m", "/tmp/m"),)),
    )
    given = (Argument("c", Literal(c)),)
    read = (ArtifactArgument("d", TaskArtifact("data", "f")),)
    return flow(data, model, graph(Task("data", "data"), Task("model", "model", given, artifacts=read)))


def cached(home: Path, workflow: Workflow) -> set[str]:
    done = execute(workflow, home=home)
    assert done.status == "Succeeded", done.message
    return {path for path, task in done.tasks.items() if task.cached}


def test_what_is_kept_is_within_the_budget(home: Path, held: Budget) -> None:
    held("3500", "foresight")
    cached(home, pipeline("1"))
    with closing(connect(open_home(home))) as connection:
        assert 0 < sum(each.size for each in cache.entries(connection)) <= 3500
    assert len(cached(home, pipeline("1"))) == 1


def test_what_cost_most_stays(home: Path) -> None:
    cached(home, pipeline("1"))
    with closing(connect(open_home(home))) as connection:
        for dear, cheap in (("model", "data"), ("data", "model")):
            connection.execute("UPDATE cache SET seconds=CASE step WHEN ? THEN 100 ELSE 1 END", (dear,))
            assert [each.step for each in surplus(connection, 3500, "foresight")] == [cheap]
        assert surplus(connection, 4000, "foresight") == []


def test_another_policy_can_be_chosen(home: Path, held: Budget) -> None:
    held("3500", "none")
    cached(home, pipeline("1"))
    assert cached(home, pipeline("1")) == set()
    held("3500", "all")
    cached(home, pipeline("1"))
    assert cached(home, pipeline("1")) == {"data", "model"}


def test_without_a_budget_everything_stays(home: Path, held: Budget) -> None:
    held("", "lru")
    cached(home, pipeline("1"))
    assert cached(home, pipeline("1")) == {"data", "model"}


def test_a_run_has_what_was_let_go_while_it_went_on(home: Path, held: Budget) -> None:
    """Every result is let go at the end of the run that made it; what its tasks hand on isn't."""
    held("1", "foresight")
    workflow = pipeline("1")
    assert cached(home, workflow) == set()
    assert cached(home, workflow) == set()


def test_runs_are_read_back_as_a_trace(home: Path) -> None:
    for c in ("1", "2", "1"):
        execute(pipeline(c), home=home)
    place = open_home(home)
    with closing(connect(place)) as connection:
        trace = traced(connection, recent(connection, 10)).trace("runs")
    data, *models = sorted(trace.artifacts, key=lambda each: each.step)
    assert [each.step.rpartition("/")[2] for each in (data, *models)] == ["data", "model", "model"]
    assert all(each.inputs == (data.key,) and each.seconds >= 0.3 and each.size > 300 for each in models)
    assert [len(asked) for asked in trace.rounds] == [2, 2, 2]
    assert trace.rounds[0] == trace.rounds[2] != trace.rounds[1]
    assert replay(trace, POLICIES["none"](), 0, forecast).hits == 0
    assert replay(trace, POLICIES["all"](), 0, forecast).hits == 3
