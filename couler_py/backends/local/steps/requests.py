"""What an attempt of a step needs, as one request to the warden: plain data, as JSON can say it."""

from __future__ import annotations

import functools
from pathlib import Path
from typing import Any

from couler_py.backends.local.containers import request as in_containers
from couler_py.backends.local.context import VALUE_LIMIT, Call, Context
from couler_py.backends.local.steps import declared, environment, forks, packages, programs, volumes
from couler_py.backends.local.warden.processes import MARK
from couler_py.ir.model import Function, Script
from couler_py.ir.pod import Container
from couler_py.store import artifacts


async def request_of(context: Context, made: Call, number: int, folder: Path, gpus: tuple[str, ...]) -> dict[str, Any]:
    """All that the warden needs to know. Raises `TaskFailure`."""
    request = _blank(context, made, folder)
    if context.options.runtime != "process":
        await in_containers.complete(context, made, number, folder, gpus, request)
        return request
    body = made.template.body
    assert isinstance(body, Function | Container | Script)
    scope = context.scope(made, attempt=number)
    surroundings = environment.of_body(context, scope, body, number)
    place = request["folder"]
    request["env"] |= surroundings.variables | {MARK: place}
    request["declared"] = surroundings.declared
    request["redact"] += surroundings.secrets
    request["directory"] = f"{place}/work"
    request["make"].append(f"{place}/work")
    request["work"] = f"{place}/work"
    if gpus:
        request["env"]["CUDA_VISIBLE_DEVICES"] = ",".join(gpus)
    volumes.mount(context, made, body, scope, request)
    if isinstance(body, Function):
        await _function(context, made, body, request)
        own = request.pop("declared")
        if forks.can_be_forked(context, own, request):
            forks.complete(context, made.template, request)
    else:
        declared.complete(context, made, body, scope, folder, request)
    return request


def _blank(context: Context, made: Call, folder: Path) -> dict[str, Any]:
    """What every request holds."""
    place = str(folder)
    return {
        "id": folder.name,
        "folder": place,
        "artifacts": str(context.home.artifacts),
        "env": context.ambient | {MARK: place},
        "timeout": made.template.timeout,
        "grace": context.options.grace,
        "redact": [],
        "stdout": None,
        "make": [],
        "clear": [],
        "files": [],
        "inputs": [],
        "links": [],
        "outputs": [],
        "clean": [],
        "work": None,
        "limit": VALUE_LIMIT,
        "fsync": context.options.durability == "power",
        "salvage": context.imported,
        "lock_paths": [],
        "shared_paths": [],
        "fresh_paths": [],
        "folders_of": [],
        "bare": [],
    }


async def _function(context: Context, made: Call, body: Function, request: dict[str, Any]) -> None:
    python = await packages.interpreter(context, body, functools.partial(context.journal.waits, made.path))
    place = request["folder"]
    request["command"] = [python, "-P", str(programs.program(context, made.template))]
    request["env"] |= environment.function_inputs(made) | {
        "COULER_RUNNER": programs.runner(),
        "COULER_INPUTS": f"{place}/inputs",
        "COULER_OUTPUTS": f"{place}/outputs",
        "COULER_LIMIT": str(VALUE_LIMIT),
        "PYTHONUNBUFFERED": "1",
    }
    plain = context.read_as_text.get(made.template.name)
    if plain:  # a value that no engine could give a container fails here too, so that all mean the same
        request["env"]["COULER_PLAIN"] = ",".join(plain)
    exact = context.taken_apart.get(made.template.name)
    if exact:  # likewise a number that another engine would round
        request["env"]["COULER_EXACT"] = ",".join(exact)
    include = await programs.includes(context, body)
    if include:
        request["env"]["COULER_INCLUDE"] = include
    if made.artifacts:
        request["clean"].append(f"{place}/inputs")
    for wanted in made.template.inputs.artifacts:
        if wanted.name in made.artifacts:
            ref = artifacts.reference(made.artifacts[wanted.name])
            request["inputs"].append(
                {"name": wanted.name, "ref": ref, "path": f"{place}/inputs/{wanted.name}", "mode": wanted.mode}
            )
    for output in made.template.outputs.parameters:
        path = f"{place}/outputs/{output.name}"
        request["outputs"].append({"name": output.name, "kind": "parameter", "path": path})
    for left in made.template.outputs.artifacts:
        path = f"{place}/outputs/{left.name}"
        request["outputs"].append({"name": left.name, "kind": "artifact", "path": path, "optional": left.optional})
