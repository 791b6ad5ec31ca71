"""The images of a run: each brought here once, then named by its id, so that all its steps run in the same one."""

from __future__ import annotations

import asyncio
import json
import re
from typing import Any

import msgspec

from couler_py.backends.local.containers.runtimes import Runtime
from couler_py.backends.local.scope import TaskFailure

REFERENCE = re.compile(r"[A-Za-z0-9][A-Za-z0-9._:/@+-]*")
"""No more than a first look: what would be read as an option, or as two words, is none."""
LINES = 3  # of what a runtime says when an image can't be had
CONFIG = "{{.Id}} {{json .Config}}"


class Image(msgspec.Struct, frozen=True):
    """An image that is here. `user` and `directory` are those that it says its containers have."""

    id: str
    shown: str
    user: str = ""
    directory: str = "/"


class Images:
    """The images that a run has asked for."""

    def __init__(self, runtime: Runtime):
        self.runtime = runtime
        self._known: dict[tuple[str, str], asyncio.Task[Image]] = {}

    async def get(self, reference: str, policy: str | None) -> Image:
        """An image, brought here if it has to be: under `policy` "Always" once a run, under "Never" not at all.

        Without a policy it is brought where it is missing. Raises `TaskFailure`.
        """
        if not REFERENCE.fullmatch(reference):
            raise TaskFailure(f"{reference!r} is no name of an image")
        key = (reference, policy or "IfNotPresent")
        task = self._known.get(key)
        if task is None or (task.done() and (task.cancelled() or task.exception() is not None)):
            task = self._known[key] = asyncio.ensure_future(self._get(*key))
        return await asyncio.shield(task)

    async def _get(self, reference: str, policy: str) -> Image:
        found = None if policy == "Always" else await self._here(reference)
        if found is None and policy == "Never":
            way_out = self._by_hand(reference)
            raise TaskFailure(f"the image {reference} is not here, and its pull policy is Never: {way_out}")
        if found is None:
            name = await self._pull(reference)
            found = await self._here(name)
        if found is None:
            raise TaskFailure(f"the image {reference} was brought here and is gone again")
        return msgspec.structs.replace(found, shown=reference)

    async def _here(self, reference: str) -> Image | None:
        code, out, said = await self._call("image", "inspect", f"--format={CONFIG}", reference)
        if code == 0:
            name, _, config = out.strip().partition(" ")
            data: dict[str, Any] = json.loads(config) or {}
            return Image(name, reference, data.get("User") or "", data.get("WorkingDir") or "/")
        if "no such image" in said.lower() or "image not known" in said.lower():
            return None
        raise TaskFailure(f"{self.runtime.kind} can't look at the image {reference}: {_end(said)}")

    async def _pull(self, reference: str) -> str:
        """Bring an image here, and give the name under which it is."""
        name = reference
        code, _, said = await self._call("pull", "--quiet", name)
        if code != 0 and "short-name" in said and qualified(reference) != reference:
            # Podman, without a list of registries to search. Docker and Kubernetes mean Docker Hub by such names.
            name = qualified(reference)
            code, _, said = await self._call("pull", "--quiet", name)
        if code != 0:
            raise TaskFailure(f"the image {reference} can't be had: {_end(said)}\n{self._by_hand(reference)}")
        return name

    def _by_hand(self, reference: str) -> str:
        return f"try `{self.runtime.kind} pull {reference}`, or bring it by `{self.runtime.kind} load`"

    async def _call(self, *words: str) -> tuple[int, str, str]:
        process = await asyncio.create_subprocess_exec(
            self.runtime.program,
            *words,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
        )
        out, said = await process.communicate()
        assert process.returncode is not None
        return process.returncode, out.decode("utf-8", "replace"), said.decode("utf-8", "replace")


def qualified(reference: str) -> str:
    """The whole name of an image, as Docker and Kubernetes read it.

    >>> qualified("busybox"), qualified("team/tool:1"), qualified("quay.io/a/b"), qualified("localhost/mine")
    ('docker.io/library/busybox', 'docker.io/team/tool:1', 'quay.io/a/b', 'localhost/mine')
    """
    first, slash, _ = reference.partition("/")
    if not slash:
        return f"docker.io/library/{reference}"
    if "." in first or ":" in first or first == "localhost":
        return reference
    return f"docker.io/{reference}"


def _end(said: str) -> str:
    lines = [line.strip() for line in said.splitlines() if line.strip()]
    return "\n".join(lines[-LINES:]) or "it doesn't say why"
