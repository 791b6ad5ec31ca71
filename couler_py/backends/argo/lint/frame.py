"""From documents to findings: the schema first, then every rule, on what the schema lets stand."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import chain
from typing import Any

import msgspec

from couler_py.backends.argo.lint import kinds
from couler_py.backends.argo.lint.ambiguous import Ambiguous
from couler_py.backends.argo.lint.context import CLUSTER, NAMESPACED, Context, Crds, Engine, Known
from couler_py.backends.argo.lint.finding import Finding
from couler_py.backends.argo.lint.places import Place
from couler_py.backends.argo.lint.reading import Broken, Read, Reading, read
from couler_py.backends.argo.lint.refusals import IN_QUOTES
from couler_py.backends.argo.lint.rules import RULES
from couler_py.backends.argo.lint.structure import checked
from couler_py.ir.diagnostics import Diagnostic, warning
from couler_py.ir.model import Source


class Located(msgspec.Struct, frozen=True):
    """A finding with its place in the text; `end` is the column behind it, 0 where it isn't known."""

    diagnostic: Diagnostic
    end: int = 0


def lint(
    text: str, *, file: str = "", engine: Engine = "4", crds: Crds = "full", templates: Iterable[Any] = ()
) -> list[Diagnostic]:
    """Everything that is wrong with the Argo documents of a YAML text, by place.

    `templates` are the data of further documents, as WorkflowTemplates of the cluster, that references may name.
    Documents of other kinds are passed over. Never raises for what stands in the text.

    Needs the extra `argo` (jsonschema-rs).
    """
    reading = read(text)
    known = known_templates(chain(templates, reading.data))
    return [each.diagnostic for each in located(reading, file, known, engine, crds)]


def located(reading: Reading, file: str, known: Known, engine: Engine, crds: Crds = "full") -> list[Located]:
    """As `lint`, of a text that is read already, with the ends of places; `known` holds its own templates too."""
    found = [_broken(each, file) for each in reading.broken]
    for document in reading.documents:
        found += [
            _located(each, document, file) for each in dict.fromkeys(_findings(document.data, known, engine, crds))
        ]
    return sorted(_with_ambiguous(found, reading.documents, file), key=_order)


def lint_documents(
    documents: Sequence[Any], *, engine: Engine = "4", crds: Crds = "full", templates: Iterable[Any] = ()
) -> list[tuple[int, Finding]]:
    """Everything that is wrong with documents given as data: each finding, once, with the number of its document."""
    known = known_templates(chain(templates, documents))
    return [
        (index, finding)
        for index, document in enumerate(documents)
        for finding in dict.fromkeys(_findings(document, known, engine, crds))
    ]


def _findings(document: Any, known: Known, engine: Engine, crds: Crds) -> Iterable[Finding]:
    yield from kinds.problems(document)
    if not kinds.is_ours(document):
        return
    findings, sound = checked(document, engine, crds)
    yield from findings
    context = Context(sound, raw=document, known=known, engine=engine, crds=crds)
    # What rules say of a place that the schema refuses follows from that.
    refused = {finding.path for finding in findings}
    for rule in RULES:
        for finding in rule(context):
            if not any(finding.path[:length] in refused for length in range(1, len(finding.path) + 1)):
                yield finding


def known_templates(documents: Iterable[Any]) -> Known:
    """The template objects among documents, as far as the schema lets them stand; the first of a name counts."""
    specs: dict[tuple[str, str], dict[str, Any]] = {}
    for document in documents:
        if not (kinds.is_ours(document) and document["kind"] in (NAMESPACED, CLUSTER)):
            continue
        context = Context(checked(document, "4", "minimal")[1])
        name = context.document.get("metadata", {}).get("name")
        if isinstance(name, str):
            specs.setdefault((context.kind, name), context.spec)
    return Known(specs)


def _located(finding: Finding, document: Read, file: str) -> Located:
    place = document.find(finding.path, key=finding.on == "key", offset=finding.offset)
    related = tuple((what, _source(file, document.find(path))) for what, path in finding.related)
    help_ = f'write "{document.written(finding.path)}"' if finding.help == IN_QUOTES else finding.help
    diagnostic = Diagnostic(
        finding.code,
        finding.severity,
        finding.message,
        _source(file, place),
        why=finding.why,
        help=help_,
        related=related,
    )
    return Located(diagnostic, place.end)


def _with_ambiguous(found: list[Located], documents: list[Read], file: str) -> list[Located]:
    """The findings and those of ambiguous scalars; where one is wrong anyhow, how to write it is its help."""
    refused = {each.diagnostic.source: n for n, each in enumerate(found) if each.diagnostic.code == "CLR423"}
    found = list(found)
    for document in documents:
        for scalar in document.ambiguous if kinds.is_ours(document.data) else ():
            section = document.section
            place = section.moved(section.places.place(scalar.start, scalar.end))
            number = refused.pop(_source(file, place), None)
            if number is not None:
                wrong = msgspec.structs.replace(found[number].diagnostic, help=f'write "{scalar.text}"')
                found[number] = Located(wrong, place.end)
                continue
            message = f"readers differ on {scalar.text}: {scalar.meaning}"
            added = warning("CLR429", message, source=_source(file, place), help=_way_out(scalar))
            found.append(Located(added, place.end))
    return found


def _way_out(scalar: Ambiguous) -> str:
    if scalar.text == "<<":
        return "write its fields out"
    quoted = f'"{scalar.text}"'
    return f"write {quoted}" if scalar.value in (None, quoted) else f"write {scalar.value}, or {quoted} for text"


def _broken(broken: Broken, file: str) -> Located:
    related = (("it stands first here", _source(file, broken.first)),) if broken.first else ()
    diagnostic = Diagnostic("CLR420", "error", broken.problem, _source(file, broken.place), related=related)
    return Located(diagnostic, broken.place.end)


def _source(file: str, place: Place) -> Source:
    return Source(file, place.line, place.column)


def _order(each: Located) -> tuple[int, int, str, str]:
    source = each.diagnostic.source
    assert source is not None
    return source.line, source.column, each.diagnostic.code, each.diagnostic.message
