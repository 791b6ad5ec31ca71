"""`couler lock` and `couler image`: what steps need, pinned and built."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.unit.cli.conftest import Couler

FLOW = """
import couler_py as couler


@couler.step(packages=["tiny-example>=1"], image="python:3.12-slim")
def s() -> int:
    return 1


@couler.workflow
def needs():
    s()
"""


def wheel(folder: Path, version: str) -> None:
    """A wheel of the package tiny-example that holds nothing."""
    import zipfile

    folder.mkdir(exist_ok=True)
    information = f"tiny_example-{version}.dist-info"
    with zipfile.ZipFile(folder / f"tiny_example-{version}-py3-none-any.whl", "w") as archive:
        archive.writestr(f"{information}/METADATA", f"Metadata-Version: 2.1\nName: tiny-example\nVersion: {version}\n")
        archive.writestr(f"{information}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        archive.writestr(f"{information}/RECORD", "")


@pytest.fixture
def needs(here: Path) -> str:
    """A workflow with a package that only a folder of wheels has."""
    for version in ("0.9", "1.2", "1.3"):
        wheel(here / "wheels", version)
    (here / "pyproject.toml").write_text(f'[tool.couler]\nfind_links = ["{here}/wheels"]\noffline = true\n')
    (here / "needs.py").write_text(FLOW)
    return "needs.py"


def test_a_lock_pins_each_set_of_packages_for_the_image_s_python(needs: str, here: Path, couler: Couler) -> None:
    shown = couler("lock", needs)
    assert (shown.code, shown.out) == (0, "")
    (pinned,) = json.loads((here / "couler.lock").read_text())["sets"].values()
    assert pinned == {"python": "3.12", "pins": ["tiny-example==1.3"]}
    assert '"tiny-example==1.3"' in couler("compile", needs, "--to", "ir").out


def test_a_lock_is_made_anew_where_the_packages_changed(needs: str, here: Path, couler: Couler) -> None:
    couler("lock", needs)
    (here / needs).write_text(FLOW.replace("tiny-example>=1", "tiny-example<1"))
    assert couler("lint", needs).code == 2
    assert couler("lock", needs).code == 0
    assert couler("lint", needs).code == 0


def test_packages_that_can_t_be_had_are_an_error_of_the_user(needs: str, here: Path, couler: Couler) -> None:
    (here / needs).write_text(FLOW.replace("tiny-example>=1", "tiny-example>=7"))
    shown = couler("lock", needs)
    assert shown.code == 2
    assert "the packages can't be resolved" in shown.err
    assert "Traceback" not in shown.err


def test_a_workflow_without_packages_has_nothing_to_lock(flow: str, couler: Couler) -> None:
    shown = couler("lock", flow)
    assert (shown.code, shown.err) == (2, "error: no step of hello has packages=\n")


def test_the_dockerfile_of_an_image_can_be_written_without_building(needs: str, here: Path, couler: Couler) -> None:
    assert couler("image", "build", needs, "--context", "images").code == 0
    assert (here / "images" / "s" / "Dockerfile").read_text().startswith("FROM python:3.12-slim\n")
    assert (here / "images" / "s" / "requirements.txt").read_text() == "tiny-example>=1\n"


def test_a_tool_that_isn_t_there_is_named(needs: str, couler: Couler) -> None:
    shown = couler("image", "build", needs, "--tool", "no-such-builder")
    assert shown.code == 2
    assert "no-such-builder" in shown.err
    assert "Traceback" not in shown.err


IMPORTING = """
import couler_py as couler


@couler.step
def show() -> str:
    import {module}
    return {module}.__name__


@couler.workflow
def importing():
    return show()
"""


@pytest.mark.parametrize(("module", "warned"), [("msgspec", False), ("nowhere_to_be_found", True)])
def test_a_module_that_the_image_lacks_is_said_for_engines_and_where_it_is_missing_here(
    module: str, warned: bool, here: Path, couler: Couler
) -> None:
    (here / "importing.py").write_text(IMPORTING.format(module=module))
    for command in ("lint", "compile"):
        shown = couler(command, "importing.py")
        assert shown.code == 0
        assert f"warning[CLR290]: show imports {module}, which is not in its image python:3.11" in shown.err
        assert "--> importing.py:6" in shown.err
    assert ("CLR290" in couler("run", "importing.py").err) is warned


def test_a_module_that_several_steps_lack_here_is_said_once(here: Path, couler: Couler) -> None:
    again = IMPORTING.format(module="nowhere_to_be_found").replace("def show", "def again").split("@couler.workflow")[0]
    (here / "importing.py").write_text(
        again + IMPORTING.format(module="nowhere_to_be_found").replace("return show()", "return show(), again()")
    )
    shown = couler("run", "importing.py")
    said = [line for line in shown.err.splitlines() if line.startswith("warning")]
    assert said == [
        "warning[CLR290]: this machine doesn't have nowhere_to_be_found, which show and again import  (in show)"
    ]
