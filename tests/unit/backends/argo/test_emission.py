"""What is emitted for Argo, as documents."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings

from couler_py.backends import yaml
from couler_py.backends.argo import BACKEND, compile_workflow
from couler_py.backends.argo.client import in_place_of
from couler_py.backends.argo.emit.literals import string, tag
from couler_py.backends.argo.emit.text import escaped
from couler_py.backends.argo.options import Options, parse
from couler_py.backends.argo.verify import verify
from couler_py.backends.features import FEATURES
from couler_py.ir.diagnostics import DiagnosticError
from couler_py.ir.expr import (
    Access,
    Compare,
    Expr,
    First,
    Input,
    Item,
    Literal,
    OrElse,
    Run,
    TaskArtifact,
    TaskOutput,
    Text,
)
from couler_py.ir.model import (
    After,
    Argument,
    ArtifactArgument,
    DistributedJob,
    Each,
    Function,
    Graph,
    Handler,
    IncludeArchive,
    InputArtifact,
    Inputs,
    Loop,
    Mutex,
    OutputArtifact,
    OutputParameter,
    Outputs,
    Parameter,
    Piece,
    Resource,
    RetryPolicy,
    Schedule,
    Source,
    Suspend,
    Task,
    Template,
    Workflow,
)
from couler_py.ir.pod import Container, EnvVar, PodSettings, Resources, Templated, Volume, VolumeMount
from couler_py.ir.storage import S3, SecretRef
from couler_py.ir.types import INT, ListOf
from tests.strategies import workflows

ECHO = Template("echo", Container("alpine", ("echo",), (Text((Input("x"),)),)), Inputs((Parameter("x"),)))
DOUBLE = Template(
    "double",
    Function("double", (Piece("def double(x):\n    return x * 2"),), returns="one"),
    Inputs((Parameter("x", INT),)),
    Outputs((OutputParameter("result", INT),)),
)


def emitted(workflow: Workflow, **options: Any) -> dict[str, Any]:
    """The main document."""
    document: dict[str, Any] = compile_workflow(workflow, parse(None, options)).documents[-1]
    return document


def templates(workflow: Workflow, **options: Any) -> dict[str, dict[str, Any]]:
    return {each["name"]: each for each in emitted(workflow, **options)["spec"]["templates"]}


def graph(*tasks: Task, others: tuple[Template, ...] = (ECHO, DOUBLE), **more: Any) -> Workflow:
    return Workflow("w", "main", (Template("main", Graph(tasks)), *others), **more)


def test_every_feature_has_a_row_in_the_support_table() -> None:
    assert [row.feature for row in BACKEND.support()] == list(FEATURES)
    assert all(row.by for row in BACKEND.support() if row.level != "native")


@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(workflows())
def test_any_workflow_gives_documents_that_the_strict_schema_accepts_or_findings(workflow: Workflow) -> None:
    try:
        bundle = compile_workflow(workflow)
    except DiagnosticError as error:
        codes, documents, read = {each.code[:4] for each in error.diagnostics}, (), ()
    else:
        codes, documents, read = {"CLR4"}, bundle.documents, tuple(yaml.load_all(bundle.text))
    assert codes == {"CLR4"}
    assert verify(documents) == []
    assert read == documents


def test_a_condition_over_a_steps_output_is_computed_by_the_step() -> None:
    when = Compare(">", TaskOutput("a", "result"), Literal(3))
    found = templates(
        graph(
            Task("a", "double", (Argument("x", Literal(1)),)),
            Task("b", "echo", (Argument("x", Literal("y")),), when=when),
        )
    )
    (decision,) = [each["name"] for each in found["double"]["outputs"]["parameters"] if each["name"] != "result"]
    assert found["main"]["dag"]["tasks"][1] == {
        "name": "b",
        "depends": "a",
        "when": "{{= tasks['a'].outputs.parameters['" + decision + "'] == 'true' }}",
        "template": "echo",
        "arguments": {"parameters": [{"name": "x", "value": "y"}]},
    }


def test_failure_edges_and_the_outcome_task() -> None:
    found = templates(
        graph(
            Task("a", "double", (Argument("x", Literal(1)),)),
            Task("cure", "echo", (Argument("x", Literal("")),), after=(After("a", "on_failure"),)),
            Task("tidy", "echo", (Argument("x", Literal("")),), after=(After("cure", "always"),)),
        )
    )["main"]["dag"]
    ended = "({0}.Succeeded || {0}.Skipped || {0}.Failed || {0}.Errored || {0}.Omitted || {0}.Daemoned)"
    assert found["failFast"] is False
    assert [(task["depends"], task.get("when")) for task in found["tasks"][1:]] == [
        (ended.format("a"), "{{= tasks['a'].status in ['Failed', 'Error', 'Omitted'] }}"),
        (ended.format("cure"), None),
        ("cure", "false"),
    ]


def test_a_fan_out_is_a_template_of_its_own_with_a_default_for_no_items() -> None:
    task = Task("a", "double", (Argument("x", Item()),), each=Each(Literal([1, 2]), parallel=1))
    reader = Template("total", Suspend(0), Inputs((Parameter("xs", ListOf(INT)),)))
    found = templates(
        graph(task, Task("b", "total", (Argument("xs", TaskOutput("a", "result")),)), others=(DOUBLE, reader))
    )["main-a"]
    assert found["parallelism"] == 1
    assert found["dag"]["tasks"][0]["withItems"] == ["1", "2"]
    assert found["outputs"]["parameters"] == [
        {"name": "result", "valueFrom": {"parameter": "{{tasks.a.outputs.parameters.result}}", "default": "[]"}}
    ]


def test_an_empty_list_is_a_parameter_for_argo_expands_no_empty_items() -> None:
    task = Task("a", "double", (Argument("x", Item()),), each=Each(Literal([])))
    assert templates(graph(task))["main-a"]["dag"]["tasks"][0]["withParam"] == "[]"


def test_the_runner_stands_once_where_several_steps_need_it() -> None:
    other = Template("triple", Function("triple", (Piece("def triple(): pass"),)))
    document = emitted(
        graph(Task("a", "double", (Argument("x", Literal(1)),)), Task("b", "triple"), others=(DOUBLE, other))
    )
    text = yaml.dump(document)
    assert text.count("def read_inputs") == 1
    assert "{{=workflow.annotations['couler-runner']}}" in text


def test_a_library_template_holds_its_own_runner() -> None:
    other = Template("triple", Function("triple", (Piece("def triple(): pass"),)))
    document = emitted(graph(Task("b", "triple"), others=(DOUBLE, other)), kind="WorkflowTemplate")
    assert document["kind"] == "WorkflowTemplate"
    assert yaml.dump(document).count("def read_inputs") == 2


def test_a_schedule_makes_a_cron_workflow_in_the_words_of_each_version() -> None:
    workflow = graph(
        Task("a", "echo", (Argument("x", Literal("")),)), schedule=Schedule(("0 3 * * *",), "Europe/Berlin")
    )
    new, old = emitted(workflow), emitted(workflow, version="3.5")
    assert new["kind"] == old["kind"] == "CronWorkflow"
    assert (new["spec"]["schedules"], new["spec"]["timezone"]) == (["0 3 * * *"], "Europe/Berlin")
    assert (old["spec"]["schedule"], "schedules" in old["spec"]) == ("0 3 * * *", False)


def test_locks_in_the_words_of_each_version() -> None:
    locked = Template("locked", Container("i"), locks=(Mutex("m"),))
    workflow = graph(Task("a", "locked"), others=(locked,))
    assert templates(workflow)["locked"]["synchronization"] == {"mutexes": [{"name": "m"}]}
    assert templates(workflow, version="3.5")["locked"]["synchronization"] == {"mutex": {"name": "m"}}


def test_retries_always_name_their_policy() -> None:
    retried = Template("r", Container("i"), retry=RetryPolicy(3))
    assert templates(graph(Task("a", "r"), others=(retried,)))["r"]["retryStrategy"] == {
        "limit": 3,
        "retryPolicy": "Always",
    }


def test_more_tasks_than_the_full_crds_take_is_a_finding_that_names_the_way_out() -> None:
    empty = (Argument("x", Literal("")),)
    handlers = (Task(f"t{i}", "echo", empty, after=(After("t0", "on_failure"),)) for i in range(1, 201))
    workflow = graph(Task("t0", "echo", empty), *handlers)
    with pytest.raises(DiagnosticError, match='crds="minimal"') as caught:
        compile_workflow(workflow)
    assert [each.code for each in caught.value.diagnostics] == ["CLR409"]
    assert len(templates(workflow, crds="minimal")["main"]["dag"]["tasks"]) == 201


def test_what_argo_never_does_is_told_all_at_once_with_its_places() -> None:
    job = DistributedJob("torch", Container("i"))
    others = tuple(Template(f"job{i}", job, source=Source("flow.py", i)) for i in (3, 7))
    workflow = graph(*(Task(each.name, each.name) for each in others), others=others)
    with pytest.raises(DiagnosticError) as caught:
        compile_workflow(workflow)
    assert [(each.code, str(each.source)) for each in caught.value.diagnostics] == [
        ("CLR401", "flow.py:3"),
        ("CLR401", "flow.py:7"),
    ]
    assert [each.severity for each in compile_workflow(workflow, Options(on_unsupported="warn")).diagnostics] == [
        "warning",
        "warning",
    ]


def test_an_option_that_is_not_known_names_those_that_are() -> None:
    with pytest.raises(TypeError, match="there is no option 'crd'; did you mean 'crds'"):
        parse(None, {"crd": "full"})


def test_a_version_that_is_not_known_names_those_that_are() -> None:
    with pytest.raises(TypeError, match=r"^argo: there is no version '2'; there are 4 and 3\.5$"):
        parse("2", {})


def test_text_that_argo_or_kubernetes_would_change() -> None:
    assert escaped("echo $(date) {{x}} ${HOME}") == "echo $$(date) {$(COULER_EMPTY){x}} ${HOME}"
    assert escaped("$$(x)$") == "$$$$(x)$$"
    assert escaped("{{{") == "{$(COULER_EMPTY){$(COULER_EMPTY){"


def test_a_string_of_the_expression_language_never_ends_its_tag() -> None:
    assert string("}}'\"\\\n{{") == "'\\u007d\\u007d\\u0027\\u0022\\\\\\u000a\\u007b\\u007b'"
    assert tag("{}") == "{{={} }}"


def test_the_same_workflow_always_gives_the_same_bytes() -> None:
    workflow = graph(Task("a", "double", (Argument("x", Item()),), each=Each(Literal([1, 2]))))
    assert compile_workflow(workflow).text == compile_workflow(workflow).text


def test_only_the_included_files_that_a_workflow_was_built_with_are_read(tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("hunter2")
    archive = IncludeArchive("0" * 64, ("secret",), str(tmp_path))
    workflow = Workflow("w", "double", (DOUBLE,), parameters=(Parameter("x", INT, 1),), includes=(archive,))
    with pytest.raises(DiagnosticError, match="that steps import are not those of this workflow: secret") as raised:
        compile_workflow(workflow, parse(None, {}))
    assert "hunter2" not in str(raised.value)


def nested_loops(outer: int, inner: int) -> Workflow:
    inside = Template("inside", Loop("echo", Literal(True), max_iterations=inner))
    around = Template("around", Loop("inside", Literal(True), max_iterations=outer), source=Source("flow.py", 7))
    echo = Template("echo", Container("alpine"))
    return Workflow("w", "main", (Template("main", Graph((Task("a", "around"),))), around, inside, echo))


def test_loops_in_loops_that_go_deeper_than_argo_are_found_where_the_outer_one_is() -> None:
    with pytest.raises(DiagnosticError, match="bound around and inside to less") as caught:
        compile_workflow(nested_loops(50, 47))
    assert [(each.code, str(each.source)) for each in caught.value.diagnostics] == [("CLR407", "flow.py:7")]


def test_loops_in_loops_that_stay_above_that_are_emitted() -> None:
    assert compile_workflow(nested_loops(50, 46)).diagnostics == ()


FILE = Template(
    "file",
    Container("alpine", ("true",)),
    outputs=Outputs(artifacts=(OutputArtifact("c", path="/c"), OutputArtifact("b-c", path="/b"))),
)


def test_files_chosen_among_others_of_like_names_stay_apart() -> None:
    reads = Template("reads", Container("alpine", ("true",)), Inputs(artifacts=(InputArtifact("x", "/x"),)))
    choices = [
        First((TaskArtifact("a-b", "c"), TaskArtifact("z", "c"))),
        First((TaskArtifact("a", "b-c"), TaskArtifact("z", "c"))),
        First((TaskArtifact("a-b", "c"), TaskArtifact("z", "c"))),
    ]
    readers = [
        Task(f"r{number}", "reads", artifacts=(ArtifactArgument("x", choice),)) for number, choice in enumerate(choices)
    ]
    found = templates(graph(*(Task(name, "file") for name in ("a", "a-b", "z")), *readers, others=(FILE, reads)))
    given = {each["name"]: each.get("arguments", {}).get("artifacts") for each in found["main"]["dag"]["tasks"]}
    first, second, third = (given[f"r{number}"][0]["from"] for number in range(3))
    assert first == third != second
    assert given[second.split(".")[1]][0]["from"] == "{{tasks.a.outputs.artifacts.b-c}}"


def test_an_optional_file_may_be_missing_in_a_loop_and_in_a_fan_out_that_tolerates_failures() -> None:
    takes = Template(
        "takes",
        Container("alpine", ("true",)),
        Inputs((Parameter("x"),), (InputArtifact("f", "/f", optional=True),)),
    )
    again = Template("again", Loop("takes", Literal(True)), takes.inputs)
    argument = (ArtifactArgument("f", TaskArtifact("a", "c"), optional=True),)
    item = (Argument("x", Item()),)
    found = templates(
        graph(
            Task("a", "file"),
            Task("m", "takes", item, argument, each=Each(Literal(["p", "q"]), tolerate=1)),
            Task("l", "again", (Argument("x", Literal("y")),), argument),
            others=(FILE, takes, again),
        )
    )
    calls = [
        *found["main-m-tolerant"]["dag"]["tasks"],
        *found["main-m"]["dag"]["tasks"],
        *found["again"]["dag"]["tasks"],
    ]
    files = [each["arguments"]["artifacts"] for each in calls if "artifacts" in each.get("arguments", {})]
    assert len(files) == 4
    assert all(each == [{"name": "f", "from": "{{inputs.artifacts.f}}", "optional": True}] for each in files)


def test_what_replaces_an_object_keeps_nothing_of_it_but_what_argo_noted() -> None:
    there = {
        "metadata": {"name": "n", "resourceVersion": "7", "labels": {"a": "b"}},
        "spec": {"onExit": "x"},
        "status": 1,
    }
    given = {"kind": "WorkflowTemplate", "metadata": {"name": "n"}, "spec": {"entrypoint": "e"}}
    assert in_place_of(there, given) == {
        "kind": "WorkflowTemplate",
        "metadata": {"name": "n", "resourceVersion": "7"},
        "spec": {"entrypoint": "e"},
        "status": 1,
    }


def test_a_handler_gets_the_files_that_it_is_given_by_their_place() -> None:
    reads = Template("reads", Container("alpine", ("true",)), Inputs(artifacts=(InputArtifact("x", "/x"),)))
    given = (ArtifactArgument("x", storage=S3("reports/last.txt")),)
    handlers = (Handler("tell", "reads", artifacts=given),)
    found = templates(graph(Task("a", "file"), others=(FILE, reads), handlers=handlers))
    assert found["exit-handlers"]["steps"][0][0]["arguments"] == {
        "artifacts": [{"name": "x", "s3": {"key": "reports/last.txt"}}]
    }


BRACES = "{{=sprig.env('HOME')}}"


@pytest.mark.parametrize(
    "more",
    [
        {"pod": PodSettings(service_account=BRACES)},
        {"pod": PodSettings(labels=((BRACES, "x"),))},
        {"pod": PodSettings(volumes=(Volume("v", Templated({"nfs": {BRACES: "x"}})),))},
        {"locks": (Mutex("m", namespace=BRACES),)},
        {"outputs": Outputs((OutputParameter("o", path=BRACES),))},
        {"outputs": Outputs(artifacts=(OutputArtifact("o", path="/o", storage=S3("k", bucket=BRACES)),))},
        {"body": Container("alpine", ("true",), resources=Resources(extra=((BRACES, "1"),)))},
        {"body": Container("alpine", ("true",), env=(EnvVar("A", SecretRef(BRACES, "k")),))},
        {"body": Container("alpine", ("true",), mounts=(VolumeMount("v", BRACES),))},
    ],
)
def test_plain_text_that_argo_would_evaluate_is_a_finding_wherever_it_stands(more: dict[str, Any]) -> None:
    given: dict[str, Any] = {"body": Container("alpine", ("true",))} | more
    with pytest.raises(DiagnosticError) as caught:
        compile_workflow(graph(Task("a", "t"), others=(Template("t", **given),)))
    assert [each.code for each in caught.value.diagnostics] == ["CLR403"]


@pytest.mark.parametrize(
    ("more", "where"),
    [
        ({"pod": PodSettings(service_account=BRACES)}, "serviceAccountName"),
        ({"pod": PodSettings(node_selector=(("disk", BRACES),))}, "nodeSelector.disk"),
        ({"pod": PodSettings(labels=((BRACES, "x"),))}, f"podMetadata.labels.{BRACES}"),
        ({"pod": PodSettings(sidecars=(Container("i", (BRACES,)),))}, "templateDefaults.sidecars[0].command[0]"),
        ({"volumes": (Volume("v", Templated({"nfs": {"path": BRACES}})),)}, "volumes[0].nfs.path"),
        ({"locks": (Mutex("m", namespace=BRACES),)}, "synchronization.mutexes[0].namespace"),
    ],
)
def test_plain_text_of_a_whole_run_that_argo_would_evaluate_is_a_finding(more: dict[str, Any], where: str) -> None:
    with pytest.raises(DiagnosticError) as caught:
        compile_workflow(graph(Task("a", "echo", (Argument("x", Literal("")),)), **more))
    [found] = caught.value.diagnostics
    assert (found.code, found.message.partition(" of the workflow")[0]) == ("CLR403", where)


def test_the_words_of_a_run_that_argo_leaves_alone_may_hold_braces() -> None:
    more = {"labels": {"l": BRACES}, "annotations": {"a": BRACES}, "engines": {"argo": {"serviceAccountName": BRACES}}}
    document = emitted(graph(Task("a", "echo", (Argument("x", Literal("")),)), **more))
    assert document["metadata"]["annotations"]["a"] == document["spec"]["serviceAccountName"] == BRACES


def test_braces_stay_where_a_container_or_a_manifest_carries_them() -> None:
    body = Container("alpine", ("echo", BRACES), env=(EnvVar("A", BRACES),))
    manifest = Resource("create", Templated({"kind": "ConfigMap", "data": {BRACES: BRACES}}))
    others = (Template("t", body, description=BRACES), Template("m", manifest))
    assert BRACES not in str(templates(graph(Task("a", "t"), Task("b", "m"), others=others)))


LARGE = Literal([{"id": 2**53 + 1}])


@pytest.mark.parametrize(
    ("value", "refused"),
    [(Item(), False), (Access(Item(), Literal("id")), True)],
)
def test_a_written_integer_that_argo_would_round_is_a_finding(value: Expr, refused: bool) -> None:
    made = graph(Task("m", "double", (Argument("x", value),), each=Each(LARGE)))
    if refused:
        with pytest.raises(DiagnosticError, match="beyond plus or minus 2"):
            compile_workflow(made)
    else:
        assert templates(made)["main-m"]["dag"]["tasks"][0]["withItems"] == ['{"id":9007199254740993}']


def test_a_written_list_is_followed_into_the_graph_that_fans_out_over_it() -> None:
    each = Task("m", "double", (Argument("x", Item()),), each=Each(Input("ids")))
    inner = Template("inner", Graph((each,)), Inputs((Parameter("ids", ListOf(INT)),)))
    made = graph(Task("g", "inner", (Argument("ids", Literal([2**60])),)), others=(DOUBLE, inner))
    with pytest.raises(DiagnosticError, match="beyond plus or minus 2"):
        compile_workflow(made)


def test_a_fact_of_the_run_is_read_as_it_travels() -> None:
    given = OutputParameter("text", value=Run("id"))
    own = Template("own", Graph(()), outputs=Outputs((given,)))
    read = OutputParameter("o", value=OrElse(TaskOutput("a", "text"), Literal("none")))
    asked = Task("a", "own", when=Compare("==", Run("name"), Literal("x")))
    main = Template("main", Graph((asked,)), outputs=Outputs((read,)))
    text = str(emitted(Workflow("flow", "main", (main, own))))
    assert "text startsWith 'couler:base64:' ? " in text


def test_the_condition_of_a_handler_knows_how_a_fact_of_the_run_travels() -> None:
    wait = Template("wait", Suspend(0.0))
    asked = Task("a", "wait", when=Compare("==", Input("v"), Literal("x")))
    notify = Template("notify", Graph((asked,)), Inputs((Parameter("v"),)))
    handler = Handler("h", "notify", on="exit", arguments=(Argument("v", Run("name")),))
    text = str(emitted(Workflow("flow", "wait", (wait, notify), handlers=(handler,))))
    assert "'couler:base64:eA=='" in text
