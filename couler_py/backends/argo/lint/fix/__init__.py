"""Mending what has one right answer, in the text itself: whatever isn't mended stays as it was, to the byte."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from couler_py.backends.argo.lint import kinds
from couler_py.backends.argo.lint.fix.depends import depends
from couler_py.backends.argo.lint.fix.edits import Edit, applied
from couler_py.backends.argo.lint.fix.fields import fields
from couler_py.backends.argo.lint.fix.scalars import ambiguous_scalars, numbers_for_text, spaces_in_tags
from couler_py.backends.argo.lint.reading import Read, read

FIXES: tuple[Callable[[Read], Iterator[Edit]], ...] = (
    fields,
    depends,
    ambiguous_scalars,
    numbers_for_text,
    spaces_in_tags,
)
_ROUNDS = 4
"""How often at most: a field that is moved may hold what is mended then."""


def fix(text: str) -> str:
    """The text with its Argo documents mended: removed fields, mixed dependencies, ambiguous scalars, spaces in tags.

    Everything else keeps its bytes, comments and order too. Mending what `fix` gave changes nothing. Text that can't be
    read whole stays as it is.
    """
    if text.startswith("\ufeff"):
        return "\ufeff" + fix(text[1:])
    for _ in range(_ROUNDS):
        reading = read(text)
        if reading.broken:
            return text
        edits = [
            edit
            for document in reading.documents
            if kinds.is_ours(document.data)
            for each in FIXES
            for edit in each(document)
        ]
        if not edits:
            return text
        mended = applied(text, edits)
        if read(mended).broken:
            return text
        text = mended
    return text
