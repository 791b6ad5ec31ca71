"""Containers that Kubernetes refuses: no server looks at them before a run makes its pod.

Source: pkg/apis/core/validation of Kubernetes 1.34, and the references of images of github.com/distribution/reference.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Literal

from couler_py.backends.argo.lint.context import JSON
from couler_py.backends.argo.lint.finding import Finding, Path
from couler_py.backends.argo.lint.rules.flow import Flow
from couler_py.backends.argo.lint.rules.pods import containers_of
from couler_py.backends.argo.lint.rules.references import nearest
from couler_py.ir.quantity import quantity

_HOST = r"(?:\[[0-9a-fA-F:]+\]|[A-Za-z0-9](?:[A-Za-z0-9.-]*[A-Za-z0-9])?)(?::\d+)?"
_PART = r"[a-z0-9]+(?:(?:\.|_|__|-+)[a-z0-9]+)*"
_IMAGE = re.compile(
    rf"(?:{_HOST}/)?{_PART}(?:/{_PART})*(?::\w[\w.-]{{0,127}})?(?:@[A-Za-z][A-Za-z0-9+._-]*:[0-9a-fA-F]{{32,}})?",
    re.ASCII,
)
_FIELD = re.compile(
    r"metadata\.(?:name|namespace|uid|(?:labels|annotations)\['[^']+'\])"
    r"|spec\.(?:nodeName|serviceAccountName)|status\.(?:hostIPs?|podIPs?)"
)
_PORT_NAME = re.compile(r"(?=.{1,15}$)(?=.*[a-z])(?!.*--)[a-z0-9](?:[-a-z0-9]*[a-z0-9])?")
_VARIABLE = re.compile(r"[ -<>-~]+")
_NATIVE = re.compile(r"cpu|memory|ephemeral-storage|hugepages-.*|[^/]*\.?kubernetes\.io/.*")
_WORDS: dict[str, tuple[str, ...]] = {
    "imagePullPolicy": ("Always", "IfNotPresent", "Never"),
    "terminationMessagePolicy": ("File", "FallbackToLogsOnError"),
}
_SOURCES = ("fieldRef", "resourceFieldRef", "configMapKeyRef", "secretKeyRef")
_PROBES = ("livenessProbe", "readinessProbe", "startupProbe")
_ACTIONS = ("exec", "httpGet", "tcpSocket", "grpc", "sleep")
_NUMBERS = ("initialDelaySeconds", "timeoutSeconds", "periodSeconds", "successThreshold", "failureThreshold")


def refused(message: str, path: Path, help_: str = "", on: Literal["key", "value"] = "value") -> Finding:
    """What Kubernetes says when Argo creates the pod."""
    why = "Kubernetes refuses the pod when the turn of the step comes, and it ends in Error"
    return Finding("CLR479", message, path, on=on, why=why, help=help_)


def word(value: Any, allowed: tuple[str, ...], path: Path, where: str) -> Iterator[Finding]:
    """One of some words; tags may become any."""
    if isinstance(value, str) and value and "{{" not in value and value not in allowed:
        yield refused(f"`{path[-1]}` of {where} can't be {value!r}", path, nearest(value, allowed))


def pod_containers(flow: Flow) -> Iterator[Finding]:
    """What a container says of itself is something that Kubernetes takes."""
    for template in flow.all_templates:
        for path, data, where in containers_of(template):
            yield from _image(data.get("image", ""), (*path, "image"), where)
            for field, allowed in _WORDS.items():
                yield from word(data.get(field), allowed, (*path, field), where)
            yield from _environment(data, path, where)
            yield from _ports(data, path, where)
            yield from _actions(data, path, where)
            yield from _resources(data.get("resources") or {}, (*path, "resources"), where)
            yield from _subpaths(data, path, where)
            yield from security(data.get("securityContext") or {}, (*path, "securityContext"), where)


def _image(text: str, path: Path, where: str) -> Iterator[Finding]:
    if text and "{{" not in text and not _IMAGE.fullmatch(text):
        yield Finding(
            "CLR483",
            f"the image of {where} can't be {text!r}",
            path,
            why="Kubernetes can't read it, and the pod waits for ever",
            help="write HOST/NAME:TAG in small letters, without spaces",
        )


def _environment(data: JSON, path: Path, where: str) -> Iterator[Finding]:
    for index, each in enumerate(data.get("env") or ()):
        at = (*path, "env", index)
        name, source = each.get("name", ""), each.get("valueFrom")
        if not name and "name" in each:
            yield refused(f"a variable of {where} has no name", (*at, "name"))
        elif name and not _VARIABLE.fullmatch(name):
            yield refused(
                f"a variable of {where} can't be called {name!r}", (*at, "name"), "use printable ASCII without `=`"
            )
        if source is None:
            continue
        if each.get("value"):
            yield refused(
                f"the variable {name!r} of {where} has both `value` and `valueFrom`",
                (*at, "valueFrom"),
                "keep one",
                "key",
            )
        yield from _one_of(source, tuple(source) or _SOURCES, (*at, "valueFrom"), f"the variable {name!r} of {where}")
        field = (source.get("fieldRef") or {}).get("fieldPath", "")
        if field and "{{" not in field and not _FIELD.fullmatch(field):
            yield refused(
                f"the variable {name!r} of {where} can't be the field {field!r}",
                (*at, "valueFrom", "fieldRef", "fieldPath"),
                "there are metadata.name, metadata.labels['KEY'], spec.nodeName, status.podIP and a few more",
            )
    for index, each in enumerate(data.get("envFrom") or ()):
        sources = ("configMapRef", "secretRef")
        yield from _one_of(each, sources, (*path, "envFrom", index), f"`envFrom` of {where}")


def _one_of(holder: JSON, keys: tuple[str, ...], path: Path, what: str) -> Iterator[Finding]:
    given = [each for each in keys if holder.get(each) is not None]
    if len(given) > 1:
        yield refused(f"{what} has both `{given[0]}` and `{given[1]}`", (*path, given[1]), "keep one of them", "key")
    elif not given:
        yield refused(
            f"{what} says nothing of what it is", path, f"give it {' or '.join(f'`{each}`' for each in keys)}", "key"
        )


def _ports(data: JSON, path: Path, where: str) -> Iterator[Finding]:
    for index, each in enumerate(data.get("ports") or ()):
        at = (*path, "ports", index)
        for key, least in (("containerPort", 1), ("hostPort", 0)):
            if key in each and not least <= each[key] <= 65535:
                yield refused(f"`{key}` of {where} can't be {each[key]}", (*at, key), "ports go from 1 to 65535")
        yield from word(each.get("protocol"), ("TCP", "UDP", "SCTP"), (*at, "protocol"), where)


def _actions(data: JSON, path: Path, where: str) -> Iterator[Finding]:
    """Probes, and what is done when the container starts and ends."""
    for probe in _PROBES:
        each = data.get(probe)
        if each is None:
            continue
        at = (*path, probe)
        yield from _action(each, at, f"`{probe}` of {where}")
        for key in _NUMBERS:
            if each.get(key, 0) < 0:
                yield refused(f"`{key}` of {where} is {each[key]}, less than nothing", (*at, key))
        if probe != "readinessProbe" and each.get("successThreshold", 1) > 1:
            yield refused(f"`successThreshold` of `{probe}` of {where} is more than 1", (*at, "successThreshold"))
    for moment, each in (data.get("lifecycle") or {}).items():
        if moment in ("postStart", "preStop") and each is not None:
            yield from _action(each, (*path, "lifecycle", moment), f"`{moment}` of {where}")


def _action(action: JSON, path: Path, what: str) -> Iterator[Finding]:
    yield from _one_of(action, _ACTIONS, path, what)
    for kind in ("httpGet", "tcpSocket"):
        port = (action.get(kind) or {}).get("port")
        name = isinstance(port, str) and port and "{{" not in port and not _PORT_NAME.fullmatch(port)
        if name or (isinstance(port, int) and not 1 <= port <= 65535):
            help_ = "a number from 1 to 65535, without quotes, or the name of a port, of small letters"
            yield refused(f"the port of {what} can't be {port!r}", (*path, kind, "port"), help_)


def _resources(data: JSON, path: Path, where: str) -> Iterator[Finding]:
    limits, requests = data.get("limits") or {}, data.get("requests") or {}
    for side, amounts in (("limits", limits), ("requests", requests)):
        for name, given in amounts.items():
            at, amount = (*path, side, name), quantity(str(given))
            if "{{" in name:
                continue
            if "/" not in name and not _NATIVE.fullmatch(name):
                yield refused(
                    f"{where} asks for {name!r}, which is no resource",
                    at,
                    nearest(name, ("cpu", "memory", "ephemeral-storage")),
                )
            elif amount is not None and amount < 0:
                yield refused(f"{where} asks for {given} of {name!r}", at, "write an amount of 0 or more")
            elif amount is not None and amount.denominator != 1 and not _NATIVE.fullmatch(name):
                yield refused(f"{where} asks for {given} of {name!r}, of which there are only whole ones", at)
    for name, given in requests.items():
        most, least = quantity(str(limits.get(name))), quantity(str(given))
        if name in limits and most is not None and least is not None and least > most:
            yield refused(
                f"{where} requests {given} of {name!r}, and its limit is {limits[name]}", (*path, "requests", name)
            )
        elif name not in limits and "/" in name and "{{" not in name and not _NATIVE.fullmatch(name):
            yield refused(
                f"{where} requests {name!r} without a limit", (*path, "requests", name), "write it under `limits` too"
            )


def _subpaths(data: JSON, path: Path, where: str) -> Iterator[Finding]:
    for index, each in enumerate(data.get("volumeMounts") or ()):
        for key in ("subPath", "subPathExpr"):
            text = each.get(key, "")
            if ".." in text.split("/") or text.startswith("/"):
                yield refused(
                    f"`{key}` of {where} leads out of its volume: {text!r}", (*path, "volumeMounts", index, key)
                )


def security(data: JSON, path: Path, where: str) -> Iterator[Finding]:
    """A `securityContext`, of a container or of the pod."""
    for key in ("runAsUser", "runAsGroup", "fsGroup"):
        if data.get(key, 0) < 0:
            yield refused(f"`{key}` of {where} is {data[key]}", (*path, key), "write a number of 0 or more")
    if data.get("privileged") is True and data.get("allowPrivilegeEscalation") is False:
        yield refused(f"{where} is `privileged` and can't have more rights", (*path, "allowPrivilegeEscalation"))
