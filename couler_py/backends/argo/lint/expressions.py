"""The CEL rules of Argo's CRDs (`x-kubernetes-validations`), by hand: ten rules, each under its own text.

cel-python agrees with each of them (a test holds that), but takes 0.4 s to load and a millisecond a rule and value.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from couler_py.backends.argo.lint.finding import Path

JSON = dict[str, Any]
Check = Callable[[Any], Iterator[tuple[Path, str]]]
"""From a value to what breaks the rule: the path inside the value, and what to do."""

LOCATIONS = ("s3", "git", "http", "artifactory", "hdfs", "raw", "oss", "gcs", "azure", "plugin")
BODIES = ("container", "script", "dag", "steps", "resource", "suspend", "containerSet", "data", "http", "plugin")


def _one_location(artifact: JSON) -> Iterator[tuple[Path, str]]:
    given = [each for each in artifact if each in LOCATIONS]
    if len(given) > 1:
        yield (given[1],), f"keep one of {' and '.join(given)}"


def _no_live_durations(gauge: JSON) -> Iterator[tuple[Path, str]]:
    if gauge.get("realtime") and "resourcesDuration." in gauge.get("value", ""):
        yield ("value",), "take `realtime` away: durations are known at the end"


def _depends_or_dependencies(task: JSON) -> Iterator[tuple[Path, str]]:
    if "depends" in task and "dependencies" in task:
        yield ("dependencies",), "write all of it in `depends`: a && b"


def _depends_or_continue_on(task: JSON) -> Iterator[tuple[Path, str]]:
    if "depends" in task and "continueOn" in task:
        yield ("continueOn",), "say it where the task is depended on: `depends: a.Succeeded || a.Failed`"


def _no_leading_digit(task: JSON) -> Iterator[tuple[Path, str]]:
    if ("depends" in task or "dependencies" in task) and task.get("name", "")[:1] in tuple("0123456789"):
        yield ("name",), "begin the name with a letter"


def _count_or_end(sequence: JSON) -> Iterator[tuple[Path, str]]:
    if "count" in sequence and "end" in sequence:
        yield ("end",), "keep one of them"


def _one_manifest(resource: JSON) -> Iterator[tuple[Path, str]]:
    if "manifest" in resource and "manifestFrom" in resource:
        yield ("manifestFrom",), "keep one of them"


def _one_body(templates: list[JSON]) -> Iterator[tuple[Path, str]]:
    for index, template in enumerate(templates):
        given = [each for each in template if each in BODIES]
        if len(given) > 1:
            yield (index, given[1]), f"keep one of {' and '.join(given)}, or make two templates of it"


def _no_timeout_of_graphs(templates: list[JSON]) -> Iterator[tuple[Path, str]]:
    for index, template in enumerate(templates):
        if template.get("timeout") and ("steps" in template or "dag" in template):
            yield (index, "timeout"), "limit the templates that run pods, or the workflow (`activeDeadlineSeconds`)"


def _no_deadline_of_graphs(templates: list[JSON]) -> Iterator[tuple[Path, str]]:
    for index, template in enumerate(templates):
        if "activeDeadlineSeconds" in template and ("steps" in template or "dag" in template):
            yield (index, "activeDeadlineSeconds"), "limit the templates that run pods, or the workflow as a whole"


def _sum_of(owner: str, names: tuple[str, ...]) -> str:
    return " + ".join(f"(has({owner}.{each}) ? 1 : 0)" for each in names)


CHECKS: dict[str, Check] = {
    f"{_sum_of('self', LOCATIONS)} <= 1": _one_location,
    "!has(self.realtime) || !self.realtime || !self.value.contains('resourcesDuration.')": _no_live_durations,
    "!has(self.depends) || !has(self.dependencies)": _depends_or_dependencies,
    "!has(self.depends) || !has(self.continueOn)": _depends_or_continue_on,
    "!(has(self.depends) || has(self.dependencies)) || !self.name.matches('^[0-9]')": _no_leading_digit,
    "!(has(self.count) && has(self.end))": _count_or_end,
    "(has(self.manifest) && !has(self.manifestFrom)) || (!has(self.manifest) && has(self.manifestFrom)) "
    "|| (!has(self.manifest) && !has(self.manifestFrom))": _one_manifest,
    f"self.all(t, {_sum_of('t', BODIES)} <= 1)": _one_body,
    'self.all(t, !(has(t.timeout) && t.timeout != "" && (has(t.steps) || has(t.dag))))': _no_timeout_of_graphs,
    "self.all(t, !(has(t.activeDeadlineSeconds) && (has(t.steps) || has(t.dag))))": _no_deadline_of_graphs,
}
"""By the text of the rule in the CRD."""
