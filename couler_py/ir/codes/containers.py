"""Diagnostic codes of the area: steps in containers of this machine."""

from __future__ import annotations

from couler_py.ir.diagnostics import Code

CODES: tuple[Code, ...] = (
    Code(
        "CLR620",
        "a step that asks for this machine itself",
        "A step in a container sees its image, its inputs and its volumes. A path of this machine (hostPath), its "
        "network, processes or shared memory, one of its ports, privileged mode, and capabilities beyond those that "
        "every container may have would let it change this machine or read what is yours. So a workflow gets them only "
        "where whoever runs it says so.",
        example="volumes: [{name: host, hostPath: {path: /etc}}]",
        instead="couler run flow.yaml --allow-host",
    ),
    Code(
        "CLR621",
        "a container runtime that isn't there or doesn't work",
        "The run was to put its steps into containers, with podman or docker. Its client isn't on the PATH, or the "
        "client is there and what it talks to isn't: docker's daemon, or podman's virtual machine on a Mac.",
        example="couler run flow.yaml --runtime docker",
        instead="docker version; podman machine start; couler run flow.yaml --runtime process",
    ),
    Code(
        "CLR622",
        "a set of containers that can't run",
        "The containers of a set run in the order of their dependencies, which name others of the set and never lead "
        "back to where they began. What the set gives out is what its container called `main` leaves.",
        example="containerSet: {containers: [{name: a, dependencies: [b]}, {name: b, dependencies: [a]}]}",
        instead="containerSet: {containers: [{name: a}, {name: main, dependencies: [a]}]}",
    ),
)
