"""References to secrets. Their data never enters a workflow: see `create_secret`."""

from __future__ import annotations

from couler_py.dsl.problems import fail
from couler_py.dsl.verbs.secrets import (
    PendingSecret,
    Secret,
    create_secret,
    hand_over,
    named_in,
    obtain_secret,
    pending,
)
from couler_py.ir.storage import SecretRef


def secret(name: str, key: str, *, optional: bool = False) -> SecretRef:
    """A reference to one key of a secret that is in the engine's secret store, for `env=` and storages.

    >>> secret("db", "password")
    SecretRef(name='db', key='password', optional=False)
    """
    if not name or not key:
        fail("CLR160", f"a secret has a name and a key, not {name!r} and {key!r}")
    return SecretRef(str(name), key, optional)


__all__ = ["PendingSecret", "Secret", "create_secret", "hand_over", "named_in", "obtain_secret", "pending", "secret"]
