"""JSON in an engine's own words, with the strings that the engine fills in kept beside it."""

from __future__ import annotations

from typing import Any

import msgspec

from couler_py.ir.expr import Text


class Substitution(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """A string inside a JSON value that holds expressions, by its JSON pointer (RFC 6901)."""

    pointer: str
    text: Text


class Templated(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """A JSON value in Kubernetes' words. Strings with expressions in them stand in `texts`.

    At the place of each substitution, `value` holds an empty string.
    """

    value: Any
    texts: tuple[Substitution, ...] = ()
