"""Kubernetes' readiness probe of a container as ours."""

from __future__ import annotations

from typing import Any

from couler_py.backends.local.containers.group import Probe
from couler_py.backends.local.scope import TaskFailure


def probe(fields: dict[str, Any]) -> Probe | None:
    """The probe among the further fields of a container, if there is one. Raises `TaskFailure` for another kind."""
    given = fields.get("readinessProbe")
    if not given:
        return None
    delay, period = float(given.get("initialDelaySeconds", 0)), float(given.get("periodSeconds", 1))
    patience = float(given.get("timeoutSeconds", 1))
    if "exec" in given:
        return Probe([str(word) for word in given["exec"]["command"]], delay=delay, period=period, patience=patience)
    if "httpGet" in given:
        asked = given["httpGet"]
        path = str(asked.get("path", "/"))
        return Probe(port=_port(fields, asked["port"]), path=path, delay=delay, period=period, patience=patience)
    if "tcpSocket" in given:
        return Probe(port=_port(fields, given["tcpSocket"]["port"]), delay=delay, period=period, patience=patience)
    raise TaskFailure("its readiness probe is neither exec, httpGet nor tcpSocket")


def _port(fields: dict[str, Any], port: Any) -> int:
    """A port by its number, or by the name that the container gives it."""
    named = {each.get("name"): each["containerPort"] for each in fields.get("ports") or ()}
    found = named.get(port, port)
    if not str(found).isdigit():
        raise TaskFailure(f"its readiness probe asks the port {port!r}, which the container doesn't name")
    return int(found)
