"""What a machine has, and what steps ask of it."""

from __future__ import annotations

import pytest

from couler_py.backends.local.machine.capacity import Share, asked, available, devices, quantity
from couler_py.ir.model import Suspend, Template
from couler_py.ir.pod import Container, Resources


@pytest.mark.parametrize(
    ("text", "number"),
    [("1", 1.0), ("500m", 0.5), ("2Gi", 2.0**31), ("1.5M", 1.5e6), ("1e3", 1000.0), ("100u", 1e-4), ("1E", 1e18)],
)
def test_quantities_are_kubernetes(text: str, number: float) -> None:
    assert quantity(text) == pytest.approx(number, rel=1e-15)


@pytest.mark.parametrize("text", ["", "1 Gi", "x", "1gb"])
def test_what_is_no_quantity_is_said(text: str) -> None:
    with pytest.raises(ValueError, match="is not a quantity"):
        quantity(text)


def test_a_step_that_says_nothing_takes_one_processor() -> None:
    assert asked(Template("a", Suspend())) == Share(1.0, 0.0, 0)
    body = Container("x", ("true",), resources=Resources(cpu="250m", memory="1Gi", gpu=2))
    assert asked(Template("a", body)) == Share(0.25, 2.0**30, 2)


def test_gpus_are_those_that_cuda_may_use(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "2, GPU-abc")
    assert devices() == ["2", "GPU-abc"]
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")
    assert devices() == []


def test_a_daemon_that_serves_takes_only_what_it_asked_for() -> None:
    assert asked(Template("a", Container("x", ("serve",))), processors=0.0) == Share(0.0, 0.0, 0)
    body = Container("x", ("serve",), resources=Resources(cpu="1", gpu=1))
    assert asked(Template("a", body), processors=0.0) == Share(1.0, 0.0, 1)


def test_what_runs_may_use_can_be_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COULER_CPUS", "1500m")
    monkeypatch.setenv("COULER_MEMORY", "2Gi")
    assert available() == Share(1.5, 2.0**31, len(devices()))
    monkeypatch.setenv("COULER_CPUS", "")
    assert available().cpu >= 1


@pytest.mark.parametrize(("text", "why"), [("two", "COULER_CPUS: 'two' is not"), ("0", "COULER_CPUS is '0'")])
def test_a_bound_that_is_none_is_said(text: str, why: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COULER_CPUS", text)
    with pytest.raises(ValueError, match=why):
        available()
