"""Mistakes in pods, policies, resources and schedules."""

from __future__ import annotations

from collections.abc import Iterator

from tests.strategies.mutations import (
    JSON,
    MISSING,
    Change,
    graphs,
    items,
    kind,
    leaves,
    spec_of,
    spec_path,
    templates,
)


def _containers(document: JSON) -> Iterator[tuple[tuple[str | int, ...], JSON]]:
    for path, template in templates(document):
        if "container" in template:
            yield path, template


@kind
def container_without_an_image(document: JSON) -> Iterator[Change]:
    for path, template in templates(document):
        for what in ("container", "script"):
            if "image" in template.get(what, {}) and not spec_of(document).get("templateDefaults"):
                yield Change((*path, what, "image"), MISSING, (*path, what))


@kind
def parallelism_of_a_leaf(document: JSON) -> Iterator[Change]:
    for path, _ in leaves(document):
        yield Change((*path, "parallelism"), 2)


@kind
def timeout_without_a_unit(document: JSON) -> Iterator[Change]:
    for path, _ in leaves(document):
        yield Change((*path, "timeout"), "30")


@kind
def timeout_in_days(document: JSON) -> Iterator[Change]:
    for path, _ in _containers(document):
        yield Change((*path, "timeout"), "1d")


@kind
def timeout_of_a_suspension(document: JSON) -> Iterator[Change]:
    for path, template in templates(document):
        if "suspend" in template:
            yield Change((*path, "timeout"), "30s")


@kind
def deadline_in_words(document: JSON) -> Iterator[Change]:
    for path, _ in leaves(document):
        yield Change((*path, "activeDeadlineSeconds"), "soon")


@kind
def negative_deadline(document: JSON) -> Iterator[Change]:
    for path, _ in leaves(document):
        yield Change((*path, "activeDeadlineSeconds"), -1)


@kind
def duration_with_an_unknown_unit(document: JSON) -> Iterator[Change]:
    for path, template in templates(document):
        if "suspend" in template:
            yield Change((*path, "suspend"), {"duration": "2 days"}, (*path, "suspend", "duration"))


@kind
def undeclared_volume(document: JSON) -> Iterator[Change]:
    for path, _ in _containers(document):
        if document["kind"] == "Workflow":
            mount = {"name": "nobody-knows", "mountPath": "/nowhere"}
            at = (*path, "container", "volumeMounts")
            yield Change(at, [mount], (*at, 0, "name"))


@kind
def init_container_without_a_name(document: JSON) -> Iterator[Change]:
    for path, _ in _containers(document):
        yield Change((*path, "initContainers"), [{"image": "busybox"}], (*path, "initContainers", 0))


@kind
def sidecar_with_a_name_of_argo(document: JSON) -> Iterator[Change]:
    for path, template in _containers(document):
        if "sidecars" not in template:
            sidecar = {"name": "wait", "image": "busybox"}
            yield Change((*path, "sidecars"), [sidecar], (*path, "sidecars", 0, "name"))


@kind
def container_that_waits_for_nobody(document: JSON) -> Iterator[Change]:
    for path, template in templates(document):
        for at, _ in items(template, path, "containerSet", "containers"):
            yield Change((*at, "dependencies"), ["nobody-knows"], (*at, "dependencies", 0))


@kind
def containers_in_a_ring(document: JSON) -> Iterator[Change]:
    for path, template in templates(document):
        for at, container in items(template, path, "containerSet", "containers"):
            yield Change((*at, "dependencies"), [container["name"]])


@kind
def set_without_a_main_container(document: JSON) -> Iterator[Change]:
    for path, template in templates(document):
        for at, container in items(template, path, "containerSet", "containers"):
            given = template.get("outputs") or template.get("inputs", {}).get("artifacts")
            waits = any(container["name"] in c.get("dependencies", ()) for c in template["containerSet"]["containers"])
            if container["name"] == "main" and given and not waits:
                yield Change((*at, "name"), "other", (*path, "containerSet", "containers"))


@kind
def broken_manifest(document: JSON) -> Iterator[Change]:
    for path, template in templates(document):
        resource = template.get("resource", {})
        if "manifest" in resource and resource["action"] not in ("get", "delete"):
            broken = "}: {\n" + resource["manifest"]
            yield Change((*path, "resource", "manifest"), broken)


@kind
def resource_without_a_manifest(document: JSON) -> Iterator[Change]:
    for path, template in templates(document):
        if template.get("resource", {}).get("action") in ("create", "apply", "patch", "replace"):
            for key in ("manifest", "manifestFrom"):
                if key in template["resource"]:
                    yield Change((*path, "resource", key), MISSING, (*path, "resource"))


@kind
def broken_condition_of_a_resource(document: JSON) -> Iterator[Change]:
    for path, template in templates(document):
        if template.get("resource", {}).get("action") in ("create", "apply"):
            yield Change((*path, "resource", "successCondition"), "status.phase is Succeeded")


@kind
def unknown_operator_of_a_selector(document: JSON) -> Iterator[Change]:
    at = (*spec_path(document), "podGC")
    selector = {"matchExpressions": [{"key": "a", "operator": "Is", "values": ["b"]}]}
    where = (*at, "labelSelector", "matchExpressions", 0, "operator")
    yield Change(at, {"strategy": "OnPodSuccess", "labelSelector": selector}, where)


@kind
def metric_without_a_help(document: JSON) -> Iterator[Change]:
    for path, _ in leaves(document):
        metric = {"name": "m", "help": "", "counter": {"value": "1"}}
        at = (*path, "metrics", "prometheus", 0)
        yield Change((*path, "metrics"), {"prometheus": [metric]}, (*at, "help"))


@kind
def illegal_name_of_a_metric(document: JSON) -> Iterator[Change]:
    for path, _ in leaves(document):
        metric = {"name": "my-metric", "help": "h", "counter": {"value": "1"}}
        at = (*path, "metrics", "prometheus", 0)
        yield Change((*path, "metrics"), {"prometheus": [metric]}, (*at, "name"))


@kind
def backoff_without_a_duration(document: JSON) -> Iterator[Change]:
    for path, _ in _containers(document):
        at = (*path, "retryStrategy")
        yield Change(at, {"limit": 2, "backoff": {"factor": 2}}, (*at, "backoff"))


@kind
def backoff_in_days(document: JSON) -> Iterator[Change]:
    for path, _ in _containers(document):
        at = (*path, "retryStrategy")
        yield Change(at, {"limit": 2, "backoff": {"duration": "2d"}}, (*at, "backoff", "duration"))


@kind
def limit_in_words(document: JSON) -> Iterator[Change]:
    for path, _ in _containers(document):
        yield Change((*path, "retryStrategy"), {"limit": "twice"}, (*path, "retryStrategy", "limit"))


@kind
def key_of_a_cache_with_signs(document: JSON) -> Iterator[Change]:
    for path, _ in _containers(document):
        at = (*path, "memoize")
        yield Change(at, {"key": "a/b", "maxAge": "1h", "cache": {"configMap": {"name": "c"}}}, (*at, "key"))


@kind
def age_of_a_cache_in_days(document: JSON) -> Iterator[Change]:
    for path, _ in _containers(document):
        at = (*path, "memoize")
        yield Change(at, {"key": "a", "maxAge": "2d", "cache": {"configMap": {"name": "c"}}}, (*at, "maxAge"))


@kind
def semaphore_without_a_place(document: JSON) -> Iterator[Change]:
    for path, _ in _containers(document):
        at = (*path, "synchronization")
        yield Change(at, {"semaphores": [{"namespace": "n"}]}, (*at, "semaphores", 0))


@kind
def unreadable_schedule(document: JSON) -> Iterator[Change]:
    for text in ("61 * * * *", "* * * *", "0 0 * * 7", "@fortnightly"):
        if "schedules" in document["spec"]:
            yield Change(("spec", "schedules", 0), text)


@kind
def no_schedule(document: JSON) -> Iterator[Change]:
    if "schedules" in document["spec"]:
        yield Change(("spec", "schedules"), [])


@kind
def unknown_time_zone(document: JSON) -> Iterator[Change]:
    if document["kind"] == "CronWorkflow":
        yield Change(("spec", "timezone"), "Europe/Atlantis")


@kind
def unknown_concurrency_policy(document: JSON) -> Iterator[Change]:
    if document["kind"] == "CronWorkflow":
        yield Change(("spec", "concurrencyPolicy"), "Maybe")


@kind
def negative_lateness(document: JSON) -> Iterator[Change]:
    if document["kind"] == "CronWorkflow":
        yield Change(("spec", "startingDeadlineSeconds"), -5)


@kind
def empty_graph(document: JSON) -> Iterator[Change]:
    for path, template in graphs(document):
        key = ("dag", "tasks") if "dag" in template else ("steps",)
        yield Change((*path, *key), [])
