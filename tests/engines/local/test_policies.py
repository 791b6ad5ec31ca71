"""Policies hold for runs that come by no other way than the engine's own functions."""

from __future__ import annotations

from pathlib import Path

import pytest

from couler_py.backends.local import execute, retry
from couler_py.ir.diagnostics import DiagnosticError
from couler_py.ir.model import Task
from tests.engines.local.flows import flow, graph, shell


@pytest.fixture
def guarded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder whose settings allow the images of one registry."""
    (tmp_path / "couler.toml").write_text('[policy]\nallow_images = ["registry.example/*"]\n')
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_a_workflow_that_a_policy_forbids_is_not_begun(guarded: Path, home: Path) -> None:
    with pytest.raises(DiagnosticError, match="the image 'busybox' isn't allowed"):
        execute(flow(shell("a", "true"), graph(Task("a", "a"))), home=home)
    assert list((home / "runs").iterdir()) == []


def test_nor_does_a_run_go_on_with_one(guarded: Path, home: Path) -> None:
    workflow = flow(shell("a", "false"), graph(Task("a", "a")))
    settings = (guarded / "couler.toml").read_text()
    (guarded / "couler.toml").unlink()
    record = execute(workflow, home=home)
    (guarded / "couler.toml").write_text(settings)
    with pytest.raises(DiagnosticError, match="the image 'busybox' isn't allowed"):
        retry(record.id, home=home, workflow=workflow)
