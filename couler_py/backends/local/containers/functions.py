"""A Python step in its image: where the runner finds things there, and what it is told."""

from __future__ import annotations

import posixpath

from couler_py.backends.local.containers.group import Mount
from couler_py.backends.local.context import VALUE_LIMIT, Call, Context
from couler_py.backends.local.steps import environment, programs
from couler_py.ir.model import Function

SCRIPT = "/couler/script"
INPUTS, OUTPUTS = "/tmp/couler/inputs", "/tmp/couler/outputs"  # noqa: S108 - in the container, as on Argo
INCLUDE = "/couler/include"


def variables(context: Context, made: Call, body: Function) -> dict[str, str]:
    """The variables of the runner, as on Argo: packages are installed by it. Raises `TaskFailure`."""
    found = environment.function_inputs(made) | {
        "COULER_RUNNER": programs.runner(),
        "COULER_INPUTS": INPUTS,
        "COULER_OUTPUTS": OUTPUTS,
        "COULER_LIMIT": str(VALUE_LIMIT),
        "PYTHONUNBUFFERED": "1",
    }
    if plain := context.read_as_text.get(made.template.name):
        found["COULER_PLAIN"] = ",".join(plain)
    if exact := context.taken_apart.get(made.template.name):
        found["COULER_EXACT"] = ",".join(exact)
    if body.packages:
        found["COULER_INSTALL"] = "1"
    if body.include:
        found["COULER_INCLUDE"] = ":".join(posixpath.join(INCLUDE, str(number)) for number in range(len(body.include)))
    return found


async def included(context: Context, body: Function) -> list[Mount]:
    """The folders of the user's own modules, for the runner to find them. Raises `TaskFailure`."""
    await programs.includes(context, body)
    return [
        Mount(str(programs.include_folder(context.home, digest)), posixpath.join(INCLUDE, str(number)), True)
        for number, digest in enumerate(body.include)
    ]
