"""Commands of containers and scripts as processes: their arguments, and the paths that they read and write.

A container has its paths to itself; a process shares the machine's. So each declared absolute path is
locked for the attempt, cleared before, and taken away after (see `holding`).
"""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from pathlib import Path
from typing import Any

from msgspec import UNSET

from couler_py.backends.local.context import Call, Context
from couler_py.backends.local.imported.expansion import expanded
from couler_py.backends.local.scope import Scope, TaskFailure
from couler_py.ir.expr import TextLike
from couler_py.ir.model import Script
from couler_py.ir.pod import Container
from couler_py.store import artifacts

OPEN_FOLDERS = tuple({os.path.realpath(folder) for folder in ("/tmp", "/var/tmp", tempfile.gettempdir())})  # noqa: S108
"""Below these folders a declared path is cleared if something is there; elsewhere the step fails instead."""


MOST_HELD = 200
"""Paths, with the folders around them, that one step holds: each lock is a descriptor, and a message carries 253."""


def complete(
    context: Context, made: Call, body: Container | Script, scope: Scope, folder: Path, request: dict[str, Any]
) -> None:
    """Add the command and the declared paths to a request. Raises `TaskFailure`."""
    directory = scope.text(body.working_dir)
    if directory:
        request["directory"] = directory
    declared = request.pop("declared")

    def word_of(text: TextLike) -> str:
        said = scope.text(text)
        return expanded(said, declared) if context.imported else said

    command = [word_of(word) for word in body.command]
    if isinstance(body, Script):
        script = str(folder / "script")
        # One that a shell is told to run as a command (`sh -c`) has to be a program, as it is on Argo.
        request["files"].append({"path": script, "text": scope.text(body.source), "mode": 0o700})
        command.append(script)
    else:
        command += [word_of(word) for word in body.args]
    if any("\0" in word for word in command):
        raise TaskFailure("an argument of the command holds a NUL character, which none can")
    if not body.command:
        raise TaskFailure("the command stands in the image, which isn't used here: give command=[...]")
    command[0] = _program(command[0], request["env"].get("PATH"))
    request["command"] = command
    _inputs(made, request)
    _outputs(made, folder, request)
    if context.imported:
        _leave_to_the_program(request)
    held = {place for path in request["lock_paths"] for place in (Path(path), *Path(path).parents)}
    if len(held) > MOST_HELD:
        raise TaskFailure(
            f"it declares {len(request['lock_paths'])} paths outside its working folder, more than can be kept for one "
            "step: give it paths relative to its working folder"
        )


def _program(command: str, path: str | None) -> str:
    """The program that a command names; `python`, where there is none of that name, is the one that runs this."""
    if command in ("python", "python3") and shutil.which(command, path=path) is None:
        return sys.executable
    return command


def _inputs(made: Call, request: dict[str, Any]) -> None:
    for wanted in made.template.inputs.artifacts:
        given = made.artifacts.get(wanted.name)
        if given is None or not wanted.path:
            continue
        path, ref = _absolute(wanted.path, request), artifacts.reference(given)
        request["inputs"].append({"name": wanted.name, "ref": ref, "path": path, "mode": wanted.mode})
        _own(path, request)


def _outputs(made: Call, folder: Path, request: dict[str, Any]) -> None:
    for output in made.template.outputs.parameters:
        if output.stdout or (not output.path and output.name == "result"):
            request["stdout"] = str(folder / "stdout")
            place = {"kind": "parameter", "path": request["stdout"]}
        elif output.path:
            path = _absolute(output.path, request)
            _own(path, request)
            place = {"kind": "parameter", "path": path}
        else:
            raise TaskFailure(f"nothing says where the output {output.name!r} is written: give it a path")
        request["outputs"].append({"name": output.name, "optional": output.default is not UNSET, **place})
    for left in made.template.outputs.artifacts:
        path = _absolute(left.path, request)
        _own(path, request)
        request["outputs"].append({"name": left.name, "kind": "artifact", "path": path, "optional": left.optional})


def _absolute(path: str, request: dict[str, Any]) -> str:
    return os.path.normpath(Path(request["directory"]) / path)


def _own(path: str, request: dict[str, Any]) -> None:
    """Have a path to this attempt alone, empty before and gone after."""
    if path.startswith(request["folder"] + os.sep):
        return
    if any(link["path"] == path or path.startswith(link["path"] + os.sep) for link in request["links"]):
        return
    parent = os.path.realpath(Path(path).parent)
    real = Path(parent) / Path(path).name
    home = Path(request["artifacts"]).resolve().parent
    if any(place == real or real in place.parents for place in (home, Path.cwd())) or home in real.parents:
        raise TaskFailure(
            f"{path} would be replaced, and it holds, or is part of, the folder of all runs or the one that this was "
            "started in: give the step a path of its own, as /tmp/NAME/FILE"
        )
    below = any(str(real).startswith(folder + os.sep) for folder in OPEN_FOLDERS)
    if not below:
        request["fresh_paths"].append(path)
        request["folders_of"].append(path)
    request["lock_paths"].append(path)
    request["clear"].append(path)
    request["clean"].append(path)


def _leave_to_the_program(request: dict[str, Any]) -> None:
    """Don't make the folders of outputs that the program itself makes: in a pod it is the first, and `mkdir` works.

    The folder of any other is made, since an image may have it.
    """
    words = "\n".join([*request["command"], *(file["text"] for file in request["files"])])
    if "mkdir" not in words and "makedirs" not in words:
        return
    inputs = {given["path"] for given in request["inputs"]}
    for path in request["clear"]:
        if path not in inputs and str(Path(path).parent) in words:
            request["bare"].append(path)
            request["folders_of"].append(path)
