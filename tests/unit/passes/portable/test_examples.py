"""Argo's examples as the local engine reads them."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from couler_py.backends.argo import load
from couler_py.backends.imported import for_engine
from couler_py.ir.model import External, Graph
from tests.engines.argo.example_documents import IMPOSSIBLE, RUN, prepared

DATA = Path(os.environ.get("COULER_REFERENCE_DATA", Path(__file__).resolve().parents[5] / "shared" / "data"))
EXAMPLES = DATA / "argo" / "examples"
if not EXAMPLES.is_dir():
    pytest.skip(f"the reference data is not in {DATA}", allow_module_level=True)


def test_every_example_runs_on_both_or_says_why_not() -> None:
    names = {path.relative_to(EXAMPLES).as_posix() for path in EXAMPLES.rglob("*.yaml")}
    assert sorted([*RUN, *IMPOSSIBLE]) == sorted(names)
    assert len(RUN) >= 40


@pytest.mark.parametrize("name", RUN)
def test_the_edits_fit(name: str) -> None:
    assert prepared(EXAMPLES, name)["kind"] == "Workflow"


@pytest.mark.parametrize(
    ("library", "name"),
    [
        ("workflow-template", "dag"),
        ("workflow-template", "steps"),
        ("workflow-template", "workflow-template-ref"),
        ("workflow-template", "workflow-template-ref-with-entrypoint-arg-passing"),
        ("cluster-workflow-template", "cluster-wftmpl-dag"),
        ("cluster-workflow-template", "workflow-template-ref"),
        ("cluster-workflow-template", "workflow-template-ref-with-entrypoint-arg-passing"),
    ],
)
def test_templates_of_the_same_file_are_found(library: str, name: str) -> None:
    templates = "templates" if library == "workflow-template" else "clustertemplates"
    texts = [(EXAMPLES / library / f"{each}.yaml").read_text() for each in (templates, name)]
    workflow, _ = for_engine(load("\n---\n".join(texts)), "local")
    calls = [task.call for each in workflow.templates if isinstance(each.body, Graph) for task in each.body.tasks]
    known = {template.name for template in workflow.templates}
    assert workflow.entrypoint in known
    assert not [call for call in calls if isinstance(call, External) or call not in known]
