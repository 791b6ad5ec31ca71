"""What a container asks for, where the IR can say it: requests and limits as one quantity of each kind."""

from __future__ import annotations

from typing import Any

from couler_py.argolang.tags import OPEN
from couler_py.backends.argo.document.texts import UNSAID, Root
from couler_py.ir.pod import Resources


def quantities(given: Any, root: Root) -> Any:
    """The resources of a container, or `UNSAID`.

    A limit without a request is a request as well for Kubernetes' extended resources, so devices may be said by
    their limit alone; the other kinds keep whichever was said.
    """
    if not isinstance(given, dict) or given.keys() - {"requests", "limits"}:
        return UNSAID
    requests, limits = _plain(given.get("requests")), _plain(given.get("limits"))
    if requests is None or limits is None:
        return UNSAID
    said: dict[str, Any] = {}
    extra: list[tuple[str, str]] = []
    for name in sorted(requests.keys() | limits.keys()):
        request, limit = requests.get(name), limits.get(name)
        if name in ("cpu", "memory"):
            said[name] = request or ""
            if limit != request:
                said[f"{name}_limit"] = limit or ""
        elif limit is None or request not in (None, limit):
            return UNSAID
        elif name == "ephemeral-storage" and request is not None:
            said["ephemeral_storage"] = limit
        elif name.endswith("/gpu") and limit.isascii() and limit.isdigit() and "gpu" not in said and int(limit):
            said |= {"gpu": int(limit), "gpu_type": name}
        else:
            extra.append((name, limit))
    return Resources(**said, extra=tuple(extra))


def _plain(given: Any) -> dict[str, str] | None:
    """The quantities as text; None where one isn't a quantity, or holds a tag."""
    if given is None:
        return {}
    if not isinstance(given, dict):
        return None
    found: dict[str, str] = {}
    for name, quantity in given.items():
        if type(quantity) not in (str, int, float) or (type(quantity) is str and (OPEN in quantity or not quantity)):
            return None
        found[name] = quantity if type(quantity) is str else str(quantity)
    return found
