"""Artifacts by keys in the engine's default store: what a step leaves under a key, others of the run find there."""

from __future__ import annotations

from pathlib import PurePosixPath

from couler_py.backends.local.context import Call, Context
from couler_py.backends.local.scope import Scope, TaskFailure
from couler_py.ir.storage import GCS, OSS, S3, Storage
from couler_py.store import artifacts
from couler_py.store.records import ArtifactRef, Result


def key_of(storage: Storage | None, scope: Scope) -> str | None:
    """The key in the default store; None for a place elsewhere. Raises `TaskFailure` where it has no value."""
    if not isinstance(storage, S3 | GCS | OSS) or storage.bucket:
        return None
    return scope.text(storage.key).strip("/")


def remember(context: Context, made: Call, result: Result) -> None:
    """Note what a call has left under keys. Raises `TaskFailure`."""
    scope = context.scope(made)
    for output in made.template.outputs.artifacts:
        key = key_of(output.storage, scope) if output.name in result.artifacts else None
        if key is not None:
            context.keyed[key] = result.artifacts[output.name]


def find(context: Context, key: str) -> ArtifactRef | None:
    """What lies under a key, or a folder of what lies below it; None where nothing does."""
    if key in context.keyed:
        return context.keyed[key]
    for parent in PurePosixPath(key).parents:
        if (around := context.keyed.get(str(parent))) is not None:
            return artifacts.member(context.home, around, str(PurePosixPath(key).relative_to(parent)))
    below = {name[len(key) + 1 :]: ref for name, ref in context.keyed.items() if name.startswith(f"{key}/")}
    return artifacts.folder(context.home, sorted(below.items())) if below else None


def found(context: Context, key: str, optional: bool) -> ArtifactRef | None:
    """What lies under a key. Raises `TaskFailure` where something must, and nothing does."""
    ref = find(context, key)
    if ref is None and not optional:
        raise TaskFailure(f"nothing lies under the key {key!r}: no step of this run has left it there")
    return ref
