"""A training on two nodes, which are agents of torchrun on this machine, and all that comes back from them."""

from __future__ import annotations

import itertools
from collections import defaultdict
from pathlib import Path
from typing import Any

import msgspec
import pytest

import couler_py as couler
from couler_py.steps import edit

pytestmark = pytest.mark.timeout(600)  # five processes import torch, beside whatever else runs


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    folder = tmp_path_factory.mktemp("nodes")

    @couler.workflow
    def main():
        corpus = edit.prepare(most=100_000)
        shared = str(folder / "shared")
        return edit.train(corpus, replicas=2, nodes=2, steps=6, sync_every=3, save_every=3, shared=shared, image="any")

    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("COULER_HOME", str(folder / "home"))
        outputs = couler.run(main, check=True).outputs
    return outputs | {"shared": folder / "shared"}


def test_model_and_numbers_come_back(trained: dict[str, Any]) -> None:
    metrics = msgspec.json.decode(Path(trained["metrics"]).read_bytes())
    assert [each["steps"] for each in metrics["rounds"]] == [[3, 3], [3, 3]]
    assert trained["loss"] == metrics["seen"][-1]["loss"]
    assert (Path(trained["model"]) / "model.safetensors").stat().st_size > 0
    assert {path.name.split("-")[0] for path in trained["shared"].iterdir()} == {"corpus", "train"}


def test_the_page_shows_what_the_rounds_were_like(trained: dict[str, Any]) -> None:
    page = Path(trained["report"]).read_text()
    assert page.count("data:image/svg+xml") == 6  # one more where a replica was left out
    for heading in ("Loss", "Pseudo-gradients", "Weights", "Left out", "Between replicas"):
        assert f">{heading}<" in page
    assert "No replica was left out of any round." in page


def test_the_trace_is_one_that_perfetto_reads(trained: dict[str, Any]) -> None:
    """Google's Trace Event Format: complete events with times in microseconds, of one row nested or apart."""
    trace = msgspec.json.decode(Path(trained["trace"]).read_bytes())
    assert set(trace) == {"traceEvents", "displayTimeUnit"}
    rows: dict[tuple[int, int], list[tuple[float, float, str]]] = defaultdict(list)
    names: dict[tuple[int, int], str] = {}
    for event in trace["traceEvents"]:
        assert isinstance(event["pid"], int)
        assert isinstance(event["tid"], int)
        if event["name"] == "thread_name":
            names[event["pid"], event["tid"]] = event["args"]["name"]
        if event["ph"] != "M":
            assert event["ph"] == "X"
            assert event["ts"] >= 0
            assert event["dur"] >= 0
            rows[event["pid"], event["tid"]].append((event["ts"], event["ts"] + event["dur"], event["name"]))
    assert {pid for pid, _ in rows} == {1, 2}
    for row, spans in rows.items():
        for (start, end, _), (later, last, name) in itertools.combinations(
            sorted(spans, key=lambda s: (s[0], -s[1])), 2
        ):
            assert later >= end - 1e-3 or last <= end + 1e-3, (names[row], name, start)
    by_name = {names[row]: {name for _, _, name in spans} for row, spans in rows.items() if row[0] == 1}
    assert {"forward", "backward", "optimizer"} <= by_name["compute"]
    assert {"norms", "send: layers.0", "agree: layers.0", "send: outside of layers"} <= by_name["round"]
    assert {"between: plan", "between: layers.0", "between: layers.1"} <= by_name["in flight"]
    assert "between: plan" in by_name["wait"]
