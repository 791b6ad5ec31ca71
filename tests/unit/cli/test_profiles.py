"""Profiles reach everything that is compiled, submitted and run, by command line and by API."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import couler_py
from tests.unit.cli.conftest import Couler

FLOW = """
import couler_py as couler


@couler.step
def one() -> int:
    return 1


@couler.step(image="mine", memory="1Gi")
def two(x: int) -> int:
    return x


@couler.workflow
def flow():
    return two(one())
"""
SETTINGS = """
[profiles.prod]
engine = "argo"
namespace = "prod"
image = "python:3.12"
labels = {team = "ml"}
resources = {memory = "2Gi"}
"""


@pytest.fixture
def project(here: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(here / "config"))
    (here / "couler.toml").write_text(SETTINGS)
    (here / "flow.py").write_text(FLOW)
    return here


def facts(document: dict[str, Any]) -> tuple[str, dict[str, str], list[tuple[str, str]]]:
    containers = [each["script"] for each in document["spec"]["templates"] if "script" in each]
    asked = [(each["image"], each["resources"]["requests"]["memory"]) for each in containers]
    return document["metadata"].get("namespace", ""), document["metadata"]["labels"], asked


def test_compile_fills_in_what_the_workflow_leaves_open(project: Path, couler: Couler) -> None:
    from couler_py.backends.yaml_reader import load_all

    shown = couler("compile", "flow.py", "--profile", "prod")
    assert facts(load_all(shown.out)[0]) == ("prod", {"team": "ml"}, [("python:3.12", "2Gi"), ("mine", "1Gi")])


def test_compile_takes_the_profile_as_an_argument(project: Path) -> None:
    namespace: dict[str, Any] = {}
    exec(compile((project / "flow.py").read_text(), str(project / "flow.py"), "exec"), namespace)
    document = couler_py.compile(namespace["flow"], profile="prod").documents[0]
    assert document["metadata"]["namespace"] == "prod"
    assert "namespace" not in couler_py.compile(namespace["flow"]).documents[0]["metadata"]
    assert (
        couler_py.compile(namespace["flow"], namespace="x", profile="prod").documents[0]["metadata"]["namespace"] == "x"
    )


def test_the_ir_is_written_as_the_workflow_is(project: Path, couler: Couler) -> None:
    shown = couler("compile", "flow.py", "--to", "ir", "--profile", "prod")
    assert "2Gi" not in shown.out


def test_plan_says_what_was_filled_in(project: Path, couler: Couler) -> None:
    shown = couler("plan", "flow.py", "--profile", "prod")
    lines = [line.split() for line in shown.out.splitlines()]
    assert "Filled in from the settings (profile prod)" in shown.out
    assert ["resources.memory", "1", "place", "couler.toml:7"] in lines
    assert ["labels", "1", "place", "couler.toml:6"] in lines
    found = json.loads(couler("plan", "flow.py", "--profile", "prod", "--json").out)
    assert found["profile"] == "prod"
    assert found["filled"][0] == {"key": "resources.memory", "places": 1, "origin": "couler.toml:7"}


def test_a_run_here_uses_the_profile(project: Path, couler: Couler) -> None:
    shown = couler("run", "flow.py", "--profile", "prod", "--json")
    assert json.loads(shown.out)["status"] == "Succeeded"


def test_submit_needs_no_engine_where_the_profile_says_it(project: Path, couler: Couler) -> None:
    assert "--to says where" in couler("submit", "flow.py").err
    shown = couler("submit", "flow.py", "--profile", "prod", "--server", "http://127.0.0.1:1")
    assert (shown.code, "127.0.0.1" in shown.err) == (3, True)
