"""Documents held against Argo's own CRDs, made strict: the structure that the API server would refuse.

Needs the extra `argo` (jsonschema-rs).
"""

from __future__ import annotations

import functools
from collections.abc import Iterable
from typing import Any, Literal

from couler_py.backends.argo.options import Version
from couler_py.backends.argo.schema import PLURALS, Crds, schema
from couler_py.backends.argo.size import size_findings, size_of
from couler_py.ir.diagnostics import Diagnostic, error

JSON = dict[str, Any]


def verify(
    documents: Iterable[JSON], crds: Literal["full", "minimal"] = "full", version: Version = "4"
) -> list[Diagnostic]:
    """Everything that the schema of Argo's CRDs refuses, by document; documents of other kinds are passed over.

    The strict full schema is used for both: minimal CRDs check nothing and the controller reads the same fields. With
    `crds="minimal"` the bounds of lists don't count. Of version 3.5 it is what the controller reads.
    """
    found = []
    for document in documents:
        kind = document.get("kind", "")
        if kind not in PLURALS:
            continue
        for problem in _validator(kind, "full" if version == "4" else "full-3.5").iter_errors(document):
            if crds == "minimal" and problem.message.endswith("items") and "has more than" in problem.message:
                continue
            path = ".".join(map(str, problem.instance_path))
            found.append(error("CLR411", f"{kind} at {path or 'its root'}: {_short(problem.message)}"))
    return found


def too_large(documents: Iterable[JSON]) -> list[Diagnostic]:
    """The documents that Argo refuses for their size, which `compile` only warns of."""
    known = (document for document in documents if document.get("kind") in PLURALS)
    return [found for document in known for found in size_findings(size_of(document)) if found.severity == "error"]


@functools.cache
def _validator(kind: str, crds: Crds) -> Any:
    import jsonschema_rs

    return jsonschema_rs.validator_for(schema(kind, crds))


def _short(message: str) -> str:
    return message if len(message) <= 300 else message[:297] + "..."
