"""The steps of a draft: real ones where the kind is known, else a function that fails and says what to write.

What a person typed gets into a function's source as the text of a literal, and into a command only as the command
that they typed themselves.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from couler_py import dsl
from couler_py.dsl.needs import needs
from couler_py.dsl.options import DEFAULT_IMAGE, Reader
from couler_py.dsl.packages import normalise
from couler_py.dsl.templates import TemplateStep
from couler_py.ir.model import Backoff, Function, Piece, RetryPolicy, Source, Template
from couler_py.nl.outline import Notice, Task
from couler_py.nl.words import PRODUCTS, name_of, sentence
from couler_py.printer import signatures
from couler_py.printer.literal import quoted
from couler_py.printer.names import camel, identifier

PLACE = Source("<draft>", 1)
SHELL_IMAGE = "alpine:3.20"
_RETURNS = {
    "nothing": "None",
    "value": "Any",
    "number": "float",
    "flag": "bool",
    "text": "str",
    "list": "list[Any]",
    "file": "Path",
}
_PRINTED = {"number": float, "flag": bool, "text": str}
_IMPORTS = {
    "Any": "from typing import Any",
    "NamedTuple": "from typing import NamedTuple",
    "Path": "from pathlib import Path",
}
# The image that has the program which a command begins with; everything else gets a plain shell.
_IMAGES = {
    "python": DEFAULT_IMAGE,
    "python3": DEFAULT_IMAGE,
    "pip": DEFAULT_IMAGE,
    "pytest": DEFAULT_IMAGE,
    "node": "node:22",
    "npm": "node:22",
    "npx": "node:22",
    "yarn": "node:22",
    "go": "golang:1.23",
    "cargo": "rust:1.83",
    "mvn": "maven:3.9",
    "psql": "postgres:17",
    "git": "alpine/git:2.45.2",
    "kubectl": "bitnami/kubectl:1.31",
    "aws": "amazon/aws-cli:2.22.0",
    "docker": "docker:27",
}


def annotation_of(task: Task) -> str:
    """What a task gives, as an annotation of Python's."""
    return camel(f"{task.name}_result") if task.fields else _RETURNS[task.gives]


def step_of(task: Task, parameters: Mapping[str, str]) -> TemplateStep:
    """The step of a task. `parameters` are what it is called with: annotations by name."""
    options = _options(task)
    given = {name: _typed(annotation) for name, annotation in parameters.items()}
    outputs = {"result": dsl.stdout(_PRINTED[task.gives])} if task.gives in _PRINTED else None
    match task.kind:
        case "shell":
            image = task.image or image_of(task.command)
            return dsl.script(image, task.command, inputs=given, outputs=outputs, **options)
        case "container":
            command = ["sh", "-c", task.command] if task.command else []
            return dsl.container(task.image, command, inputs=None, outputs=outputs, **options)
        case "http":
            return dsl.http(task.url, task.method, **options)
        case "wait":
            return dsl.suspend(task.seconds, name=task.name, description=sentence(task.text))
        case "approval":
            return dsl.suspend(name=task.name, description=sentence(task.text))
        case _:
            pieces = _pieces(task, parameters)
            return function_step(task.name, pieces, options, task.packages, task.image)


def notice_step(name: str, notice: Notice) -> TemplateStep:
    """The step that tells somebody how the run ended: it gets the run's status, and who is told."""
    how = f" by {notice.channel}" if notice.channel else ""
    text = notice.text or f"tell how the run ended{how}"
    given = {"status": "str", "to": "str"} if notice.target else {"status": "str"}
    function = _function(name, given, "None", text)
    return function_step(name, (Piece(function),), {}, (), "")


def image_of(command: str) -> str:
    """The image for a command of a shell, by its first word.

    >>> image_of("python train.py"), image_of("echo hello")
    ('python:3.11', 'alpine:3.20')
    """
    words = command.split()
    return _IMAGES.get(words[0], SHELL_IMAGE) if words else SHELL_IMAGE


def function_step(
    name: str, pieces: tuple[Piece, ...], options: dict[str, Any], packages: tuple[str, ...], image: str
) -> TemplateStep:
    """A Python step of source that is here as text: nothing of it is run."""
    own = {key: value for key, value in options.items() if key not in ("name", "description")}
    reader = Reader(own, name, PLACE)
    policies, runtime = reader.policies(), reader.runtime()
    body = Function(
        identifier(name),
        pieces,
        image=image or DEFAULT_IMAGE,
        packages=normalise(packages, PLACE, name),
        resources=runtime.resources,
    )
    source = signatures.read(body)
    assert source is not None, f"the source of {name} is not as the DSL reads it"
    body = msgspec.structs.replace(body, returns=source.returns)
    template = Template(
        name,
        body,
        source.inputs,
        source.outputs,
        retry=policies.retry,
        timeout=policies.timeout,
        cache=policies.cache,
        pod=reader.pod(),
        description=source.description,
    )
    return TemplateStep(template, source.names, {}, (), generated=False)


def _options(task: Task) -> dict[str, Any]:
    resources = task.resources
    found: dict[str, Any] = {
        "name": task.name,
        "description": sentence(task.text),
        "cpu": _cores(resources.cpu),
        "memory": resources.memory or None,
        "ephemeral_storage": resources.disk or None,
        "gpu": resources.gpu or None,
        "retries": _retry(task),
        "timeout": task.timeout or None,
        "cache": True if task.cache else None,
    }
    return {key: value for key, value in found.items() if value not in (None, "")}


def _cores(cpu: float | None) -> float | int | None:
    return int(cpu) if cpu is not None and cpu == int(cpu) else cpu


def _retry(task: Task) -> int | RetryPolicy | None:
    retry = task.retry
    if not retry.limit:
        return None
    if not retry.wait:
        return retry.limit
    return RetryPolicy(retry.limit, Backoff(retry.wait, retry.factor))


def _pieces(task: Task, parameters: Mapping[str, str]) -> tuple[Piece, ...]:
    annotation = annotation_of(task)
    own = _function(task.name, parameters, annotation, task.text)
    classes = {annotation: _fields(annotation, task)} if task.fields else {}
    imports: dict[str, str] = {}
    for name in needs(own, ()).names:
        for needed in needs(classes[name], ()).names if name in classes else (name,):
            if needed in _IMPORTS:
                imports[needed] = _IMPORTS[needed]
    return tuple(Piece(text) for text in (*imports.values(), *classes.values(), own))


def _fields(name: str, task: Task) -> str:
    file = (f"    {file_member(task)}: Path",) if task.gives == "file" else ()
    return "\n".join((f"class {name}(NamedTuple):", *file, *(f"    {field}: float" for field in task.fields)))


def file_member(task: Task) -> str:
    """The name of the file among several things that a task gives."""
    wanted = PRODUCTS.get(task.role, "file")
    return "file" if wanted in task.fields else wanted


def _function(name: str, parameters: Mapping[str, str], annotation: str, text: str) -> str:
    asked = ", ".join(f"{key}: {of}" for key, of in parameters.items())
    lines = [f"def {identifier(name)}({asked}) -> {annotation}:"]
    said = sentence(text)
    if said:
        literal = quoted(said)
        lines.append(f'    """{said}"""' if literal == f'"{said}"' and '"' not in said else f"    {literal}")
    lines.append(f"    raise NotImplementedError({quoted(_to_write(name, said, annotation))})")
    return "\n".join(lines)


def _to_write(name: str, said: str, annotation: str) -> str:
    gives = "" if annotation == "None" else f", and returns {annotation}"
    what = f": {said[:160]}" if said else ""
    return f"write what {name_of(name)} does{gives}{what}"


def _typed(annotation: str) -> Any:
    found: dict[str, Any] = {"int": int, "float": float, "bool": bool, "str": str, "Any": Any}
    return found.get(annotation, Any)


__all__ = ["annotation_of", "function_step", "image_of", "notice_step", "step_of"]
