"""Steps in Argo's words as processes: what they print, leave and find, also when they fail."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest
import yaml

from couler_py.backends.argo import load
from couler_py.backends.imported import for_engine
from couler_py.backends.local.api import execute
from couler_py.backends.local.steps import declared
from couler_py.store.records import RunRecord


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COULER_HOME", str(tmp_path / "home"))


def run(templates: str, **spec: Any) -> RunRecord:
    """A run of templates in YAML, the first of which begins."""
    parsed = yaml.safe_load(templates)
    document = {
        "apiVersion": "argoproj.io/v1alpha1",
        "kind": "Workflow",
        "metadata": {"name": "flow", "labels": {"team": "a"}},
        "spec": {"entrypoint": parsed[0]["name"], "templates": parsed, **spec},
    }
    return execute(for_engine(load(yaml.safe_dump(document)), "local")[0])


def shell(name: str, script: str, more: str = "") -> str:
    """The YAML of a template that runs a line of the shell."""
    command = json.dumps(["sh", "-c", script])
    return f"- name: {name}\n  container: {{image: x, command: {command}}}\n{more}"


def states(record: RunRecord) -> dict[str, str]:
    return {path: task.state for path, task in record.tasks.items() if path}


def outputs(record: RunRecord, path: str) -> dict[str, Any]:
    result = record.tasks[path].result
    assert result is not None
    return dict(result.parameters)


def test_a_failed_step_leaves_what_it_wrote_and_its_exit_code(tmp_path: Path) -> None:
    left = tmp_path / "left"
    record = run(
        "- name: main\n  dag:\n    tasks:\n    - {name: a, template: fail, continueOn: {failed: true}}\n"
        "    - name: b\n      template: say\n      dependencies: [a]\n      arguments: {parameters: [{name: v, "
        "value: '{{tasks.a.outputs.parameters.x}} {{tasks.a.exitCode}} {{tasks.a.status}}'}]}\n"
        + shell(
            "fail",
            f"printf written > {left}; exit 3",
            f"  outputs: {{parameters: [{{name: x, valueFrom: {{path: {left}}}}}]}}\n",
        )
        + shell("say", "test '{{inputs.parameters.v}}' = 'written 3 Failed'", "  inputs: {parameters: [{name: v}]}\n")
    )
    assert states(record) == {"a": "Failed", "b": "Succeeded"}
    assert outputs(record, "a") == {"x": "written"}
    assert record.status == "Succeeded"


def test_kubernetes_fills_in_variables_of_the_container() -> None:
    record = run(
        "- name: main\n  steps: [[{name: a, template: say}], [{name: b, template: ok, "
        "when: \"{{= steps.a.outputs.result == 'one-$(A)-$(NONE)' }}\"}]]\n"
        "- name: say\n  container:\n    image: x\n    command: [echo]\n    args: ['$(B)-$$(A)-$(NONE)']\n"
        "    env: [{name: A, value: one}, {name: B, value: $(A)}]\n"
        "- name: ok\n  suspend: {duration: '0'}\n"
    )
    assert states(record) == {"a": "Succeeded", "b": "Succeeded"}, record.message


def test_a_script_may_be_a_program_for_the_shell() -> None:
    record = run("- name: main\n  script: {image: x, command: [sh, -c], source: 'exit 0'}\n")
    assert record.status == "Succeeded"


def test_what_lies_under_a_key_is_found_there(tmp_path: Path) -> None:
    record = run(
        "- name: main\n  dag:\n    tasks:\n    - {name: a, template: make}\n"
        "    - {name: b, template: read, depends: a}\n"
        + shell(
            "make",
            f"mkdir {tmp_path}/made && echo hello > {tmp_path}/made/one.txt",
            "  outputs: {artifacts: [{name: f, s3: {key: '{{workflow.name}}/all/'}, path: " + f"{tmp_path}/made}}]}}\n",
        )
        + shell(
            "read",
            f"grep hello {tmp_path}/read",
            "  inputs: {artifacts: [{name: f, s3: {key: '{{workflow.name}}/all/one.txt'}, path: "
            + f"{tmp_path}/read}}]}}\n",
        )
    )
    assert states(record) == {"a": "Succeeded", "b": "Succeeded"}, record.message


def test_a_part_of_an_artifact(tmp_path: Path) -> None:
    record = run(
        "- name: main\n  dag:\n    tasks:\n    - {name: a, template: make}\n"
        "    - name: b\n      template: read\n      depends: a\n      arguments: {artifacts: [{name: f, "
        "from: '{{tasks.a.outputs.artifacts.f}}', subPath: one.txt}]}\n"
        + shell(
            "make",
            f"mkdir {tmp_path}/made && echo hello > {tmp_path}/made/one.txt",
            f"  outputs: {{artifacts: [{{name: f, path: {tmp_path}/made}}]}}\n",
        )
        + shell(
            "read", f"grep hello {tmp_path}/read", f"  inputs: {{artifacts: [{{name: f, path: {tmp_path}/read}}]}}\n"
        )
    )
    assert states(record) == {"a": "Succeeded", "b": "Succeeded"}, record.message


def test_hooks_of_the_run_have_their_moment() -> None:
    hooks = {
        "begun": {"template": "ok", "expression": "workflow.status == 'Running'"},
        "never": {"template": "ok", "expression": "workflow.status == 'Failed'"},
        "exit": {"template": "ok"},
    }
    record = run(
        "- name: main\n  steps: [[{name: a, template: ok}]]\n- name: ok\n  suspend: {duration: '0'}\n", hooks=hooks
    )
    assert {path: state for path, state in states(record).items() if path.startswith("!")} == {
        "!begun": "Succeeded",
        "!never": "Skipped",
        "!exit": "Succeeded",
    }


def test_a_retry_follows_its_expression(tmp_path: Path) -> None:
    record = run(
        shell(
            "main",
            f"echo x >> {tmp_path}/tries; exit $(wc -l < {tmp_path}/tries)",
            "  retryStrategy: {limit: '5', expression: asInt(lastRetry.exitCode) < 3}\n",
        )
    )
    assert (record.status, record.tasks[""].attempts) == ("Failed", 3)


class Teapot(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.send_response(418)
        self.end_headers()
        self.wfile.write(b'{"short": "stout"}')

    def log_message(self, *_: Any) -> None:
        pass


@pytest.fixture
def address() -> Iterator[str]:
    server = HTTPServer(("127.0.0.1", 0), Teapot)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}/"
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.mark.parametrize(
    ("condition", "status"),
    [
        ("response.statusCode == 418 && response.body contains 'stout'", "Succeeded"),
        ("response.statusCode == 200", "Failed"),
        ("", "Failed"),
    ],
)
def test_a_request_succeeds_by_its_condition(address: str, condition: str, status: str) -> None:
    said = f", successCondition: {yaml.safe_dump(condition).splitlines()[0]}" if condition else ""
    assert run(f"- name: main\n  http: {{url: '{address}'{said}}}\n").status == status


def test_items_that_make_the_folder_of_their_output_take_turns(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(declared, "OPEN_FOLDERS", ())  # pytest's folder lies below one
    out = tmp_path / "out"
    record = run(
        "- name: main\n  steps:\n  - - {name: a, template: make, withItems: [1, 2, 3]}\n"
        + shell(
            "make",
            f"mkdir {out} && echo made > {out}/file",
            f"  outputs: {{parameters: [{{name: x, valueFrom: {{path: {out}/file}}}}]}}\n",
        )
    )
    assert states(record) == dict.fromkeys(["a", "a[0]", "a[1]", "a[2]"], "Succeeded")
    assert [outputs(record, f"a[{number}]")["x"] for number in range(3)] == ["made"] * 3
    assert not out.exists()


def test_the_folder_of_an_output_is_there_where_no_program_makes_it(tmp_path: Path) -> None:
    out = tmp_path / "image" / "file"
    record = run(
        shell("main", f"echo made > {out}", f"  outputs: {{parameters: [{{name: x, valueFrom: {{path: {out}}}}}]}}\n")
    )
    assert record.status == "Succeeded"
