"""What a workflow is: model, expressions, graph, names, diagnostics. Depends on nothing else of this package.

The structs live in `model`, `interface`, `policies`, `pod`, `storage`, `expr` and `types`; what they mean in `meaning`,
`evaluate` and `wire`.
"""

from couler_py.ir.codec import FORMAT, IRError, digest, from_json, json_schema, to_builtins, to_json
from couler_py.ir.diagnostics import CoulerError, Diagnostic, DiagnosticError
from couler_py.ir.model import Document, Graph, Source, Suspend, Task, Template, Workflow

__all__ = [
    "FORMAT",
    "CoulerError",
    "Diagnostic",
    "DiagnosticError",
    "Document",
    "Graph",
    "IRError",
    "Source",
    "Suspend",
    "Task",
    "Template",
    "Workflow",
    "digest",
    "from_json",
    "json_schema",
    "to_builtins",
    "to_json",
]
