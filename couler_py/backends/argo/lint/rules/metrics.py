"""Metrics: exactly one kind, with a value and a help text."""

from __future__ import annotations

from collections.abc import Iterator

from couler_py.backends.argo.lint.context import JSON
from couler_py.backends.argo.lint.finding import Finding, Path
from couler_py.backends.argo.lint.rules.flow import Flow

_KINDS = ("gauge", "counter", "histogram")


def metrics(flow: Flow) -> Iterator[Finding]:
    """Metrics of templates and of the workflow say what they count."""
    holders = [(flow.spec.get("metrics"), (*flow.path, "metrics"))]
    holders += [(template.data.get("metrics"), (*template.path, "metrics")) for template in flow.all_templates]
    for data, path in holders:
        for index, each in enumerate((data or {}).get("prometheus") or ()):
            yield from _metric(each, (*path, "prometheus", index))


def _metric(metric: JSON, path: Path) -> Iterator[Finding]:
    given = [kind for kind in _KINDS if metric.get(kind) is not None]
    if len(given) != 1:
        yield Finding(
            "CLR489",
            f"the metric {metric.get('name', '')!r} is " + ("both " + " and ".join(given) if given else "of no kind"),
            path,
            severity="warning",
            why="it is a gauge, a counter or a histogram; Argo reports it as wrong when it should be written",
            help="keep one of them" if given else f"add one of {', '.join(_KINDS)}",
        )
