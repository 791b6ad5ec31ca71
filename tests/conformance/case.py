"""What a conformance case is: a small workflow and what every engine must make of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from couler_py.ir import Workflow
from couler_py.ir.meaning import State


@dataclass(frozen=True)
class NotYet:
    """Ours to do. The engine must refuse the case with this diagnostic code until it is done."""

    code: str


@dataclass(frozen=True)
class Never:
    """The engine can't say it, for this reason. It must refuse the case with this diagnostic code."""

    code: str
    reason: str


@dataclass(frozen=True)
class Case:
    """A workflow, and what a run of it must come to on every engine.

    `tasks` holds the state of every task of the entrypoint, and of those inside them that a case is
    about (`graph/task`, `fan_out[2]`, `loop#1`). `outputs` are exactly the run's outputs; an artifact
    is the text of its file, or of a folder the texts by relative path. `attempts` are those of some
    tasks. `refused` marks engines that can't do it, and says what they must do instead.
    """

    name: str
    build: Callable[[], Workflow]
    tasks: Mapping[str, State]
    status: State = "Succeeded"
    outputs: Mapping[str, Any] = field(default_factory=dict)
    parameters: Mapping[str, Any] = field(default_factory=dict)
    attempts: Mapping[str, int] = field(default_factory=dict)
    refused: Mapping[str, NotYet | Never] = field(default_factory=dict)

    def __str__(self) -> str:
        return self.name
