"""Templates of every kind: one function each, its body's fields beside the template's."""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Unpack

from couler_py.backends.argo.native.calls import GraphTemplate, Template
from couler_py.backends.argo.native.making import make, make_graph
from couler_py.backends.argo.native.recording import current_graph
from couler_py.dsl.problems import fail

if TYPE_CHECKING:
    from couler_py.backends.argo import words
    from couler_py.backends.argo.native.calls import Inputs, Outputs


def container(
    name: str,
    /,
    *,
    inputs: Inputs | None = None,
    outputs: Outputs | None = None,
    **fields: Unpack[words.ContainerFields],
) -> Template:
    """A container: fields of the container and of the template side by side.

    `securityContext`, which both have, is the template's (of the pod); the container's stands in `container={...}`.

    >>> with argo.Workflow("hello") as w:
    ...     echo = argo.container("echo", image="alpine:3.20", args=[argo.input("message")], inputs=["message"])
    >>> w.data["spec"]["templates"][0]["container"]
    {'image': 'alpine:3.20', 'args': ['{{inputs.parameters.message}}']}
    """
    return make(name, "container", inputs, outputs, fields)


def script(
    name: str, /, *, inputs: Inputs | None = None, outputs: Outputs | None = None, **fields: Unpack[words.ScriptFields]
) -> Template:
    """A container that runs `source`.

    >>> with argo.Workflow("dice") as w:
    ...     roll = argo.script("roll", image="python:3.12", command=["python"], source="print(4)")
    """
    return make(name, "script", inputs, outputs, fields)


def resource(
    name: str,
    /,
    *,
    inputs: Inputs | None = None,
    outputs: Outputs | None = None,
    **fields: Unpack[words.ResourceFields],
) -> Template:
    """A Kubernetes object that is created, patched or looked at.

    >>> with argo.Workflow("objects") as w:
    ...     gone = argo.resource("gone", action="delete", flags=["configmap", "old"])
    """
    return make(name, "resource", inputs, outputs, fields)


def suspend(
    name: str, /, *, inputs: Inputs | None = None, outputs: Outputs | None = None, **fields: Unpack[words.SuspendFields]
) -> Template:
    """A wait: for `duration`, or for a person.

    >>> with argo.Workflow("waits") as w:
    ...     approve = argo.suspend("approve")
    """
    return make(name, "suspend", inputs, outputs, fields)


def http(
    name: str, /, *, inputs: Inputs | None = None, outputs: Outputs | None = None, **fields: Unpack[words.HTTPFields]
) -> Template:
    """A request that Argo's agent makes.

    >>> with argo.Workflow("requests") as w:
    ...     ping = argo.http("ping", url="https://example.com", successCondition="response.statusCode == 200")
    """
    return make(name, "http", inputs, outputs, fields)


def data(
    name: str, /, *, inputs: Inputs | None = None, outputs: Outputs | None = None, **fields: Unpack[words.DataFields]
) -> Template:
    """A list of files, filtered by expressions.

    >>> with argo.Workflow("files") as w:
    ...     logs = argo.data(
    ...         "logs",
    ...         source={"artifactPaths": {"name": "logs", "s3": {"bucket": "logs"}}},
    ...         transformation=[{"expression": "filter(data, {# endsWith '.log'})"}],
    ...     )
    """
    return make(name, "data", inputs, outputs, fields)


def container_set(
    name: str,
    /,
    *,
    inputs: Inputs | None = None,
    outputs: Outputs | None = None,
    **fields: Unpack[words.ContainerSetFields],
) -> Template:
    """Several containers in one pod.

    `retryStrategy` is the template's; the set's own stands in `containerSet={...}`.

    >>> with argo.Workflow("pods") as w:
    ...     both = argo.container_set("both", containers=[{"name": "a", "image": "x"}, {"name": "main", "image": "x"}])
    """
    return make(name, "containerSet", inputs, outputs, fields)


def plugin(
    name: str, /, *, inputs: Inputs | None = None, outputs: Outputs | None = None, **fields: Unpack[words.PluginFields]
) -> Template:
    """What an executor plugin does: `plugin={"name-of-plugin": {...}}`.

    >>> with argo.Workflow("plugins") as w:
    ...     hello = argo.plugin("hello", plugin={"hello": {}})
    """
    return make(name, "plugin", inputs, outputs, fields)


def dag(
    name: str, /, *, inputs: Inputs | None = None, outputs: Outputs | None = None, **fields: Unpack[words.DAGFields]
) -> GraphTemplate:
    """A dag: the tasks that are written under `with`.

    `failFast` is the template's; the dag's own stands in `dag={"failFast": False}`.

    >>> with argo.Workflow("chain") as w:
    ...     echo = argo.container("echo", image="alpine:3.20")
    ...     with argo.dag("main"):
    ...         a = echo("A")
    ...         b = echo("B", depends=a.succeeded)
    >>> w.data["spec"]["templates"][1]["dag"]["tasks"][1]["depends"]
    'A.Succeeded'
    """
    return make_graph(name, "dag", inputs, outputs, fields)


def steps(
    name: str, /, *, inputs: Inputs | None = None, outputs: Outputs | None = None, **fields: Unpack[words.StepsFields]
) -> GraphTemplate:
    """Steps one after the other; those under `with argo.parallel():` run side by side.

    >>> with argo.Workflow("stairs") as w:
    ...     echo = argo.container("echo", image="alpine:3.20")
    ...     with argo.steps("main"):
    ...         first = echo("first")
    ...         with argo.parallel():
    ...             left, right = echo("left"), echo("right")
    >>> [len(group) for group in w.data["spec"]["templates"][1]["steps"]]
    [1, 2]
    """
    return make_graph(name, "steps", inputs, outputs, fields)


def template(
    name: str,
    /,
    *,
    inputs: Inputs | None = None,
    outputs: Outputs | None = None,
    **fields: Unpack[words.RawTemplateFields],
) -> Template:
    """A template with its fields as Argo has them, each body in its own dict.

    >>> with argo.Workflow("raw") as w:
    ...     same = argo.template("same", container={"image": "alpine:3.20"})
    """
    return make(name, "", inputs, outputs, fields)


def parallel() -> AbstractContextManager[None]:
    """The steps under `with` run side by side: see `steps`."""
    into = current_graph("a group of steps")
    if into.form != "steps":
        fail("CLR192", "a group of steps stands in a dag", help="tasks of a dag run side by side by themselves")
    return into.group()
