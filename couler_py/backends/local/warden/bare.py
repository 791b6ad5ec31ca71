"""Starts one of our programs on the standard library alone: `python bare.py MODULE ARGUMENT…`.

What runs between the engine and its steps may need nothing that is installed. The packages around such a module are
therefore entered without being run: they are names with a folder, and no more.
"""

from __future__ import annotations

import importlib
import os
import sys
import types

ROOT = os.path.abspath(__file__).rsplit(os.sep, 4)[0]


def hollow() -> list[str]:
    """Put empty packages in the place of ours; gives their names."""
    local = "couler_py.backends.local"
    names = ["couler_py", "couler_py.backends", local, f"{local}.warden", "couler_py.store"]
    for name in names:
        package = types.ModuleType(name)
        package.__path__ = [os.path.join(ROOT, *name.split(".")[1:])]
        sys.modules[name] = package
    return names


def main() -> None:
    """Start the program."""
    name, *arguments = sys.argv[1:]
    hollow()
    importlib.import_module(f"couler_py.backends.local.warden.{name}").main(arguments)


if __name__ == "__main__":
    main()
