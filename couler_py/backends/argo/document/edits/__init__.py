"""Changes of imported documents that reach every place: names in tags, expressions, edges, arguments, hooks.

Each function gives a new document whose data differs from the old one's in exactly those places. They raise
`DiagnosticError` for a change that can't be made: of something that isn't there, to a name that is taken, or of
something that others still need.
"""

from __future__ import annotations

from couler_py.backends.argo.document.edits.parameters import add_parameter, rename_parameter
from couler_py.backends.argo.document.edits.tasks import drop_task, rename_task
from couler_py.backends.argo.document.edits.templates import rename_template, set_image

__all__ = ["add_parameter", "drop_task", "rename_parameter", "rename_task", "rename_template", "set_image"]
