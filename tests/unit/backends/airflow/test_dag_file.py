"""What DAG files say, read as text: names, edges, the DAG's own settings, and what never gets into them."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest

import couler_py as couler
from couler_py.backends.airflow import BACKEND
from couler_py.backends.airflow.options import parse
from couler_py.backends.base import NotOffered, OptionError
from couler_py.backends.features import FEATURES
from couler_py.ir import DiagnosticError
from couler_py.ir.expr import Input, Literal, Text, WorkflowParameter
from couler_py.ir.model import (
    After,
    Argument,
    Each,
    Graph,
    Inputs,
    Loop,
    Mutex,
    OutputParameter,
    Outputs,
    Parameter,
    Schedule,
    Semaphore,
    Suspend,
    Task,
    Template,
    Workflow,
)
from couler_py.ir.pod import Container, PodSettings, Resources, Toleration
from tests.conformance.cases import PODLESS
from tests.conformance.podless import act, workflow

ECHO = Template("echo", Container("alpine:3", command=("echo", "hello")))


def around(*tasks: Task, templates: tuple[Template, ...] = (ECHO,), **more: object) -> Workflow:
    return Workflow("flow", "main", (Template("main", Graph(tasks)), *templates), **more)  # type: ignore[arg-type]


def text(built: Workflow, **options: object) -> str:
    found = couler.compile(built, to="airflow", **options).text
    ast.parse(found)
    return found


def dag_of(source: str) -> str:
    """The part of a file that makes the DAG."""
    return source[source.index("@dag(") :].partition("\n\n\n")[0]


def refusals(built: Workflow, **options: object) -> set[str]:
    with pytest.raises(DiagnosticError) as refused:
        couler.compile(built, to="airflow", **options)
    return {found.code for found in refused.value.diagnostics if found.severity == "error"}


# ---- the file


def test_the_table_answers_for_every_feature() -> None:
    assert [row.feature for row in BACKEND.support()] == list(FEATURES)
    assert all(row.by for row in BACKEND.support() if row.level != "native")


def test_the_same_workflow_gives_the_same_bytes() -> None:
    case = next(case for case in PODLESS if case.name == "nested-twice")
    assert text(case.build(), operators="local") == text(case.build(), operators="local")


def test_a_file_needs_nothing_of_ours() -> None:
    for case in PODLESS[::25]:
        imported = {
            (node.module or "").partition(".")[0]
            for node in ast.walk(ast.parse(text(case.build(), operators="local")))
            if isinstance(node, ast.ImportFrom)
        }
        assert "couler_py" not in imported


def test_a_diamond_of_containers_is_a_file_of_40_lines() -> None:
    echo = Container("alpine:3", command=("echo",), args=("A",))
    tasks = (
        Task("A", "echo"),
        *(Task(name, "echo", after=(After("A"),)) for name in "BC"),
        Task("D", "echo", after=(After("B"), After("C"))),
    )
    found = text(around(*tasks, templates=(Template("echo", echo),)))
    assert len(found.splitlines()) <= 40


def test_of_a_diamond_of_python_steps_all_but_their_source_is_40_lines() -> None:
    """What all files share stands below, and the DAG first of all."""

    @couler.step
    def load(seed: int) -> list[int]:
        return [seed]

    @couler.step
    def low(xs: list[int]) -> int:
        return min(xs)

    @couler.step
    def high(xs: list[int]) -> int:
        return max(xs)

    @couler.step
    def join(a: int, b: int) -> int:
        return a + b

    @couler.workflow
    def diamond(seed: int = 4) -> int:
        xs = load(seed)
        return join(low(xs), high(xs))

    own, shared, _ = text(diamond.build()).partition("# ruff: noqa: E402\n")
    dag, steps = own.split("\n\n\nLOAD = {")
    assert len(dag.splitlines()) <= 40
    assert shared
    assert steps.count("\n    ") < 40


def test_a_container_without_inputs_is_the_operator_that_a_person_would_write() -> None:
    body = Container("alpine:3", command=("echo",), args=("it's",), resources=Resources(cpu="1"))
    found = dag_of(text(around(Task("say", "say"), templates=(Template("say", body),))))
    assert 'KubernetesPodOperator(\n        task_id="say",\n        image="alpine:3",\n' in found
    assert 'cmds=["echo"],\n        arguments=["it\'s"],' in found
    assert '{"requests": {"cpu": "1"}, "limits": {"cpu": "1"}}' in found


@pytest.mark.parametrize("hostile", ["{{ macros }}", "{% x %}", "{# x #}", "values.json", "flow.yaml"])
def test_what_jinja_would_read_is_handed_over_when_the_pod_starts(hostile: str) -> None:
    body = Container("alpine:3", command=("echo",), args=(hostile,))
    found = text(around(Task("say", "say"), templates=(Template("say", body),)))
    assert "KubernetesPodOperator(\n" not in dag_of(found)
    assert "template_fields = ()" in found


def test_kubernetes_expands_nothing_in_a_fixed_text() -> None:
    body = Container("alpine:3", command=("echo",), args=("$(HOME) $$ $x",))
    assert 'arguments=["$$(HOME) $$$$ $$x"]' in text(around(Task("a", "a"), templates=(Template("a", body),)))


@pytest.mark.parametrize("operators", ["kubernetes", "docker", "local"])
def test_an_image_and_a_folder_with_values_are_read_when_the_step_starts(operators: str) -> None:
    named = Text(("alpine:", Input("v")))
    step = Template(
        "step",
        Container(named, command=("true",), working_dir=Text(("/", Input("v")))),
        Inputs((Parameter("v"),)),
    )
    task = Task("a", "step", arguments=(Argument("v", Literal("3")),), when=Literal(True))
    found = text(around(task, templates=(step,)), operators=operators)
    assert ('"image": lambda given: joined("alpine:", given["v"])' in found) is (operators != "local")
    assert '"directory": lambda given: joined("/", given["v"])' in found


def test_text_of_a_person_is_never_program_text() -> None:
    hostile = "\"\"\"\n'''\nimport os; os.abort()  # \\"
    built = around(
        Task("say", "say", arguments=(Argument("x", Literal(hostile)),)),
        templates=(Template("say", Container("alpine:3", command=("echo", hostile)), Inputs((Parameter("x"),))),),
        description=hostile,
        parameters=(Parameter("p", default=hostile, description=hostile),),
    )
    tree = ast.parse(text(built))
    assert not [node for node in ast.walk(tree) if isinstance(node, ast.Attribute) and node.attr == "abort"]
    assert hostile in {node.value for node in ast.walk(tree) if isinstance(node, ast.Constant)}


def test_variables_keep_clear_of_what_the_file_uses() -> None:
    names = ("step", "out", "json", "dag", "result", "class", "print")
    found = text(around(*(Task(name, "echo") for name in names)))
    assigned = {
        target.id
        for node in ast.walk(ast.parse(dag_of(found)))
        if isinstance(node, ast.Assign)
        for target in node.targets
        if isinstance(target, ast.Name)
    }
    assert assigned.isdisjoint({"step", "out", "json", "dag", "class", "print"})
    assert len(assigned) == len(names)


# ---- edges


def test_an_edge_of_a_value_is_airflows_own_rule() -> None:
    found = dag_of(text(workflow(act("a"), act("b", value="a")), operators="local"))
    assert "a.end >> b.start" in found
    assert "gate(" not in found


def test_a_step_with_one_kind_of_edges_has_the_rule_itself() -> None:
    after = couler.Workflow("flow")
    with after:
        one = couler.container("alpine:3", ["false"]).named("one")()
        couler.on_failure(one, lambda: couler.container("alpine:3", ["true"]).named("two")())
    found = dag_of(text(after.build(), operators="local"))
    assert "trigger_rule=TriggerRule.ONE_FAILED" in found
    assert "gate(" not in found


def test_many_tasks_alike_are_a_table_and_a_loop() -> None:
    step = Template("work", Container("alpine:3", command=("echo",)), Inputs((Parameter("n"),)))
    tasks = [Task(f"t{n}", "work", arguments=(Argument("n", Literal(str(n))),)) for n in range(1000)]
    found = text(around(*tasks, templates=(step,)))
    assert '("t999", {"n": "999"}, []),' in found
    assert found.count("step(name, WORK, given)") == 1
    assert len(found) < 300_000


# ---- the DAG itself


def test_a_schedule_has_its_time_zone_and_no_surprises() -> None:
    schedule = Schedule(("0 3 * * *",), "Europe/Prague", concurrency="Forbid", suspended=True)
    found = dag_of(text(around(Task("a", "echo"), schedule=schedule)))
    assert 'schedule=CronTriggerTimetable("0 3 * * *", timezone="Europe/Prague")' in found
    assert 'start_date=datetime(2024, 1, 1, tzinfo=ZoneInfo("Europe/Prague"))' in found
    for each in ("catchup=False", "max_active_runs=1", "is_paused_upon_creation=True"):
        assert each in found


def test_parameters_have_a_json_schema() -> None:
    parameters = (
        Parameter("n", couler.ir.types.INT, default=3),
        Parameter("mode", default="a", enum=("a", "b"), description="how"),
        Parameter("needed"),
    )
    found = dag_of(text(around(Task("a", "echo"), parameters=parameters)))
    assert '"n": Param(3, type="integer")' in found
    assert '"mode": Param("a", description="how", type="string", enum=["a", "b"])' in found
    assert '"needed": Param(type="string")' in found


def test_limits_priority_and_labels() -> None:
    found = dag_of(
        text(around(Task("a", "echo"), parallelism=4, deadline=60, priority=7, labels=(("team", "a"), ("nightly", ""))))
    )
    assert "max_active_tasks=4" in found
    assert "dagrun_timeout=timedelta(seconds=60)" in found
    assert '"priority_weight": 7, "weight_rule": "absolute"' in found.replace("\n        ", " ").replace(" ,", ",")
    assert 'tags=["team=a", "nightly"]' in found


def test_what_a_workflow_says_for_airflow_alone() -> None:
    own = {
        "owner": "data",
        "tags": ["daily"],
        "start_date": "2026-02-03",
        "after": ["s3://b/in"],
        "assets": ["s3://b/o"],
    }
    found = dag_of(text(around(Task("a", "echo"), engines={"airflow": own})))
    for each in ('schedule=[Asset("s3://b/in")]', "start_date=datetime(2026, 2, 3, tzinfo=UTC)", 'tags=["daily"]'):
        assert each in found
    assert '"owner": "data"' in found
    assert 'result_of_run([a], outlets=[Asset("s3://b/o")])' in found
    with pytest.raises(OptionError, match="the options are owner, tags"):
        text(around(Task("a", "echo"), engines={"airflow": {"color": "red"}}))


def test_a_deadline_tells_somebody() -> None:
    own = {"deadline": {"after": 7200, "callback": "alerts.notify", "arguments": {"room": "data"}}}
    found = dag_of(text(around(Task("a", "echo"), engines={"airflow": own})))
    assert (
        "    deadline=DeadlineAlert(\n"
        "        reference=DeadlineReference.DAGRUN_QUEUED_AT,\n"
        "        interval=timedelta(seconds=7200),\n"
        '        callback=AsyncCallback("alerts.notify", kwargs={"room": "data"}),\n'
        "    ),\n"
    ) in found


def test_the_docstring_shows_the_tasks_in_their_order() -> None:
    diamond = (Task("A", "echo"), *(Task(name, "echo", after=(After("A"),)) for name in "BC"))
    joined = Task("D", "echo", after=(After("B"), After("C")))
    assert text(around(*diamond, joined)).startswith('"""The workflow flow: A → B, C → D.\n\nWritten by')
    many = around(*(Task(f"t{number}", "echo") for number in range(50)))
    assert "The workflow flow: 50 tasks, one after another at most 1." in text(many)


def test_a_label_that_is_too_long_for_a_tag_is_said() -> None:
    bundle = couler.compile(around(Task("a", "echo"), labels=(("note", "x" * 100), ("team", "a"))), to="airflow")
    assert [each.code for each in bundle.diagnostics] == ["CLR517"]
    assert 'tags=["team=a"]' in bundle.text


def test_locks_are_pools_and_the_file_says_how_to_make_them() -> None:
    one = msgspec.structs.replace(ECHO, locks=(Mutex("db's"),))
    three = Template("three", ECHO.body, locks=(Semaphore("gpus", limit=3),))
    found = text(around(Task("a", "echo"), Task("b", "three"), templates=(one, three)))
    assert "airflow pools set 'db'\"'\"'s' 1 ''" in found.replace("\\", "")
    assert "airflow pools set gpus 3 ''" in found
    assert 'pool="gpus"' in found


def test_retries_and_time_limits() -> None:
    retried = couler.Workflow("flow")
    with retried:
        step = couler.container("alpine:3", ["true"], retries=couler.retry(3, delay="5s", factor=2), timeout="1m")
        step.named("a")()
    found = text(retried.build())
    assert "retries=3" in found
    assert "retry_delay=timedelta(seconds=5)" in found
    assert "retry_exponential_backoff=2" in found
    assert "execution_timeout=timedelta(seconds=60)" in found


def test_a_pod_in_kubernetes_own_words() -> None:
    pod = PodSettings(
        node_selector=(("disk", "ssd"),),
        tolerations=(Toleration(key="gpu", operator="Exists"),),
        service_account="runner",
        image_pull_secrets=("registry",),
    )
    found = text(around(Task("a", "echo"), templates=(msgspec.structs.replace(ECHO, pod=pod),)))
    for each in ('"nodeSelector": {"disk": "ssd"}', '"serviceAccountName": "runner"', '[{"name": "registry"}]'):
        assert each in found


def test_waiting_for_each_item_is_a_group_around_the_wait() -> None:
    found = text(around(Task("wait", "wait", each=Each(Literal([1, 2]))), templates=(Template("wait", Suspend(90)),)))
    assert "group_of_each(one_wait_tasks, lambda item: {})" in found
    assert 'pause("wait", timedelta(seconds=90))' in found


def test_waiting_and_approval() -> None:
    asked = Outputs((OutputParameter("ok", couler.ir.types.BOOL, supplied=True),))
    found = dag_of(
        text(
            around(
                Task("wait", "wait"),
                Task("ask", "ask"),
                templates=(Template("wait", Suspend(90)), Template("ask", Suspend(), outputs=asked)),
            )
        )
    )
    assert 'pause("wait", timedelta(seconds=90))' in found
    assert 'approval("ask", "flow: ask", {"ok": {"type": ["boolean", "null"]}})' in found


def test_containers_that_do_something_else_share_no_cache() -> None:
    words = ("one", "two", "one")
    case = couler.Workflow("flow")
    with case:
        for number, word in enumerate(words):
            couler.container(
                "alpine:3", ["echo", word], outputs={"o": couler.stdout()}, cache=True, name=f"s{number}"
            )()
    found = re.findall(r'"program": "(\w{64})"', text(case.build(), operators="local"))
    assert (len(found), len(set(found))) == (3, 2)


# ---- what can't be


def test_what_airflow_cannot_do_is_refused_all_at_once() -> None:
    again = Template("again", Graph((Task("x", "again", when=Literal(False)),)))
    assert refusals(around(Task("a", "again"), templates=(again,), locks=(Mutex("m"),))) == {"CLR501", "CLR508"}


def test_files_between_pods_need_a_place() -> None:
    case = couler.Workflow("flow")
    with case:
        couler.container("alpine:3", ["true"], outputs={"f": couler.file_at("/tmp/f")}).named("a")()
    built = case.build()
    assert refusals(built) == {"CLR512"}
    assert '"claimName": CLAIM' in text(built, claim="files")


def test_a_fan_out_in_a_fan_out_over_a_list_of_the_run() -> None:
    inner = Template("inner", Graph((Task("i", "echo", each=Each(Literal([1]))),)))
    main = (Parameter("p", couler.ir.types.ListOf(couler.ir.types.INT), default=[1]),)
    mapped = Task("m", "inner", each=Each(WorkflowParameter("p")))
    assert refusals(around(mapped, templates=(inner, ECHO), parameters=main), operators="local") == {"CLR503"}
    assert "groups_of_items(" in text(around(Task("m", "inner", each=Each(Literal([1, 2]))), templates=(inner, ECHO)))


def test_loops_over_graphs_have_a_bound() -> None:
    body = Template("body", Graph((Task("a", "echo"),)))
    loop = Template("loop", Loop("body", until=Literal(True), max_iterations=51))
    assert refusals(around(Task("l", "loop"), templates=(loop, body, ECHO))) == {"CLR504"}


def test_more_items_than_airflow_maps_go_in_batches() -> None:
    found = text(around(Task("m", "echo", each=Each(Literal([1, 2]), max_items=5000))))
    assert "batch=100" in found
    graph = Template("g", Graph((Task("a", "echo"),)))
    many = Task("m", "g", each=Each(Literal([1]), max_items=5000))
    assert refusals(around(many, templates=(graph, ECHO))) == {"CLR507"}


def test_ids_that_are_too_long() -> None:
    inner = Template("inner", Graph((Task("y" * 130, "echo"),)))
    assert refusals(around(Task("z" * 130, "inner"), templates=(inner, ECHO))) == {"CLR505"}


def test_options_are_checked() -> None:
    with pytest.raises(OptionError, match="there is no version '2'"):
        parse("2", {})
    with pytest.raises(
        OptionError, match="operators can't be 'carrier pigeons'; it is one of docker, kubernetes, local"
    ):
        couler.compile(around(Task("a", "echo")), to="airflow", operators="carrier pigeons")
    with pytest.raises(OptionError, match="--context chooses a cluster"):
        BACKEND.client(context="there")
    with pytest.raises(NotOffered, match="no dry run"):
        BACKEND.client(dry_run=True)


def test_a_file_says_which_airflow_it_needs(tmp_path: Path) -> None:
    (tmp_path / "airflow.py").write_text('__version__ = "2.11.0"\n')
    whole = text(around(Task("a", "echo")))
    check = whole[whole.index("if tuple(") : whole.index("@dag(")]
    (tmp_path / "flow.py").write_text(f"from airflow import __version__ as airflow_version\n{check}")
    done = subprocess.run([sys.executable, "flow.py"], cwd=tmp_path, capture_output=True, text=True)
    assert "RuntimeError: this DAG needs Airflow 3.1 or later, not 2.11.0" in done.stderr
