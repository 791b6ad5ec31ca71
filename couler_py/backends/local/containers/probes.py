"""When a daemon serves: asked as Kubernetes asks a readiness probe. Standard library only."""

from __future__ import annotations

import http.client
import socket

from couler_py.backends.local.containers import words
from couler_py.backends.local.containers.clients import Clients
from couler_py.backends.local.containers.group import Group, Member, Probe


def address(group: Group, member: Member, clients: Clients) -> str:
    """Where others reach a container: its own address, or this machine's where it shares the network."""
    if "network" in group.host:
        return "127.0.0.1"
    found = clients.call(words.address(group, member.name)).out.decode().split()
    return found[0] if found else "127.0.0.1"


def serves(group: Group, member: Member, probe: Probe, where: str, clients: Clients) -> bool:
    """Whether the daemon answers now."""
    if probe.command:
        return clients.call(words.execute(group, member.name, probe.command)).code == 0
    try:
        if not probe.path:
            socket.create_connection((where, probe.port), probe.patience).close()
            return True
        connection = http.client.HTTPConnection(where, probe.port, timeout=probe.patience)
        try:
            connection.request("GET", probe.path)
            return 200 <= connection.getresponse().status < 400  # Kubernetes' own bounds of success
        finally:
            connection.close()
    except (OSError, http.client.HTTPException):
        return False
