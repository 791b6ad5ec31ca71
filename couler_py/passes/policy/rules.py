"""The rules of a policy, one function each: facts in, what is wrong out."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from decimal import Decimal
from functools import lru_cache
from typing import Any

import msgspec

from couler_py.passes.policy.amounts import amount, shown
from couler_py.passes.policy.peaks import Asked
from couler_py.passes.policy.pods import Container, Path, Step
from couler_py.passes.policy.views import HOLE
from couler_py.settings.policy import Limits, Policy


class Broken(msgspec.Struct, frozen=True):
    """A rule that isn't kept: by its name in the policy, what was found, where, and the way out."""

    rule: str
    code: str
    message: str
    path: Path
    help: str
    step: str = ""


@lru_cache(maxsize=1024)
def _pattern(text: str) -> re.Pattern[str]:
    return re.compile(".*".join(re.escape(part) for part in text.split("*")), re.DOTALL)


def fits(text: str, patterns: tuple[str, ...]) -> bool:
    """Whether a text fits one of the patterns, whatever the values in it turn out to be."""
    return any(_pattern(each).fullmatch(text) for each in patterns)


def _said(text: str) -> str:
    return repr(text.replace(HOLE, "…"))


# ---- of one step


def images(policy: Policy, step: Step) -> Iterator[Broken]:
    """`allow_images` and `require_digest`."""
    for each in step.containers:
        if not each.image:
            continue
        where = (*each.path, "image") if each.path and each.path[-1] not in ("manifest", "podSpecPatch") else each.path
        if policy.allow_images is not None and not any(
            fits(name, policy.allow_images) for name in names_of(each.image)
        ):
            computed = ", which is only known when it runs" if HOLE in each.image else ""
            yield Broken(
                "allow_images",
                "CLR900",
                f"the image {_said(each.image)} isn't allowed{computed}",
                where,
                f"images may be: {_listed(policy.allow_images)}",
                step.name,
            )
        if policy.require_digest and not re.search(r"@sha256:[0-9a-f]{64}$", each.image):
            yield Broken(
                "require_digest",
                "CLR900",
                f"the image {_said(each.image)} has no digest",
                where,
                "name it as IMAGE@sha256:…, for a tag can come to mean another image; `couler image push` pins one",
                step.name,
            )


def names_of(image: str) -> tuple[str, ...]:
    """An image as it is written, and with the registry that is meant where none is.

    >>> names_of("python:3.11")
    ('python:3.11', 'docker.io/library/python:3.11')
    """
    first, slash, _ = image.partition("/")
    if not slash:
        return image, f"docker.io/library/{image}"
    return (image,) if {".", ":"} & set(first) or first == "localhost" else (image, f"docker.io/{image}")


def limits(policy: Policy, step: Step) -> Iterator[Broken]:
    """`require_limits` and `max_per_step`."""
    for each in step.containers:
        about = f"the container {each.name!r}" if each.name else "it"
        for name in policy.require_limits:
            if each.image and name not in each.limits:
                yield Broken(
                    "require_limits",
                    "CLR902",
                    f"{about} has no limit of {name}",
                    each.path,
                    f'say how much it needs, as {name}="{"500m" if name == "cpu" else "1Gi"}"',
                    step.name,
                )
    yield from _too_much(policy.max_per_step, _asked(step.containers), step, unknown=_unknown(step.containers))


def _asked(containers: tuple[Container, ...]) -> Asked:
    total = Asked()
    for each in containers:
        if "initContainers" not in each.path:
            found = Asked(
                each.limits.get("cpu") or Decimal(0), each.limits.get("memory") or Decimal(0), Decimal(each.gpus)
            )
            total = total.plus(found)
    return total


def _unknown(containers: tuple[Container, ...]) -> set[str]:
    return {name for each in containers for name, value in each.limits.items() if value is None}


def _too_much(bounds: Limits, asked: Asked, step: Step, *, unknown: set[str]) -> Iterator[Broken]:
    for name in ("cpu", "memory", "gpu"):
        bound = amount(getattr(bounds, name)) if getattr(bounds, name) is not None else None
        if bound is None:
            continue
        if name in unknown:
            message = f"how much {name} it asks for is only known when it runs, and it may be {shown_as(name, bound)}"
            yield Broken("max_per_step", "CLR903", message, step.path, "write the amount", step.name)
        elif getattr(asked, name) > bound:
            message = f"it asks for {shown_as(name, getattr(asked, name))}, and may for {shown_as(name, bound)}"
            yield Broken("max_per_step", "CLR903", message, step.path, "ask for less, or split the step", step.name)


def shown_as(name: str, value: Decimal) -> str:
    """An amount in words.

    >>> shown_as("memory", Decimal(3221225472)), shown_as("gpu", Decimal(2))
    ('3Gi of memory', '2 GPUs')
    """
    if name == "gpu":
        return f"{shown(value)} GPU{'' if value == 1 else 's'}"
    if name == "cpu":
        return f"{shown(value)} cpu"
    for unit, size in (("Ti", 1024**4), ("Gi", 1024**3), ("Mi", 1024**2), ("Ki", 1024)):
        if value >= size and value % size == 0:
            return f"{shown(value / size)}{unit} of memory"
    return f"{shown(value)} bytes of memory"


def features(policy: Policy, step: Step) -> Iterator[Broken]:
    """`forbid`."""
    for each in step.uses:
        if each.feature in policy.forbid:
            message = f"it uses {each.what}, which is forbidden"
            yield Broken("forbid", "CLR904", message, each.path, "do without, or ask who keeps the policy", step.name)


def accounts(policy: Policy, step: Step) -> Iterator[Broken]:
    """`allow_service_accounts`."""
    if policy.allow_service_accounts is None:
        return
    for name, path in step.accounts:
        if not fits(name, policy.allow_service_accounts):
            message = f"the service account {_said(name)} isn't allowed"
            way_out = f"service accounts may be: {_listed(policy.allow_service_accounts)}"
            yield Broken("allow_service_accounts", "CLR905", message, path, way_out, step.name)


def stores(policy: Policy, step: Step) -> Iterator[Broken]:
    """`allow_artifacts`."""
    if policy.allow_artifacts is None:
        return
    for address, path in step.stores:
        if not fits(address, policy.allow_artifacts):
            message = f"artifacts may not lie at {_said(address)}"
            yield Broken(
                "allow_artifacts", "CLR906", message, path, f"they may at: {_listed(policy.allow_artifacts)}", step.name
            )


def kinds(policy: Policy, step: Step) -> Iterator[Broken]:
    """`allow_resource_kinds`."""
    if policy.allow_resource_kinds is None:
        return
    for name, path in step.kinds:
        short = name.rpartition("/")[2]
        if not (fits(short, policy.allow_resource_kinds) or fits(name, policy.allow_resource_kinds)):
            what = f"objects of the kind {_said(name)}" if name != HOLE else "an object that is only known when it runs"
            message = f"it may not make or change {what}"
            way_out = f"kinds may be: {_listed(policy.allow_resource_kinds)}"
            yield Broken("allow_resource_kinds", "CLR907", message, path, way_out, step.name)


OF_STEPS: tuple[Callable[[Policy, Step], Iterator[Broken]], ...] = (images, limits, features, accounts, stores, kinds)


# ---- of a whole workflow


def metadata(policy: Policy, labels: Mapping[str, Any], annotations: Mapping[str, Any], path: Path) -> Iterator[Broken]:
    """`require_labels` and `require_annotations`: KEY, or KEY=PATTERN."""
    for rule, what, wanted, given in (
        ("require_labels", "label", policy.require_labels, labels),
        ("require_annotations", "annotation", policy.require_annotations, annotations),
    ):
        for each in wanted:
            key, equals, pattern = each.partition("=")
            way_out = f'{what}s={{"{key}": "…"}} on the workflow, or [{what}s] in couler.toml'
            if key not in given:
                yield Broken(rule, "CLR901", f"the {what} {key!r} is missing", path, way_out)
            elif equals and not fits(str(given[key]), (pattern,)):
                message = f"the {what} {key!r} is {str(given[key])!r}, and has to be {pattern!r}"
                yield Broken(rule, "CLR901", message, path, way_out)


def sizes(policy: Policy, tasks: int, peak: Asked, path: Path) -> Iterator[Broken]:
    """`max_tasks` and `max_per_workflow`."""
    if policy.max_tasks is not None and tasks > policy.max_tasks:
        message = f"the workflow has {tasks:,} tasks, and may have {policy.max_tasks:,}"
        yield Broken("max_tasks", "CLR903", message, path, "fan out over a list instead, or split the workflow")
    for name in ("cpu", "memory", "gpu"):
        bound = getattr(policy.max_per_workflow, name)
        if bound is None or (most := amount(bound)) is None or getattr(peak, name) <= most:
            continue
        asked = shown_as(name, getattr(peak, name))
        message = f"tasks that can run at once ask for {asked}, and may for {shown_as(name, most)}"
        way_out = "parallelism= on the workflow, or parallel= on a fan-out, bounds how many run at once"
        yield Broken("max_per_workflow", "CLR903", message, path, way_out)


def namespaces(policy: Policy, namespace: str, path: Path = ()) -> Iterator[Broken]:
    """`allow_namespaces`."""
    if policy.allow_namespaces is None or (namespace and fits(namespace, policy.allow_namespaces)):
        return
    message = (
        f"the namespace {namespace!r} isn't allowed" if namespace else "no namespace is named, and not all are allowed"
    )
    way_out = f"namespaces may be: {_listed(policy.allow_namespaces)}; namespace= in couler.toml, or -n, names one"
    yield Broken("allow_namespaces", "CLR905", message, path, way_out)


def _listed(names: tuple[str, ...]) -> str:
    return ", ".join(names) if names else "none"
