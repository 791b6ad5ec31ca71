"""What templates can have besides their body, each run on the real controller."""

from __future__ import annotations

import uuid

import msgspec
import pytest

from couler_py.ir.expr import (
    Compare,
    Input,
    LastRetry,
    Literal,
    OrElse,
    Published,
    TaskOutput,
    Text,
)
from couler_py.ir.expr import (
    Run as RunFact,
)
from couler_py.ir.model import (
    After,
    Backoff,
    Cache,
    ContainerSet,
    Graph,
    Handler,
    Hook,
    Inputs,
    Mutex,
    OutputParameter,
    Outputs,
    Parameter,
    Resource,
    RetryPolicy,
    Script,
    Semaphore,
    Suspend,
    Task,
    Template,
)
from couler_py.ir.pod import (
    ConfigMapRef,
    Container,
    Dns,
    DnsOption,
    EnvVar,
    FieldRef,
    PodSettings,
    Substitution,
    Templated,
    Volume,
    VolumeMount,
)
from couler_py.ir.storage import SecretRef
from couler_py.ir.types import ANY, BOOL, FLOAT, INT, STR, ListOf
from tests.cluster.argo import Namespace
from tests.engines.argo.controller import Run, SideBySide, given, python, shell, workflow

pytestmark = pytest.mark.cluster
together = SideBySide()

IMAGE = "debian:12"
PRINTED = (OutputParameter("o", stdout=True),)


def one(name: str, template: Template, *arguments: object, **more: object) -> Run:
    """A run of one task, whose result is the output of the run."""
    outputs = template.outputs.parameters
    produced = [("r", outputs[0].type, TaskOutput("a", outputs[0].name))] if outputs and "outputs" in more else []
    task = Task("a", template.name, arguments)  # type: ignore[arg-type]
    return Run(name, workflow(name, task, templates=(template,), outputs=produced), **more)  # type: ignore[arg-type]


@together
def test_attempts_and_limits_of_time(namespace: Namespace) -> list[Run]:
    attempt = "from couler_py import run_info\n"
    third = python(
        "third",
        f"def third():\n    {attempt}    assert run_info.attempt == 2\n    return run_info.attempt",
        returns=OutputParameter("result", INT),
        retry=RetryPolicy(3),
    )
    slow = python(
        "slow",
        f"def slow():\n    import time\n    {attempt}    time.sleep(0 if run_info.attempt else 90)",
        timeout=20,  # enough for its second attempt beside all the others
        retry=RetryPolicy(1),
    )
    code = Compare("==", LastRetry("exit_code"), Literal(7))
    entry = Template("main", Graph((Task("a", "sleep"),)), timeout=4)
    sleep = shell("sleep", "sleep 90")
    runs = [
        one("third", third, outputs={"r": 2}, tasks={"a": "Succeeded"}),
        one("retried-timeout", slow, tasks={"a": "Succeeded"}),
        one("timeout", shell("t", "sleep 90", timeout=2), status="Failed", tasks={"a": "Failed"}),
        one("deadline", shell("t", "sleep 90", deadline=3, retry=RetryPolicy(5)), status="Failed"),
        one("other-code", shell("t", "exit 3", retry=RetryPolicy(5, when=code)), status="Failed"),
        one("this-code", shell("t", "exit 7", retry=RetryPolicy(1, Backoff(1, 2, 60), code)), status="Failed"),
        Run("run-deadline", workflow("r", Task("a", "sleep"), templates=(sleep,), deadline=4), "Failed"),
    ]
    graph = workflow("g", Task("a", "sleep"), templates=(sleep,))
    runs.append(Run("graph-deadline", msgspec.structs.replace(graph, templates=(entry, sleep)), "Failed"))
    return runs


@together
def test_cache_locks_hooks_daemons_and_waits(namespace: Namespace) -> list[Run]:
    now = python(
        "now",
        "def now(x):\n    import time\n    return time.time()",
        Parameter("x", INT),
        returns=OutputParameter("result", FLOAT),
        cache=Cache(3600, version=uuid.uuid4().hex),
    )
    same = Compare("==", TaskOutput("a", "result"), TaskOutput("b", "result"))
    again = Task("b", "now", given(x=Literal(1)), after=(After("a"),))
    name = f"locks-{uuid.uuid4().hex[:8]}"
    locked = shell("locked", "true", locks=(Mutex("m"),))
    counted = shell("counted", "true", locks=(Semaphore("s", 2),))
    good, daemon = shell("good", "true"), shell("served", "sleep 300", daemon=True)
    wait = Template("wait", Suspend(1.0))
    return [
        Run(
            "cache",
            workflow(
                "cache", Task("a", "now", given(x=Literal(1))), again, templates=(now,), outputs=[("same", BOOL, same)]
            ),
            outputs={"same": True},
        ),
        Run(
            "locks",
            workflow(
                name, *(Task(f"t{i}", "locked") for i in range(2)), Task("c", "counted"), templates=(locked, counted)
            ),
        ),
        Run("hook", workflow("hook", Task("a", "good", hooks=(Hook("x", "good"),)), templates=(good,))),
        Run(
            "daemon",
            workflow("daemon", Task("a", "served"), Task("b", "good", after=(After("a"),)), templates=(daemon, good)),
            tasks={"b": "Succeeded"},
        ),
        Run("wait", workflow("wait", Task("a", "wait"), templates=(wait,)), tasks={"a": "Succeeded"}),
    ]


@together
def test_handlers_see_the_status_and_published_values(namespace: Namespace) -> list[Run]:
    value = "it {{x}} 'q'"
    publish = python(
        "publish", f"def publish():\n    return {value!r}", returns=OutputParameter("result", global_name="g")
    )
    breaks = python(
        "publish", "def publish():\n    raise ValueError", returns=OutputParameter("result", global_name="g")
    )
    both = (Parameter("s"), Parameter("v"))
    arguments = given(s=RunFact("status"), v=OrElse(Published("g"), Literal("none")))

    def handler(status: str, expected: str) -> Template:
        return python("hear", f"def hear(s, v):\n    assert (s, v) == {(status, expected)!r}, (s, v)", *both)

    def handled(name: str, publisher: Template, hear: Template, **more: object) -> Run:
        handlers = (
            Handler("always", "hear", arguments=arguments),
            Handler("if-failed", "hear", "failure", arguments=arguments),
        )
        built = workflow(name, Task("a", "publish"), templates=(publisher, hear), handlers=handlers)
        return Run(name, built, **more)  # type: ignore[arg-type]

    bad = shell("bad", "exit 1")
    return [
        handled(
            "good",
            publish,
            handler("Succeeded", value),
            tasks={"onExit/always": "Succeeded", "onExit/if-failed": "Skipped"},
        ),
        handled(
            "broken",
            breaks,
            handler("Failed", "none"),
            status="Failed",
            tasks={"onExit/always": "Succeeded", "onExit/if-failed": "Succeeded"},
        ),
        Run(
            "failing handler",
            workflow("h", Task("a", "good"), templates=(shell("good", "true"), bad), handlers=(Handler("x", "bad"),)),
            "Failed",
            {"a": "Succeeded"},
        ),
    ]


@together
def test_pods_have_what_was_asked_for(namespace: Namespace) -> list[Run]:
    namespace.core.create_namespaced_secret(
        namespace.name, {"metadata": {"name": "s1"}, "stringData": {"k": "sec{{x}}"}}
    )
    namespace.core.create_namespaced_config_map(namespace.name, {"metadata": {"name": "c1"}, "data": {"k": "cm"}})
    script = 'test "$A" = "sec{{x}}" && test "$B" = cm && test "$C" = "v{{y}}\\$(Z)" && test -n "$D" && echo "$E"'
    env = (
        EnvVar("A", SecretRef("s1", "k")),
        EnvVar("B", ConfigMapRef("c1", "k")),
        EnvVar("C", "v{{y}}$(Z)"),
        EnvVar("D", FieldRef("metadata.name")),
        EnvVar("E", Text(("n=", RunFact("namespace")))),
    )
    mount = (VolumeMount("v", "/v"),)
    empty = Volume("v", Templated({"emptyDir": {}}))
    surroundings = PodSettings(
        volumes=(empty,),
        init_containers=(Container(IMAGE, ("sh", "-c", "echo hi > /v/f"), name="init", mounts=mount),),
        sidecars=(Container(IMAGE, ("sleep", "300")),),
        labels=(("l", "x"),),
        dns=Dns(options=(DnsOption("ndots", "1"),)),
    )
    pair = ContainerSet(
        (
            Container(IMAGE, ("sh", "-c", "echo 1 > /v/a"), name="a", mounts=mount),
            Container(IMAGE, ("sh", "-c", "cat /v/a"), name="main", mounts=mount),
        ),
        (("main", ("a",)),),
    )
    printing = Script("python:3.11", "import os\nprint(os.environ['X'])", env=(EnvVar("X", Text((Input("x"),))),))
    facts = python(
        "facts",
        "def facts():\n    from couler_py import run_info as r\n"
        "    assert r.id and r.namespace and r.start and r.scheduled_time\n"
        "    return [r.attempt, r.name.startswith('facts')]",
        returns=OutputParameter("result", ListOf(ANY)),
    )
    return [
        one(
            "env",
            Template("env", Container(IMAGE, ("sh", "-c", script), env=env), outputs=Outputs(PRINTED)),
            outputs={"r": f"n={namespace.name}"},
        ),
        one(
            "around",
            Template(
                "around", Container(IMAGE, ("cat", "/v/f"), mounts=mount), outputs=Outputs(PRINTED), pod=surroundings
            ),
            outputs={"r": "hi"},
        ),
        one("pair", Template("pair", pair, pod=PodSettings(volumes=(empty,)))),
        one(
            "script",
            Template("script", printing, Inputs((Parameter("x"),)), Outputs(PRINTED)),
            *given(x=Literal("hé $$ \x1b")),
            outputs={"r": "hé $$ \x1b"},
        ),
        one("facts", facts, outputs={"r": [0, True]}),
    ]


@together
def test_a_value_never_becomes_part_of_a_manifests_structure(namespace: Namespace) -> list[Run]:
    manifest = Templated(
        {
            "apiVersion": "v1",
            "kind": "ConfigMap",
            "metadata": {"generateName": "made-"},
            "data": {"a": "", "b": 'lit {{x}} "q"'},
        },
        (Substitution("/data/a", Text(("v: ", Input("x")))),),
    )
    made = Template(
        "made",
        Resource("create", manifest),
        Inputs((Parameter("x"),)),
        Outputs((OutputParameter("a", json_path="{.data.a}"), OutputParameter("b", json_path="{.data.b}"))),
    )
    hostile = 'q" \n, "c": "injected'
    built = workflow(
        "made",
        Task("a", "made", given(x=Literal(hostile))),
        templates=(made,),
        outputs=[("a", STR, TaskOutput("a", "a")), ("b", STR, TaskOutput("a", "b"))],
    )
    return [Run("made", built, outputs={"a": f"v: {hostile}", "b": 'lit {{x}} "q"'})]
