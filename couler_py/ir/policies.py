"""How often, how long and with whom something runs: retries, cache and locks."""

from __future__ import annotations

from typing import Literal, TypeAlias

import msgspec

from couler_py.ir.expr import Expr, TextLike
from couler_py.ir.pod import ConfigMapRef


class _Policy(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    pass


class Backoff(_Policy, frozen=True):
    """Waiting between attempts, in seconds: `duration`, then times `factor`; none after `maximum` in all (Argo)."""

    duration: float
    factor: float = 1.0
    maximum: float | None = None


class RetryPolicy(_Policy, frozen=True):
    """`limit` further attempts after the first; again only while `when` (over `LastRetry`) is true.

    `policy` is Argo's: what counts as worth a retry. Ours are "Always" (errors, time-outs, lost pods) and
    "OnPlatformFault": failures that are the platform's and not the step's own (`couler_py.passes.retry`).
    """

    limit: int
    backoff: Backoff | None = None
    when: Expr | None = None
    policy: Literal["Always", "OnFailure", "OnError", "OnTransientError", "OnPlatformFault"] = "Always"
    other_node: bool = False


class Cache(_Policy, frozen=True):
    """Reuse the outputs of an earlier success with the same content and inputs.

    `max_age` is in seconds. `version` is mixed into the key; `key` replaces the inputs in it.
    `store` names an Argo ConfigMap (imports and Couler's own `Cache`).
    """

    max_age: float | None = None
    version: str = ""
    key: TextLike | None = None
    store: TextLike = ""


class Mutex(_Policy, frozen=True, tag="mutex"):
    """One holder of the name at a time, over all runs of the engine. `database` is Argo's lock across clusters."""

    name: TextLike
    namespace: str = ""
    database: bool = False


class Semaphore(_Policy, frozen=True, tag="semaphore"):
    """At most `limit` holders; on a cluster the limit stands in a ConfigMap's key, or a database."""

    name: TextLike
    limit: int | None = None
    config_map: ConfigMapRef | None = None
    namespace: str = ""
    database: bool = False


Lock: TypeAlias = Mutex | Semaphore
