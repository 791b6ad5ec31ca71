"""Which of several documents of a file is the one that it is about."""

from __future__ import annotations

import msgspec

from couler_py.backends.argo.document.documents import write
from couler_py.ir.model import Document

_RUNS = ("Workflow", "CronWorkflow")


def main_of(documents: tuple[Document, ...]) -> Document:
    """The last document that makes runs, else the last, with all others around it as data."""
    number = next(
        (number for number in reversed(range(len(documents))) if documents[number].kind in _RUNS), len(documents) - 1
    )
    main = documents[number]
    before = [data for each in documents[:number] for data in (*each.before, write(each), *each.after)]
    after = [data for each in documents[number + 1 :] for data in (*each.before, write(each), *each.after)]
    return msgspec.structs.replace(main, before=(*before, *main.before), after=(*main.after, *after))
