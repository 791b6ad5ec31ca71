"""Images that hold what a step needs: its packages and included files, on top of its own image.

`couler image build|push FILE` makes one for each recipe of a workflow, and `push` pins the result by its
digest in `couler.lock`. From then on a build uses that image, and installs and unpacks nothing.

A recipe is known by its key, a hash of the base image, the packages and the files, so that a changed step
never runs in an old image.
"""

from __future__ import annotations

import hashlib
import json
import re
import subprocess
from pathlib import Path

import msgspec

from couler_py.dsl.include import pack
from couler_py.dsl.lockfile import Lock, read_lock, write_lock
from couler_py.ir.diagnostics import CoulerError
from couler_py.ir.model import Function, IncludeArchive, Workflow

FOLDER = "/opt/couler"
_IMAGE = re.compile(r"[a-zA-Z0-9][a-zA-Z0-9._/:@-]*")


class ImageError(CoulerError):
    """An image can't be built or pushed; the message holds what the tool said."""


class Recipe(msgspec.Struct, frozen=True):
    """What an image is made of. `steps` are the templates that it serves, and no part of its identity."""

    base: str
    packages: tuple[str, ...]
    archives: tuple[IncludeArchive, ...] = ()
    steps: tuple[str, ...] = ()

    @property
    def key(self) -> str:
        """The identity of the image: the sha256 of what is in it."""
        return recipe_key(self.base, self.packages, tuple(archive.digest for archive in self.archives))


def recipe_key(base: str, packages: tuple[str, ...], digests: tuple[str, ...]) -> str:
    """The identity of an image by its base, its packages and the digests of its archives."""
    return hashlib.sha256(json.dumps([base, packages, sorted(digests)]).encode()).hexdigest()


def recipes(workflow: Workflow) -> tuple[Recipe, ...]:
    """The images that a workflow can be given: one for each base, set of packages and set of files."""
    archives = {archive.digest: archive for archive in workflow.includes}
    found: dict[str, Recipe] = {}
    for template in workflow.templates:
        body = template.body
        if not isinstance(body, Function) or not isinstance(body.image, str):
            continue
        if not body.packages and not body.include:
            continue
        made = Recipe(body.image, body.packages, tuple(archives[digest] for digest in body.include), (template.name,))
        known = found.get(made.key)
        steps = (*known.steps, template.name) if known else made.steps
        found[made.key] = msgspec.structs.replace(made, steps=steps)
    return tuple(found.values())


def dockerfile(recipe: Recipe) -> str:
    """The Dockerfile of an image. Requirements travel in a file, never in a command.

    Raises `ImageError` for a base that is no image's name.
    """
    if not _IMAGE.fullmatch(recipe.base):
        raise ImageError(f"{recipe.base!r} is not the name of an image")
    lines = [f"FROM {recipe.base}"]
    if recipe.packages:
        lines += [
            f"COPY requirements.txt {FOLDER}/requirements.txt",
            f"RUN python -m pip install --no-cache-dir --no-input -r {FOLDER}/requirements.txt",
        ]
    lines += [f"ADD {_archive_name(archive)} {FOLDER}/include/" for archive in recipe.archives]
    if recipe.archives:
        lines.append(f"ENV PYTHONPATH={FOLDER}/include COULER_INCLUDE_ROOT={FOLDER}/include")
    return "\n".join(lines) + "\n"


def write_context(recipe: Recipe, folder: Path) -> None:
    """Write all that an image is built from: the Dockerfile, the requirements, the files as archives."""
    (folder / "Dockerfile").write_text(dockerfile(recipe), encoding="utf-8")
    if recipe.packages:
        text = "".join(f"{package}\n" for package in recipe.packages)
        (folder / "requirements.txt").write_text(text, encoding="utf-8")
    for archive in recipe.archives:
        (folder / _archive_name(archive)).write_bytes(pack(archive.root, archive.paths))


def build(recipe: Recipe, tag: str, folder: Path, *, tool: str = "docker") -> None:
    """Build an image under a tag, in an empty folder, with docker or a tool of the same commands.

    Raises `ImageError`.
    """
    write_context(recipe, folder)
    _run([tool, "build", "--tag", tag, str(folder)])


def push(tag: str, *, tool: str = "docker") -> str:
    """Push an image, and give its name by digest ("registry/name@sha256:…"). Raises `ImageError`."""
    _run([tool, "push", tag])
    digests = json.loads(_run([tool, "inspect", "--format", "{{json .RepoDigests}}", tag]) or "null") or []
    repository = tag.rpartition(":")[0] if ":" in tag.rpartition("/")[2] else tag
    found = next((digest for digest in digests if digest.partition("@")[0] == repository), None)
    if found is None:
        raise ImageError(f"{tool} knows no digest of {tag} after it was pushed")
    return str(found)


def pin(path: Path, recipe: Recipe, image: str) -> None:
    """Name the image of a recipe in a lock file. Raises `ImageError` for a name without a digest."""
    if "@sha256:" not in image:
        raise ImageError(f"{image!r} has no digest: a tag can come to mean another image")
    lock = read_lock(path) if path.exists() else Lock()
    write_lock(path, msgspec.structs.replace(lock, images={**lock.images, recipe.key: image}))


def _archive_name(archive: IncludeArchive) -> str:
    return f"include-{archive.digest[:12]}.tar.gz"


def _run(command: list[str]) -> str:
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    except FileNotFoundError as problem:
        raise ImageError(f"{command[0]} is not installed") from problem
    if done.returncode != 0:
        raise ImageError(f"{' '.join(command[:2])} failed:\n{done.stderr.strip()}")
    return done.stdout
