"""The packages of a Python step, installed from wheels of our own and no index."""

from __future__ import annotations

import asyncio
import base64
import hashlib
import os
import zipfile
from contextlib import closing
from pathlib import Path

import msgspec
import pytest

from couler_py.backends.local import execute
from couler_py.backends.local.lifecycle import prepare
from couler_py.backends.local.steps.packages import environment_key, satisfied
from couler_py.ir.expr import TaskOutput
from couler_py.ir.model import Function, OutputParameter, Outputs, Piece, Task, Template
from couler_py.ir.pod import EnvVar
from couler_py.ir.storage import SecretRef
from couler_py.ir.types import STR
from couler_py.store.database import connect
from couler_py.store.home import open_home
from couler_py.store.runs import events
from couler_py.store.secrets import write_secret
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
    message = record.tasks["a"].message
    assert message.startswith("packages can't be installed:")
    assert "couler_test_wheel" in message or "couler-test-wheel" in message
    assert not list((home / "environments").glob("*/bin"))


def test_where_a_step_takes_its_packages_from_is_its_own(home: Path, tmp_path: Path) -> None:
    """The project's index is in the step's environment; the installer here reads it too."""
    folder = tmp_path / "own"
    folder.mkdir()
    wheel(folder, "couler_test_wheel", "1.5")
    step, main = use("couler_test_wheel==1.5")
    env = (EnvVar("PIP_NO_INDEX", "1"), EnvVar("PIP_FIND_LINKS", str(folder)))
    step = msgspec.structs.replace(step, body=msgspec.structs.replace(step.body, env=env))
    record = execute(flow(step, main), home=home)
    assert record.outputs == {"v": "1.5"}, record.message


def test_an_address_with_a_password_shows_nowhere(home: Path) -> None:
    write_secret(open_home(home), "index", {"url": "http://me:hush-hush@localhost:9/simple"})
    step, main = use("couler_test_wheel==1.5")
    env = (EnvVar("PIP_INDEX_URL", SecretRef("index", "url")),)
    step = msgspec.structs.replace(step, body=msgspec.structs.replace(step.body, env=env))
    record = execute(flow(step, main), home=home)
    assert record.tasks["a"].state == "Failed"
    assert "hush-hush" not in record.tasks["a"].message


def test_what_a_killed_installer_left_is_cleared(wheels: Path, home: Path) -> None:
    wheel(wheels, "couler_test_wheel", "1.0")
    step, main = use("couler_test_wheel==1.0")
    leftover = open_home(home).path / "environments" / environment_key(step.body.packages, {})  # type: ignore[union-attr]
    (leftover / "bin").mkdir(parents=True)
    (leftover / "bin" / "python").write_text("half an interpreter")
    assert execute(flow(step, main), home=home).outputs == {"v": "1.0"}


def test_steps_that_need_the_same_wait_for_one_installer(wheels: Path, home: Path) -> None:
    wheel(wheels, "couler_test_wheel", "1.0")
    step, _ = use("couler_test_wheel==1.0")
    record = execute(flow(step, graph(*(Task(name, "use") for name in "abc"))), home=home)
    assert record.status == "Succeeded", record.message
    with closing(connect(open_home(home))) as connection:
        notes = [each["text"] for each in events(connection, record.id) if each["kind"] == "note"]
    assert notes == ["installing couler_test_wheel==1.0"]


def test_a_run_that_is_stopped_ends_the_installer_which_its_task_waits_for(wheels: Path, home: Path) -> None:
    """An installer that would wait for ever: a pipe instead of a wheel."""
    pipe = wheels / "couler_test_wheel-1.0-py3-none-any.whl"
    os.mkfifo(pipe)
    step, main = use("couler_test_wheel==1.0")
    prepared = prepare(flow(step, main), home=home, observers=[])

    async def stopped() -> tuple[str, str]:
        work = asyncio.create_task(prepared.drive())
        folder = home / "environments" / environment_key(step.body.packages, {})  # type: ignore[union-attr]
        while not folder.exists():
            await asyncio.sleep(0.01)
        waits = prepared.run.tasks["a"].message
        prepared.engine.interrupt()
        return waits, (await work).status

    told = "waits for packages to be installed: couler_test_wheel==1.0"
    assert asyncio.run(stopped()) == (told, "Stopped")
    assert not list((home / "environments").glob("*/complete"))


def test_this_interpreter_is_used_where_it_has_the_packages() -> None:
    assert satisfied(("msgspec>=0.1", "pytest", "nothing-here; python_version < '3'"))
    assert not satisfied(("msgspec<0.1",))
    assert not satisfied(("nothing-of-this-name",))
