"""The image of `images/train-cpu`, in podman: two processes in it train the built-in model, and a table is fitted."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import couler_py as couler
from couler_py.steps import edit, sklearn
from tests.cluster.containers import CHECKOUT, Podman, train_image

pytestmark = [pytest.mark.cluster, pytest.mark.soak, pytest.mark.timeout(3600)]


@pytest.fixture
def here(podman: Podman, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """Options of a step that runs in the image, with this package as it is in the checkout."""
    monkeypatch.setenv("COULER_HOME", str(tmp_path / "home"))
    return {
        "image": train_image(podman),
        "env": {"PYTHONPATH": "/checkout", "OMP_NUM_THREADS": "1"},
        "volumes": {"/checkout": couler.host_path("checkout", str(CHECKOUT))},
    }


def run(workflow: Any) -> dict[str, Any]:
    """The outputs of a workflow whose steps have no network: what they need is in their image."""
    found = couler.run(workflow, runtime="podman", network="none", allow_host=True, check=True)
    return dict(found.outputs)


def test_two_processes_train_the_built_in_model(here: dict[str, Any]) -> None:
    @couler.workflow
    def main():
        corpus = edit.prepare.with_options(**here)(most=200_000)
        trained = edit.train(corpus, replicas=2, steps=30, sync_every=10, evaluate_every=1, **here)
        return {"model": trained.model, "metrics": trained.metrics, "loss": trained.loss}

    found = run(main)
    told = json.loads(Path(found["metrics"]).read_text())
    assert [each["steps"] for each in told["rounds"]] == [[10, 10]] * 3
    losses = [each["loss"] for each in told["seen"]]
    assert losses[0] > losses[-1] == found["loss"]
    assert (Path(found["model"]) / "model.safetensors").stat().st_size > 0


def test_a_table_is_fitted_without_anything_being_installed(here: dict[str, Any]) -> None:
    @couler.step
    def points() -> Path:
        path = Path("points.csv")
        rows = [f"{a / 14},{b / 9},{'over' if b / 9 > a / 14 else 'under'}" for a in range(15) for b in range(10)]
        path.write_text("\n".join(["a,b,side", *rows]))
        return path

    @couler.workflow
    def main():
        fitted = sklearn.fit.with_options(image=here["image"])(points(), "side", "sklearn.svm.SVC")
        return {"score": fitted.score}

    assert run(main)["score"] > 0.9
