"""The IR as JSON, both ways, with a version and a published schema."""

from __future__ import annotations

import functools
import hashlib
from typing import Any, TypeVar

import msgspec

from couler_py.ir.model import Document, Function, Graph, Piece, Template, Workflow

FORMAT = "couler-ir/1"
"""Names the format and its version. It changes when a document that was valid no longer is, or means another thing."""

Model = TypeVar("Model", Workflow, Document)


class _File(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    format: str
    workflow: Workflow | None = None
    document: Document | None = None


class IRError(ValueError):
    """JSON that is not a workflow of this format; the message names the place."""


def to_json(model: Workflow | Document) -> str:
    """The workflow as indented JSON text; the same workflow always gives the same text.

    >>> from couler_py.ir import Suspend, Template, Workflow, from_json, to_json
    >>> w = Workflow(name="wait", entrypoint="wait", templates=(Template("wait", Suspend()),))
    >>> from_json(to_json(w)) == w
    True
    """
    key = "document" if isinstance(model, Document) else "workflow"
    data = {"format": FORMAT, key: model}
    return msgspec.json.format(msgspec.json.encode(data), indent=2).decode() + "\n"


def from_json(text: str | bytes) -> Workflow | Document:
    """The workflow that a JSON text holds.

    Raises `IRError` for a text that isn't JSON, of another format or version, or with a field missing,
    unknown or of the wrong type; the message names the place.
    """
    try:
        probe = msgspec.json.decode(text)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise IRError(f"not JSON: {error}") from error
    except RecursionError:
        raise IRError("not a workflow: it is nested too deeply") from None
    if not isinstance(probe, dict) or "format" not in probe:
        raise IRError(f'not a workflow: expected an object with "format": "{FORMAT}"')
    if probe["format"] != FORMAT:
        raise IRError(f"the format is {probe['format']!r}; this version reads {FORMAT!r}")
    try:
        file = msgspec.json.decode(text, type=_File)
    except msgspec.ValidationError as error:
        raise IRError(f"not a valid workflow: {error}") from error
    except RecursionError:
        raise IRError("not a valid workflow: it is nested too deeply") from None
    model = file.workflow if file.document is None else file.document
    if model is None or (file.workflow is not None and file.document is not None):
        raise IRError('expected exactly one of "workflow" and "document"')
    return model


def to_builtins(model: Any) -> Any:
    """Any part of the IR as plain dicts, lists and scalars (the form that the evaluator and the runner read)."""
    return msgspec.to_builtins(model)


def json_schema() -> dict[str, Any]:
    """The JSON Schema of the format (draft 2020-12)."""
    schema = msgspec.json.schema(_File)
    schema["$schema"] = "https://json-schema.org/draft/2020-12/schema"
    schema["title"] = FORMAT
    return schema


def digest(template: Template) -> str:
    """The sha256 of a template's content: everything but its name, its display name and where it was written."""
    plain = msgspec.structs.replace(template, name="", display="", source=None)
    return hashlib.sha256(_encoder().encode(_without_places(plain))).hexdigest()


def _without_places(template: Template) -> Template:
    body = template.body
    if isinstance(body, Graph):
        tasks = tuple(msgspec.structs.replace(task, source=None) for task in body.tasks)
        return msgspec.structs.replace(template, body=msgspec.structs.replace(body, tasks=tasks))
    if isinstance(body, Function):
        pieces = tuple(Piece(piece.text) for piece in body.pieces)
        return msgspec.structs.replace(template, body=msgspec.structs.replace(body, pieces=pieces))
    return template


@functools.cache
def _encoder() -> msgspec.json.Encoder:
    return msgspec.json.Encoder(order="deterministic")
