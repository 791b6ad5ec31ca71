"""Workflows written in the cells of a notebook."""

from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

STEPS = """
import couler_py as couler

@couler.step
def double(x: int) -> int:
    return 2 * x

@couler.workflow
def flow(x: int = 4):
    return double(double(x))
"""

RECORDED = """
workflow = flow.build()
print([task.name for task in workflow.templates[0].body.tasks])
with couler.Workflow("cells") as w:
    value = double(1)
value
"""

MISTAKE = """
with couler.Workflow("cells") as w:
    if double(1) > 1:
        pass
"""


SHOWN = """
run = couler.run(flow)
run
"""

FAILS = """
@couler.step
def divide(x: int) -> float:
    print("<dividing>")
    return 1 / x

@couler.workflow
def risky(x: int = 0):
    return divide(x)

couler.run(risky)
"""


def client(*cells: str) -> NotebookClient:
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in cells])
    return NotebookClient(notebook, timeout=120, iopub_timeout=60, coalesce_streams=True, kernel_name="python3")


def test_steps_and_workflows_of_cells() -> None:
    ran = client(STEPS, RECORDED)
    ran.execute()
    printed, shown = ran.nb.cells[1].outputs
    assert printed["text"] == "['double', 'double-2']\n"
    assert shown["data"]["text/plain"] == "<double: int, known when the workflow runs>"


def test_a_mistake_names_its_cell_and_leaves_nothing_behind() -> None:
    ran = client(STEPS, MISTAKE, "double(21)")
    ran.allow_errors = True
    ran.execute()
    (failed,) = ran.nb.cells[1].outputs
    assert failed["ename"] == "PlaceholderError"
    assert "<cell 2>:2: error[CLR142]" in failed["evalue"]
    assert ran.nb.cells[2].outputs[0]["data"]["text/plain"] == "42"


def test_verbs_of_several_cells_are_one_workflow() -> None:
    ran = client(
        "import couler_py.argo as couler\nimport couler_py",
        "couler.run_container('alpine', ['echo'], ['x'], step_name='first');",
        "couler.run_container('alpine', ['echo'], ['y'], step_name='second');",
        "print([task.name for task in couler_py.build().templates[0].body.tasks])",
    )
    ran.execute()
    assert ran.nb.cells[3].outputs[0]["text"] == "['first', 'second']\n"


def test_runs_logs_and_workflows_are_shown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COULER_HOME", str(tmp_path))
    ran = client(STEPS, "flow", SHOWN, FAILS, "_.logs('divide')")
    ran.execute()
    _, (flow,), (run,), (said, failed), (logs,) = [cell.outputs for cell in ran.nb.cells]
    assert flow["data"]["text/plain"] == "<workflow flow>"
    assert flow["data"]["image/svg+xml"].startswith("<svg ")
    assert "Succeeded" in run["data"]["text/plain"]
    assert "<tr><td>result</td><td>16</td></tr>" in run["data"]["text/html"]
    assert said["name"] == "stderr"
    assert "  divide: ZeroDivisionError: division by zero\n" in said["text"]
    assert "Failed: divide failed" in failed["data"]["text/plain"]
    assert logs["data"]["text/plain"].startswith("<dividing>\nTraceback (most recent call last):\n")


INTERRUPTED = """
@couler.step
def wait() -> int:
    import os, time
    os.kill({kernel}, 2)
    time.sleep(60)
    return 1

@couler.workflow
def patient():
    return wait()

couler.run(patient)
"""


def test_interrupting_a_cell_stops_its_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COULER_HOME", str(tmp_path))
    ran = client(
        STEPS + "import os; kernel = os.getpid()",
        INTERRUPTED.replace("{kernel}", "kernel"),
        "from couler_py.backends.local.client import LocalClient\n[run.status for run in LocalClient().list()]",
    )
    ran.allow_errors = True
    ran.execute()
    said, raised = ran.nb.cells[1].outputs
    assert "stopped; `couler resume patient" in said["text"]
    assert raised["ename"] == "KeyboardInterrupt"
    assert ran.nb.cells[2].outputs[0]["data"]["text/plain"] == "['Stopped']"
