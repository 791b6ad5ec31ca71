"""The workflow that verbs are recorded into, and what they say of it beside its steps.

Inside `@couler.workflow` or `with couler.Workflow(...)` that is the workflow at hand. Outside, it is the
implicit one of the context (thread, notebook): the first verb opens it, `run` or `reset` closes it.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from contextvars import ContextVar
from pathlib import Path
from types import FrameType
from typing import Any

import msgspec

from couler_py.dsl.frames import Node
from couler_py.dsl.recorder import Recorder, current
from couler_py.dsl.sources import caller, caller_frame
from couler_py.ir.names import legal_name
from couler_py.ir.pod import PodSettings


class Defaults(msgspec.Struct, frozen=True):
    """What `config_defaults` says of every workflow that is opened after."""

    name_salter: Callable[[str], str] | None = None
    service_account: str = ""


class Verbs:
    """What verbs know of one workflow: its name, the outputs of its steps, and the volumes that they assumed."""

    def __init__(self, recorder: Recorder):
        self.recorder = recorder
        self.name: str | None = None
        self.outputs: dict[Node, list[Any]] = {}
        self.assumed: set[str] = set()
        self.handlers: dict[str, tuple[str, Any]] = {}

    @property
    def settings(self) -> PodSettings:
        """The pod settings of the workflow."""
        found: PodSettings = self.recorder.options.get("pod", PodSettings())
        return found

    def change(self, **settings: Any) -> None:
        """Change some of the pod settings of the workflow."""
        self.recorder.options["pod"] = msgspec.structs.replace(self.settings, **settings)


_implicit: ContextVar[Recorder | None] = ContextVar("couler_implicit", default=None)
defaults: ContextVar[Defaults] = ContextVar("couler_defaults", default=Defaults())  # noqa: B039  frozen


def implicit() -> Recorder | None:
    """The implicit workflow, if a verb has opened one."""
    return _implicit.get()


def reset() -> None:
    """Forget the implicit workflow, recorded or not.

    >>> couler.reset()  # doctest: +SKIP
    """
    _implicit.set(None)


def state() -> Verbs:
    """What verbs know of the workflow at hand, which is opened where there is none."""
    recorder = current() or _implicit.get()
    if recorder is None:
        name = _program()
        recorder = Recorder(name, sequential=True, source=caller())
        account = defaults.get().service_account
        if account:
            recorder.options["pod"] = PodSettings(service_account=account)
        _implicit.set(recorder)
    if recorder.verbs is None:
        recorder.verbs = Verbs(recorder)
    found: Verbs = recorder.verbs
    return found


class recording:  # noqa: N801  used like a function; a generator would put a frame of contextlib's between
    """The workflow at hand, with calls of steps going into it too."""

    def __init__(self) -> None:
        self._here = state()
        self._inner: AbstractContextManager[Recorder] = self._here.recorder.recording()

    def __enter__(self) -> Verbs:
        self._inner.__enter__()
        return self._here

    def __exit__(self, kind: Any, problem: Any, trace: Any) -> None:
        self._inner.__exit__(kind, problem, trace)


def enclosing(fallback: str) -> str:
    """The name of the function that called a verb; `fallback` in a lambda, a module or a notebook cell."""
    frame: FrameType | None = caller_frame()
    while frame is not None and frame.f_code.co_name in ("<listcomp>", "<setcomp>", "<dictcomp>", "<genexpr>"):
        frame = frame.f_back
    name = frame.f_code.co_name if frame is not None else fallback
    return fallback if name.startswith("<") else name


def _program() -> str:
    stem = Path(caller().file).stem
    return legal_name("ir", "workflow", stem) if stem and not stem.startswith("<") else "workflow"
