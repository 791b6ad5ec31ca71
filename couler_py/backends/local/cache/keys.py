"""What the outputs of a step are made from: the parts of its key in the cache.

A part is the digest of one thing that can change: the source, the image, one input. Kept beside the result, the
parts say later why a step wasn't found (`why.py`). Secrets are in none: of an environment variable that is one, only
its name and key count.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any

import msgspec

from couler_py.backends.local.context import Call, Context
from couler_py.backends.local.scope import encode
from couler_py.ir.codec import digest, to_builtins
from couler_py.ir.expr import WorkflowParameter
from couler_py.ir.graph import reachable
from couler_py.ir.model import Function, Script, Template
from couler_py.ir.pod import ConfigMapRef, Container, EnvFrom, EnvVar, PodSettings, Resources
from couler_py.ir.storage import SecretRef
from couler_py.ir.structs import nodes
from couler_py.store.cache import Part, Parts, part
from couler_py.store.records import ArtifactRef

LONGEST = 80
"""Characters of a value that are kept to be shown; of longer ones the beginning."""

NO_POLICIES: dict[str, Any] = {
    "retry": None,
    "timeout": None,
    "deadline": None,
    "cache": None,
    "locks": (),
    "parallelism": None,
    "archive_logs": None,
    "metrics": None,
    "effects": (),
    "description": "",
}
"""What says when and how often a step runs, and not what it makes: no part of a key."""

NO_PLACEMENT: dict[str, Any] = {
    "labels": (),
    "annotations": (),
    "node_selector": (),
    "tolerations": (),
    "service_account": "",
    "image_pull_secrets": (),
    "priority_class": "",
    "scheduler": "",
}
"""Likewise what says where its pod runs."""


def parts(context: Context, made: Call, version: str, key: str | None) -> Parts:
    """All that the outputs of a call are made from; `key` stands for its inputs where there is one."""
    template = made.template
    known = context.key_parts.get(template.name)
    if known is None:
        known = context.key_parts[template.name] = dict(_of_template(context, template))
    found = dict(known)
    if version:
        found["version"] = part(version, _short(version))
    if key is not None:
        found["key"] = part(key, _short(key))
        return found
    for parameter in template.inputs.parameters:
        if parameter.name in made.parameters:
            text = encode(parameter.type, made.parameters[parameter.name])
            found[f"input:{parameter.name}"] = part(text, _short(text))
    for name, ref in made.artifacts.items():
        found[f"artifact:{name}"] = part([ref.kind, ref.digest], _of_file(ref))
    return found


def _of_template(context: Context, template: Template) -> Iterator[tuple[str, Part]]:
    """The parts that are the same for every call of a template in a run."""
    yield from _of_body(_bare(template))
    names = reachable(context.workflow, [template.name])
    inner = [context.templates[name] for name in names if name != template.name]
    for each in inner:
        yield f"step:{each.name}", Part(digest(_bare(each)))
    whole = [template, *inner]
    if context.options.runtime != "process":  # podman and docker run the same image to the same end
        yield "runtime", part("container", "in its image")
    elif any(isinstance(each.body, Function) for each in whole):
        python = ".".join(map(str, sys.version_info[:2]))
        yield "python", part(python, python)
    # A result that another check would have refused is none to reuse.
    checks = {
        each.name: [context.read_as_text.get(each.name, []), context.taken_apart.get(each.name, [])] for each in whole
    }
    wanted = {name: lists for name, lists in checks.items() if any(lists)}
    if wanted:
        named = sorted({output for lists in wanted.values() for outputs in lists for output in outputs})
        yield "checks", part(wanted if len(whole) > 1 else list(wanted.values()), _short(", ".join(named)))
    for node in (node for each in whole for node in nodes(each)):
        if isinstance(node, WorkflowParameter) and node.name in context.facts.parameters:
            yield f"parameter:{node.name}", part(context.facts.parameters[node.name])
        elif isinstance(node, ConfigMapRef) or (isinstance(node, EnvFrom) and node.kind == "config_map"):
            yield from _of_config_map(context, node)


def _of_body(template: Template) -> Iterator[tuple[str, Part]]:
    body = template.body
    yield "interface", part(to_builtins([template.inputs, template.outputs, template.daemon]))
    if not isinstance(body, Function | Container | Script):
        yield "body", Part(digest(template))
        return
    left: dict[str, Any] = {"resources": Resources(), "env": (), "image": "", "pull_policy": None}
    image = body.image if isinstance(body.image, str) else "made from values"
    yield "image", part(to_builtins(body.image), _short(image))
    for variable in body.env:
        yield f"env:{variable.name}", _of_variable(variable)
    if isinstance(body, Function):
        source = [[piece.text for piece in body.pieces], body.name, body.returns, body.future]
        yield "source", part(source)
        yield "packages", part(body.packages, _short(", ".join(body.packages)))
        yield "modules", part(body.include)
        left |= {"pieces": (), "name": "", "packages": (), "include": ()}
    elif isinstance(body, Script):
        yield "source", part(to_builtins(body.source))
        left["source"] = ""
    else:
        yield "command", part(to_builtins([body.command, body.args]))
        left |= {"command": (), "args": ()}
    yield "settings", part(to_builtins([msgspec.structs.replace(body, **left), template.pod]))


def _bare(template: Template) -> Template:
    """A template without what doesn't change its outputs."""
    pod: PodSettings = msgspec.structs.replace(template.pod, **NO_PLACEMENT)
    return msgspec.structs.replace(template, pod=pod, **NO_POLICIES)


def _of_variable(variable: EnvVar) -> Part:
    value = variable.value
    shown = f"secret {value.name}/{value.key}" if isinstance(value, SecretRef) else ""
    return part(to_builtins(value), shown)


def _of_config_map(context: Context, node: ConfigMapRef | EnvFrom) -> Iterator[tuple[str, Part]]:
    maps = context.options.config_maps
    names = [node.name] if isinstance(node.name, str) else sorted(maps)  # a name made from values may be any
    for name in names:
        yield f"config map:{name}", part(maps.get(name))


def _short(text: str) -> str:
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…"


def _of_file(ref: ArtifactRef) -> str:
    return f"{ref.kind}, {ref.size} bytes"
