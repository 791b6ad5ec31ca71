"""Documents of Argo's as IR, and as data again: `read` and `write`."""

from __future__ import annotations

from typing import Any

import msgspec

from couler_py.backends.argo.document.durations import seconds, written_seconds
from couler_py.backends.argo.document.lens import (
    JSON,
    Field,
    Table,
    as_it_is,
    extra,
    flag_field,
    one_of,
    strings,
    whole_field,
    with_extra,
    word_field,
)
from couler_py.backends.argo.document.natives import applied, difference
from couler_py.backends.argo.document.structure import structure
from couler_py.backends.argo.document.templated import copied
from couler_py.backends.argo.document.texts import UNSAID, word
from couler_py.backends.argo.document.unwritten import unwritten
from couler_py.backends.argo.document.workflow import specification, written_specification
from couler_py.backends.argo.names import name_of
from couler_py.backends.argo.paths import Path, dotted
from couler_py.backends.argo.vocabulary import API, KINDS
from couler_py.ir.diagnostics import Diagnostic, DiagnosticError, error
from couler_py.ir.model import Document, Schedule, Workflow

GROUP = "argoproj.io/"
SERVERS = ("managedFields", "uid", "resourceVersion", "creationTimestamp", "generation", "selfLink")
"""What the API server says about an object in its `metadata`."""

_SCHEDULE = Table(
    Schedule,
    Field("schedules", "crons", strings(word), lambda value, root: list(value), ()),
    word_field("timezone", "timezone"),
    Field("concurrencyPolicy", "concurrency", one_of("Allow", "Forbid", "Replace"), as_it_is, "Allow"),
    Field("startingDeadlineSeconds", "starting_deadline", seconds, written_seconds),
    whole_field("successfulJobsHistoryLimit", "keep_succeeded"),
    whole_field("failedJobsHistoryLimit", "keep_failed"),
    flag_field("suspend", "suspended"),
)


def is_argo(data: Any) -> bool:
    """Whether data is a document of Argo's that we read."""
    if not isinstance(data, dict) or data.get("kind") not in KINDS:
        return False
    version = data.get("apiVersion", API)
    return isinstance(version, str) and version.startswith(GROUP)


def set_aside(data: JSON) -> tuple[JSON, tuple[str, ...]]:
    """A document without what a cluster adds to it, and the names of these fields."""
    metadata = data.get("metadata")
    own = [key for key in SERVERS if isinstance(metadata, dict) and key in metadata]
    gone = (["status"] if "status" in data else []) + [f"metadata.{key}" for key in own]
    if not gone:
        return data, ()
    left = {key: value for key, value in data.items() if key != "status"}
    if own:
        assert isinstance(metadata, dict)
        left["metadata"] = {key: value for key, value in metadata.items() if key not in own}
    return left, tuple(gone)


def read(data: Any) -> Document:
    """A document of one of Argo's four kinds, as IR of the dialect "argo"; `write` gives the same data again.

    What a cluster adds to an object (`status`, `metadata.uid` and their kin) is set aside.

    Raises `DiagnosticError` for data that is no such document, or not of its structure.
    """
    if not is_argo(data):
        raise DiagnosticError([no_document(data)])
    data, _ = set_aside(data)
    found = structure(data, data["kind"])
    if found.wrong:
        raise DiagnosticError([wrong_kind(path, expected) for path, expected in found.wrong])
    return converted(data)


def converted(data: JSON) -> Document:
    """A document whose structure was looked at."""
    kind = data["kind"]
    metadata = copied(data.get("metadata") or {})
    said: dict[str, Any] = {"name": name_of(metadata)}
    for key in ("labels", "annotations"):
        given = metadata.get(key)
        if isinstance(given, dict) and given and all(type(value) is str for value in given.values()):
            said[key] = tuple(given.items())
            del metadata[key]
    spec = data.get("spec") or {}
    if kind == "CronWorkflow":
        said["schedule"], spec = _schedule(spec)
    workflow = Workflow(**said, **specification(spec), dialect="argo")
    document = Document(kind, workflow, data.get("apiVersion", API), metadata)
    return msgspec.structs.replace(document, natives=difference(_plain(document), data))


def write(document: Document) -> JSON:
    """The data of a document: as it stands in the dialect "argo", else as `compile` gives it.

    Natives that no longer fit are left out; `written` names them. Raises `DiagnosticError` for what Argo has no words
    for, and as `compile` does.
    """
    return written(document)[0]


def written(document: Document) -> tuple[JSON, tuple[Diagnostic, ...]]:
    """The data of a document, and a warning for each of its natives that no longer fits."""
    if document.workflow.dialect != "argo":
        from couler_py.backends.argo.backend import BACKEND

        bundle = BACKEND.compile_document(document)
        return bundle.documents[-1], bundle.diagnostics
    if left_out := unwritten(document.workflow):
        raise DiagnosticError(left_out)
    data = _plain(document)
    return data, applied(data, document.natives)


def document_of(workflow: Workflow, kind: Any = None) -> Document:
    """A document around a workflow that has none: its name becomes the beginning of each run's."""
    kind = kind or ("Workflow" if workflow.schedule is None else "CronWorkflow")
    metadata = {"generateName": f"{workflow.name}-"} if kind == "Workflow" else {"name": workflow.name}
    return Document(kind, workflow, metadata=metadata)


def _plain(document: Document) -> JSON:
    """The data that the workflow itself says."""
    workflow = document.workflow
    spec = written_specification(workflow)
    if document.kind == "CronWorkflow":
        spec = _written_schedule(workflow.schedule or Schedule((), timezone=""), spec)
    return {
        "apiVersion": document.api_version,
        "kind": document.kind,
        "metadata": _written_metadata(document),
        "spec": spec,
    }


def _written_metadata(document: Document) -> JSON:
    workflow = document.workflow
    found: JSON = copied(document.metadata)
    if workflow.name != name_of(found):  # it was renamed since
        if isinstance(found.get("name"), str) or "generateName" not in found:
            found = {"name": workflow.name} | {key: value for key, value in found.items() if key != "name"}
        else:
            found["generateName"] = f"{workflow.name}-"
    for key in ("labels", "annotations"):
        if given := getattr(workflow, key):
            found[key] = dict(given)
    return found


def _schedule(spec: JSON) -> tuple[Schedule, JSON]:
    """What a CronWorkflow says about its runs, and what they are."""
    attributes, rest = _SCHEDULE.taken(spec, "")
    once = word(rest.get("schedule"), "")  # the word of before 4.0, for one line
    if "crons" not in attributes and once is not UNSAID:
        attributes["crons"] = (once,)
        del rest["schedule"]
    inner = rest.pop("workflowSpec", None)
    return Schedule(**({"crons": (), "timezone": ""} | attributes), **extra(rest, "")), inner or {}


def _written_schedule(given: Schedule, spec: JSON) -> JSON:
    found = with_extra(_SCHEDULE.write(given, ""), given.extra, "")
    found["workflowSpec"] = spec
    return found


def no_document(data: Any) -> Diagnostic:
    """The finding about data that is none of Argo's documents."""
    if not isinstance(data, dict):
        what = "nothing" if data is None else f"a {'list' if isinstance(data, list) else type(data).__name__}"
        return error("CLR490", f"this is {what}, and no document of Argo Workflows", help=_KINDS_HELP)
    kind, version = data.get("kind"), data.get("apiVersion", API)
    if kind in KINDS:
        return error(
            "CLR490", f"the API version {version!r} is none of Argo Workflows'", help=f"it is {API} for every kind"
        )
    return error("CLR490", f"the kind {kind!r} is none that is read", help=_KINDS_HELP)


_KINDS_HELP = f"the kinds are {', '.join(KINDS)}"


def wrong_kind(path: Path, expected: str, **place: Any) -> Diagnostic:
    """The finding about a place where the structure is another."""
    return error("CLR491", f"{dotted(path)}: expected {expected}", **place)
