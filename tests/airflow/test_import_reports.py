"""What of a DAG has no counterpart is said task by task, with its line and the way out; nothing is dropped silently."""

from __future__ import annotations

import contextlib
import io
import json
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

import msgspec
import pytest

import couler_py as couler
from couler_py.backends.airflow.importing import Imported, workflow_of
from couler_py.backends.airflow.importing.facts import Dag, Facts
from couler_py.backends.airflow.importing.levels import Level, levels
from couler_py.backends.airflow.importing.reading import read
from couler_py.ir import DiagnosticError
from couler_py.ir.graph import templates_by_name
from couler_py.ir.meaning import edges
from couler_py.ir.model import Function, Graph, Semaphore, Workflow
from couler_py.printer import print_python
from tests.airflow import harness
from tests.conformance.cases import PODLESS
from tests.conformance.suite import WRITTEN

FILE = Path(__file__).with_name("dags") / "beyond.py"


@pytest.fixture(scope="module")
def facts() -> dict[str, tuple[Facts, Dag]]:
    found = read(str(FILE), sys.executable)
    return {dag.id: (found, dag) for dag in found.dags}


def told(made: Imported) -> dict[str, list[str]]:
    """The codes and messages by the task that they are about."""
    found: dict[str, list[str]] = {}
    for each in made.diagnostics:
        assert each.source is not None
        found.setdefault(each.step, []).append(f"{each.code} {each.message}")
    return found


def body_of(workflow: Workflow) -> Graph:
    body = templates_by_name(workflow)[workflow.entrypoint].body
    assert isinstance(body, Graph)
    return body


def waits(workflow: Workflow) -> dict[str, set[str]]:
    return {task.name: {name for edge in edges(task) for name in edge.tasks} for task in body_of(workflow).tasks}


def test_a_step_that_fails_stands_for_an_operator_without_a_counterpart(
    facts: Mapping[str, tuple[Facts, Dag]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COULER_HOME", str(tmp_path))
    made = workflow_of(*facts["operators"])
    assert told(made) == {
        "trigger": ["CLR533 its operator, TriggerDagRunOperator, has no counterpart"],
        "wait": ["CLR533 its operator, PythonSensor, has no counterpart"],
        "latest": ["CLR533 its operator, LatestOnlyOperator, has no counterpart"],
    }
    lines = FILE.read_text().split("\n")
    for each in made.diagnostics:
        assert each.source is not None
        assert f'task_id="{each.step}"' in lines[each.source.line - 1]
        assert each.help
    with contextlib.redirect_stdout(io.StringIO()):
        run = couler.run(made.workflow, runtime="process")
    assert run.tasks["trigger"].status == "Failed"
    assert "the task 'trigger' of Airflow: its operator, TriggerDagRunOperator" in run.tasks["trigger"].message


def test_with_partial_it_is_left_out_and_order_goes_past_it(facts: Mapping[str, tuple[Facts, Dag]]) -> None:
    made = workflow_of(*facts["operators"], partial=True)
    assert waits(made.workflow) == {"first": set(), "last": {"first"}}
    assert {each.step for each in made.diagnostics if each.code == "CLR533"} == {"trigger", "wait", "latest"}


def test_a_function_or_template_says_what_keeps_it_back(facts: Mapping[str, tuple[Facts, Dag]]) -> None:
    found = told(workflow_of(*facts["functions"]))
    assert found == {
        "handle": ["CLR533 the variable 'HANDLE' can't travel with the function"],
        "variable": ["CLR537 its source imports airflow.sdk"],
        "uses_a_variable": ["CLR290 uses_a_variable imports airflow, which is not in its image python:3.11"],
        "push": ["CLR533 line 2 of the function uses 'ti', which only Airflow has"],
        "loop": ["CLR533 the template '{% for x in [1, 2] %}echo {{ x }};{% endfor %}' has statements of Jinja"],
        "macro": ["CLR533 the template 'echo {{ macros.ds_add(ds, 1) }}' uses what only Airflow knows"],
        "script": ["CLR533 the command is a file beside the DAG"],
    }


def test_settings_without_a_word_are_named(facts: Mapping[str, tuple[Facts, Dag]]) -> None:
    found = told(workflow_of(*facts["settings"]))
    assert found == {
        "settings": [
            "CLR535 the schedule 7:00:00 was left out",
            "CLR535 max_active_runs=3 was left out",
            "CLR535 on_failure_callback (a function that Airflow calls) was left out",
            "CLR535 maximum of the parameter n was left out",
        ],
        "pooled": ["CLR535 the pool 'db' (its size isn't in the file) was left out"],
        "placed": [
            "CLR535 priority_weight was left out",
            "CLR535 queue (which workers run a task) was left out",
        ],
        "called": ["CLR535 on_success_callback (a function that Airflow's worker calls) was left out"],
        "again": ["CLR535 max_retry_delay (the longest delay between attempts) was left out"],
        "chained": ["CLR535 depends_on_past (whether a task waits for itself in the run before) was left out"],
    }


def test_a_pool_of_a_known_size_is_a_semaphore(facts: Mapping[str, tuple[Facts, Dag]]) -> None:
    made = workflow_of(*facts["settings"], pools={"db": 4})
    assert "pooled" not in told(made)
    assert templates_by_name(made.workflow)["pooled"].locks == (Semaphore("db", limit=4),)


def test_a_rule_without_an_edge_gets_the_nearest_and_says_what_differs(
    facts: Mapping[str, tuple[Facts, Dag]],
) -> None:
    made = workflow_of(*facts["rules"])
    found = told(made)
    assert {step: [each[:6] for each in said] for step, said in found.items()} == {
        "by_one_success": ["CLR534"],
        "by_none_skipped": ["CLR534"],
        "by_all_done_min_one_success": ["CLR534"],
        "by_one_done": ["CLR534"],
        "by_all_done": ["CLR536"],
    }
    assert all(before == {"one", "two"} for task, before in waits(made.workflow).items() if task.startswith("by_"))


def test_reading_without_waiting_is_said(facts: Mapping[str, tuple[Facts, Dag]]) -> None:
    made = workflow_of(*facts["unordered"])
    assert told(made) == {"read": ["CLR536 it reads what give gave without waiting for it: here it waits"]}
    assert waits(made.workflow) == {"give": set(), "read": {"give"}}


def test_pairs_that_only_the_run_knows_are_said(facts: Mapping[str, tuple[Facts, Dag]]) -> None:
    made = workflow_of(*facts["pairs"])
    assert told(made) == {"both": ["CLR533 it is mapped over several lists that only the run knows"]}


def test_all_of_them_are_printed_as_a_person_writes(facts: Mapping[str, tuple[Facts, Dag]]) -> None:
    for name, given in facts.items():
        text = print_python(workflow_of(*given).workflow)
        assert "@couler.workflow" in text, name
        assert "ir.Workflow" not in text, name


def test_a_file_that_airflow_cannot_read_is_said(tmp_path: Path) -> None:
    broken = tmp_path / "broken.py"
    broken.write_text("from airflow.sdk import DAG\n1 / 0\n")
    with pytest.raises(DiagnosticError, match="ZeroDivisionError"):
        read(str(broken), sys.executable)
    empty = tmp_path / "empty.py"
    empty.write_text("from airflow.sdk import DAG\n")
    with pytest.raises(DiagnosticError, match="the file makes no DAG"):
        read(str(empty), sys.executable)


def test_airflows_own_examples_are_imported() -> None:
    import airflow
    from airflow.dag_processing.dagbag import DagBag

    from couler_py.backends.airflow.importing import inspecting

    bag = DagBag(Path(airflow.__file__).parent / "example_dags", safe_mode=False)
    assert len(bag.dags) > 50
    for dag in bag.dags.values():
        found = msgspec.json.decode(json.dumps(inspecting.dag_facts(dag)), type=Dag)
        made = workflow_of(Facts(values=inspecting.VALUES), found)
        assert [each.render() for each in made.diagnostics if each.severity == "error"] == [], dag.dag_id
        assert "ir.Workflow" not in print_python(made.workflow), dag.dag_id


# ---- what we write for Airflow, read again


def test_files_of_our_own_come_back_with_the_same_graph(airflow_home: Path) -> None:
    """Their steps call what only a DAG file of ours has, so placeholders stand for them; their order is theirs."""
    from couler_py.backends.airflow.importing import inspecting

    texts = {}
    for case in [*PODLESS[::40], *WRITTEN[::3]]:
        with contextlib.suppress(DiagnosticError):  # what Airflow can't do
            workflow = msgspec.structs.replace(case.build(), name=f"own-{case.name}")
            texts[f"own-{case.name}"] = couler.compile(workflow, to="airflow", operators="local").text
    assert len(texts) > 40
    bag = harness.registered(texts, airflow_home)
    for dag in bag.dags.values():
        found = msgspec.json.decode(json.dumps(inspecting.dag_facts(dag)), type=Dag)
        made = workflow_of(Facts(values=inspecting.VALUES), found)
        assert [each.render() for each in made.diagnostics if each.severity == "error"] == [], dag.dag_id
        templates = templates_by_name(made.workflow)
        root, inner = levels(found, frozenset())
        for level, graph in graphs(root, inner, made.workflow):
            expected = {
                node.name: {level.nodes[before].name for before in node.upstream} for node in level.nodes.values()
            }
            assert order(graph) == expected, dag.dag_id
        assert not any(isinstance(each.body, Function) and not each.body.pieces for each in templates.values())


def graphs(root: Level, inner: Mapping[str, Level], workflow: Workflow) -> Iterator[tuple[Level, Graph]]:
    templates = templates_by_name(workflow)
    entry = body_of(workflow)
    yield root, entry
    for task in entry.tasks:
        group = next((node.group for node in root.nodes.values() if node.name == task.name), None)
        if group is not None:
            assert isinstance(task.call, str)
            body = templates[task.call].body
            assert isinstance(body, Graph)
            yield inner[group.id], body


def order(graph: Graph) -> dict[str, set[str]]:
    """What each task waits for; tasks that only join several are no tasks of the DAG."""
    found = {task.name: {name for edge in edges(task) for name in edge.tasks} for task in graph.tasks}
    joins = {name for name in found if name.startswith("before_")}
    for before in found.values():
        for join in before & joins:
            before.discard(join)
            before |= found[join]
    return {name: before for name, before in found.items() if name not in joins}


def test_a_class_that_works_in_its_own_way_is_not_taken_for_airflows(facts: Mapping[str, tuple[Facts, Dag]]) -> None:
    made = workflow_of(*facts["subclasses"])
    assert told(made) == {
        "loud": ["CLR533 its operator, Loud, does other things than Airflow's: it has its own execute"]
    }
