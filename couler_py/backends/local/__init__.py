"""The embedded engine: runs a workflow on this machine, and is the reference for what the IR means.

>>> from couler_py.backends.local import execute
>>> from couler_py.ir import Suspend, Template, Workflow
>>> nap = Workflow(name="nap", entrypoint="nap", templates=(Template("nap", Suspend(duration=0)),))
>>> execute(nap, home=getfixture("tmp_path")).status
'Succeeded'
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from couler_py.backends.local.api import execute, execute_async, logs, resume, retry, run_list, stop
    from couler_py.backends.local.backend import BACKEND

_HOMES = {
    "BACKEND": "backend",
    "execute": "api",
    "execute_async": "api",
    "logs": "api",
    "resume": "api",
    "retry": "api",
    "run_list": "api",
    "stop": "api",
}

__all__ = ["BACKEND", "execute", "execute_async", "logs", "resume", "retry", "run_list", "stop"]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.{_HOMES[name]}"), name)
