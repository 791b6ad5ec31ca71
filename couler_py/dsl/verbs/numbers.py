"""Numbers that a step wrote as text: a second reading of the same output, as a number."""

from __future__ import annotations

from typing import Any

import msgspec

from couler_py.dsl.placeholder import Placeholder
from couler_py.dsl.problems import PlaceholderError, fail
from couler_py.dsl.verbs.outputs import Output
from couler_py.dsl.verbs.state import state
from couler_py.ir.model import Function, Template
from couler_py.ir.types import FLOAT, STR


def is_text(value: Any) -> bool:
    """Whether a value of a running workflow is text."""
    return isinstance(value, Placeholder) and value._couler_type == STR


def number(value: Any) -> Any:
    """The value as a number: of an output that is text, the same file or print read as one.

    Where the text is none, the step that wrote it fails. Raises `RecordingError` for other text.
    """
    if isinstance(value, str):
        try:
            return float(value)
        except ValueError:
            fail("CLR181", f"{value!r} is not a number", kind=PlaceholderError)
    if not is_text(value):
        return value
    if not isinstance(value, Output) or not isinstance(value._couler_node.call, Template):
        _no_number(value, "it isn't what a step of a verb wrote")
    node, name = value._couler_node, value._couler_name
    template = node.call
    assert isinstance(template, Template)
    wanted = f"{name}-number"
    found = {output.name: output for output in template.outputs.parameters}
    if wanted not in found:
        if isinstance(template.body, Function):
            _no_number(value, "it is what a Python function printed; let it return a number: `-> float`")
        as_number = msgspec.structs.replace(found[name], name=wanted, type=FLOAT)
        outputs = msgspec.structs.replace(template.outputs, parameters=(*template.outputs.parameters, as_number))
        _replace(template, msgspec.structs.replace(template, outputs=outputs))
    return Output(node, wanted, FLOAT)


def _replace(old: Template, new: Template) -> None:
    here = state()
    here.recorder.templates.replace(old, new)
    for node in here.outputs:
        if node.call is old:
            node.call = new


def _no_number(value: Any, why: str) -> None:
    fail("CLR181", f"{value!r} can't be read as a number", why=why, kind=PlaceholderError)
