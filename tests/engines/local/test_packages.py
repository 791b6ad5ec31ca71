"""The packages of a Python step, installed from wheels of our own and no index."""

from __future__ import annotations

import base64
import hashlib
import zipfile
from pathlib import Path

import pytest

from couler_py.backends.local import execute
from couler_py.backends.local.packages import satisfied
from couler_py.ir.expr import TaskOutput
from couler_py.ir.model import Function, OutputParameter, Outputs, Piece, Task, Template
from couler_py.ir.types import STR
from tests.engines.local.flows import flow, graph


def wheel(folder: Path, name: str, version: str) -> None:
    """A wheel whose module holds its version."""
    files = {
        f"{name}.py": f"VERSION = '{version}'\n",
        f"{name}-{version}.dist-info/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n",
        f"{name}-{version}.dist-info/WHEEL": "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    record = []
    for path, text in files.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(text.encode()).digest()).rstrip(b"=").decode()
        record.append(f"{path},sha256={digest},{len(text)}\n")
    with zipfile.ZipFile(folder / f"{name}-{version}-py3-none-any.whl", "w") as archive:
        for path, text in files.items():
            archive.writestr(path, text)
        archive.writestr(f"{name}-{version}.dist-info/RECORD", "".join(record))


@pytest.fixture
def wheels(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "wheels"
    folder.mkdir()
    for tool in ("UV", "PIP"):
        monkeypatch.setenv(f"{tool}_NO_INDEX", "1")
        monkeypatch.setenv(f"{tool}_FIND_LINKS", str(folder))
    return folder


def use(requirement: str) -> tuple[Template, Template]:
    source = "def use() -> str:\n    import couler_test_wheel\n    return couler_test_wheel.VERSION"
    body = Function("use", (Piece(source),), "one", packages=(requirement,))
    step = Template("use", body, outputs=Outputs((OutputParameter("result", STR),)))
    main = graph(Task("a", "use"))
    result = Outputs((OutputParameter("v", STR, value=TaskOutput("a", "result")),))
    return step, Template("main", main.body, outputs=result)


def test_each_set_of_packages_has_an_environment(wheels: Path, home: Path) -> None:
    for version in ("1.0", "2.0"):
        wheel(wheels, "couler_test_wheel", version)
        record = execute(flow(*use(f"couler_test_wheel=={version}")), home=home)
        assert record.outputs == {"v": version}, record.message
    assert len(list((home / "environments").glob("*/complete"))) == 2


def test_an_environment_is_made_once(wheels: Path, home: Path) -> None:
    wheel(wheels, "couler_test_wheel", "1.0")
    execute(flow(*use("couler_test_wheel==1.0")), home=home)
    (wheels / "couler_test_wheel-1.0-py3-none-any.whl").unlink()
    assert execute(flow(*use("couler_test_wheel==1.0")), home=home).outputs == {"v": "1.0"}


def test_what_can_not_be_installed_fails_the_step(wheels: Path, home: Path) -> None:
    record = execute(flow(*use("couler_test_wheel==3.0")), home=home)
    assert record.tasks["a"].message.startswith("packages can't be installed:")


def test_this_interpreter_is_used_where_it_has_the_packages() -> None:
    assert satisfied(("msgspec>=0.1", "pytest", "nothing-here; python_version < '3'"))
    assert not satisfied(("msgspec<0.1",))
    assert not satisfied(("nothing-of-this-name",))
