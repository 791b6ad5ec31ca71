"""What a step finds when it starts: its folders, its files, copies of its inputs, links to volumes. Stdlib only."""

from __future__ import annotations

import os
from typing import Any

from couler_py.store import content

SMALL = 1 << 18  # bytes of inputs that a warden copies itself, while other steps wait


def is_quick(request: dict[str, Any]) -> bool:
    """Whether all of it is done at once, so that no other step notices."""
    given = [each["ref"] for each in request["inputs"]]
    if any(ref["kind"] != "file" for ref in given) or sum(ref.get("size", 0) for ref in given) > SMALL:
        return False
    return not any(os.path.isdir(path) and not os.path.islink(path) for path in request["clear"])


def prepare(request: dict[str, Any]) -> None:
    """Make the folders of the attempt and put copies of its input artifacts where it expects them.

    Raises `OSError` and `ContentError`; for an input that is lost, `LostContentError` with the digest of all of it.
    """
    for path in request["make"]:
        make(path)
    for path in request["clear"]:
        content.remove(path)
        if path not in request["bare"]:
            os.makedirs(os.path.dirname(path), exist_ok=True)
    for file in request["files"]:
        os.makedirs(os.path.dirname(file["path"]), exist_ok=True)
        handle = os.open(file["path"], os.O_WRONLY | os.O_CREAT | os.O_TRUNC, file.get("mode", 0o600))
        with os.fdopen(handle, "w", encoding="utf-8", errors="surrogateescape", newline="") as writing:
            writing.write(file["text"])
    for given in request["inputs"]:
        try:
            content.give(request["artifacts"], given["ref"], given["path"])
        except content.LostContentError as error:
            message = f"its input {given['name']!r} can't be had: {error}"
            raise content.LostContentError(message, given["ref"]["digest"]) from None
        if given.get("mode") is not None:
            os.chmod(given["path"], given["mode"])
    for link in request["links"]:
        mount(link["path"], link["target"])


def make(path: str) -> None:
    """Make a folder, and those around it where they are missing."""
    try:
        os.mkdir(path)
    except FileNotFoundError:
        os.makedirs(path, exist_ok=True)
    except FileExistsError:
        if not os.path.isdir(path):
            raise


def mount(path: str, target: str) -> None:
    """Make a link to a volume's folder, unless another step has made the same."""
    os.makedirs(os.path.dirname(path), exist_ok=True)
    try:
        os.symlink(target, path)
    except FileExistsError:
        if not os.path.islink(path) or os.readlink(path) != target:
            raise FileExistsError(
                f"{path} exists on this machine, so a volume can't stand there for a process"
            ) from None
