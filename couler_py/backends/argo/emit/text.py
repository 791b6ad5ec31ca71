"""Strings with values in them, and strings that hold what Argo or Kubernetes would take for their own.

Argo looks for `{{` in every string of a template, Kubernetes for `$(NAME)` in command, arguments and environment.
"""

from __future__ import annotations

import re

from couler_py.backends.argo.emission import Emission
from couler_py.backends.argo.emit.arguments import report
from couler_py.backends.argo.emit.expressions import UnprovenError, translate
from couler_py.backends.argo.emit.literals import tag
from couler_py.backends.argo.emit.scope import TemplateScope
from couler_py.backends.argo.emit.values import SIMPLE, to_text
from couler_py.ir import wire
from couler_py.ir.expr import Expr, InputArtifact, TextLike
from couler_py.ir.expr import Literal as Constant
from couler_py.ir.model import Template
from couler_py.kubernetes import Render

EMPTY = "COULER_EMPTY"
"""An environment variable that is empty. `{$(COULER_EMPTY){` is `{{` to a program and nothing to Argo."""

_EMPTY_REFERENCE = f"$({EMPTY})"
_DOLLAR = re.compile(r"\$(?=[$(])")


def render(emission: Emission, template: Template, scope: TemplateScope) -> Render:
    """For strings that only Argo reads. A literal `{{` there is a finding: nothing can escape it."""

    def rendered(text: TextLike) -> str:
        if isinstance(text, str):
            return _without_braces(emission, template, text)
        return "".join(
            [
                _without_braces(emission, template, part)
                if isinstance(part, str)
                else _part(emission, template, scope, part, "")
                for part in text.parts
            ]
        )

    return rendered


def render_command(emission: Emission, template: Template, scope: TemplateScope) -> Render:
    """For command, arguments and environment of a container: every string reaches the program as it is."""

    def rendered(text: TextLike) -> str:
        if isinstance(text, str):
            return escaped(text)
        return "".join(
            [
                escaped(part) if isinstance(part, str) else _part(emission, template, scope, part, "$")
                for part in text.parts
            ]
        )

    return rendered


def escaped(text: str) -> str:
    """Text that neither Argo nor Kubernetes changes.

    >>> escaped("echo $(date) {{x}}")
    'echo $$(date) {$(COULER_EMPTY){x}}'
    """
    if "$" in text:
        text = _DOLLAR.sub("$$", text)
        text = text[:-1] + "$$" if text.endswith("$") else text
    while "{{" in text:
        text = text.replace("{{", "{$(" + EMPTY + "){")
    return text


def needs_empty(data: object) -> bool:
    """Whether anything in the JSON data uses the empty variable."""
    if isinstance(data, str):
        return _EMPTY_REFERENCE in data
    if isinstance(data, dict):
        return any(map(needs_empty, data.values()))
    return isinstance(data, list) and any(map(needs_empty, data))


def _without_braces(emission: Emission, template: Template, text: str) -> str:
    if "{{" in text:
        emission.problem(
            "CLR403",
            "this text holds {{, which Argo takes for a place to fill in",
            step=template.display or template.name,
            source=template.source,
            why="only command, arguments and environment of a container, and the source of a Python step, can carry it",
            help="put the text into an argument, an environment variable or a file",
        )
    return text


def _part(emission: Emission, template: Template, scope: TemplateScope, part: Expr, double: str) -> str:
    if isinstance(part, InputArtifact):
        return "{{inputs.artifacts." + scope.input_name(part.name) + ".path}}"
    if isinstance(part, Constant):
        text = wire.as_text(part.value)
        return escaped(text) if double else _without_braces(emission, template, text)
    try:
        value = translate(part, scope)
        text = to_text(value)
    except UnprovenError as error:
        report(emission, error, "a value in a text", template.display or template.name, template.source)
        return ""
    if value.tag and text == value.text and (value.type in SIMPLE or value.tag.startswith("workflow.")):
        return "{{" + value.tag + "}}" if not value.tag.startswith("workflow.parameters") else tag(_kept(text, double))
    return tag(_kept(text, double))


def _kept(text: str, double: str) -> str:
    """The expression with each dollar sign in its value doubled, where Kubernetes will halve it."""
    return f"replace({text}, '$', '$$')" if double else text
