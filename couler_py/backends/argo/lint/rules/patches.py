"""`podSpecPatch`: YAML or JSON of a pod, which Argo reads when it makes one."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import yaml

from couler_py.backends.argo.lint.finding import Finding, Path
from couler_py.backends.argo.lint.rules.flow import Flow
from couler_py.backends.argo.vocabulary import PODS

_MERGED = {"containers": "name", "initContainers": "name", "volumes": "name", "imagePullSecrets": "name"}
"""Lists of a pod that are merged with what Argo puts there, by the key that tells their items apart."""


def patches(flow: Flow) -> Iterator[Finding]:
    """A patch is a mapping, and its lists say which item they are about."""
    yield from _patch(flow.spec.get("podSpecPatch", ""), (*flow.path, "podSpecPatch"), "the workflow")
    defaults = flow.spec.get("templateDefaults", {})
    yield from _patch(
        defaults.get("podSpecPatch", ""), (*flow.path, "templateDefaults", "podSpecPatch"), "the defaults"
    )
    for template in flow.all_templates:
        if template.type in PODS:
            yield from _patch(template.data.get("podSpecPatch", ""), (*template.path, "podSpecPatch"), template.where)


def _patch(text: str, path: Path, where: str) -> Iterator[Finding]:
    if not text or "{{" in text:
        return  # a value can be any part of a patch
    try:
        data = yaml.load(text, Loader=yaml.CBaseLoader)  # noqa: S506 (it makes texts, lists and mappings alone)
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        mark = getattr(error, "problem_mark", None)
        yield _wrong(
            f"the `podSpecPatch` of {where} isn't YAML: {getattr(error, 'problem', None) or error}",
            path,
            offset=min(mark.index, len(text)) if mark is not None else 0,
        )
        return
    if problem := _problem(data):
        yield _wrong(f"the `podSpecPatch` of {where} {problem}", path)


def _problem(data: Any) -> str:
    if data is None or data == "":
        return ""
    if not isinstance(data, dict):
        return "is no mapping"
    for field, key in _MERGED.items():
        items = data.get(field, [])
        if not isinstance(items, list) and items:
            return f"has `{field}`, which is no list"
        if not all(isinstance(each, dict) and (key in each or "$patch" in each) for each in items):
            return f"has an item of `{field}` without a `{key}`"
    return ""


def _wrong(message: str, path: Path, offset: int = 0) -> Finding:
    return Finding(
        "CLR479",
        message,
        path,
        offset=offset,
        why="Argo reads it when it makes the pod, and the step ends in Error",
        help="write a part of a pod, as containers: [{name: main, …}]",
    )
