"""Pods and volumes: placement and surroundings, on a template and for the whole run."""

from __future__ import annotations

from typing import Any

from couler_py.backends.argo.document.containers import containers, each_of, exactly, written_containers
from couler_py.backends.argo.document.lens import (
    JSON,
    Field,
    Table,
    as_it_is,
    flag,
    one_of,
    pairs,
    strings,
    text_field,
    whole_field,
    word_field,
    written_pairs,
)
from couler_py.backends.argo.document.templated import templated, untemplated
from couler_py.backends.argo.document.texts import UNSAID, Root, word
from couler_py.ir.pod import Dns, DnsOption, PodSettings, Toleration, Volume, VolumeClaim
from couler_py.kubernetes import dns, volume_claim

_TOLERATION = Table(
    Toleration,
    word_field("key", "key"),
    Field("operator", "operator", one_of("Exists", "Equal", "Lt", "Gt"), as_it_is, ""),
    word_field("value", "value"),
    Field("effect", "effect", one_of("NoSchedule", "PreferNoSchedule", "NoExecute"), as_it_is, ""),
    whole_field("tolerationSeconds", "seconds"),
)


def _volume(given: JSON, root: Root) -> Any:
    name = word(given.get("name"), root)
    source = {key: value for key, value in given.items() if key != "name"}
    return Volume(name, templated(source, root)) if isinstance(name, str) else UNSAID


VOLUMES = Field(
    "volumes",
    "volumes",
    each_of(_volume),
    lambda value, root: [{"name": each.name, **untemplated(each.source, root)} for each in value],
    (),
)


def _claim(given: JSON, root: Root) -> Any:
    """A claim of which nothing is said but its name, size, class and modes."""
    metadata, spec = given.get("metadata"), given.get("spec")
    if not isinstance(metadata, dict) or not isinstance(spec, dict):
        return UNSAID
    requests = spec.get("resources")
    size = requests.get("requests") if isinstance(requests, dict) else None
    modes = strings(word)(spec.get("accessModes", []), root)
    name, storage_class = word(metadata.get("name"), root), word(spec.get("storageClassName", ""), root)
    size = word(size.get("storage"), root) if isinstance(size, dict) else UNSAID
    if UNSAID in (name, storage_class, size, modes):
        return UNSAID
    found = VolumeClaim(name, size, modes, storage_class)  # type: ignore[arg-type]
    return found if volume_claim(found) == given else UNSAID


VOLUME_CLAIMS = Field(
    "volumeClaimTemplates",
    "volume_claims",
    each_of(_claim),
    lambda value, root: [volume_claim(each) for each in value],
    (),
)

_COMMON = (
    word_field("serviceAccountName", "service_account"),
    Field("nodeSelector", "node_selector", pairs, written_pairs, ()),
    Field(
        "tolerations",
        "tolerations",
        each_of(exactly(_TOLERATION)),
        lambda value, root: [_TOLERATION.write(each, root) for each in value],
        (),
    ),
    word_field("schedulerName", "scheduler"),
    text_field("podSpecPatch", "patch"),
)


def _containers(key: str, attribute: str) -> Field:
    return Field(key, attribute, containers, written_containers, ())


OF_TEMPLATE = Table(
    PodSettings,
    *_COMMON,
    word_field("priorityClassName", "priority_class"),
    VOLUMES,
    _containers("initContainers", "init_containers"),
    _containers("sidecars", "sidecars"),
)


def _pull_secret(given: JSON, root: Root) -> Any:
    return word(given.get("name"), root) if given.keys() == {"name"} else UNSAID


OF_RUN = Table(
    PodSettings,
    *_COMMON,
    word_field("podPriorityClassName", "priority_class"),
    Field(
        "imagePullSecrets",
        "image_pull_secrets",
        each_of(_pull_secret),
        lambda value, root: [{"name": each} for each in value],
        (),
    ),
    Field("hostNetwork", "host_network", flag, as_it_is),
)


def labels(rest: JSON, key: str, root: Root) -> dict[str, Any]:
    """The attributes `labels` and `annotations` of a pod, taken out of the remaining fields where they can be said."""
    given = rest.get(key)
    if not isinstance(given, dict) or not given or given.keys() - {"labels", "annotations"}:
        return {}
    found = {name: pairs(value, root) for name, value in given.items()}
    if UNSAID in found.values():
        return {}
    del rest[key]
    return found


def written_labels(given: PodSettings, key: str, root: Root) -> JSON:
    """The labels and annotations again, under their key."""
    found = {
        name: written_pairs(value, root)
        for name, value in (("labels", given.labels), ("annotations", given.annotations))
        if value
    }
    return {key: found} if found else {}


def resolver(rest: JSON, root: Root) -> dict[str, Dns]:
    """How the run's pods resolve names, taken out of the remaining fields where it can be said."""
    policy, config = rest.get("dnsPolicy", ""), rest.get("dnsConfig", {})
    known = one_of("", "ClusterFirstWithHostNet", "ClusterFirst", "Default", "None")(policy, root)
    if ("dnsPolicy" not in rest and "dnsConfig" not in rest) or known is UNSAID or not isinstance(config, dict):
        return {}
    if config.keys() - {"nameservers", "searches", "options"}:
        return {}
    servers = strings(word)(config.get("nameservers", []), root)
    searches = strings(word)(config.get("searches", []), root)
    options = each_of(_dns_option)(config.get("options", []), root)
    if UNSAID in (servers, searches, options):
        return {}
    found = Dns(known, servers, searches, options)
    if found == Dns():
        return {}
    rest.pop("dnsPolicy", None)
    rest.pop("dnsConfig", None)
    return {"dns": found}


def _dns_option(given: JSON, root: Root) -> Any:
    name, value = word(given.get("name"), root), given.get("value")
    if given.keys() - {"name", "value"} or not isinstance(name, str):
        return UNSAID
    return UNSAID if value is not None and word(value, root) is UNSAID else DnsOption(name, value)


def written_resolver(given: Dns | None) -> JSON:
    """`dnsPolicy` and `dnsConfig` again."""
    return {} if given is None else dns(given)
