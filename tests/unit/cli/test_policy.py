"""A policy is heeded by lint, plan, compile, submit and run: for Python, programs in Argo's words, and YAML."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.unit.cli.conftest import Couler

FLOW = """
import couler_py as couler


@couler.step(image="evil:1")
def one() -> int:
    return 1


@couler.workflow
def flow():
    return one()
"""
YAML = """\
apiVersion: argoproj.io/v1alpha1
kind: Workflow
metadata: {generateName: flow-}
spec:
  entrypoint: main
  templates:
  - name: main
    container:
      image: evil:1
      command: [echo]
      securityContext: {privileged: true}
"""
POLICY = 'allow_images = ["python:*"]\nforbid = ["privileged"]\n'


@pytest.fixture(autouse=True)
def policy(here: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(here / "config"))
    (here / "flow.py").write_text(FLOW)
    (here / "flow.yaml").write_text(YAML)
    (here / "team.toml").write_text(POLICY)
    (here / "couler.toml").write_text('policy = "team.toml"\n')
    return here / "team.toml"


@pytest.mark.parametrize(
    "command",
    [
        ("lint", "flow.py"),
        ("plan", "flow.py"),
        ("compile", "flow.py"),
        ("compile", "flow.py", "--to", "ir"),
        ("submit", "flow.py", "--to", "argo"),
        ("run", "flow.py"),
        ("run", "flow.yaml", "--runtime", "process"),
        ("compile", "flow.yaml"),
        ("plan", "flow.yaml"),
        ("lint", "flow.yaml"),
        ("submit", "flow.yaml", "--to", "argo"),
    ],
)
def test_every_command_refuses_what_the_policy_does(couler: Couler, command: tuple[str, ...], here: Path) -> None:
    shown = couler(*command)
    assert shown.code == 2
    assert "error[CLR900]: the image 'evil:1' isn't allowed" in shown.err
    assert "why: team.toml says so (allow_images)" in shown.err
    assert not (here / ".couler" / "runs").exists() or not list((here / ".couler" / "runs").iterdir())


def test_a_finding_in_yaml_has_its_line_and_column(couler: Couler) -> None:
    found = json.loads(couler("lint", "flow.yaml", "--format", "json").out)["diagnostics"]
    places = [(each["code"], each["line"], each["column"]) for each in found if each["code"].startswith("CLR9")]
    assert places == [("CLR900", 9, 14), ("CLR904", 11, 37)]


def test_a_finding_in_python_has_its_line(couler: Couler) -> None:
    found = json.loads(couler("lint", "flow.py", "--format", "json").out)["diagnostics"]
    assert [(each["code"], each["line"], each["step"]) for each in found] == [("CLR900", 6, "one")]


def test_a_warning_stops_nothing(couler: Couler, policy: Path) -> None:
    policy.write_text('level = "warning"\n' + POLICY)
    shown = couler("compile", "flow.py", "--to", "local")
    assert shown.code == 0
    assert "warning[CLR900]" in shown.err


def test_what_argo_words_add_is_found(couler: Couler, here: Path, policy: Path) -> None:
    added = '@couler.step(image="python:3.11", argo={"script": {"securityContext": {"privileged": True}}})'
    (here / "flow.py").write_text(FLOW.replace('@couler.step(image="evil:1")', added))
    shown = couler("compile", "flow.py")
    assert shown.code == 2
    assert shown.err.count("error[CLR904]") == 1


def test_a_policy_of_the_environment_stacks_on_all_others(
    couler: Couler, here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (here / "couler.toml").write_text('[policy]\nallow_images = ["*"]\n')
    assert couler("lint", "flow.py").code == 0
    monkeypatch.setenv("COULER_POLICY", str(here / "team.toml"))
    assert "why: team.toml says so" in couler("lint", "flow.py").err
    (here / "couler.toml").write_text('[policy]\nallow_images = ["*"]\n[profiles.lax.policy]\nallow_images = ["*"]\n')
    assert couler("lint", "flow.py", "--profile", "lax").code == 2


def test_no_workflow_chooses_its_policy_by_saying_where_it_was_written(couler: Couler, here: Path) -> None:
    (here / "elsewhere").mkdir()
    (here / "elsewhere" / "couler.toml").write_text("")
    (here / "elsewhere" / "flow.py").write_text(FLOW)
    assert couler("lint", "elsewhere/flow.py").code == 2


def test_a_policy_that_is_not_there_stops_everything(couler: Couler, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COULER_POLICY", "/nowhere/policy.toml")
    shown = couler("compile", "flow.py")
    assert shown.code == 2
    assert "the policy /nowhere/policy.toml can't be read: No such file or directory" in shown.err
    assert "it is named by COULER_POLICY, and nothing is done without it" in shown.err


def test_a_mistake_in_a_policy_names_its_line(couler: Couler, policy: Path) -> None:
    policy.write_text('[policy]\nallow_image = ["x"]\n')
    shown = couler("lint", "flow.py")
    assert "there is no key 'allow_image'" in shown.err
    assert "team.toml:2" in shown.err
    assert "did you mean 'allow_images'?" in shown.err


def test_namespaces_are_checked_where_the_engine_has_some(couler: Couler, here: Path, policy: Path) -> None:
    policy.write_text('allow_namespaces = ["team-*"]\n')
    assert couler("compile", "flow.py", "--to", "local").code == 0
    assert "no namespace is named" in couler("compile", "flow.py").err
    assert couler("compile", "flow.py", "-O", "namespace=team-a").code == 0
    assert "the namespace 'prod' isn't allowed" in couler("compile", "flow.py", "-O", "namespace=prod").err
