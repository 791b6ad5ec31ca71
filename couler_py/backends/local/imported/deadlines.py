"""The time that an imported template gives itself by a text with tags."""

from __future__ import annotations

from couler_py.backends.local.scope import Scope, TaskFailure
from couler_py.ir.model import Template
from couler_py.passes.portable.retries import seconds


def own_deadline(scope: Scope, template: Template) -> float | None:
    """Seconds over all attempts; None without such a text. Raises `TaskFailure` for one that is no duration."""
    for text in () if template.pod.extra is None else template.pod.extra.texts:
        if text.pointer == "/timeout":
            said = scope.text(text.text)
            try:
                return seconds(said) if said else None
            except ValueError as error:
                raise TaskFailure(f"its timeout {said!r} is no duration: {error}") from None
    return None
