"""Which Python steps are forked from an interpreter that runs already, and from which."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable
from typing import Any

from couler_py.backends.local.context import Context
from couler_py.backends.local.steps import environment, programs
from couler_py.ir.model import Template

SWITCH = "COULER_ZYGOTE"
"""The environment variable that, as "0", has every Python step start an interpreter of its own."""

AT_START = ("PYTHON", "LD_", "LC_", "LANG", "TZ", "MALLOC_", "GLIBC_")
"""How the names of variables begin that an interpreter, or its C library, reads only when it starts."""

IGNORED = ("PIP_", "UV_", "COULER_")
"""How the names of variables begin that no module reads while it is loaded."""


def can_be_forked(context: Context, declared: Iterable[str], request: dict[str, Any]) -> bool:
    """Whether a step can't tell that it was forked.

    One with secrets gets an interpreter of its own, so that no other process has held them; so does one that sets
    variables which count when an interpreter starts, or when a module is loaded. So do all on macOS, where the
    system's libraries don't bear being forked (see the documentation of `multiprocessing`).
    """
    if sys.platform != "linux" or os.environ.get(SWITCH) == "0" or request["redact"]:
        return False
    own = [name for name in declared if not name.startswith(IGNORED)]
    return not any(name.startswith(AT_START) for name in own) and not (own and preload(context))


def is_module(name: str) -> bool:
    """Whether `import` takes a name."""
    return all(part.isidentifier() for part in name.split("."))


def preload(context: Context) -> tuple[str, ...]:
    """The modules that the workflow wants loaded before its Python steps are forked."""
    return tuple(context.workflow.engines.get("local", {}).get("preload", ()))


def complete(context: Context, template: Template, request: dict[str, Any]) -> None:
    """Have a request's step forked. What stands in its zygote's environment is left out of its own."""
    python, _, request["program"] = request.pop("command")
    request["code"] = programs.code(context, template)
    del request["env"]["COULER_RUNNER"]
    modules = preload(context)
    key = request["zygote"] = "\0".join((python, *modules))
    if key not in context.wardens.zygotes:
        runner = str(programs.runner_file(context.home))
        around = {**context.ambient, **environment.run_facts(context, 0), "PYTHONUNBUFFERED": "1"}
        context.wardens.zygotes[key] = {"python": python, "runner": runner, "preload": modules, "env": around}
    around = context.wardens.zygotes[key]["env"]
    request["env"] = {name: value for name, value in request["env"].items() if around.get(name) != value}
