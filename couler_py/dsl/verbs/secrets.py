"""Secrets: the data goes to the secret store of the engine, and only a reference into the workflow.

`create_secret` keeps the data in this process, apart from every recording, until the workflow is submitted;
`hand_over` gives it to the store and forgets it. Nothing here prints, hashes or logs a value.
"""

from __future__ import annotations

import secrets as randomness
import sys
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

import msgspec

from couler_py.dsl.problems import fail
from couler_py.ir.codec import to_builtins
from couler_py.ir.model import Workflow
from couler_py.ir.names import legal
from couler_py.ir.pod import EnvVar
from couler_py.ir.storage import SecretRef


class Secret(str):
    """The name of a secret, with the names of its keys: what `create_secret` and `obtain_secret` return.

    It is text, as Couler's; `secret["key"]` is a reference to one key, for `env=` and storages.
    """

    keys: tuple[str, ...]
    namespace: str

    def __new__(cls, name: str, keys: Iterable[str], namespace: str = "default") -> Secret:
        made = super().__new__(cls, name)
        made.keys = tuple(keys)
        made.namespace = namespace
        return made

    def __getitem__(self, key: str) -> SecretRef:  # type: ignore[override]
        """A reference to one key. Raises `RecordingError` for a key that the secret doesn't have."""
        if key not in self.keys:
            fail("CLR186", f"the secret {str(self)!r} has no key {key!r}", help=f"it has {', '.join(self.keys)}")
        return SecretRef(str(self), key)

    def env(self) -> tuple[EnvVar, ...]:
        """Every key as an environment variable of the same name."""
        return tuple(EnvVar(key, SecretRef(str(self), key)) for key in self.keys)


class PendingSecret(msgspec.Struct, frozen=True):
    """A secret to be made when a workflow that names it is submitted. Its data is in no `repr`."""

    name: str
    namespace: str
    data: dict[str, str]

    def __repr__(self) -> str:
        return f"<secret {self.name} of {', '.join(self.data)}>"


_vault: dict[str, PendingSecret] = {}
_lock = threading.Lock()


def create_secret(
    secret_data: Mapping[str, str],
    namespace: str = "default",
    name: str | None = None,
    dry_run: bool = False,
    use_existing: bool = False,
    artifact_secret: bool = False,
) -> Secret:
    """Make a secret in the engine's store when the workflow is submitted, and give a reference to it.

    Without `name`, the name is random: it tells nothing of the data. With `use_existing` nothing is made,
    and the secret of this name is expected on the engine. A `dry_run` makes nothing and prints the manifest,
    its values as `***`. `artifact_secret` is Couler's mark for keys of storages; it changes nothing here.

    Raises `RecordingError` for data that isn't a dict of texts.

    >>> database = couler.create_secret({"password": "hunter2"}, name="database")
    >>> database["password"]
    SecretRef(name='database', key='password', optional=False)
    """
    given: Any = secret_data
    if not isinstance(given, Mapping):
        fail("CLR186", f"the data of a secret is a dict, not a {type(given).__name__}")
    if not secret_data:
        fail("CLR186", "the data of the secret is empty", help="give at least one key")
    for key, value in given.items():
        if not isinstance(key, str) or not key:
            fail("CLR186", f"the key {key!r} of the secret is not text")
        if not isinstance(value, str) and not use_existing:
            fail("CLR186", f"the value of {key!r} is a {type(value).__name__}, not text", help="give it as text")
    if use_existing and not name:
        fail("CLR186", "use_existing needs the name of the secret that exists", help="give name=...")
    if name is not None and not legal("kubernetes", "label", name):
        fail("CLR186", f"{name!r} can't be the name of a secret", help="use small letters, digits and -, 63 at most")
    secret = Secret(name or f"couler-{randomness.token_hex(8)}", secret_data, namespace)
    if dry_run:
        sys.stdout.write(_manifest(secret))
    elif not use_existing:
        with _lock:
            _vault[str(secret)] = PendingSecret(str(secret), namespace, dict(secret_data))
    return secret


def obtain_secret(secret_keys: Iterable[str], namespace: str = "default", name: str | None = None) -> Secret:
    """A secret that exists on the engine, with the keys that steps shall see.

    >>> couler.obtain_secret(["password"], name="database")["password"]
    SecretRef(name='database', key='password', optional=False)
    """
    if isinstance(secret_keys, str):
        fail("CLR186", f"secret_keys={secret_keys!r} is one text", help=f"give a list: [{secret_keys!r}]")
    return create_secret(dict.fromkeys(secret_keys, ""), namespace, name, use_existing=True)


def pending(names: Iterable[str]) -> tuple[PendingSecret, ...]:
    """Those of the named secrets whose data waits to be handed over."""
    with _lock:
        return tuple(_vault[name] for name in dict.fromkeys(names) if name in _vault)


def named_in(workflow: Workflow) -> tuple[str, ...]:
    """The secrets waiting here that a workflow names anywhere."""
    texts = set(_texts(to_builtins(workflow)))
    with _lock:
        return tuple(name for name in _vault if name in texts)


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for item in value.values():
            yield from _texts(item)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _texts(item)


def hand_over(names: Iterable[str], store: Callable[[PendingSecret], object]) -> None:
    """Give the data of the named secrets to a store, and forget each that it took."""
    for secret in pending(names):
        store(secret)
        with _lock:
            _vault.pop(secret.name, None)


def _manifest(secret: Secret) -> str:
    data = "".join(f"  {key}: '***'\n" for key in secret.keys)
    return (
        f"apiVersion: v1\nkind: Secret\nmetadata:\n  name: {secret}\n  namespace: {secret.namespace}\n"
        f"type: Opaque\ndata:\n{data}"
    )
