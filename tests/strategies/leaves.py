"""Templates that do something by themselves: containers, scripts, functions, waits, resources, jobs."""

from __future__ import annotations

from couler_py.ir import expr as x
from couler_py.ir.model import (
    Backoff,
    Body,
    Cache,
    ContainerSet,
    DistributedJob,
    Function,
    Http,
    InputArtifact,
    Inputs,
    Mutex,
    OutputArtifact,
    OutputParameter,
    Outputs,
    Parameter,
    Piece,
    Resource,
    RetryPolicy,
    Script,
    Semaphore,
    Suspend,
    Template,
)
from couler_py.ir.pod import Container, Substitution, Templated
from couler_py.ir.storage import S3
from couler_py.ir.types import BOOL, INT, STR, ListOf, Type
from tests.strategies.dice import Dice, chance, pick
from tests.strategies.expressions import Known, condition
from tests.strategies.pods import env, pod_settings, resources, text_like
from tests.strategies.text import IDENTIFIERS, hostile, name, printable
from tests.strategies.typed import make_type, make_value

KINDS = ("container", "function", "script", "suspend", "resource", "container_set", "http", "job")


def leaf(dice: Dice, template_name: str, parameters: tuple[Parameter, ...]) -> Template:
    """A template of a random kind with a random signature. `parameters` are the workflow's."""
    kind = pick(dice, KINDS if chance(dice, 15) else KINDS[:4])
    function = kind == "function"
    inputs = _inputs(dice, function, files=kind in ("container", "script", "function"))
    seen = Known(
        tuple((x.Input(p.name), p.type) for p in inputs.parameters)
        + tuple((x.WorkflowParameter(p.name), p.type) for p in parameters)
        + ((x.Run("name"), STR), (x.Run("attempt"), INT))
    )
    body, outputs = _body(dice, kind, template_name, seen)
    waits = kind == "suspend"
    return Template(
        template_name,
        body,
        inputs,
        outputs,
        retry=_retry(dice, seen) if not waits and chance(dice, 15) else None,
        timeout=pick(dice, (60.0, 0.5)) if not waits and chance(dice, 15) else None,
        deadline=3600.0 if not waits and chance(dice, 5) else None,
        cache=Cache(pick(dice, (None, 3600.0)), pick(dice, ("", "v1"))) if function and chance(dice, 15) else None,
        locks=(pick(dice, (Mutex("m"), Semaphore("s", 2))),) if chance(dice, 10) else (),
        pod=pod_settings(dice, seen) if not waits and chance(dice, 15) else Template("", body).pod,
        description=hostile(dice) if chance(dice, 10) else "",
    )


def _inputs(dice: Dice, function: bool, files: bool) -> Inputs:
    taken: set[str] = set()
    options = IDENTIFIERS
    parameters = []
    for _ in range(dice.number(0, 3)):
        type_ = make_type(dice, 1)
        given = {"default": make_value(dice, type_)} if chance(dice, 25) else {}
        parameters.append(Parameter(name(dice, taken, options), type_, **given))
    artifacts = []
    for _ in range(dice.number(0, 1) if files else 0):
        own = name(dice, taken, options)
        path = "" if function else f"/tmp/in/{len(taken)}"
        artifacts.append(InputArtifact(own, path, optional=chance(dice, 25)))
    return Inputs(tuple(parameters), tuple(artifacts))


def _body(dice: Dice, kind: str, own: str, seen: Known) -> tuple[Body, Outputs]:
    match kind:
        case "function":
            return _function(dice)
        case "script":
            script = Script(
                "python:3.11",
                printable(dice),
                env=env(dice, seen),
                resources=resources(dice),
            )
            return script, _file_outputs(dice, own, stdout=True)
        case "suspend":
            duration = pick(dice, (0.0, 1.0, None))
            supplied = duration is None and chance(dice, 50)
            return Suspend(duration), Outputs((OutputParameter("answer", STR, supplied=True),) if supplied else ())
        case "resource":
            value = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"generateName": "c-"}, "data": {"k": ""}}
            text = x.Text((hostile(dice), pick(dice, seen.plain)[0]))
            manifest = Templated(value, (Substitution("/data/k", text),))
            return Resource("create", manifest), Outputs((OutputParameter("uid", STR, json_path="{.metadata.uid}"),))
        case "container_set":
            first = Container("alpine", ("true",), name="main")
            second = Container("alpine", ("echo",), (text_like(dice, seen),), name="other")
            return ContainerSet((first, second), (("other", ("main",)),)), Outputs()
        case "http":
            return Http("https://example.com/", body=text_like(dice, seen)), Outputs()
        case "job":
            container = Container("pytorch:2", ("python", "-m", "train"), (text_like(dice, seen),))
            return DistributedJob("torch", container, nodes=dice.number(1, 2)), Outputs()
        case _:
            container = Container(
                "alpine:3.20",
                ("sh", "-c"),
                tuple(text_like(dice, seen) for _ in range(dice.number(0, 2))),
                env=env(dice, seen),
                working_dir=pick(dice, ("", "/work")),
                pull_policy=pick(dice, (None, "IfNotPresent")),
                resources=resources(dice),
            )
            return container, _file_outputs(dice, own, stdout=False)


def _function(dice: Dice) -> tuple[Function, Outputs]:
    returns = pick(dice, ("one", "none", "fields"))
    parameters: list[OutputParameter] = []
    artifacts: list[OutputArtifact] = []
    fields = {"none": (), "one": ("result",), "fields": ("score", "model", "names")[: dice.number(1, 3)]}[returns]
    for field in fields:
        if chance(dice, 20):
            artifacts.append(OutputArtifact(field))
        else:
            parameters.append(OutputParameter(field, _output_type(dice)))
    decided = [(x.Own(output.name), output.type) for output in parameters]
    if decided and chance(dice, 20):
        decision = condition(dice, Known(tuple(decided)))
        parameters.append(OutputParameter("decision", BOOL, value=decision))
    source = f"def work(*args, **kwargs):\n    return {hostile(dice)!r}\n"
    packages = ("requests>=2",) if chance(dice, 5) else ()
    body = Function("work", (Piece(source),), returns, packages=packages, resources=resources(dice))
    return body, Outputs(tuple(parameters), tuple(artifacts))


def _file_outputs(dice: Dice, own: str, stdout: bool) -> Outputs:
    parameters = []
    for i in range(dice.number(0, 2)):
        type_ = _output_type(dice)
        if stdout and i == 0 and chance(dice, 50):
            parameters.append(OutputParameter("result", STR, stdout=True))
        else:
            published = f"published-{own}-{i}" if chance(dice, 10) else ""
            parameters.append(OutputParameter(f"out{i}", type_, path=f"/tmp/out/{i}", global_name=published))
    artifacts = [OutputArtifact("file", "/tmp/out/file", storage=_storage(dice))] if chance(dice, 40) else []
    return Outputs(tuple(parameters), tuple(artifacts))


def _output_type(dice: Dice) -> Type:
    return pick(dice, (STR, INT, BOOL, ListOf(STR), ListOf(INT))) if chance(dice, 70) else make_type(dice, 1)


def _storage(dice: Dice) -> S3 | None:
    return S3(x.Text(("runs/", x.Run("name"), "/file"))) if chance(dice, 20) else None


def _retry(dice: Dice, seen: Known) -> RetryPolicy:
    when = None
    if chance(dice, 30):
        when = x.Compare("!=", x.LastRetry("exit_code"), x.Literal(dice.number(0, 3)))
    backoff = Backoff(pick(dice, (0.0, 1.0)), pick(dice, (1.0, 2.0)), pick(dice, (None, 60.0)))
    return RetryPolicy(dice.number(0, 3), backoff if chance(dice, 30) else None, when)
