"""`couler convert`, and `couler run` of Argo's YAML."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.unit.cli.conftest import Couler

HELLO = """\
apiVersion: argoproj.io/v1alpha1
kind: Workflow
metadata:
  generateName: hello-
spec:
  entrypoint: main
  arguments:
    parameters:
    - {name: who, value: world}
  templates:
  - name: main
    steps:
    - - name: say
        template: say
    - - name: check
        template: wait
        when: "{{= steps.say.outputs.result == 'hello world' }}"
  - name: say
    container:
      image: busybox
      command: [echo, "hello {{workflow.parameters.who}}"]
  - name: wait
    suspend: {duration: "0"}
"""
ELSEWHERE = """\
apiVersion: argoproj.io/v1alpha1
kind: Workflow
metadata: {generateName: hello-}
spec:
  workflowTemplateRef: {name: lib}
"""


def test_yaml_for_this_machine_is_ir(couler: Couler, here: Path) -> None:
    (here / "flow.yaml").write_text(HELLO)
    shown = couler("convert", "flow.yaml", "--to", "local")
    assert shown.code == 0
    assert json.loads(shown.out)["workflow"]["engines"] == {"local": {"rules": "argo"}}


def test_yaml_for_argo_stays_as_it_is(couler: Couler, here: Path) -> None:
    import yaml

    (here / "flow.yaml").write_text(HELLO)
    assert couler("convert", "flow.yaml", "--to", "argo", "-o", "again.yaml").code == 0
    assert yaml.safe_load((here / "again.yaml").read_text()) == yaml.safe_load(HELLO)


def test_what_has_no_meaning_elsewhere_is_said(couler: Couler, here: Path) -> None:
    (here / "flow.yaml").write_text(ELSEWHERE)
    shown = couler("convert", "flow.yaml", "--to", "local")
    assert shown.code == 2
    assert "CLR300" in shown.err


def test_yaml_runs_as_processes_when_that_is_typed(couler: Couler, here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (here / "flow.yaml").write_text(HELLO)
    with monkeypatch.context() as without:
        without.setenv("PATH", "/nowhere")
        refused = couler("run", "flow.yaml")
    assert (refused.code, "--runtime process" in refused.err) == (2, True)
    shown = couler("run", "flow.yaml", "--runtime", "process", "--json")
    assert shown.code == 0
    states = {name: task["status"] for name, task in json.loads(shown.out)["tasks"].items()}
    assert states == {"say": "Succeeded", "check": "Succeeded"}


def test_parameters_of_yaml_are_texts(couler: Couler, here: Path) -> None:
    (here / "flow.yaml").write_text(HELLO)
    shown = couler("run", "flow.yaml", "--runtime", "process", "--json", "-p", "who=you")
    states = {name: task["status"] for name, task in json.loads(shown.out)["tasks"].items()}
    assert states == {"say": "Succeeded", "check": "Skipped"}
