"""What `import couler_py` and `couler --help` leave unloaded, so that they stay quick (0.2 s and 0.4 s)."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

# seconds each: networkx 0.6, kubernetes 0.6, argo_workflows 0.8, jinja2 and fsspec 0.05, asyncio and sqlite3 0.03
HEAVY = [
    "argo_workflows",
    "asyncio",
    "fsspec",
    "jinja2",
    "jsonschema_rs",
    "kubernetes",
    "langchain_core",
    "networkx",
    "numpy",
    "openai",
    "sqlite3",
    "torch",
    "yaml",
]


def loaded_by(program: str) -> list[str]:
    """The heavy modules that a new Python has loaded when it has run this program."""
    code = f"{program}\nimport sys; print(*sorted(set(sys.modules) & set({HEAVY})))"
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return ended.stdout.splitlines()[-1].split()


def test_importing_the_package_loads_nothing_heavy() -> None:
    assert loaded_by("import couler_py") == []


@pytest.mark.parametrize("module", ["rich", "typer"])
def test_importing_the_package_loads_nothing_of_the_command_line(module: str) -> None:
    code = f"import couler_py, sys; print({module!r} in sys.modules)"
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ended.stdout == "False\n"


def test_the_help_of_the_command_line_loads_nothing_heavy() -> None:
    assert (
        loaded_by(
            "import couler_py.cli, contextlib, sys\nsys.argv[1:] = ['--help']\n"
            "with contextlib.suppress(SystemExit): couler_py.cli.main()"
        )
        == []
    )


def test_every_folder_is_a_package_so_that_the_layers_of_its_modules_are_checked(checkout: Path) -> None:
    folders = {path.parent for path in (checkout / "couler_py").rglob("*.py")}
    assert [str(folder) for folder in folders if not (folder / "__init__.py").exists()] == []
