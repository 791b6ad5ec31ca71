"""Policies as they are written: a table of a file of settings, or files of their own."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import msgspec

from couler_py.ir.model import Source
from couler_py.settings import layers
from couler_py.settings.layers import Layer
from couler_py.settings.policy import Policy, PolicySource
from couler_py.settings.problems import refused, shown
from couler_py.settings.reading import UnreadableError, toml


def stacked(policy: str | dict[str, Any], origin: str, layer: Layer | None = None) -> list[PolicySource]:
    """The policy that a table is, or that lies in a file. Raises `SettingsError`; also where the file is missing."""
    if isinstance(policy, dict):
        return [PolicySource(origin, msgspec.convert(policy, Policy))]
    path = Path(policy)
    try:
        text, data = toml(path)
    except (OSError, UnreadableError, UnicodeDecodeError, tomllib.TOMLDecodeError) as problem:
        place = layer.place(("policy",)) if layer is not None else None
        reason = problem.strerror if isinstance(problem, OSError) else problem
        raise refused(
            f"the policy {shown(path)} can't be read: {reason}",
            place,
            f"it is named by {origin}, and nothing is done without it",
        ) from None
    inside: tuple[str, ...] = ()
    if set(data) == {"policy"}:  # the same table as in couler.toml, in a file of its own
        inside, data = ("policy",), data["policy"]
    own = Layer("user", data, path, text, inside)
    layers.check(own, Policy)
    return [PolicySource(str(Source(shown(path), 1)).rpartition(":")[0], msgspec.convert(data, Policy))]
