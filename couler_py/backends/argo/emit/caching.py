"""Steps with a cache: Argo's `memoize`, and where the files of their results lie."""

from __future__ import annotations

from typing import Any

from couler_py.backends.argo import durations
from couler_py.backends.argo.emission import Emission, place
from couler_py.backends.argo.emit.arguments import report
from couler_py.backends.argo.emit.expressions import UnprovenError, translate
from couler_py.backends.argo.emit.literals import member, string, tag
from couler_py.backends.argo.emit.scope import TemplateScope
from couler_py.ir import digest
from couler_py.ir.expr import Text
from couler_py.ir.model import Template

JSON = dict[str, Any]
BUCKET_DIGITS = 1
"""Digits of a key that choose the ConfigMap of a cache: etcd and the API server take objects of about 1 MiB."""
CACHE_FOLDER = "couler-cache"
"""Where the files of cached steps lie in the cluster's artifact store."""


def memoize(emission: Emission, template: Template, scope: TemplateScope) -> JSON:
    """The `memoize` of a template: the key is a hash over its content and inputs, always legal in a ConfigMap.

    A ConfigMap holds at most 1 MiB, so results are spread over sixteen, by the first digit of the key. Argo makes each
    when it is first needed. One that the workflow names holds all.
    """
    cache = template.cache
    assert cache is not None
    if cache.store and isinstance(cache.store, str) and isinstance(cache.key, str):
        return _store(cache.store, cache.key, cache.max_age)
    if template.inputs.artifacts and cache.key is None:
        emission.problem(
            "CLR406",
            "its cache can't see the content of its input artifacts",
            why="Argo's cache knows parameters only: a changed file would give the old result",
            help="give the cache a key that changes with the file, as a digest that an earlier step returns",
            **place(template),  # type: ignore[arg-type]
        )
    try:
        key = _key(emission, template, scope)
        named = tag(translate(cache.store, scope).text) if isinstance(cache.store, Text) else cache.store
    except UnprovenError as error:
        report(emission, error, "the key of its cache", template.name, template.source)
        return {}
    if named:
        return _store(named, tag(key), cache.max_age)
    own = _cache_name(emission, template)[: 63 - 1 - BUCKET_DIGITS].rstrip("-")
    return _store(f"{own}-{tag(f'sprig.substr(0, {BUCKET_DIGITS}, {key})')}", tag(key), cache.max_age)


def cached_place(emission: Emission, template: Template, scope: TemplateScope, name: str) -> JSON:
    """Where an output artifact of a step with a cache goes: a place of its key, so that who makes it anew replaces it.

    The end of a run doesn't delete it; whatever is below `couler-cache/` can be given an age by the store's own rules.
    """
    if template.cache is None or template.cache.store:
        return {}
    kind = emission.options.repository
    field = "blob" if kind == "azure" else "path" if kind == "hdfs" else "key"
    try:
        key = tag(_key(emission, template, scope))
    except UnprovenError:
        return {}  # `memoize` says so
    folder = f"{CACHE_FOLDER}/{emission.program.template_name(template.name)}"
    return {kind: {field: f"{folder}/{key}/{name}"}, "artifactGC": {"strategy": "Never"}}


def _cache_name(emission: Emission, template: Template) -> str:
    return f"couler-cache-{emission.program.template_name(template.name)}".lower()


def _key(emission: Emission, template: Template, scope: TemplateScope) -> str:
    """The expression of the key: 64 hexadecimal digits of the content of the template and what it is given.

    Raises `UnprovenError` for a key of the user's that Argo's expressions can't say.
    """
    cache = template.cache
    assert cache is not None
    content = f"{digest(template)}/{cache.version}"
    if exact := emission.exact_outputs.get(template.name):  # results that were kept unchecked are others
        content += f"/{','.join(exact)}"
    if cache.key is None:
        names = [scope.input_name(parameter.name) for parameter in template.inputs.parameters]
        parts = [member("inputs.parameters", name) for name in names]
    else:
        text = cache.key if isinstance(cache.key, Text) else Text((cache.key,))
        parts = [translate(text, scope).text]
    return f"sprig.sha256sum(toJson([{', '.join([string(content), *parts])}]))"


def _store(name: str, key: str, max_age: float | None) -> JSON:
    found: JSON = {"key": key, "cache": {"configMap": {"name": name}}}
    found["maxAge"] = "" if max_age is None else durations.written(max_age)
    return found
