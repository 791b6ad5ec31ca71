"""Files of Argo's documents: YAML text in, IR out, and back."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, TypeAlias

import msgspec

from couler_py.backends import yaml
from couler_py.backends.argo.document.documents import (
    converted,
    document_of,
    is_argo,
    no_document,
    set_aside,
    written,
    wrong_kind,
)
from couler_py.backends.argo.document.order import arranged
from couler_py.backends.argo.document.selection import main_of
from couler_py.backends.argo.document.sources import Sources
from couler_py.backends.argo.document.structure import structure
from couler_py.backends.argo.lint.places import Places
from couler_py.backends.argo.paths import Path, dotted
from couler_py.ir.diagnostics import Diagnostic, DiagnosticError, warning
from couler_py.ir.model import Document, Source, Workflow

Dumped: TypeAlias = Document | Workflow | Iterable[Document]


def load(text: str, *, file: str = "") -> Document:
    """The document of a YAML file, as IR of the dialect "argo". `dump` gives the same data again.

    Of several documents it is the last Workflow or CronWorkflow, else the last of Argo's; the others travel in
    `before` and `after`. `file` is what errors call the text.

    Raises `YamlError` for text that isn't YAML as Kubernetes reads it, and `DiagnosticError` where no document is
    Argo's, or one has not the structure of its kind; both with line and column.

    >>> document = load('''
    ... apiVersion: argoproj.io/v1alpha1
    ... kind: Workflow
    ... metadata: {generateName: hello-}
    ... spec:
    ...   entrypoint: main
    ...   templates:
    ...   - name: main
    ...     container: {image: busybox, args: ["{{workflow.name}}"]}
    ... ''')
    >>> document.workflow.templates[0].body.image
    'busybox'
    """
    return main_of(loaded(text, file=file)[0])


def load_all(text: str, *, file: str = "") -> tuple[Document, ...]:
    """Every document of Argo's in a YAML file, in its order.

    Documents of other kinds travel with the one after them (`before`), those at the end with the last (`after`).
    Raises as `load` does.
    """
    return loaded(text, file=file)[0]


def loaded(text: str, *, file: str = "", places: bool = False) -> tuple[tuple[Document, ...], tuple[Diagnostic, ...]]:
    """What `load_all` gives, and what there is to say about it.

    A warning for every field that Argo doesn't know (it travels all the same), and a note for what a cluster added to
    an exported object and was set aside. With `places`, templates and tasks know where they stand, which takes a second
    look at the text. Raises as `load` does.
    """
    return _Reading(text, file, places).result()


class _Reading:
    """The reading of one file."""

    def __init__(self, text: str, file: str, places: bool) -> None:
        self.text = text
        self.file = file
        self.with_places = places
        self.data = yaml.load_all(text)
        self.diagnostics: list[Diagnostic] = []
        self._places: Places | None = None

    def result(self) -> tuple[tuple[Document, ...], tuple[Diagnostic, ...]]:
        found: list[Document] = []
        others: list[dict[str, Any]] = []
        for number, data in enumerate(self.data):
            if is_argo(data):
                assert isinstance(data, dict)
                document = self._document(number, data)
                if document is not None:
                    found.append(msgspec.structs.replace(document, before=tuple(others)) if others else document)
                    others = []
            elif isinstance(data, dict) and "kind" in data:
                others.append(data)
            elif data is not None:
                self._wrong(number, data)
        self._end(bool(found))
        if others:
            found[-1] = msgspec.structs.replace(found[-1], after=tuple(others))
        return tuple(found), tuple(self.diagnostics)

    def _document(self, number: int, data: dict[str, Any]) -> Document | None:
        data, gone = set_aside(data)
        for field in gone:
            self.diagnostics.append(self._gone(number, field))
        found = structure(data, data["kind"])
        self.diagnostics += [self._unknown(number, path) for path in found.unknown]
        if found.wrong:
            self.diagnostics += [
                wrong_kind(path, expected, source=self._source(number, path)) for path, expected in found.wrong
            ]
            return None
        made = converted(data)
        return Sources(self._all_places(), self.file, number, data).placed(made) if self.with_places else made

    def _end(self, any_found: bool) -> None:
        """Refuse what can't be read, with everything that is wrong at once."""
        if any(each.severity == "error" for each in self.diagnostics):
            raise DiagnosticError(self.diagnostics)
        if not any_found:
            first = next((data for data in self.data if data is not None), None)
            self._wrong(0, first)
            raise DiagnosticError(self.diagnostics)

    def _wrong(self, number: int, data: Any) -> None:
        found = no_document(data)
        self.diagnostics.append(msgspec.structs.replace(found, source=self._source(number, ())))

    def _gone(self, number: int, field: str) -> Diagnostic:
        path = tuple(field.split("."))
        return Diagnostic(
            "CLR493",
            "note",
            f"{field} is set aside",
            source=self._source(number, path),
            why="a cluster said it about the object that this file was exported from",
        )

    def _unknown(self, number: int, path: Path) -> Diagnostic:
        return warning(
            "CLR492",
            f"{dotted(path)}: Argo knows no such field",
            source=self._source(number, path),
            why="it is kept as it stands, and a cluster refuses or drops it",
            help="look for a typing error, or for a field that a version of Argo no longer has",
        )

    def _source(self, number: int, path: Path) -> Source:
        place = self._all_places().find(number, path, key=bool(path) and isinstance(path[-1], str))
        return Source(self.file, place.line, place.column)

    def _all_places(self) -> Places:
        if self._places is None:
            self._places = Places(self.text)
        return self._places


def dump(given: Dumped) -> str:
    """Documents as YAML text: a document as it was read or changed, several of them, or a workflow.

    A workflow of the dialect "argo" is written as it stands, one of ours as `compile` does it. What a document says
    that no longer fits its workflow is left out: `couler_py.backends.argo.document.written` names it.

    Raises `DiagnosticError` for an expression that Argo has no tag for, and as `compile` does.
    """
    if isinstance(given, Workflow):
        if given.dialect == "couler":
            from couler_py.backends.argo.backend import compile_workflow

            return compile_workflow(given).text
        given = document_of(given)
    documents = (given,) if isinstance(given, Document) else tuple(given)
    return yaml.dump_all([arranged(data) for document in documents for data in all_data(document)[0]])


def all_data(document: Document) -> tuple[list[dict[str, Any]], tuple[Diagnostic, ...]]:
    """The data of a document with those that stand around it in its file, and what `written` warns of."""
    main, diagnostics = written(document)
    return [*document.before, main, *document.after], diagnostics
