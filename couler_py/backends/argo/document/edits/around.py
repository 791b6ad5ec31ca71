"""The document around a change: finding what is changed, putting it back, and the natives that go with it."""

from __future__ import annotations

import re
from typing import Any

import msgspec

from couler_py.backends.argo.document.documents import written
from couler_py.backends.argo.document.natives import fits
from couler_py.backends.argo.document.texts import Root
from couler_py.backends.argo.references import Change, in_json
from couler_py.ir.diagnostics import DiagnosticError, error
from couler_py.ir.model import Document, Graph, Native, Template

_replace = msgspec.structs.replace


def template_of(document: Document, name: str) -> Template:
    """The first template of a name. Raises `DiagnosticError` where there is none."""
    found = next((each for each in document.workflow.templates if each.name == name), None)
    if found is None:
        known(name, [each.name for each in document.workflow.templates], "the document has no template")
    assert found is not None
    return found


def graph_of(document: Document, name: str) -> tuple[Template, Graph]:
    """A template and its graph. Raises `DiagnosticError` where it has none."""
    template = template_of(document, name)
    if not isinstance(template.body, Graph):
        raise cannot(f"the template {name!r} has no tasks", "it is neither a dag nor steps")
    return template, template.body


def root_of(template: Template) -> Root:
    """What a template calls its tasks."""
    if not isinstance(template.body, Graph):
        return ""
    return "steps" if template.body.form == "steps" else "tasks"


def with_template(document: Document, name: str, template: Template) -> Document:
    """The document with a template in the place of the first of the name."""
    templates = list(document.workflow.templates)
    templates[next(index for index, each in enumerate(templates) if each.name == name)] = template
    return _replace(document, workflow=_replace(document.workflow, templates=tuple(templates)))


def pointer_of(document: Document, template: str) -> str:
    """Where a template stands in the document's data."""
    number = next(index for index, each in enumerate(document.workflow.templates) if each.name == template)
    spec = "/spec/workflowSpec" if document.kind == "CronWorkflow" else "/spec"
    return f"{spec}/templates/{number}/"


def with_natives(
    document: Document, change: Change, *, within: str = "/", words: tuple[str, str] | None = None
) -> Document:
    """The document, its workflow changed already, with the change in what only its natives say.

    `words` are names that stand without a tag.
    """
    if not document.natives:
        return document
    plain = written(_replace(document, natives=()))[0]

    def changed(native: Native) -> Native:
        if not native.pointer.startswith(within):
            return native
        if words is not None and _EDGES.search(native.pointer):
            was, value = (_in_words(each, *words) for each in (native.was, native.value))
        else:
            was, value = in_json(native.was, change), in_json(native.value, change)
        found = _replace(native, was=was, value=value)
        # A template inside a task may have an input of the same name: there nothing has changed.
        return native if fits(plain, native) and not fits(plain, found) else found

    return _replace(document, natives=tuple(changed(native) for native in document.natives))


_EDGES = re.compile(r"/(depends|target|dependencies/\d+)$")


def _in_words(value: Any, old: str, new: str) -> Any:
    """A text in which a name stands without a tag."""
    whole = rf"(?<![\w.-]){re.escape(old)}(?![\w-])"
    return re.sub(whole, lambda _: new, value) if isinstance(value, str) else value


def other(name: str, old: str, new: str) -> str:
    """The name, and the new one for the old."""
    return new if name == old else name


def known(name: str, names: list[str], message: str) -> None:
    """Raises `DiagnosticError` for a name that isn't there."""
    if name not in names:
        raise cannot(f"{message} {name!r}", f"there are {', '.join(map(repr, names)) or 'none'}")


def free(name: str, names: list[str], message: str) -> None:
    """Raises `DiagnosticError` for a name that is taken."""
    if name in names:
        raise cannot(f"{message} {name!r}", "choose another name")


def cannot(message: str, way_out: str) -> DiagnosticError:
    """The error about a change that can't be made."""
    return DiagnosticError([error("CLR496", message, help=way_out)])
