"""Printed source, loaded and built as anybody's file."""

from __future__ import annotations

import importlib.util
import sys
import tempfile
from pathlib import Path
from types import ModuleType

import couler_py as couler
from couler_py.cli.load import workflows_of
from couler_py.ir.model import Workflow
from couler_py.printer import print_python
from couler_py.printer.places import same


def built(module: ModuleType, name: str = "") -> Workflow:
    """The workflow of a module: the last that it defines, unless it is named."""
    found = workflows_of(module)
    return couler.build(found[name] if name else list(found.values())[-1])


def printed(workflow: Workflow) -> str:
    """The source of a workflow, after seeing that it builds the same one."""
    source = print_python(workflow)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "printed.py"
        path.write_text(source, encoding="utf-8")
        name = f"printed_{Path(folder).name}"
        spec = importlib.util.spec_from_file_location(name, path)
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        sys.modules[name] = module
        try:
            spec.loader.exec_module(module)
            again = built(module)
        finally:
            del sys.modules[name]
    assert same(again, workflow)
    return source
