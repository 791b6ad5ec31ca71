"""`packages=`: PEP 508 requirements of a step, and their pins in `couler.lock`.

A requirement is parsed, never handed to pip as an option. Where packages come from is the project's
configuration (`[tool.couler]`), which reaches pip where the step runs by its environment variables.
`couler lock FILE` resolves every set of requirements of a file with uv, or pip without it, and writes
`couler.lock` beside the file (see `couler_py.dsl.lockfile`); from then on a build takes the pins from there.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from couler_py.dsl.errors import DefinitionError
from couler_py.dsl.lockfile import (
    LOCK_FILE,
    Lock,
    LockError,
    PinnedSet,
    ignores_sets,
    lock_of,
    read_lock,
    write_lock,
)
from couler_py.dsl.project import folder_of, project_of
from couler_py.ir.diagnostics import error
from couler_py.ir.model import Function, Source, Workflow
from couler_py.ir.pod import EnvVar
from couler_py.settings import Settings


def normalise(requirements: Iterable[str], place: Source, step: str) -> tuple[str, ...]:
    """Requirements in canonical spelling, sorted, each once. Raises `DefinitionError` for what is no PEP 508.

    >>> normalise(["Scikit_Learn >=1.4", "numpy"], Source("f.py", 1), "train")
    ('numpy', 'scikit-learn>=1.4')
    """
    if isinstance(requirements, str):
        raise _error(f"packages={requirements!r} is one text", place, step, f"write packages=[{requirements!r}]")
    return tuple(sorted({_canonical(text, place, step) for text in requirements}))


def set_key(requirements: tuple[str, ...], image: object) -> str:
    """What a set of requirements is known by in a lock file: itself, and the Python of an image that names it."""
    python = python_of(image)
    return f"python {python}: {' '.join(requirements)}" if python else " ".join(requirements)


def python_of(image: object) -> str | None:
    """The version of Python that an image's name tells, as "python:3.12-slim"; None for other images."""
    found = re.search(r"(?:^|/)python:(3\.\d+)", image) if isinstance(image, str) else None
    return found[1] if found else None


def pinned(requirements: tuple[str, ...], image: object, filename: str, place: Source, step: str) -> tuple[str, ...]:
    """The requirements of a step in an image, or their pins where a `couler.lock` lies beside the source file.

    Raises `DefinitionError` where the lock doesn't know this set of requirements.
    """
    if not requirements or ignores_sets():
        return requirements
    known = lock_of(filename)
    if known is None or not known.sets:
        return requirements
    found = known.sets.get(set_key(requirements, image))
    if found is None:
        raise _error(
            f"{LOCK_FILE} has no versions for {', '.join(requirements)}",
            place,
            step,
            f"run `couler lock {Path(filename).name}` again",
        )
    return found.pins


def lock_workflow(workflow: Workflow, filename: str, *, python: str = "3.11") -> Path:
    """Write the versions of all packages of a workflow beside its file, and give the lock file's path.

    The workflow must have been built inside `lockfile.ignoring("sets", "images")`. `python` is the version
    in images that don't name theirs. Raises `LockError`.
    """
    root, project = project_of(filename)
    path = folder_of(filename) / LOCK_FILE
    sets: dict[str, PinnedSet] = {}
    for template in workflow.templates:
        body = template.body
        if isinstance(body, Function) and body.packages:
            key = set_key(body.packages, body.image)
            if key not in sets:
                version = python_of(body.image) or python
                sets[key] = lock(body.packages, python=version, project=project, root=root)
    images = read_lock(path).images if path.exists() else {}
    write_lock(path, Lock(sets=sets, images=images))
    return path


def index_environment(filename: str, place: Source, step: str) -> tuple[EnvVar, ...]:
    """What tells pip, where the step runs, the places that the project takes packages from."""
    _, project = project_of(filename)
    found: list[EnvVar] = []
    for name, value in (
        ("PIP_INDEX_URL", project.index_url),
        ("PIP_EXTRA_INDEX_URL", " ".join(project.extra_index_urls)),
        ("PIP_FIND_LINKS", " ".join(project.find_links)),
        ("PIP_NO_INDEX", "1" if project.offline else ""),
    ):
        for url in value.split():
            if holds_credentials(url):
                raise _error(
                    f"the address of {name} holds a password or a token",
                    place,
                    step,
                    f"leave it out of [tool.couler]; give the step env={{'{name}': couler.secret(...)}}",
                )
        if value:
            found.append(EnvVar(name, value))
    return tuple(found)


def lock(
    requirements: Sequence[str],
    *,
    python: str = "3.11",
    project: Settings = Settings(),
    root: Path | None = None,
) -> PinnedSet:
    """Resolve requirements to exact versions for a version of Python on Linux, with uv, or pip without it.

    `project` says where packages come from, and `root` where its files are. Raises `LockError`.
    """
    with tempfile.TemporaryDirectory() as folder:
        wanted = Path(folder) / "requirements.in"
        wanted.write_text("".join(f"{requirement}\n" for requirement in requirements), encoding="utf-8")
        places = _places(project, root or Path.cwd())
        uv = uv_path()
        if uv is not None:
            text = _run(_uv_command(uv, wanted, python, places))
            return PinnedSet(python, _pins_of_text(text))
        report = Path(folder) / "report.json"
        _run(_pip_command(wanted, report, python, places))
        return PinnedSet(python, _pins_of_report(report))


def holds_credentials(url: str) -> bool:
    """Whether an address holds a password, or, over HTTP, a name, which there may be a token ("https://TOKEN@host")."""
    parts = urlsplit(url)
    over_http = parts.scheme.rpartition("+")[2] in ("http", "https")
    return parts.password is not None or (over_http and parts.username is not None)


def uv_path() -> str | None:
    """The program uv, of this environment first; None where it is missing."""
    return shutil.which("uv", path=f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', '')}")


def _canonical(text: Any, place: Source, step: str) -> str:
    from packaging.requirements import InvalidRequirement, Requirement
    from packaging.utils import canonicalize_name

    if not isinstance(text, str) or text.lstrip().startswith("-"):
        raise _error(f"{text!r} is an option, not a package", place, step, "set options in [tool.couler]")
    try:
        found = Requirement(text)
    except InvalidRequirement as problem:
        reason = str(problem).splitlines()[0]
        raise _error(
            f"{text!r} is no requirement: {reason}",
            place,
            step,
            "write it by PEP 508, as 'numpy>=1.26' or 'x @ https://…'",
        ) from problem
    if found.url and holds_credentials(found.url):
        raise _error(
            f"the address of {found.name} holds a password or a token", place, step, "use an index with a secret"
        )
    found.name = canonicalize_name(found.name)
    return str(found)


def _places(project: Settings, root: Path) -> list[str]:
    found: list[str] = []
    if project.index_url:
        found += ["--index-url", project.index_url]
    for url in project.extra_index_urls:
        found += ["--extra-index-url", url]
    for links in project.find_links:
        found += ["--find-links", links]
    for name in project.constraints:
        found += ["--constraint", str(root / name)]
    return [*found, "--no-index"] if project.offline else found


def _uv_command(uv: str, wanted: Path, python: str, places: list[str]) -> list[str]:
    fixed = ["--quiet", "--no-header", "--no-annotate", "--python-platform", "linux", "--python-version", python]
    # Without an interpreter named, uv looks for one of that version everywhere, which takes 10 seconds.
    return [uv, "pip", "compile", str(wanted), "--python", sys.executable, *fixed, *places]


def _pip_command(wanted: Path, report: Path, python: str, places: list[str]) -> list[str]:
    base = [sys.executable, "-m", "pip", "install", "--dry-run", "--ignore-installed", "--quiet", "--no-input"]
    platform = ["--python-version", python, "--only-binary", ":all:", "--target", str(report.parent / "target")]
    return [*base, *platform, "--report", str(report), "--requirement", str(wanted), *places]


def _run(command: list[str]) -> str:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise LockError(f"the packages can't be resolved:\n{done.stderr.strip()}")
    return done.stdout


def _pins_of_text(text: str) -> tuple[str, ...]:
    lines = (line.strip() for line in text.splitlines())
    return tuple(line for line in lines if line and not line.startswith(("#", "-")))


def _pins_of_report(report: Path) -> tuple[str, ...]:
    from packaging.utils import canonicalize_name

    found = json.loads(report.read_text(encoding="utf-8"))
    entries = (entry["metadata"] for entry in found["install"])
    return tuple(sorted(f"{canonicalize_name(entry['name'])}=={entry['version']}" for entry in entries))


def _error(message: str, place: Source, step: str, help_: str) -> DefinitionError:
    return DefinitionError([error("CLR132", message, source=place, step=step, help=help_)])
