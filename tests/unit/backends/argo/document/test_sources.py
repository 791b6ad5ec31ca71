"""Where templates and tasks stand in the text that they were read from."""

from __future__ import annotations

from couler_py.backends.argo import dump, load
from couler_py.backends.argo.document import loaded
from couler_py.ir.model import Document, Graph

TEXT = """\
apiVersion: v1
kind: ConfigMap
---
apiVersion: argoproj.io/v1alpha1
kind: CronWorkflow
metadata: {name: nightly}
spec:
  schedules: ["0 3 * * *"]
  workflowSpec:
    entrypoint: main
    templates:
    - name: main
      dag:
        tasks:
        - name: a
          template: inner
        - {name: b, template: inner}
    - name: inner
      steps:
      - - name: s
          template: wait
        - {name: t, template: wait}
      - - name: u
          template: wait
    - {name: wait, suspend: {}}
"""


def places(document: Document) -> dict[str, str]:
    """By template and task, the place that it has."""
    found = {each.name: str(each.source) for each in document.workflow.templates}
    for template in document.workflow.templates:
        if isinstance(template.body, Graph):
            found |= {f"{template.name}/{task.name}": str(task.source) for task in template.body.tasks}
    return found


def test_templates_and_tasks_know_their_places() -> None:
    ((document,), _) = loaded(TEXT, file="flow.yaml", places=True)
    assert places(document) == {
        "main": "flow.yaml:12:7",
        "main/a": "flow.yaml:15:11",
        "main/b": "flow.yaml:17:11",
        "inner": "flow.yaml:18:7",
        "inner/s": "flow.yaml:20:11",
        "inner/t": "flow.yaml:22:11",
        "inner/u": "flow.yaml:23:11",
        "wait": "flow.yaml:25:7",
    }


def test_a_template_without_tasks_has_its_own_place() -> None:
    ((document,), _) = loaded(TEXT, file="flow.yaml", places=True)
    assert str(document.workflow.source) == "flow.yaml:9:3"


def test_without_being_asked_there_are_no_places() -> None:
    assert set(places(load(TEXT, file="flow.yaml")).values()) == {"None"}


def test_places_are_no_part_of_the_text() -> None:
    ((document,), _) = loaded(TEXT, file="flow.yaml", places=True)
    assert dump(document) == dump(load(TEXT))
