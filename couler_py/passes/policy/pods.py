"""What a template in Argo's words makes Kubernetes run: containers, what they may do, where artifacts lie."""

from __future__ import annotations

import re
from collections.abc import Iterator
from decimal import Decimal
from typing import Any, TypeAlias

import msgspec
import yaml

from couler_py.passes.policy.amounts import amount
from couler_py.passes.policy.views import HOLE, JSON

Path: TypeAlias = tuple[str | int, ...]

_TAG = re.compile(r"\{\{.*?\}\}", re.DOTALL)
_GPU = re.compile(r".*/.*gpu.*|.*/i915|.*/xe")


class Container(msgspec.Struct, frozen=True):
    """A container: its image with a hole for each value in it, its limits. `main` ones do the step's own work."""

    name: str
    image: str
    path: Path
    limits: dict[str, Decimal | None] = {}
    gpus: int = 0
    main: bool = True


class Use(msgspec.Struct, frozen=True):
    """A feature that a policy can forbid, in words, and where it is used."""

    feature: str
    what: str
    path: Path


class Step(msgspec.Struct, frozen=True):
    """What is known of one template. `stores` are addresses of artifacts, `kinds` those of Kubernetes objects."""

    name: str
    path: Path
    containers: tuple[Container, ...] = ()
    uses: tuple[Use, ...] = ()
    accounts: tuple[tuple[str, Path], ...] = ()
    stores: tuple[tuple[str, Path], ...] = ()
    kinds: tuple[tuple[str, Path], ...] = ()


def holes(text: object) -> str:
    """A text in which each of Argo's tags is a hole."""
    return _TAG.sub(HOLE, str(text))


def steps_of(spec: JSON, path: Path) -> Iterator[Step]:
    """The templates of a spec, those written inside tasks and the defaults of all among them, then the spec itself."""
    around = _context(spec) | _context(_dict(spec.get("templateDefaults")))
    for index, template in enumerate(_list(spec.get("templates"))):
        yield from _nested(template, (*path, "templates", index), around)
    if isinstance(spec.get("templateDefaults"), dict):
        yield step_of(spec["templateDefaults"], (*path, "templateDefaults"))
    shared = {key: value for key, value in spec.items() if key not in ("templates", "templateDefaults", "container")}
    yield step_of(shared, path)


def _nested(template: JSON, path: Path, around: JSON) -> Iterator[Step]:
    yield step_of(template | {"securityContext": around | _context(template)}, path)
    for at, task in enumerate(_list(_dict(template.get("dag")).get("tasks"))):
        if isinstance(task.get("inline"), dict):
            yield from _nested(task["inline"], (*path, "dag", "tasks", at, "inline"), around)
    groups = template.get("steps")
    for group, members in enumerate(groups if isinstance(groups, list) else ()):
        members = members if isinstance(members, list) else [members]
        for at, task in enumerate(_list(members)):
            if isinstance(task.get("inline"), dict):
                yield from _nested(task["inline"], (*path, "steps", group, at, "inline"), around)


def step_of(template: JSON, path: Path) -> Step:
    """The facts of one template, or of what a spec says for all of them."""
    containers = list(_containers(template, path))
    uses = list(_uses_of_body(template, path)) + list(_uses_of_pod(template, path))
    kinds: list[tuple[str, Path]] = []
    if isinstance(resource := template.get("resource"), dict):
        _manifest(resource, (*path, "resource", "manifest"), containers, uses, kinds)
    if isinstance(patch := template.get("podSpecPatch"), str) and patch:
        _patch(patch, (*path, "podSpecPatch"), containers, uses)
    for container, where in _raw_containers(template, path):
        uses += _uses_of_container(container, where, _context(template))
    accounts = [
        (holes(template[key]), (*path, key)) for key in ("serviceAccountName", "serviceAccount") if template.get(key)
    ]
    executor = template.get("executor")
    if isinstance(executor, dict) and executor.get("serviceAccountName"):
        accounts.append((holes(executor["serviceAccountName"]), (*path, "executor", "serviceAccountName")))
    stores = tuple(_stores(template, path))
    name = str(template.get("name") or "")
    return Step(name, path, tuple(containers), tuple(uses), tuple(accounts), stores, tuple(kinds))


# ---- containers


def _raw_containers(template: JSON, path: Path) -> Iterator[tuple[JSON, Path]]:
    for key in ("container", "script"):
        if isinstance(template.get(key), dict):
            yield template[key], (*path, key)
    group = template.get("containerSet")
    if isinstance(group, dict):
        for at, each in enumerate(_list(group.get("containers"))):
            yield each, (*path, "containerSet", "containers", at)
    for key in ("initContainers", "sidecars", "containers", "ephemeralContainers"):
        for at, each in enumerate(_list(template.get(key))):
            yield each, (*path, key, at)


def _containers(template: JSON, path: Path) -> Iterator[Container]:
    for container, where in _raw_containers(template, path):
        limits, gpus = _limits(container)
        main = not {"initContainers", "sidecars", "ephemeralContainers"} & set(where[len(path) :])
        yield Container(
            str(container.get("name") or ""), holes(container.get("image") or ""), where, limits, gpus, main
        )


def _limits(container: JSON) -> tuple[dict[str, Decimal | None], int]:
    resources = container.get("resources")
    given = resources.get("limits") if isinstance(resources, dict) else None
    given = given if isinstance(given, dict) else {}
    limits = {name: amount(given[name]) for name in ("cpu", "memory") if name in given}
    gpus = sum(int(amount(value) or 0) for name, value in given.items() if _GPU.fullmatch(name))
    return limits, gpus


# ---- features


def _uses_of_body(template: JSON, path: Path) -> Iterator[Use]:
    for key, what in (
        ("http", "a request that the cluster makes (http)"),
        ("plugin", "a plugin of Argo's"),
        ("data", "a data template"),
        ("resource", "a Kubernetes object that it makes or changes"),
    ):
        if isinstance(template.get(key), dict):
            yield Use(key, what, (*path, key))
    if template.get("daemon"):
        yield Use("daemon", "a step that goes on while others run (daemon)", (*path, "daemon"))
    yield from _insecure(template, path)


def _uses_of_pod(pod: JSON, path: Path) -> Iterator[Use]:
    if pod.get("hostNetwork"):
        yield Use("hostNetwork", "the network of the machine (hostNetwork)", (*path, "hostNetwork"))
    for key in ("hostPID", "hostIPC"):
        if pod.get(key):
            yield Use("hostNamespaces", f"a namespace of the machine ({key})", (*path, key))
    for at, volume in enumerate(_list(pod.get("volumes"))):
        if isinstance(volume.get("hostPath"), dict):
            place = holes(volume["hostPath"].get("path") or "")
            yield Use(
                "hostPath", f"the path {place.replace(HOLE, '…')!r} of the machine (hostPath)", (*path, "volumes", at)
            )
    if pod.get("podSpecPatch"):
        yield Use("podSpecPatch", "a patch of its pod (podSpecPatch)", (*path, "podSpecPatch"))


def _context(pod: JSON) -> JSON:
    return _dict(pod.get("securityContext"))


def _dict(value: Any) -> JSON:
    return value if isinstance(value, dict) else {}


def _uses_of_container(container: JSON, path: Path, pod: JSON) -> Iterator[Use]:
    own = _context(container)
    where = (*path, "securityContext")
    for key in ("privileged", "allowPrivilegeEscalation"):
        if own.get(key):
            yield Use("privileged", f"the rights of the machine ({key})", (*where, key))
    for options in (own, pod):
        if isinstance(options.get("windowsOptions"), dict) and options["windowsOptions"].get("hostProcess"):
            yield Use("privileged", "the rights of the machine (hostProcess)", where)
    capabilities = own.get("capabilities")
    added = capabilities.get("add") if isinstance(capabilities, dict) else None
    if added:
        yield Use("capabilities", f"capabilities beyond the usual ({', '.join(map(str, added))})", where)
    for at, port in enumerate(_list(container.get("ports"))):
        if port.get("hostPort"):
            yield Use("hostPorts", f"the port {port['hostPort']} of the machine (hostPort)", (*path, "ports", at))
    user = own.get("runAsUser", pod.get("runAsUser"))
    not_root = own.get("runAsNonRoot", pod.get("runAsNonRoot"))
    if not not_root and not (isinstance(user, int) and user > 0):
        yield Use("root", "a container that may run as root (neither runAsNonRoot nor a runAsUser)", path)
    image = holes(container.get("image") or "")
    if image and "@" not in image:
        tag = image.rpartition("/")[2].partition(":")[2]
        if tag in ("", "latest"):
            yield Use(
                "latest", f"the image {image.replace(HOLE, '…')!r}, whose content changes (latest)", (*path, "image")
            )


def _insecure(value: Any, path: Path) -> Iterator[Use]:
    """Connections whose other end isn't known, at any depth."""
    if isinstance(value, dict):
        for key, inner in value.items():
            if key in ("insecure", "insecureSkipVerify", "insecureIgnoreHostKey") and inner is True:
                yield Use("insecure", f"a connection to whoever answers ({key})", (*path, key))
            elif key not in ("templates", "dag", "steps"):
                yield from _insecure(inner, (*path, key))
    elif isinstance(value, list):
        for at, inner in enumerate(value):
            yield from _insecure(inner, (*path, at))


# ---- manifests and patches


def _manifest(
    resource: JSON, path: Path, containers: list[Container], uses: list[Use], kinds: list[tuple[str, Path]]
) -> None:
    given = resource.get("manifest")
    if given is None and "manifestFrom" in resource:
        kinds.append((HOLE, path))
        return
    objects = [given] if isinstance(given, dict) else _parsed(given)
    if objects is None:
        kinds.append((HOLE, path))
        return
    for each in objects:
        kinds.append((f"{each.get('apiVersion') or HOLE}/{each.get('kind') or HOLE}", path))
        for pod in _pods_inside(each):
            _add_pod(pod, path, containers, uses)


def _pods_inside(value: Any) -> Iterator[JSON]:
    """The specs of pods in an object, at any depth. YAML can refer to one value many times, and to itself."""
    seen: set[int] = set()
    waiting = [value]
    while waiting:
        inner = waiting.pop()
        if id(inner) in seen:
            continue
        seen.add(id(inner))
        if isinstance(inner, dict):
            if isinstance(inner.get("containers"), list):
                yield inner
            waiting += reversed(inner.values())
        elif isinstance(inner, list):
            waiting += reversed(inner)


def _patch(patch: str, path: Path, containers: list[Container], uses: list[Use]) -> None:
    for each in _parsed(patch) or ():
        _add_pod(each, path, containers, uses, patched=True)


def _add_pod(pod: JSON, path: Path, containers: list[Container], uses: list[Use], *, patched: bool = False) -> None:
    # All in it stands in one text, so all has the place of that.
    at = [msgspec.structs.replace(each, path=path) for each in _containers(pod, path)]
    containers += [each for each in at if each.image] if patched else at
    found = list(_uses_of_pod(pod, path))
    for container, _ in _raw_containers(pod, path):
        more = _uses_of_container(container, path, _context(pod))
        found += [use for use in more if not (patched and use.feature == "root")]
    uses += [msgspec.structs.replace(each, path=path) for each in found]


def _parsed(text: Any) -> list[JSON] | None:
    """The objects of a YAML text; None for one that can't be read before the values in it are known."""
    try:
        found = list(yaml.load_all(str(text), Loader=yaml.CSafeLoader))
    except (yaml.YAMLError, RecursionError):
        return None
    objects = [each for each in found if each is not None]
    return objects if all(isinstance(each, dict) for each in objects) else None


# ---- artifacts


def _stores(template: JSON, path: Path) -> Iterator[tuple[str, Path]]:
    for side in ("inputs", "outputs"):
        around = template.get(side)
        for at, artifact in enumerate(_list(around.get("artifacts") if isinstance(around, dict) else None)):
            if address := address_of(artifact):
                yield address, (*path, side, "artifacts", at)
    location = template.get("archiveLocation")
    if isinstance(location, dict) and (address := address_of(location)):
        yield address, (*path, "archiveLocation")


def address_of(artifact: JSON) -> str:
    """Where an artifact lies, as an address; "" where the cluster's own store is meant."""
    for scheme, around, key in (
        ("s3", "bucket", "key"),
        ("gcs", "bucket", "key"),
        ("oss", "bucket", "key"),
        ("azure", "container", "blob"),
    ):
        place = artifact.get(scheme)
        if isinstance(place, dict) and (place.get(around) or place.get("endpoint")):
            parts = [place.get("endpoint"), place.get(around), place.get(key)]
            name = {"gcs": "gs", "azure": "az"}.get(scheme, scheme)
            return f"{name}://" + "/".join(holes(part).strip("/") for part in parts if part)
    if isinstance(hdfs := artifact.get("hdfs"), dict):
        return f"hdfs://{','.join(map(str, hdfs.get('addresses') or ()))}{holes(hdfs.get('path') or '')}"
    if isinstance(git := artifact.get("git"), dict):
        return f"git+{holes(git.get('repo') or '')}"
    if isinstance(http := artifact.get("http"), dict):
        return holes(http.get("url") or "")
    if isinstance(remote := artifact.get("artifactory"), dict):
        return holes(remote.get("url") or "")
    return ""


def _list(value: Any) -> list[JSON]:
    return [each for each in value if isinstance(each, dict)] if isinstance(value, list) else []
