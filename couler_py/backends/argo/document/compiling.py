"""Documents as `compile` gives them: as they stand, with the kind, name and namespace that were asked for."""

from __future__ import annotations

import msgspec

from couler_py.backends import yaml
from couler_py.backends.argo.document.documents import document_of, written
from couler_py.backends.argo.document.lens import JSON
from couler_py.backends.argo.document.natives import applied
from couler_py.backends.argo.document.order import arranged
from couler_py.backends.argo.options import Kind, Options
from couler_py.backends.argo.versions import lowered
from couler_py.backends.base import Bundle, OptionError
from couler_py.ir.diagnostics import DiagnosticError
from couler_py.ir.model import Document, Workflow
from couler_py.ir.names import file_stem


def compiled(given: Document | Workflow, options: Options) -> Bundle:
    """The file of a document of the dialect "argo", or of a workflow of it, the main document last.

    Raises `DiagnosticError` for what the version asked for can't say, and `OptionError` for a schedule asked of a
    document that has none.
    """
    document = given if isinstance(given, Document) else document_of(given)
    kind = options.kind or document.kind
    main, diagnostics = written(as_kind(document, kind))
    metadata = _metadata(main, document, kind, options)
    main |= {"metadata": metadata} if metadata or "metadata" in main else {}
    found, further = lowered([*document.before, *document.after, main], options.version)
    if options.on_unsupported == "warn":
        further = [msgspec.structs.replace(each, severity="warning") for each in further]
    if any(each.severity == "error" for each in further):
        raise DiagnosticError([*diagnostics, *further])
    found = [arranged(each) for each in found]
    name = options.name or document.workflow.name
    return Bundle("argo", {f"{file_stem(name)}.yaml": yaml.dump_all(found)}, tuple(found), (*diagnostics, *further))


def around(document: Document, bundle: Bundle) -> Bundle:
    """What a document of our own dialect compiles to: its workflow's file, with what the document has around it."""
    *others, main = (dict(each) for each in bundle.documents)
    own = document.metadata
    if "name" in own or "generateName" in own:
        main["metadata"] = {key: value for key, value in main["metadata"].items() if key != "generateName"}
    main["metadata"] = main["metadata"] | {key: value for key, value in own.items() if key not in _MAPS}
    for key in _MAPS:
        if key in own:
            main["metadata"][key] = main["metadata"].get(key, {}) | own[key]
    diagnostics = applied(main, document.natives)
    found = tuple(arranged(each) for each in (*document.before, *document.after, *others, main))
    name = next(iter(bundle.files))
    files = {**bundle.files, name: yaml.dump_all(found)}
    return msgspec.structs.replace(
        bundle, files=files, documents=found, diagnostics=(*bundle.diagnostics, *diagnostics)
    )


_MAPS = ("labels", "annotations")


def as_kind(document: Document, kind: Kind) -> Document:
    """The document as another of Argo's kinds: its natives stand where its `spec` went.

    Raises `OptionError` for a CronWorkflow of a workflow without schedule.
    """
    if kind == document.kind:
        return document
    if kind == "CronWorkflow" and document.workflow.schedule is None:
        raise OptionError("argo: kind='CronWorkflow' needs a schedule, and this document has none")
    before, after = ("/spec/workflowSpec" if each == "CronWorkflow" else "/spec" for each in (document.kind, kind))
    natives = tuple(
        msgspec.structs.replace(each, pointer=after + each.pointer.removeprefix(before))
        for each in document.natives
        if each.pointer.startswith(f"{before}/")
    )
    workflow = document.workflow
    if kind != "CronWorkflow":
        workflow = msgspec.structs.replace(workflow, schedule=None)
    return msgspec.structs.replace(document, kind=kind, workflow=workflow, natives=natives)


def _metadata(main: JSON, document: Document, kind: Kind, options: Options) -> JSON | None:
    """The metadata as it stands, but for what was asked for; None for none."""
    given: JSON | None = main.get("metadata")
    found = dict(given or {})
    # Only runs may be called by the beginning of their name; of other kinds, that is as the document has it.
    nameless = not options.generate_name if kind == "Workflow" else kind != document.kind
    if name := options.name or (document.workflow.name if nameless and "name" not in found else ""):
        found.pop("generateName", None)
        found |= {"name": name}
    if kind == "ClusterWorkflowTemplate":
        found.pop("namespace", None)
    elif options.namespace:
        found |= {"namespace": options.namespace}
    return None if given is None and not found else found
