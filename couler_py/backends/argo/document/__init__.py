"""Argo's documents as IR, and back without loss.

`load` reads YAML, `read` data; both give a `Document` around a workflow of the dialect "argo", whose meaning and words
are Argo's. `dump` and `write` give the same data again. Where the IR has a word, the workflow says it by type; further
fields stand in an `extra`, in Argo's own words; and what was only spelled in another way than it would be written (a
default written out, a number in quotes) is a `Native` of the document.

Scalars keep their JSON type: a parameter's default or `Literal(5)` is the text "5" to Argo.
"""

from __future__ import annotations

from couler_py.backends.argo.document.documents import document_of, is_argo, read, set_aside, write, written
from couler_py.backends.argo.document.files import all_data, dump, load, load_all, loaded

__all__ = [
    "all_data",
    "document_of",
    "dump",
    "is_argo",
    "load",
    "load_all",
    "loaded",
    "read",
    "set_aside",
    "write",
    "written",
]
