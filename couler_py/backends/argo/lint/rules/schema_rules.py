"""What a CRD says beyond types: its CEL rules, and lists whose items have to differ in a key."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from typing import Any

import msgspec

from couler_py.backends.argo.lint.context import Context
from couler_py.backends.argo.lint.expressions import CHECKS, Check
from couler_py.backends.argo.lint.finding import Finding, Path
from couler_py.backends.argo.lint.refusals import where
from couler_py.backends.argo.schema import schema

JSON = dict[str, Any]


_ONE_PLACE = "at most one artifact location can be specified"
"""The one rule of templates that Argo's own lint doesn't have: it takes the first of the places."""


def crd_rules(context: Context) -> Iterator[Finding]:
    """The rules that the API server evaluates where the full CRDs are installed, and Argo's own lint with any."""
    yield from _walk(context.spec, rules_of_the_spec(), context.spec_path)
    # The CRDs leave open what stands inline in a task, where only Argo's own lint looks.
    for each in context.all_templates[len(context.templates) :]:
        for finding in _walk([each.data], rules_of_the_spec().fields["templates"], (), listed=False):
            severity = "warning" if finding.message == _ONE_PLACE else finding.severity
            yield msgspec.structs.replace(finding, path=(*each.path, *finding.path[1:]), severity=severity)


class _Branch(msgspec.Struct, frozen=True):
    """A part of a schema that has rules somewhere inside."""

    checks: tuple[tuple[Check, str], ...]
    keys: tuple[tuple[str, Any], ...]
    """What the items of this list must differ in, with the defaults; empty where they needn't."""
    fields: dict[str, _Branch]
    inner: _Branch | None
    """That of all items of a list, or of all values of a mapping."""


@functools.cache
def rules_of_the_spec(kind: str = "Workflow") -> _Branch:
    """The parts of a workflow spec that have rules; they are the same in every kind."""
    spec = schema(kind)["properties"]["spec"]
    branch = _branch(spec["properties"].get("workflowSpec", spec))
    assert branch is not None
    return branch


def _branch(part: Any) -> _Branch | None:
    if not isinstance(part, dict):
        return None
    checks = tuple((CHECKS[rule["rule"]], rule["message"]) for rule in part.get("x-kubernetes-validations", ()))
    items: JSON = part.get("items") or {}
    inner = _branch(items or part.get("additionalProperties"))
    fields = {name: branch for name, each in part.get("properties", {}).items() if (branch := _branch(each))}
    keys = tuple(
        (key, items["properties"].get(key, {}).get("default")) for key in part.get("x-kubernetes-list-map-keys", ())
    )
    return _Branch(checks, keys, fields, inner) if checks or keys or fields or inner else None


def _walk(value: Any, branch: _Branch, path: Path, *, listed: bool = True) -> Iterator[Finding]:
    """`listed`: whether the items of all lists have to differ in their keys, and not of those of mounts alone."""
    for check, message in branch.checks:
        for inside, help_ in check(value):
            yield Finding("CLR427", f"{message[0].lower()}{message[1:]}", (*path, *inside), on="key", help=help_)
    if isinstance(value, list):
        if branch.keys and (listed or branch.keys[0][0] == "mountPath"):
            yield from _repeated(value, branch.keys, path)
        if branch.inner is not None:
            for index, item in enumerate(value):
                yield from _walk(item, branch.inner, (*path, index), listed=listed)
        return
    if branch.inner is not None:
        for key, item in value.items():
            yield from _walk(item, branch.inner, (*path, key), listed=listed)
        return
    for name, inner in branch.fields.items():
        if name in value:
            yield from _walk(value[name], inner, (*path, name), listed=listed)


def _repeated(items: list[JSON], keys: tuple[tuple[str, Any], ...], path: Path) -> Iterator[Finding]:
    seen: dict[tuple[Any, ...], int] = {}
    for index, item in enumerate(items):
        identity = tuple(item.get(key, default) for key, default in keys)
        first = seen.setdefault(identity, index)
        if first != index:
            said = ", ".join(f"{key} {value!r}" for (key, _), value in zip(keys, identity, strict=True))
            yield Finding(
                "CLR431",
                f"{where(path)} has two items with {said}",
                (*path, index, keys[0][0]) if keys[0][0] in item else (*path, index),
                related=(("the other", (*path, first)),),
            )
