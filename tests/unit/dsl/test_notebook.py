"""Workflows written in the cells of a notebook."""

import nbformat
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


def client(*cells: str) -> NotebookClient:
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in cells])
    return NotebookClient(notebook, timeout=120, kernel_name="python3")


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
