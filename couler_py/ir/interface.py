"""What a template takes and gives: its inputs and outputs, and what a task gives to them.

`extra`, wherever it stands, holds further fields of an imported object in the engine's own words.
"""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec import UNSET, UnsetType

from couler_py.ir.expr import Expr
from couler_py.ir.pod import ConfigMapRef
from couler_py.ir.storage import Archive, Storage
from couler_py.ir.templated import Templated
from couler_py.ir.types import STR, Type


class _Slot(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    pass


class Parameter(_Slot, frozen=True, gc=False):
    """An input parameter of a template, or a parameter of the workflow.

    `default` is the wire JSON of the value for callers who leave the argument out; unset means
    required. It never stands in for an absent value. `portable=False` marks an imported parameter,
    whose default does (that is Argo's meaning).
    """

    name: str
    type: Type = STR
    default: Any | UnsetType = UNSET
    enum: tuple[str, ...] | None = None
    description: str = ""
    value_from: ConfigMapRef | None = None
    portable: bool = True
    extra: Templated | None = None


class InputArtifact(_Slot, frozen=True, gc=False):
    """A file or folder that a template reads at `path` (empty on graphs). `mode` is a file mode."""

    name: str
    path: str = ""
    storage: Storage | None = None
    optional: bool = False
    mode: int | None = None
    archive: Archive = ""
    description: str = ""
    extra: Templated | None = None


class OutputParameter(_Slot, frozen=True, gc=False):
    """A value that a template returns, from exactly one of:

    `path` (a file in the container), `stdout`, `value` (graphs and loops: an expression over tasks or
    over the body's outputs; functions: an expression over `Own` outputs, computed by the runner),
    `json_path` or `jq_filter` (resources), `supplied` (suspend: given by who resumes), or, on a
    `Function`, the returned value of that name. `global_name` publishes it to exit handlers.
    """

    name: str
    type: Type = STR
    path: str = ""
    stdout: bool = False
    value: Expr | None = None
    json_path: str = ""
    jq_filter: str = ""
    supplied: bool = False
    default: Any | UnsetType = UNSET
    global_name: str = ""
    description: str = ""
    extra: Templated | None = None


class OutputArtifact(_Slot, frozen=True, gc=False):
    """A file or folder that a template leaves: at `path`, or (graphs) the artifact that `value` names."""

    name: str
    path: str = ""
    value: Expr | None = None
    storage: Storage | None = None
    archive: Archive = ""
    optional: bool = False
    global_name: str = ""
    description: str = ""
    extra: Templated | None = None


class Inputs(_Slot, frozen=True, gc=False):
    parameters: tuple[Parameter, ...] = ()
    artifacts: tuple[InputArtifact, ...] = ()


class Outputs(_Slot, frozen=True, gc=False):
    parameters: tuple[OutputParameter, ...] = ()
    artifacts: tuple[OutputArtifact, ...] = ()


class Argument(_Slot, frozen=True, gc=False):
    """What a task gives to an input parameter. An imported one without a value has `Literal(None)`, and `extra`."""

    name: str
    value: Expr
    extra: Templated | None = None


class ArtifactArgument(_Slot, frozen=True, gc=False):
    """What a task gives to an input artifact: a reference, or a place in storage."""

    name: str
    value: Expr | None = None
    storage: Storage | None = None
    optional: bool = False
    extra: Templated | None = None
