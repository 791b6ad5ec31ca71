"""The engine's door: options in, documents out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from couler_py.backends import yaml
from couler_py.backends.argo.document.order import arranged
from couler_py.backends.argo.emission import Emission
from couler_py.backends.argo.emit.document import documents
from couler_py.backends.argo.limits import check_limits
from couler_py.backends.argo.lower import decide_in_steps, nest_modules
from couler_py.backends.argo.names import name_of
from couler_py.backends.argo.numbers import check_numbers
from couler_py.backends.argo.options import VERSIONS, Options, parse
from couler_py.backends.argo.support import TABLE
from couler_py.backends.argo.versions import lowered
from couler_py.backends.base import Bundle, Client, Support
from couler_py.ir.diagnostics import Diagnostic, DiagnosticError
from couler_py.ir.graph import templates_by_name
from couler_py.ir.model import Document, Workflow
from couler_py.passes.exact import exact_outputs
from couler_py.passes.split.mark import parts_of
from couler_py.settings import PolicySource


def compile_workflow(workflow: Workflow, options: Options = Options()) -> Bundle:
    """Emit a checked workflow as Argo's YAML; one that is written in Argo's own words as it stands.

    Raises `DiagnosticError` with everything that Argo can't do, each with its place and the way out.
    """
    if workflow.dialect == "argo":
        from couler_py.backends.argo.document.compiling import compiled

        return compiled(workflow, options)
    if parts_of(workflow):
        from couler_py.backends.argo.split import compile_split

        return compile_split(workflow, options)
    simpler, modules = decide_in_steps(workflow), frozenset[str]()
    if options.crds == "full":
        simpler, modules = nest_modules(simpler)
    templates = templates_by_name(workflow)
    emission = Emission(simpler, options, modules, exact_outputs(templates))
    check_numbers(emission, templates)
    found = [arranged(each) for each in in_version(emission, documents(emission))]
    check_limits(emission, found)
    errors = [each for each in emission.diagnostics if each.severity == "error"]
    if errors:
        raise DiagnosticError(emission.diagnostics)
    name = name_of(found[-1]["metadata"])
    text = yaml.dump_all(found)
    return Bundle("argo", {f"{name}.yaml": text}, tuple(found), tuple(emission.diagnostics), emission.blobs)


def in_version(emission: Emission, found: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The documents in the words of the version that was asked for; what it can't say becomes a finding."""
    made, diagnostics = lowered(found, emission.options.version, emitted=True)
    templates = {emission.program.template_name(each.name): each for each in emission.workflow.templates}
    for each in diagnostics:
        template = templates.get(each.step)
        demoted = emission.options.on_unsupported == "warn"
        emission.problem(
            each.code,
            each.message,
            severity="warning" if demoted else each.severity,
            step=each.step or emission.workflow.name,
            source=emission.workflow.source if template is None else template.source,
            why=each.why,
            help=each.help,
        )
    return made


class Argo:
    """The engine `argo`."""

    name = "argo"
    versions: tuple[str, ...] = VERSIONS
    suffix = ".yaml"
    namespaced = True

    def support(self) -> tuple[Support, ...]:
        return TABLE

    def compile(self, workflow: Workflow, *, version: str | None = None, **options: Any) -> Bundle:
        """Emit a checked workflow. Options: see `couler_py.backends.argo.options.Options`."""
        return compile_workflow(workflow, parse(version, options))

    def scale(self, version: str | None, options: Mapping[str, Any]) -> Any:
        """How workflows weigh on Argo: see `couler_py.passes.split.scale.Scale`."""
        from couler_py.backends.argo.split.scale import ArgoScale

        return ArgoScale(parse(version, dict(options)))

    def compile_document(self, document: Document, *, version: str | None = None, **options: Any) -> Bundle:
        """Emit a document around a checked workflow: with its kind, metadata and natives, and its neighbours."""
        from couler_py.backends.argo.document.compiling import around, compiled

        chosen = parse(version, {"kind": document.kind, **options})
        if document.workflow.dialect == "argo":
            return compiled(document, chosen)
        return around(document, compile_workflow(document.workflow, chosen))

    def broken_by(self, model: Document | Workflow, policies: Sequence[PolicySource]) -> list[Diagnostic]:
        """What policies don't allow of a workflow in Argo's own words."""
        from couler_py.backends.argo.policy import of_document

        return of_document(model, policies)

    def broken_by_emitted(
        self, bundle: Bundle, workflow: Workflow, policies: Sequence[PolicySource], known: Sequence[Diagnostic]
    ) -> list[Diagnostic]:
        """What policies don't allow of documents, beyond the workflow that they were made of."""
        from couler_py.backends.argo.policy import of_emitted

        return of_emitted(bundle.documents, workflow, policies, known)

    def client(self, **options: Any) -> Client:
        """A connection to a cluster. Needs the extra `argo`."""
        from couler_py.backends.argo.client import ArgoClient

        return ArgoClient(**options)


BACKEND = Argo()
