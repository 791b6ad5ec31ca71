"""Artifacts: what a template takes and leaves, and what is given to it."""

from __future__ import annotations

from typing import Any

from couler_py.backends.argo.document.lens import (
    JSON,
    Field,
    Table,
    extra,
    flag_field,
    whole_field,
    with_extra,
    word_field,
)
from couler_py.backends.argo.document.stores import storage, written_storage
from couler_py.backends.argo.document.texts import UNSAID, Root, artifact, word, written_artifact
from couler_py.ir.expr import Raw
from couler_py.ir.model import ArtifactArgument, InputArtifact, OutputArtifact


def _archive(given: Any, root: Root) -> Any:
    """How a folder is packed; more than the word itself (a level of compression) is said in Argo's words."""
    if isinstance(given, dict) and len(given) == 1:
        [(kind, details)] = given.items()
        if kind in ("none", "tar", "zip") and details == {}:
            return kind
    return UNSAID


_ARCHIVE = Field("archive", "archive", _archive, lambda value, root: {value: {}}, "")
_FROM = Field("from", "value", artifact, lambda value, root: written_artifact(value, root))

INPUT = Table(
    InputArtifact,
    word_field("name", "name"),
    word_field("path", "path"),
    flag_field("optional", "optional"),
    whole_field("mode", "mode"),
    _ARCHIVE,
)
_OUTPUT = Table(
    OutputArtifact,
    word_field("name", "name"),
    word_field("path", "path"),
    word_field("globalName", "global_name"),
    flag_field("optional", "optional"),
    _ARCHIVE,
)
_ARGUMENT = Table(ArtifactArgument, word_field("name", "name"), _FROM, flag_field("optional", "optional"))


def input_artifact(data: JSON, root: Root) -> InputArtifact:
    """An input artifact of a template."""
    attributes, rest = INPUT.taken(data, root)
    place = storage(rest, root)
    return InputArtifact(**({"name": ""} | attributes), storage=place, **extra(rest, root))


def written_input(given: InputArtifact, root: Root) -> JSON:
    """The input artifact again."""
    return _with_storage(INPUT.write(given, root), given, root)


def output_artifact(data: JSON, root: Root) -> OutputArtifact:
    """An output artifact: the file at its path, or the artifact that `from` or `fromExpression` gives."""
    attributes, rest = _OUTPUT.taken(data, root)
    expression = word(rest.get("fromExpression"), root)
    if isinstance(expression, str) and "from" not in rest:
        attributes["value"] = Raw("argo", expression)
        del rest["fromExpression"]
    elif (named := artifact(rest.get("from"), root)) is not UNSAID and getattr(named, "engine", "") != "argo":
        attributes["value"] = named
        del rest["from"]
    place = storage(rest, root)
    return OutputArtifact(**({"name": ""} | attributes), storage=place, **extra(rest, root))


def written_output(given: OutputArtifact, root: Root) -> JSON:
    """The output artifact again."""
    found = _OUTPUT.write(given, root)
    if isinstance(given.value, Raw) and given.value.engine == "argo":
        found |= {"fromExpression": given.value.text}
    elif given.value is not None:
        found |= {"from": written_artifact(given.value, root)}
    return _with_storage(found, given, root)


def artifact_argument(data: JSON, root: Root) -> ArtifactArgument:
    """What a task, a hook or a run gives to an input artifact."""
    attributes, rest = _ARGUMENT.taken(data, root)
    place = storage(rest, root)
    return ArtifactArgument(**({"name": ""} | attributes), storage=place, **extra(rest, root))


def written_argument(given: ArtifactArgument, root: Root) -> JSON:
    """The argument again."""
    return _with_storage(_ARGUMENT.write(given, root), given, root)


def _with_storage(found: JSON, given: InputArtifact | OutputArtifact | ArtifactArgument, root: Root) -> JSON:
    return with_extra(found | written_storage(given.storage, root), given.extra, root)
