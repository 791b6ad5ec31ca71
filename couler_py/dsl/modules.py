"""Whose a module is: Python's, an installed package's, or the user's own project's."""

from __future__ import annotations

import functools
import importlib.util
import os
import site
import sys
import sysconfig
from pathlib import Path

OURS = ("couler_py", "couler")
"""The package itself: the runner provides what a step calls of it while it runs."""

IN_STEPS = frozenset({"log_metric", "run_info", "spill", "unspill", "included"})
"""What of `couler_py` there is where a step runs."""


def local_path(module: str, beside: str = "") -> Path | None:
    """The file or folder of the top-level package of a module, where it is the user's own; None elsewhere.

    `beside` is the file that imports it: a module next to it is the user's own, importable or not.
    """
    top = module.partition(".")[0]
    if not top or top in sys.stdlib_module_names or top in OURS:
        return None
    if beside and not beside.startswith("<"):
        folder = Path(beside).resolve().parent
        for candidate in (folder / f"{top}.py", folder / top / "__init__.py"):
            if candidate.is_file() and not _installed(candidate):
                return candidate if candidate.name != "__init__.py" else candidate.parent
    return _importable(top)


def _importable(top: str) -> Path | None:
    loaded = sys.modules.get(top)
    origin = getattr(loaded, "__file__", None)
    if origin is None and loaded is None:
        try:
            spec = importlib.util.find_spec(top)
        except (ImportError, ValueError):
            return None
        if spec is None:
            return None
        origin = spec.origin if spec.origin not in ("built-in", "frozen") else None
        if origin is None:
            origin = next(iter(spec.submodule_search_locations or ()), None)
    elif origin is None:
        origin = next(iter(getattr(loaded, "__path__", ())), None)
    if origin is None:
        return None
    path = Path(origin)
    if _installed(path):
        return None
    return path.parent if path.name == "__init__.py" else path


def _installed(path: Path) -> bool:
    text = str(path.resolve())
    return any(text.startswith(folder) for folder in _installation_folders()) or "site-packages" in path.parts


@functools.cache
def _installation_folders() -> tuple[str, ...]:
    names = ("stdlib", "platstdlib", "purelib", "platlib")
    folders = {sysconfig.get_paths()[name] for name in names} | {*site.getsitepackages(), site.getusersitepackages()}
    return tuple(str(Path(folder).resolve()) + os.sep for folder in sorted(folders))
