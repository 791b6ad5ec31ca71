"""Modules that a Python step imports and that nothing provides where it runs.

The default image has Python and nothing else. Which distribution a module belongs to is known from what is
installed here; what a requirement brings that isn't installed here is unknown, and nothing is said then.
"""

from __future__ import annotations

import ast
import functools
import re
import sys
from collections.abc import Iterable, Iterator
from importlib import metadata
from typing import TYPE_CHECKING

import msgspec

from couler_py.ir.model import Function, IncludeArchive, Source, Template, Workflow
from couler_py.passes.check.findings import Findings, Place, related

if TYPE_CHECKING:
    from packaging.requirements import Requirement

_DEFAULT_IMAGE = next(field.default for field in msgspec.structs.fields(Function) if field.name == "image")
_OURS = ("couler_py", "couler", "__main__")
_CATCH_IMPORTS = frozenset({"ImportError", "ModuleNotFoundError", "Exception", "BaseException"})

_KNOWN_AS = {
    "PIL": "pillow",
    "bs4": "beautifulsoup4",
    "cv2": "opencv-python-headless",
    "dateutil": "python-dateutil",
    "dotenv": "python-dotenv",
    "skimage": "scikit-image",
    "sklearn": "scikit-learn",
    "yaml": "PyYAML",
}
"""Distributions of well-known modules of another name, for where they aren't installed."""


def check_imports(template: Template, workflow: Workflow, findings: Findings, place: Place) -> None:
    """Warn of a Python step in the default image that imports what its packages don't provide."""
    body = template.body
    if not isinstance(body, Function):
        return
    missing = unprovided(body, workflow.includes)
    if not missing:
        return
    one = len(missing) == 1
    wanted = ", ".join(f'"{name}"' for name in dict.fromkeys(map(_distribution, missing)))
    its = "it" if one else "them"
    findings.warning(
        "CLR290",
        f"{template.name} imports {_listed(list(missing))}, which {'is' if one else 'are'} not in its image "
        f"{_DEFAULT_IMAGE}",
        place,
        help=f"add {wanted} to its packages=, or give it an image= that has {its}"
        if body.packages
        else f"give the step packages=[{wanted}], or an image= that has {its}",
        related=related(*((f"{name} is imported here", source) for name, source in missing.items())),
    )


def unprovided(function: Function, includes: Iterable[IncludeArchive]) -> dict[str, Source]:
    """The top-level modules that neither the default image nor the packages nor the archives of a step provide.

    Each comes with the line of its first import. In another image, nothing is known to be missing.
    """
    if function.image != _DEFAULT_IMAGE:
        return {}
    found: dict[str, Source] = {}
    for piece in function.pieces:
        for module, line in _imports(piece.text):
            found.setdefault(module, Source(piece.file, piece.line + line - 1))
    if not found:
        return {}
    brought = _brought(function.packages)
    if brought is None:
        return {}
    own = {name for archive in includes if archive.digest in function.include for name in _top_level(archive.paths)}
    return {module: at for module, at in found.items() if module not in own and not _provided(module, brought)}


def _provided(module: str, brought: frozenset[str]) -> bool:
    if not brought:
        return False
    return _normal(module) in brought or any(_normal(name) in brought for name in _distributions().get(module, ()))


def _distribution(module: str) -> str:
    installed = _distributions().get(module, ())
    return installed[0] if len(installed) == 1 else _KNOWN_AS.get(module, module)


@functools.cache
def _distributions() -> dict[str, tuple[str, ...]]:
    """The distributions of each top-level module that is installed here."""
    return {module: tuple(dict.fromkeys(names)) for module, names in metadata.packages_distributions().items()}


@functools.lru_cache(maxsize=1024)
def _brought(requirements: tuple[str, ...]) -> frozenset[str] | None:
    """The distributions that requirements bring, with all that those need; None where one isn't installed here."""
    from packaging.requirements import InvalidRequirement, Requirement

    seen: set[tuple[str, str]] = set()
    for text in requirements:
        try:
            requirement = Requirement(text)
        except InvalidRequirement:  # in IR from elsewhere: what it would bring isn't known either
            return None
        if not _follow(requirement, seen):
            return None
    return frozenset(name for name, _ in seen)


def _follow(requirement: Requirement, seen: set[tuple[str, str]]) -> bool:
    """Add a distribution and what it needs to those seen, each with an extra or ""; whether it is installed here."""
    from packaging.requirements import Requirement

    name = _normal(requirement.name)
    try:
        needs = metadata.requires(requirement.name) or []
    except metadata.PackageNotFoundError:
        return False
    for extra in ("", *requirement.extras):
        if (name, extra) not in seen:
            seen.add((name, extra))
            for need in map(Requirement, needs):
                if need.marker is None or need.marker.evaluate({"extra": extra}):
                    _follow(need, seen)
    return True


def _normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def _top_level(paths: Iterable[str]) -> Iterator[str]:
    for path in paths:
        yield path.partition("/")[0].partition(".")[0]


def _listed(names: list[str]) -> str:
    return f"{', '.join(names[:-1])} and {names[-1]}" if len(names) > 1 else names[0]


# ---- imports of a piece


@functools.lru_cache(maxsize=4096)
def _imports(text: str) -> tuple[tuple[str, int], ...]:
    """The top-level modules from outside the standard library that a piece can't do without, and their lines."""
    if "import" not in text:
        return ()
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):  # what isn't Python imports nothing
        return ()
    found: dict[str, int] = {}
    for module, line in _needed(tree):
        top = module.partition(".")[0]
        if top not in sys.stdlib_module_names and top not in _OURS:
            found.setdefault(top, line)
    return tuple(found.items())


def _needed(node: ast.AST) -> Iterator[tuple[str, int]]:
    """What is imported, but for where the program goes on without it, and for type checkers alone."""
    if isinstance(node, ast.Import):
        for alias in node.names:
            yield alias.name, node.lineno
    elif isinstance(node, ast.ImportFrom) and not node.level and node.module:
        yield node.module, node.lineno
    for child in _children(node):
        yield from _needed(child)


def _children(node: ast.AST) -> Iterable[ast.AST]:
    if isinstance(node, ast.Try) and any(_catches(handler.type) for handler in node.handlers):
        return [*node.handlers, *node.orelse, *node.finalbody]
    if isinstance(node, ast.If) and _last_name(node.test) == "TYPE_CHECKING":
        return node.orelse
    return ast.iter_child_nodes(node)


def _catches(kind: ast.expr | None) -> bool:
    kinds = kind.elts if isinstance(kind, ast.Tuple) else [kind]
    return any(each is None or _last_name(each) in _CATCH_IMPORTS for each in kinds)


def _last_name(node: ast.expr) -> str:
    return node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else ""
