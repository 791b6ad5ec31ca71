"""How often, how long and with whom: retries, the cache, locks."""

from __future__ import annotations

from typing import Any

import msgspec

from couler_py.backends.argo.document.containers import config_map, each_of, exactly, written_config_map
from couler_py.backends.argo.document.durations import duration, written_duration
from couler_py.backends.argo.document.lens import (
    JSON,
    Field,
    Table,
    as_it_is,
    flag_field,
    one_of,
    text_field,
    word_field,
)
from couler_py.backends.argo.document.texts import UNSAID, Root, tagged, text, word, written
from couler_py.ir.expr import Raw
from couler_py.ir.model import Backoff, Cache, Lock, Mutex, RetryPolicy, Semaphore

# ---- retries


def _number(given: Any, root: Root) -> Any:
    """A count, perhaps in quotes."""
    if type(given) is str and given.isascii() and given.isdigit() and len(given) < 10:
        return int(given)
    return given if type(given) is int else UNSAID


def _factor(given: Any, root: Root) -> Any:
    found = _number(given, root)
    return UNSAID if found is UNSAID or abs(found) >= 2**53 else float(found)


def _whole(value: float, root: Root) -> Any:
    return int(value) if value == int(value) else value


_BACKOFF = Table(
    Backoff,
    Field("duration", "duration", duration, written_duration),
    Field("factor", "factor", _factor, _whole, 1.0),
    Field("maxDuration", "maximum", duration, written_duration),
)
_RETRY = Table(
    RetryPolicy,
    Field("limit", "limit", _number, as_it_is),
    Field("retryPolicy", "policy", one_of("Always", "OnFailure", "OnError", "OnTransientError"), as_it_is),
    Field(
        "backoff",
        "backoff",
        lambda value, root: exactly(_BACKOFF, "duration")(value, root),
        lambda value, root: _BACKOFF.write(value, root),
    ),
    Field(
        "expression",
        "when",
        lambda value, root: Raw("argo", value) if isinstance(word(value, root), str) else UNSAID,
        lambda value, root: _expression(value, root),
    ),
    Field(
        "affinity",
        "other_node",
        lambda value, root: True if value == {"nodeAntiAffinity": {}} else UNSAID,
        lambda value, root: {"nodeAntiAffinity": {}},
        False,
    ),
)


def _expression(given: Any, root: Root) -> str:
    return given.text if isinstance(given, Raw) else tagged(given, root)


def retry(given: Any, root: Root) -> Any:
    """A `retryStrategy` that says how often. Without a policy Argo tries failures again, with an expression all."""
    found = exactly(_RETRY, "limit")(given, root) if isinstance(given, dict) else UNSAID
    if not isinstance(found, RetryPolicy) or "retryPolicy" in given:
        return found
    return msgspec.structs.replace(found, policy=_default(found))


def written_retry(given: RetryPolicy, root: Root) -> JSON:
    """The strategy again, without the policy where it is Argo's own."""
    found = _RETRY.write(given, root)
    if given.policy == _default(given):
        del found["retryPolicy"]
    return found


def _default(given: RetryPolicy) -> Any:
    return "OnFailure" if given.when is None else "Always"


# ---- the cache


def cache(given: Any, root: Root) -> Any:
    """A `memoize` with a ConfigMap."""
    if not isinstance(given, dict) or given.keys() - {"key", "cache", "maxAge"}:
        return UNSAID
    place = given.get("cache")
    if not isinstance(place, dict) or place.keys() != {"configMap"} or not isinstance(place["configMap"], dict):
        return UNSAID
    store, key = text(place["configMap"].get("name"), root), text(given.get("key"), root)
    age = None if given.get("maxAge", "") == "" else duration(given["maxAge"], root)
    if place["configMap"].keys() != {"name"} or not store or UNSAID in (store, key, age):
        return UNSAID
    return Cache(max_age=age, key=key, store=store)  # type: ignore[arg-type]


def written_cache(given: Cache, root: Root) -> JSON:
    """The `memoize` again; its age has to be said, and "" is for ever."""
    return {
        "key": written(given.key or "", root),
        "cache": {"configMap": {"name": written(given.store, root)}},
        "maxAge": "" if given.max_age is None else written_duration(given.max_age, root),
    }


# ---- locks

_MUTEX = Table(
    Mutex, text_field("name", "name"), word_field("namespace", "namespace"), flag_field("database", "database")
)
_read_mutex = exactly(_MUTEX, "name")


def _semaphore(given: JSON, root: Root) -> Any:
    namespace = word(given.get("namespace", ""), root)
    kinds = given.keys() - {"namespace"}
    if namespace is UNSAID or len(kinds) != 1:
        return UNSAID
    if kinds == {"configMapKeyRef"}:
        ref = config_map(given["configMapKeyRef"], root)
        return UNSAID if ref is UNSAID else Semaphore(ref.key, config_map=ref, namespace=str(namespace))
    shared = given.get("database")
    if not isinstance(shared, dict) or shared.keys() != {"key"}:
        return UNSAID
    key = text(shared["key"], root)
    return UNSAID if key is UNSAID else Semaphore(key, namespace=str(namespace), database=True)  # type: ignore[arg-type]


def locks(given: Any, root: Root) -> Any:
    """A `synchronization`: mutexes, then semaphores. The words of before 4.0, for one of each, are read as well."""
    if not isinstance(given, dict) or given.keys() - {"mutexes", "semaphores", "mutex", "semaphore"}:
        return UNSAID
    if {"mutex", "mutexes"} <= given.keys() or {"semaphore", "semaphores"} <= given.keys():
        return UNSAID
    mutexes = given.get("mutexes", [given["mutex"]] if "mutex" in given else [])
    semaphores = given.get("semaphores", [given["semaphore"]] if "semaphore" in given else [])
    if not isinstance(mutexes, list) or not isinstance(semaphores, list):
        return UNSAID
    found = (each_of(_read_mutex)(mutexes, root), each_of(_semaphore)(semaphores, root))
    return UNSAID if UNSAID in found else found[0] + found[1]


def written_locks(given: tuple[Lock, ...], root: Root) -> JSON:
    """The `synchronization` again, in the order of the locks."""
    found: JSON = {}
    for lock in given:
        if isinstance(lock, Mutex):
            found.setdefault("mutexes", []).append(_MUTEX.write(lock, root))
        else:
            found.setdefault("semaphores", []).append(_written_semaphore(lock, root))
    return found


def _written_semaphore(lock: Semaphore, root: Root) -> JSON:
    namespace = {"namespace": lock.namespace} if lock.namespace else {}
    if lock.config_map is not None:
        return {"configMapKeyRef": written_config_map(lock.config_map, root), **namespace}
    return {"database": {"key": written(lock.name, root)}, **namespace}
