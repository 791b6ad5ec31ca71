"""`couler lint` of Argo YAML, as its users call it."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest

from tests.unit.backends.argo.lint.mutants import CRON, GRAPH, WORKFLOW
from tests.unit.cli.conftest import Couler

WRONG = WORKFLOW.replace("command", "comand")
REFERRING = """\
apiVersion: argoproj.io/v1alpha1
kind: Workflow
metadata:
  generateName: refer-
spec:
  workflowTemplateRef:
    name: graph
"""


def test_a_right_file_has_nothing_wrong(here: Path, couler: Couler) -> None:
    (here / "flow.yaml").write_text(WORKFLOW)
    shown = couler("lint", "flow.yaml")
    assert (shown.code, shown.out, shown.err) == (0, "", "nothing wrong\n")


def test_a_finding_marks_what_it_is_about(here: Path, couler: Couler) -> None:
    (here / "flow.yaml").write_text(WRONG)
    shown = couler("lint", "flow.yaml")
    assert (shown.code, shown.out) == (2, "")
    assert shown.err == (
        "error[CLR422]: `spec.templates[0].container` has no field 'comand'\n"
        "  --> flow.yaml:15:7\n"
        "   |\n"
        "15 |       comand: [echo]\n"
        "   |       ^^^^^^\n"
        "   = help: did you mean 'command'?\n"
        "\n"
        "1 error; `couler explain CLR422` says more\n"
    )


def test_tools_get_json_with_columns(here: Path, couler: Couler) -> None:
    (here / "flow.yaml").write_text(WRONG)
    shown = couler("lint", "flow.yaml", "--format", "json")
    assert shown.code == 2
    assert json.loads(shown.out) == {
        "diagnostics": [
            {
                "code": "CLR422",
                "severity": "error",
                "message": "`spec.templates[0].container` has no field 'comand'",
                "file": "flow.yaml",
                "line": 15,
                "column": 7,
                "endColumn": 13,
                "step": None,
                "why": None,
                "help": "did you mean 'command'?",
                "related": [],
            }
        ]
    }


def test_folders_are_searched_and_files_are_linted_once(here: Path, couler: Couler) -> None:
    (here / "flows" / "deep").mkdir(parents=True)
    (here / "flows" / "b.yml").write_text(WRONG)
    (here / "flows" / "deep" / "a.yaml").write_text(WRONG)
    (here / "flows" / "notes.txt").write_text("a: [")
    shown = couler("lint", "flows", "flows/b.yml")
    assert [line for line in shown.err.splitlines() if "-->" in line] == [
        "  --> flows/b.yml:15:7",
        "  --> flows/deep/a.yaml:15:7",
    ]
    assert "2 errors" in shown.err


def test_stdin_is_read_for_a_dash(here: Path, couler: Couler, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO(WRONG))
    shown = couler("lint", "-")
    assert shown.code == 2
    assert "--> <stdin>:15:7\n   |\n15 |       comand: [echo]\n" in shown.err


def test_a_json_file_of_an_object_is_linted_as_one(here: Path, couler: Couler) -> None:
    (here / "flow.json").write_text('{"apiVersion": "argoproj.io/v1alpha1", "kind": "Workflow", "metadata": {}}')
    shown = couler("lint", "flow.json")
    assert shown.code == 2
    assert "CLR424" in shown.err


def test_python_and_yaml_go_together(here: Path, flow: str, couler: Couler) -> None:
    (here / "flow.yaml").write_text(WRONG)
    assert couler("lint", flow, "flow.yaml").err.count("error[") == 1


def test_warnings_are_errors_only_when_asked(here: Path, couler: Couler) -> None:
    (here / "flow.yaml").write_text(WORKFLOW.replace("  entrypoint", "  suspend: yes\n  entrypoint"))
    assert couler("lint", "flow.yaml").code == 0
    assert couler("lint", "--strict", "flow.yaml").code == 2


def test_the_engine_says_which_fields_there_are(here: Path, couler: Couler) -> None:
    (here / "cron.yaml").write_text(CRON)
    assert couler("lint", "cron.yaml").code == 0
    assert "CLR426" in couler("lint", "cron.yaml", "--engine", "argo@3.5").err
    shown = couler("lint", "cron.yaml", "--engine", "argo@2")
    assert (shown.code, shown.err.strip()) == (
        2,
        "error: --engine 'argo@2': YAML is linted for argo@4 or argo@3.5",
    )


def test_to_names_the_version_too(here: Path, couler: Couler) -> None:
    (here / "cron.yaml").write_text(CRON)
    assert "CLR426" in couler("lint", "cron.yaml", "--to", "argo@3.5").err


def test_templates_of_the_cluster_are_known(here: Path, couler: Couler) -> None:
    (here / "refer.yaml").write_text(REFERRING)
    (here / "templates.yaml").write_text(GRAPH)
    assert couler("lint", "refer.yaml", "--cluster-templates", "templates.yaml").err == "nothing wrong\n"
    assert couler("lint", "refer.yaml", "templates.yaml").err == "nothing wrong\n"


@pytest.mark.parametrize(
    ("file", "message"),
    [
        ("gone.yaml", "there is no file 'gone.yaml'"),
        ("empty", "there is no YAML file in empty"),
        ("latin.yaml", "latin.yaml isn't UTF-8 text: invalid start byte at byte 4"),
    ],
)
def test_what_can_t_be_read_is_said(here: Path, couler: Couler, file: str, message: str) -> None:
    (here / "empty").mkdir()
    (here / "latin.yaml").write_bytes(b"a: M\xfcnchen\n")
    shown = couler("lint", file)
    assert shown.code == 2
    assert message in shown.err


@pytest.mark.parametrize("text", ["", "# nothing yet\n", "---\n---\n"])
def test_a_file_without_a_document_is_said_to_be_one(here: Path, couler: Couler, text: str) -> None:
    (here / "empty.yaml").write_text(text)
    shown = couler("lint", "empty.yaml")
    assert (shown.code, shown.err) == (0, "there is no document in empty.yaml\n")


# ---- --fix


def test_fix_rewrites_the_file_and_reports_the_rest(here: Path, couler: Couler) -> None:
    (here / "flow.yaml").write_text(WRONG.replace("  entrypoint", "  suspend: yes # wait\n  entrypoint"))
    (here / "flow.yaml").chmod(0o640)
    shown = couler("lint", "--fix", "flow.yaml")
    assert shown.code == 2
    assert shown.err.startswith("fixed flow.yaml\n")
    assert "CLR422" in shown.err
    assert "CLR429" not in shown.err
    assert (here / "flow.yaml").read_text() == WRONG.replace("  entrypoint", "  suspend: true # wait\n  entrypoint")
    assert (here / "flow.yaml").stat().st_mode & 0o777 == 0o640
    assert [path.name for path in here.iterdir() if path.name.startswith(".flow")] == []


def test_fix_leaves_a_right_file_alone(here: Path, couler: Couler) -> None:
    (here / "flow.yaml").write_bytes(WORKFLOW.replace("\n", "\r\n").encode())
    before = (here / "flow.yaml").stat()
    assert couler("lint", "--fix", "flow.yaml").err == "nothing wrong\n"
    after = (here / "flow.yaml").stat()
    assert (before.st_mtime_ns, before.st_ino) == (after.st_mtime_ns, after.st_ino)


def test_fix_goes_through_a_link(here: Path, couler: Couler) -> None:
    (here / "real.yaml").write_text(WORKFLOW.replace("  entrypoint", "  suspend: yes\n  entrypoint"))
    (here / "link.yaml").symlink_to("real.yaml")
    couler("lint", "--fix", "link.yaml")
    assert (here / "link.yaml").is_symlink()
    assert "suspend: true" in (here / "real.yaml").read_text()


def test_diff_shows_and_writes_nothing(here: Path, couler: Couler) -> None:
    text = WORKFLOW.replace("  entrypoint: main", "  suspend: yes\n  entrypoint: main")
    (here / "flow.yaml").write_text(text)
    shown = couler("lint", "--diff", "flow.yaml")
    assert shown.code == 0
    assert "-  suspend: yes\n+  suspend: true\n" in shown.out
    assert "CLR429" in shown.err
    assert (here / "flow.yaml").read_text() == text


def test_fixed_stdin_goes_to_stdout(here: Path, couler: Couler, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO(WORKFLOW.replace("  entrypoint", "  suspend: yes\n  entrypoint")))
    shown = couler("lint", "--fix", "-")
    assert shown.out == WORKFLOW.replace("  entrypoint", "  suspend: true\n  entrypoint")
    assert shown.err == "nothing wrong\n"


def test_fix_is_for_yaml(flow: str, couler: Couler) -> None:
    shown = couler("lint", "--fix", flow)
    assert (shown.code, shown.err.strip()) == (2, "error: --fix rewrites YAML, and flow.py is none")
