"""The archives of the user's own modules, on their way to an engine."""

from __future__ import annotations

import hashlib

from couler_py.ir.diagnostics import DiagnosticError, error
from couler_py.ir.model import IncludeArchive


def packed(archive: IncludeArchive) -> bytes:
    """The archive of the files that a workflow names, if they are those that it was built with.

    A workflow from elsewhere may name any file of this machine: without its digest none is read into a document.
    Raises `DiagnosticError`.
    """
    from couler_py.dsl.include import pack

    content = pack(archive.root, archive.paths)
    if hashlib.sha256(content).hexdigest() != archive.digest.removeprefix("sha256:"):
        finding = error(
            "CLR413",
            f"files in {archive.root or 'the working folder'} that steps import are not those of this workflow: "
            + ", ".join(archive.paths[:5]),
            why="it was built with others, whose digest it names",
            help="build it again from its Python source",
        )
        raise DiagnosticError([finding])
    return content
