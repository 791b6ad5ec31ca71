"""Reading files of several documents, and the order and number of findings."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from couler_py.backends.argo.lint import Finding, lint, lint_documents
from couler_py.backends.argo.lint.context import At, Context, Known, calls
from couler_py.backends.argo.lint.fix import fix
from couler_py.backends.argo.lint.frame import known_templates
from couler_py.backends.argo.lint.places import Places
from couler_py.backends.yaml_reader import load, load_all
from tests.unit.backends.argo.lint.mutants import CRON, GRAPH, MUTANTS, WORKFLOW

CONFIG_MAP = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: A_B}\ndata: {on: yes}\n"
BROKEN = "a: [\n"


def places(text: str) -> list[tuple[int, int, str]]:
    return [(each.source.line, each.source.column, each.code) for each in lint(text) if each.source]


def test_documents_of_other_kinds_are_passed_over() -> None:
    binding = "apiVersion: argoproj.io/v1alpha1\nkind: WorkflowEventBinding\nmetadata: {name: a}\nspec: {any: thing}\n"
    assert places(f"{CONFIG_MAP}---\n{binding}---\n{WORKFLOW}---\n") == []


def test_lines_count_from_the_beginning_of_the_file() -> None:
    wrong = WORKFLOW.replace("command", "comand")
    assert places(f"{CONFIG_MAP}---\n{wrong}") == [(20, 7, "CLR422")]


def test_the_documents_beside_a_broken_one_are_linted() -> None:
    wrong = WORKFLOW.replace("command", "comand")
    assert places(f"{wrong}---\n{BROKEN}---\n{wrong}") == [
        (15, 7, "CLR422"),
        (18, 1, "CLR420"),
        (33, 7, "CLR422"),
    ]


def test_a_document_with_a_key_twice_is_linted_too() -> None:
    wrong = WORKFLOW.replace("entrypoint: main", "entrypoint: main\n  entrypont: b\n  entrypoint: main")
    twice, unknown = sorted(lint(wrong), key=lambda each: each.code)
    assert (twice.message, str(twice.source)) == ("the key 'entrypoint' stands twice in this mapping", ":8:3")
    assert [(what, str(source)) for what, source in twice.related] == [("it stands first here", ":6:3")]
    assert (unknown.code, str(unknown.source)) == ("CLR422", ":7:3")


def test_a_list_or_a_word_is_no_document() -> None:
    assert [each.message for each in lint("- a\n---\nword\n---\n3\n")] == [
        "a Kubernetes object is a mapping; this is a list",
        "a Kubernetes object is a mapping; this is text",
        "a Kubernetes object is a mapping; this is a single value",
    ]


def test_the_items_of_a_list_are_documents() -> None:
    items = "".join("- " + "  ".join(text.splitlines(keepends=True)) for text in (CONFIG_MAP, WORKFLOW))
    text = f"apiVersion: v1\nkind: List\nitems:\n{items}"
    assert places(text) == []
    wrong = text.replace("command: [echo]", "comand: [echo]\n        tty: yes")
    assert places(wrong) == [(22, 9, "CLR422"), (23, 14, "CLR429")]
    assert fix(wrong) == wrong.replace("tty: yes", "tty: true")


def test_an_empty_text_has_no_findings() -> None:
    assert lint("") == lint("# nothing\n---\n---\n") == []


def test_a_byte_order_mark_moves_nothing() -> None:
    assert places("\ufeff" + WORKFLOW.replace("command", "comand")) == [(15, 7, "CLR422")]


def test_findings_name_the_file() -> None:
    (finding,) = lint(WORKFLOW.replace("command", "comand"), file="flows/hello.yaml")
    assert str(finding.source) == "flows/hello.yaml:15:7"


def test_data_is_linted_by_path() -> None:
    documents = [load(WORKFLOW), load(WORKFLOW.replace("command", "comand"))]
    assert lint_documents(documents) == [
        (
            1,
            Finding(
                "CLR422",
                "`spec.templates[0].container` has no field 'comand'",
                ("spec", "templates", 0, "container", "comand"),
                on="key",
                help="did you mean 'command'?",
            ),
        )
    ]


def test_findings_stand_in_the_order_of_the_text_and_each_once() -> None:
    text = "---\n".join(mutant.text for mutant in MUTANTS if "key twice" not in mutant.name)
    found = [(each.source, each.code, each.message) for each in lint(text)]
    assert len(found) > 40
    assert found == sorted(found, key=lambda each: (each[0].line, each[0].column, each[1], each[2]))
    assert len(set(found)) == len(found)


# ---- what rules see


def context(text: str) -> Context:
    seen: list[Context] = []
    from couler_py.backends.argo.lint.structure import checked

    for document in load_all(text):
        seen.append(Context(checked(document, "4", "full")[1], raw=document))  # type: ignore[arg-type]
    return seen[0]


def test_a_rule_sees_only_what_has_the_right_type() -> None:
    seen = context(
        WORKFLOW.replace("[echo]", "echo\n      workingDir: 3").replace("  - name: main", "  - 3\n  - name: main")
    )
    assert [each.data for each in seen.templates] == [
        {},
        {"name": "main", "container": {"image": "busybox", "command": []}},
    ]
    assert seen.raw["spec"]["templates"][0] == 3


def test_a_rule_sees_old_fields_as_the_lists_that_they_became() -> None:
    text = WORKFLOW.replace("    container", "    synchronization: {mutex: {name: a, namespace: 3}}\n    container")
    assert context(text).templates[0].data["synchronization"] == {"mutexes": [{"name": "a"}]}
    assert context(text).raw["spec"]["templates"][0]["synchronization"] == {"mutex": {"name": "a", "namespace": 3}}
    place = Places(text).find(0, ("spec", "templates", 0, "synchronization", "mutexes", 0, "name"))
    assert text.split("\n")[place.line - 1][place.column - 1 : place.end - 1] == "a"


def test_what_follows_from_a_refused_value_is_not_said() -> None:
    assert [each.code for each in lint(CRON.replace('"0 3 * * *"', '"at three"'))] == ["CLR423"]
    assert [each.code for each in lint(WORKFLOW.replace("container:\n      image", "container:\n    - image"))] == [
        "CLR423"
    ]
    assert [each.code for each in lint(CRON.replace('schedules: ["0 3 * * *"]', "schedule: 0 3 * * *"))] == ["CLR425"]


def test_templates_are_found_by_name_and_inline() -> None:
    inline = GRAPH.replace("        depends: a\n        template: work", "        inline: {steps: [[{name: x}]]}")
    seen = context(inline)
    path = ("spec", "templates", 0, "dag", "tasks", 1, "inline")
    assert seen.by_name["work"].path == ("spec", "templates", 1)
    assert seen.all_templates[-1] == At(path, {"steps": [[{"name": "x"}]]})
    assert list(calls(seen.all_templates[-1])) == [At((*path, "steps", 0, 0), {"name": "x"})]


def test_the_spec_of_a_cron_workflow_is_inside() -> None:
    seen = context("kind: CronWorkflow\nspec: {workflowSpec: {entrypoint: a}}\n")
    assert (seen.spec_path, seen.spec) == (("spec", "workflowSpec"), {"entrypoint": "a"})


@pytest.mark.parametrize("text", ["kind: Workflow", "kind: CronWorkflow\nspec: 3", "kind: CronWorkflow\nspec:"])
def test_a_spec_that_is_none_is_empty(text: str) -> None:
    assert context(text).spec == {}


def test_templates_of_the_file_and_given_ones_are_known() -> None:
    cluster = GRAPH.replace("WorkflowTemplate", "ClusterWorkflowTemplate").replace("graph", "shared")
    known = known_templates([load(GRAPH), load(cluster)])
    assert known.referenced({"name": "graph"}) == load(GRAPH)["spec"]  # type: ignore[index,call-overload]
    assert known.referenced({"name": "shared", "clusterScope": True}) is not None
    assert known.referenced({"name": "shared"}) is None
    assert Known().referenced({}) is None


# ---- any text


@given(st.text())
def test_any_text_gives_findings_and_no_exception(text: str) -> None:
    lint(text)


@given(st.sampled_from([mutant.text for mutant in MUTANTS if len(mutant.text) < 2000]), st.data())
def test_any_damage_gives_findings_and_no_exception(text: str, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, min(start + 30, len(text))))
    lint(text[:start] + data.draw(st.text("ab:-[]{}&*!|>'\"\n {}=", max_size=8)) + text[end:])


leaves = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5)
values = st.recursive(
    leaves, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3)
)


@given(values, st.data())
def test_any_value_anywhere_gives_findings_and_no_exception(value: object, data: st.DataObject) -> None:
    document = load(data.draw(st.sampled_from([WORKFLOW, GRAPH])))
    where: object = document
    while True:
        steps = list(where) if isinstance(where, dict) else list(range(len(where)))  # type: ignore[arg-type]
        step = data.draw(st.sampled_from(steps))
        inner = where[step]  # type: ignore[index]
        if not isinstance(inner, dict | list) or not inner or data.draw(st.booleans()):
            where[step] = value  # type: ignore[index]
            break
        where = inner
    lint_documents([document])


def test_aliases_without_end_are_refused() -> None:
    bomb = "a: &a [x]\n" + "".join(
        f"{new}: &{new} [{', '.join([f'*{old}'] * 10)}]\n" for old, new in pairwise("abcdefgh")
    )
    (finding,) = lint(bomb)
    assert finding.message == "the aliases repeat more than 1,000,000 values"
