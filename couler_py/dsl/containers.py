"""Steps that aren't Python functions: containers, scripts, Kubernetes objects, pauses, requests.

    shout = couler.container(
        "alpine:3.20",
        ["sh", "-c", 'tr a-z A-Z < "$0" > /tmp/out', couler.argument("text")],
        inputs={"text": Path},
        outputs={"loud": Path("/tmp/out")},
    )

    @couler.workflow
    def main(data: Path):
        return shout(text=data).loud

Each is a definition that is called in a workflow like a Python step. A placeholder may stand where a text
does: it becomes an input, and the task its argument.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Unpack

import msgspec

from couler_py.dsl.annotations import ArtifactType
from couler_py.dsl.durations import Duration
from couler_py.dsl.filling import Argument
from couler_py.dsl.options import PodOptions
from couler_py.dsl.templates import InputSpec, Making, OutputSpec, TemplateStep, argument, file_at, stdout, value_at
from couler_py.ir.model import (
    Http,
    OutputParameter,
    Outputs,
    Resource,
    Script,
    Suspend,
)
from couler_py.ir.pod import Container
from couler_py.ir.storage import SecretRef
from couler_py.ir.types import STR


def container(
    image: Any,
    command: Sequence[Any] = (),
    args: Sequence[Any] = (),
    *,
    inputs: Mapping[str, InputSpec] | None = None,
    outputs: Mapping[str, OutputSpec] | None = None,
    working_dir: str = "",
    daemon: bool = False,
    **options: Unpack[PodOptions],
) -> TemplateStep:
    """A step that runs a command in a container.

    `inputs` and `outputs` say by name what it takes and leaves: a type for values, `Path` for files.
    A file input lies at `/tmp/couler/inputs/NAME`; an output without a path is read from
    `/tmp/couler/outputs/NAME`. `couler.argument("NAME")` puts an input into `command`, `args` or `env`.

    Raises `DefinitionError` for an option, type or text that can't be honoured.

    >>> say = container("alpine:3.20", ["echo"], [argument("word")], inputs={"word": str}, outputs={"out": stdout()})
    """
    making = Making(options, _name_of(image), inputs)
    runtime = making.reader.runtime()
    body = Container(
        image=making.filling.text(image, "image"),
        command=making.filling.texts(command, "command"),
        args=making.filling.texts(args, "args"),
        env=making.env(),
        env_from=runtime.env_from,
        working_dir=working_dir,
        pull_policy=options.get("image_pull_policy"),
        mounts=runtime.mounts,
        resources=runtime.resources,
    )
    return making.step(body, making.outputs(outputs), runtime.claims, daemon=daemon)


def script(
    image: Any,
    source: str,
    command: Sequence[Any] = ("sh",),
    *,
    inputs: Mapping[str, InputSpec] | None = None,
    outputs: Mapping[str, OutputSpec] | None = None,
    working_dir: str = "",
    **options: Unpack[PodOptions],
) -> TemplateStep:
    """A step that hands a text to a command in a container, as `sh` or `python`.

    Values are never put into the text: each input value is an environment variable of its name, and
    a file input lies at `/tmp/couler/inputs/NAME`. Without `outputs`, there are none.

    >>> count = script("alpine:3.20", 'echo "$word" | wc -c', inputs={"word": str}, outputs={"n": stdout(int)})
    """
    making = Making(options, "script", inputs)
    if not isinstance(source, str):
        raise making.wrong(
            f"the source of a script is text, not a {type(source).__name__}",
            "make a Python function a step by couler.step",
        )
    runtime = making.reader.runtime()
    own = making.env()
    taken = {variable.name for variable in own}
    handed = {name: Argument(name) for name in making.filling.parameters if name not in taken}
    body = Script(
        image=making.filling.text(image, "image"),
        source=source,
        command=making.filling.texts(command, "command"),
        env=(*own, *making.filling.env(handed)),
        env_from=runtime.env_from,
        working_dir=working_dir,
        pull_policy=options.get("image_pull_policy"),
        mounts=runtime.mounts,
        resources=runtime.resources,
    )
    return making.step(body, making.outputs(outputs), runtime.claims)


def resource(
    manifest: Mapping[str, Any] | str,
    *,
    action: str = "create",
    success_condition: str = "",
    failure_condition: str = "",
    merge_strategy: str = "",
    set_owner_reference: bool = False,
    flags: Sequence[Any] = (),
    inputs: Mapping[str, InputSpec] | None = None,
    outputs: Mapping[str, str | tuple[str, Any]] | None = None,
    **options: Unpack[PodOptions],
) -> TemplateStep:
    """A step that creates, changes or deletes a Kubernetes object, and waits until a condition holds.

    `manifest` is a dict, or YAML text. `outputs` gives a JSON path (`{.status.phase}`), or a pair of it and a
    type. Conditions are label selectors over the object's fields, as `status.succeeded > 0`.

    >>> manifest = {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"generateName": "pi-"}, "spec": {}}
    >>> job = couler.resource(manifest, success_condition="status.succeeded > 0")
    """
    making = Making(options, "resource", inputs)
    if action not in ("get", "create", "apply", "delete", "replace", "patch"):
        raise making.wrong(
            f"there is no action {action!r}", "the actions are get, create, apply, delete, replace and patch"
        )
    body = Resource(
        action=action,  # type: ignore[arg-type]
        manifest=making.filling.templated(_manifest(manifest, making)),
        success_condition=success_condition,
        failure_condition=failure_condition,
        merge_strategy=merge_strategy,
        set_owner_reference=set_owner_reference,
        flags=making.filling.texts(flags, "flags"),
    )
    found = []
    for name, given in (outputs or {}).items():
        path, annotation = given if isinstance(given, tuple) else (given, str)
        type_ = making.type_of(annotation, f"output {name!r}")
        if isinstance(type_, ArtifactType):
            raise making.wrong(f"output {name!r} can't be a file", "a Kubernetes object has values only")
        found.append(OutputParameter(name, type_, json_path=path))
    return making.step(body, Outputs(tuple(found)), ())


def suspend(
    duration: Duration | None = None,
    *,
    outputs: Mapping[str, Any] | None = None,
    **options: Unpack[PodOptions],
) -> TemplateStep:
    """A step that waits for `duration`, or until a person resumes the run.

    `outputs` gives types by name: values that the person supplies (a pair gives a default too).

    >>> pause = couler.suspend("10m")
    >>> approve = couler.suspend(outputs={"yes": (bool, False)})
    """
    making = Making(options, "suspend", None)
    found = []
    for name, given in (outputs or {}).items():
        annotation, default = given if isinstance(given, tuple) else (given, msgspec.UNSET)
        type_ = making.type_of(annotation, f"output {name!r}")
        if isinstance(type_, ArtifactType):
            raise making.wrong(f"output {name!r} can't be a file", "a person supplies values only")
        if default is not msgspec.UNSET:
            default = making.wire(type_, default, f"the default of {name!r}")
        found.append(OutputParameter(name, type_, supplied=True, default=default))
    return making.step(Suspend(making.seconds("duration", duration)), Outputs(tuple(found)), ())


def http(
    url: Any,
    method: str = "GET",
    *,
    headers: Mapping[str, Any] | None = None,
    body: Any = "",
    request_timeout: Duration | None = None,
    success_condition: str = "",
    insecure: bool = False,
    inputs: Mapping[str, InputSpec] | None = None,
    **options: Unpack[PodOptions],
) -> TemplateStep:
    """A step that makes a request; its output `result` is the answer's text. A header may be a key of a secret.

    >>> notify = couler.http("https://example.org/hook", "POST", body=couler.argument("text"), inputs={"text": str})
    """
    making = Making(options, "http", inputs)
    filled = tuple(
        (name, value if isinstance(value, SecretRef) else making.filling.text(value, f"the header {name!r}"))
        for name, value in (headers or {}).items()
    )
    request = Http(
        url=making.filling.text(url, "url"),
        method=method,
        headers=filled,
        body=making.filling.text(body, "body"),
        timeout=making.seconds("request_timeout", request_timeout),
        success_condition=success_condition,
        insecure=insecure,
    )
    return making.step(request, Outputs((OutputParameter("result", STR),)), ())


def _name_of(image: Any) -> str:
    """The last part of an image's name, without tag and digest."""
    if not isinstance(image, str):
        return "container"
    last = image.partition("@")[0].rpartition("/")[2].partition(":")[0]
    return last or "container"


def _manifest(manifest: Mapping[str, Any] | str, making: Making) -> Any:
    if not isinstance(manifest, str):
        return manifest
    import yaml

    try:
        found = yaml.safe_load(manifest)
    except yaml.YAMLError as problem:
        raise making.wrong(f"the manifest is not YAML: {problem}", "") from problem
    if not isinstance(found, dict):
        raise making.wrong("the manifest is not an object", "write kind, apiVersion and metadata")
    return found


__all__ = ["argument", "container", "file_at", "http", "resource", "script", "stdout", "suspend", "value_at"]
