"""The command lines of podman and docker. What differs between the two stands here alone. Standard library only.

No value of an environment variable is ever part of a command line, which every user of a machine can read.
"""

from __future__ import annotations

import csv
import io
import json
import os
import re

from couler_py.backends.local.containers.group import Group, Member, Mount

ROOT = ("DAC_OVERRIDE",)
"""The capabilities that are left of all: `/` is read-only even to root in podman's containers without this one."""
OF_THE_CLIENT = re.compile(
    r"PATH|HOME|USER|TERM|TMPDIR|TZ|.*_PROXY|.*_proxy|NOTIFY_SOCKET|(LD|GO|GLIBC|XDG|DOCKER|CONTAINERS?|_CONTAINERS|"
    r"PODMAN|_PODMAN|BUILDAH|STORAGE|REGISTR|SSL|DBUS|LISTEN|CONMON|_OCI|MALLOC|GCONV|LOC|NLS|RES|HOSTALIASES|INVOCATION)"
    r".*"
)
"""Names of variables that may change what the runtime's client itself does."""
LONGEST_LINE = 60_000  # bytes; both clients read files of variables by lines of at most 64 KiB


def plain(name: str, value: str) -> bool:
    """Whether a variable can travel in a file of variables, a line each; else the client inherits it."""
    return not any(mark in value for mark in "\n\r\0") and len(os.fsencode(value)) + len(name) <= LONGEST_LINE


def run(group: Group, member: Member, *, variables: int, inherited: list[str], beside: str, pid_file: str) -> list[str]:
    """Make a container and stay attached to it until it has ended.

    `variables` is the descriptor of a file of variables, `inherited` names more that the client itself has.
    `beside` names a running container whose network is shared. podman writes the id of its first process to `pid_file`.
    """
    podman = group.runtime == "podman"
    said = [group.program, "run", f"--name={member.name}"]
    said += ["--pull=never", "--init", "--sig-proxy=false", "--log-driver=none"]
    said += [f"--label={name}={value}" for name, value in group.labels.items()]
    said += _security(group, member)
    said += _network(group, member, beside)
    if podman:
        said += ["--http-proxy=false", f"--pidfile={pid_file}"]
    if member.cpu:
        said.append(f"--cpus={member.cpu:g}")
    if member.memory:
        said += [f"--memory={member.memory}b", f"--memory-swap={member.memory}b"]
    if member.gpus and podman:
        said += [f"--device=nvidia.com/gpu={device}" for device in member.gpus]
    elif member.gpus:
        said.append('--gpus="device={}"'.format(",".join(member.gpus)))
    said += [f"--mount={_mount(each)}" for each in member.mounts]
    if member.directory:
        said.append(f"--workdir={member.directory}")
    if member.user:
        said.append(f"--user={member.user}")
    said.append(f"--env-file=/dev/fd/{variables}")
    said += [f"--env={name}" for name in inherited]
    args = member.args
    if member.command and podman:  # docker takes one word, and podman reads one that is a list in JSON as such
        said.append(f"--entrypoint={json.dumps(member.command)}")
    elif member.command:
        said.append(f"--entrypoint={member.command[0]}")
        args = [*member.command[1:], *args]
    return [*said, member.image, *args]


def _security(group: Group, member: Member) -> list[str]:
    if member.privileged:
        return ["--privileged"]
    found = ["--cap-drop=ALL", *(f"--cap-add={name}" for name in (*ROOT, *member.capabilities))]
    found.append("--security-opt=no-new-privileges")
    if group.unlabelled:
        found.append("--security-opt=label=disable")
    if member.read_only:
        found.append("--read-only")
    return found


def _network(group: Group, member: Member, beside: str) -> list[str]:
    found = [f"--{space}=host" for space in group.host if space != "network"]
    if "network" in group.host:
        return [*found, "--network=host"]
    if beside:
        return [*found, f"--network=container:{beside}"]
    if group.network:
        found.append(f"--network={group.network}")
    return [*found, *(f"--publish={port}" for port in member.ports)]


def _mount(mount: Mount) -> str:
    fields = [
        "type=bind",
        f"source={mount.source}",
        f"target={mount.target}",
        *(["readonly"] if mount.read_only else []),
    ]
    text = io.StringIO()
    csv.writer(text, lineterminator="").writerow(fields)  # both read them as a line of CSV
    return text.getvalue()


def stop(group: Group, name: str, grace: float) -> list[str]:
    """Ask a container to end, and kill it after `grace` seconds."""
    return [group.program, "stop", f"--time={max(0, round(grace))}", name]


def remove(runtime: str, program: str, names: list[str]) -> list[str]:
    """Kill containers, as far as they are there, and take them away with what they have written."""
    at_once = ["--time=0"] if runtime == "podman" else []
    return [program, "rm", "--force", "--volumes", *at_once, *names]


def state(group: Group, name: str) -> list[str]:
    """The state of a container as JSON."""
    return [group.program, "inspect", "--type=container", "--format={{json .State}}", name]


def address(group: Group, name: str) -> list[str]:
    """The addresses of a container, with spaces between."""
    form = "{{.NetworkSettings.IPAddress}}{{range .NetworkSettings.Networks}} {{.IPAddress}}{{end}}"
    return [group.program, "inspect", "--type=container", f"--format={form}", name]


def execute(group: Group, name: str, command: list[str]) -> list[str]:
    """Run a command in a running container."""
    return [group.program, "exec", name, *command]


def own(group: Group, places: list[str]) -> list[str]:
    """Give what lies below some folders to whoever runs podman, who needn't be root."""
    return [group.program, "unshare", "chown", "--recursive", "--no-dereference", "0:0", "--", *places]


def copy(group: Group, name: str, path: str) -> list[str]:
    """What stands at a path of a container, as a tar on standard output."""
    return [group.program, "cp", f"{name}:{path}", "-"]
