"""Each mistake of structure is found, where it stands, and nothing else is."""

from __future__ import annotations

from pathlib import Path

import pytest

from couler_py.backends.argo.lint import lint
from couler_py.ir.codes.lint_structure import CODES
from couler_py.ir.diagnostics import Diagnostic
from tests.unit.backends.argo.lint.mutants import CRON, GRAPH, MUTANTS, WORKFLOW, Mutant

OURS = {code.code for code in CODES} | {"CLR410"}


def found(text: str, **options: str) -> list[Diagnostic]:
    return [each for each in lint(text, **options) if each.code in OURS]  # type: ignore[arg-type]


def only(text: str, **options: str) -> Diagnostic:
    (finding,) = found(text, **options)
    return finding


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name)
def test_a_mistake_is_found_where_it_stands(mutant: Mutant) -> None:
    findings = found(mutant.text)
    assert [(each.source.line, each.source.column, each.code) for each in findings if each.source] == mutant.places


@pytest.mark.parametrize("text", [WORKFLOW, CRON, GRAPH])
def test_right_documents_have_no_findings(text: str) -> None:
    assert found(text) == []


def test_every_code_of_structure_has_a_mutant() -> None:
    assert {code for mutant in MUTANTS for code in mutant.codes} >= OURS - {"CLR410", "CLR426"}


REFUSED = {
    "fun-with-gifs.yaml": ["CLR428", "CLR432"],  # its generateName stands among the labels
    "k8s-jobs.yaml": ["CLR428"],  # neither name nor generateName
}
"""Examples that the API server refuses; tests/engines/argo/test_lint_structure.py asks it about all."""


def test_argos_examples_are_right_but_for_those_that_the_server_refuses(reference_data: Path) -> None:
    files = sorted((reference_data / "argo" / "examples").rglob("*.yaml"))
    wrong = {path.name: [each.code for each in findings] for path in files if (findings := found(path.read_text()))}
    assert wrong == REFUSED


# ---- messages


def test_a_typing_error_gets_the_field_that_was_meant() -> None:
    finding = only(WORKFLOW.replace("command", "comand"))
    assert finding.message == "`spec.templates[0].container` has no field 'comand'"
    assert finding.help == "did you mean 'command'?"


def test_a_field_that_is_there_already_is_not_what_was_meant() -> None:
    finding = only(WORKFLOW.replace("  entrypoint", "  entrypoint2: x\n  entrypoint"))
    assert finding.help == (
        "take it away, or look where it belongs: a field that is indented wrongly ends up elsewhere"
    )


def test_a_number_for_text_is_shown_as_it_has_to_be_written() -> None:
    finding = only(WORKFLOW.replace("Oslo", "1.10"))
    assert finding.message == "`spec.arguments.parameters[0].value` takes text, not the number 1.1"
    assert finding.help == 'write "1.10"'


@pytest.mark.parametrize(
    ("old", "new", "help_"),
    [
        ("[echo]", "echo", "write it as an item: `- ` in front"),
        ("spec:", 'spec:\n  parallelism: "3"', "write 3, without quotes"),
        ("spec:", 'spec:\n  suspend: "true"', "write true, without quotes"),
        ("container:\n      image", "container:\n    - image", "take the `- ` away"),
        ("parameters:\n    - name", "parameters:\n      name", "write it as an item: `- ` in front of its first field"),
    ],
)
def test_a_wrong_type_comes_with_the_way_out(old: str, new: str, help_: str) -> None:
    assert only(WORKFLOW.replace(old, new)).help == help_


def test_patterns_are_said_in_words() -> None:
    resources = "[echo]\n      resources: {limits: {cpu: two}}"
    assert only(WORKFLOW.replace("[echo]", resources)).message == (
        "`spec.templates[0].container.resources.limits.cpu` is a quantity, as 500m, 2 or 1Gi, not 'two'"
    )


def test_a_removed_field_comes_with_what_stands_in_its_place() -> None:
    finding = only(CRON.replace('schedules: ["0 3 * * *"]', 'schedule: "0 3 * * *"'))
    assert (finding.message, finding.help) == (
        "Argo 4.0 took 'schedule' away",
        "write a list: `schedules: [...]`",
    )


# ---- null


@pytest.mark.parametrize("field", ["parallelism", "synchronization", "nodeSelector", "podGC", "hooks"])
def test_kubernetes_drops_a_field_that_is_null(field: str) -> None:
    assert found(WORKFLOW.replace("spec:", f"spec:\n  {field}:")) == []


def test_a_field_that_is_null_excludes_no_other() -> None:
    assert found(WORKFLOW.replace("    container", "    suspend:\n    container")) == []


# ---- versions and installations


def test_minimal_crds_bound_no_lists() -> None:
    many = WORKFLOW + "".join(f"  - name: t{number}\n    suspend: {{}}\n" for number in range(200))
    assert only(many).message == "`spec.templates` has 201 items, and Argo takes at most 200"
    assert found(many, crds="minimal") == []


def test_argo_35_has_the_fields_that_4_took_away() -> None:
    old = CRON.replace('schedules: ["0 3 * * *"]', 'schedule: "0 3 * * *"').replace(
        "    entrypoint", "    synchronization: {mutex: {name: a}}\n    entrypoint"
    )
    assert found(old, engine="3.5") == []
    assert [each.code for each in found(old)] == ["CLR425", "CLR425"]


def test_argo_35_lacks_fields_of_4() -> None:
    finding = found(CRON, engine="3.5")[-1]
    assert (finding.code, finding.message, finding.help) == (
        "CLR426",
        "Argo 3.5 has no field 'schedules' here",
        "write one `schedule`; several schedules are several CronWorkflows",
    )


# ---- size


def graph_of(tasks: int) -> str:
    task = "      - {name: t%d, template: work, arguments: {parameters: [{name: x, value: '%s'}]}}\n"
    return GRAPH.replace(
        "      - name: b\n        depends: a\n        template: work\n",
        "".join(task % (number, "v" * 1000) for number in range(tasks)),
    )


def test_a_workflow_near_the_limit_is_warned_of_and_one_over_it_refused() -> None:
    assert found(graph_of(450), crds="minimal") == []
    near = only(graph_of(600), crds="minimal")
    assert (near.severity, near.source and near.source.line) == ("warning", 8)
    assert near.message == (
        "the workflow is 0.62 MiB of JSON and a run adds 602 nodes, 0.90 MiB in all; "
        "the largest templates are main (636 KiB), work (0 KiB)"
    )
    over = only(graph_of(1000), crds="minimal")
    assert (over.severity, over.code) == ("error", "CLR410")
    items = graph_of(0).replace("      - name: a\n", f"      - name: a\n        withItems: [{'x, ' * 50_000}]\n")
    status = only(items, crds="minimal")
    assert (status.severity, status.code) == ("error", "CLR410")


def test_the_steps_of_35_are_held_to_their_schema_too() -> None:
    steps = GRAPH.replace(
        "    dag:\n      tasks:\n      - name: a\n        template: work\n"
        "      - name: b\n        depends: a\n        template: work\n",
        "    steps:\n    - - name: a\n        template: work\n        wehn: 'true'\n",
    )
    assert only(steps, engine="3.5").message == "`spec.templates[0].steps[0][0]` has no field 'wehn'"


@pytest.mark.parametrize("locks", ["mutexes: [a]", "mutexes: a", "mutexes: [null]", "semaphores: [3]"])
def test_fields_that_argo_3_5_does_not_know_may_be_anything(locks: str) -> None:
    text = (
        "apiVersion: argoproj.io/v1alpha1\nkind: Workflow\nmetadata: {name: a}\nspec:\n  entrypoint: m\n"
        f"  templates:\n  - {{name: m, suspend: {{}}, synchronization: {{{locks}}}}}\n"
    )
    assert [each.code for each in lint(text, engine="3.5") if each.severity == "error"] == ["CLR426"]
