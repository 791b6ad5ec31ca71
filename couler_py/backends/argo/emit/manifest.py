"""Manifests of Kubernetes objects, as the text that Argo hands over. Values never become part of their structure."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from couler_py.backends.argo.emit.arguments import report
from couler_py.backends.argo.emit.expressions import UnprovenError, translate
from couler_py.backends.argo.emit.literals import tag
from couler_py.backends.argo.emit.values import quoted_json
from couler_py.ir.expr import Text, TextLike
from couler_py.ir.pod import Templated
from couler_py.kubernetes import templated

if TYPE_CHECKING:
    from couler_py.backends.argo.emit.leaf import LeafWriter

_MARK = "\ue000{}\ue001"


def manifest(writer: LeafWriter, given: Templated) -> str:
    """The manifest as JSON text, which is YAML too.

    A literal `{{` is written with an escape of JSON. A string with values in it is one expression inside the quotes
    that gives its characters as JSON writes them, so no value can end the string.
    """
    tags: list[str] = []

    def render(text: TextLike) -> str:
        if isinstance(text, str):
            return text
        tags.append(_inside_quotes(writer, text))
        return _MARK.format(len(tags) - 1)

    data: Any = templated(given, render)
    found = json.dumps(data, ensure_ascii=False, indent=2).replace("{{", "{\\u007b")
    for index, each in enumerate(tags):
        found = found.replace(_MARK.format(index), each)
    return found


def _inside_quotes(writer: LeafWriter, text: Text) -> str:
    try:
        value = translate(text, writer.scope)
    except UnprovenError as error:
        report(writer.emission, error, "a value in the manifest", writer.template.name, writer.template.source)
        return ""
    quoted = quoted_json(value.text)
    return tag(f"(let q = {quoted}; q[1:len(q) - 1])")
