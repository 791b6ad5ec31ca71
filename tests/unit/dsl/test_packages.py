"""Requirements of steps: canonical, pinned by a lock file, never options."""

from __future__ import annotations

import sys
import zipfile
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from couler_py.dsl import packages as packages_module
from couler_py.dsl.errors import DefinitionError
from couler_py.dsl.images import ImageError, Recipe, dockerfile, pin, recipe_key, recipes, write_context
from couler_py.dsl.lockfile import Lock, LockError, PinnedSet, ignoring, read_lock, write_lock
from couler_py.dsl.packages import holds_credentials, index_environment, lock, lock_workflow, normalise, python_of
from couler_py.ir.model import Function, IncludeArchive, Piece, Source, Template, Workflow
from couler_py.ir.pod import EnvVar
from couler_py.settings import Settings

PLACE = Source("flow.py", 3)


def load(folder: Path, options: str) -> Any:
    path = folder / "flow.py"
    path.write_text(f"from couler_py.dsl.step import step\n@step({options})\ndef work() -> None: ...\n")
    module = ModuleType("flow")
    exec(compile(path.read_text(), str(path), "exec"), module.__dict__)
    return module.work


def wheel(folder: Path, name: str, version: str, *requires: str) -> None:
    """A wheel that installs nothing but says what it needs."""
    info = f"{name}-{version}.dist-info"
    lines = [f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}", *(f"Requires-Dist: {one}" for one in requires)]
    with zipfile.ZipFile(folder / f"{name}-{version}-py3-none-any.whl", "w") as archive:
        archive.writestr(f"{info}/METADATA", "\n".join(lines) + "\n")
        archive.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        archive.writestr(f"{info}/RECORD", "")


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (["Scikit_Learn >= 1.4,<2", "numpy"], ("numpy", "scikit-learn<2,>=1.4")),
        (["numpy", "NumPy"], ("numpy",)),
        (['x[b,a]==1 ; python_version < "3.12"'], ('x[a,b]==1; python_version < "3.12"',)),
        (["x @ https://example.com/x.whl"], ("x@ https://example.com/x.whl",)),
    ],
)
def test_requirements_are_canonical(given: list[str], expected: tuple[str, ...]) -> None:
    assert [one.replace(" @", "@") for one in normalise(given, PLACE, "train")] == list(expected)


@pytest.mark.parametrize(
    "bad", ["--index-url=https://x", "-r x.txt", " --pre", "./x.whl", "a\n--pre", "x @ https://u:p@example.com/x.whl"]
)
def test_what_is_no_requirement_is_refused(bad: str) -> None:
    with pytest.raises(DefinitionError, match="CLR132"):
        normalise([bad], PLACE, "train")


def test_lock_pins_the_packages_of_a_step(tmp_path: Path) -> None:
    write_lock(
        tmp_path / "couler.lock", Lock(sets={"python 3.11: numpy>=1": PinnedSet("3.11", ("numpy==2.1.0", "x==1"))})
    )
    assert load(tmp_path, 'packages=["numpy>=1"]').template().body.packages == ("numpy==2.1.0", "x==1")


def test_packages_that_the_lock_does_not_know_are_refused_when_used(tmp_path: Path) -> None:
    write_lock(tmp_path / "couler.lock", Lock(sets={"python 3.11: numpy>=1": PinnedSet("3.11", ("numpy==2.1.0",))}))
    work = load(tmp_path, 'packages=["numpy>=2"]')
    with pytest.raises(DefinitionError, match="no versions for numpy>=2") as caught:
        work.template()
    assert "couler lock flow.py" in caught.value.diagnostics[0].help
    with ignoring("sets"):
        assert work.template().body.packages == ("numpy>=2",)


def test_lock_file_comes_back(tmp_path: Path) -> None:
    content = Lock(sets={"b": PinnedSet("3.11", ("b==1",)), "a": PinnedSet("3.12", ())}, images={"k": "x@sha256:1"})
    write_lock(tmp_path / "couler.lock", content)
    assert read_lock(tmp_path / "couler.lock") == content


@pytest.mark.parametrize("text", ["", "{", '{"format": "couler-lock/9"}', '{"format": "couler-lock/1", "extra": 1}'])
def test_broken_lock_file_is_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / "couler.lock").write_text(text)
    with pytest.raises(LockError, match=r"couler\.lock"):
        read_lock(tmp_path / "couler.lock")


@pytest.mark.parametrize("with_uv", [True, False], ids=["uv", "pip"])
def test_lock_resolves_from_wheels_without_an_index(
    tmp_path: Path, with_uv: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    wheel(tmp_path, "first", "1.0", "second>=1")
    wheel(tmp_path, "second", "1.0")
    wheel(tmp_path, "second", "2.0")
    (tmp_path / "constraints.txt").write_text("second<2\n")
    project = Settings(find_links=(str(tmp_path),), constraints=("constraints.txt",), offline=True)
    if not with_uv:
        monkeypatch.setattr(packages_module, "uv_path", lambda: None)
    found = lock(["first"], python=f"3.{sys.version_info.minor}", project=project, root=tmp_path)
    assert found.pins == ("first==1.0", "second==1.0")


def test_requirements_that_can_not_be_resolved_are_an_error(tmp_path: Path) -> None:
    with pytest.raises(LockError, match="can't be resolved"):
        lock(["nowhere"], project=Settings(find_links=(str(tmp_path),), offline=True))


def test_configuration_tells_pip_where_packages_come_from(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text(
        '[tool.couler]\nindex_url = "https://pypi.example.com/simple"\nfind_links = ["/wheels"]\noffline = true\n'
    )
    assert load(tmp_path, 'packages=["numpy"], env={"PIP_FIND_LINKS": "/mine"}').template().body.env == (
        EnvVar("PIP_FIND_LINKS", "/mine"),
        EnvVar("PIP_INDEX_URL", "https://pypi.example.com/simple"),
        EnvVar("PIP_NO_INDEX", "1"),
    )


@pytest.mark.parametrize("credentials", ["u:p", "glpat-12345"])
def test_credentials_in_an_index_are_refused(tmp_path: Path, credentials: str) -> None:
    (tmp_path / "pyproject.toml").write_text(f'[tool.couler]\nindex_url = "https://{credentials}@pypi.example.com"\n')
    with pytest.raises(DefinitionError, match="holds a password or a token") as caught:
        index_environment(str(tmp_path / "flow.py"), PLACE, "train")
    assert credentials not in str(caught.value)


@pytest.mark.parametrize("scheme", ["https", "git+https"])
def test_credentials_in_a_requirement_are_refused(scheme: str) -> None:
    with pytest.raises(DefinitionError, match="the address of ours holds a password or a token") as caught:
        normalise([f"ours @ {scheme}://glpat-12345@git.example.com/ours.git"], PLACE, "train")
    assert "glpat-12345" not in str(caught.value)


def test_the_name_of_an_ssh_account_is_no_credential() -> None:
    assert not holds_credentials("git+ssh://git@git.example.com/ours.git")


def test_locking_a_workflow_pins_each_set_once_and_keeps_images(tmp_path: Path) -> None:
    wheel(tmp_path, "first", "1.0")
    (tmp_path / "pyproject.toml").write_text(f'[tool.couler]\nfind_links = ["{tmp_path}"]\noffline = true\n')
    write_lock(tmp_path / "couler.lock", Lock(images={"k": "x@sha256:1"}))
    work = load(tmp_path, 'packages=["first"]')
    with ignoring("sets", "images"):
        workflow = Workflow("w", "work", (work.template(), function("other", ())))
    path = lock_workflow(workflow, str(tmp_path / "flow.py"))
    assert read_lock(path) == Lock(
        sets={"python 3.11: first": PinnedSet("3.11", ("first==1.0",))}, images={"k": "x@sha256:1"}
    )
    assert work.template().body.packages == ("first==1.0",)


@pytest.mark.parametrize(
    ("image", "python"),
    [("python:3.12-slim", "3.12"), ("registry.example.com/python:3.9", "3.9"), ("pytorch/pytorch:2.5", None)],
)
def test_python_of_an_image(image: str, python: str | None) -> None:
    assert python_of(image) == python


# ---- images


def function(name: str, packages: tuple[str, ...], include: tuple[str, ...] = ()) -> Template:
    return Template(name, Function(name, (Piece(f"def {name}(): ..."),), packages=packages, include=include))


def test_steps_with_the_same_needs_share_an_image(tmp_path: Path) -> None:
    workflow = Workflow(
        "w",
        "a",
        (function("a", ("numpy",)), function("b", ("numpy",)), function("c", (), ("d1",)), function("d", ())),
        includes=(IncludeArchive("d1", ("x.py",), str(tmp_path)),),
    )
    assert [(recipe.steps, recipe.packages) for recipe in recipes(workflow)] == [(("a", "b"), ("numpy",)), (("c",), ())]


def test_dockerfile_names_no_requirement_in_a_command(tmp_path: Path) -> None:
    (tmp_path / "x.py").write_text("x = 1\n")
    recipe = Recipe("python:3.11", ("numpy>=1",), (IncludeArchive("d" * 64, ("x.py",), str(tmp_path)),))
    folder = tmp_path / "context"
    folder.mkdir()
    write_context(recipe, folder)
    assert (folder / "Dockerfile").read_text() == (
        "FROM python:3.11\n"
        "COPY requirements.txt /opt/couler/requirements.txt\n"
        "RUN python -m pip install --no-cache-dir --no-input -r /opt/couler/requirements.txt\n"
        "ADD include-dddddddddddd.tar.gz /opt/couler/include/\n"
        "ENV PYTHONPATH=/opt/couler/include COULER_INCLUDE_ROOT=/opt/couler/include\n"
    )
    assert (folder / "requirements.txt").read_text() == "numpy>=1\n"
    assert sorted(path.name for path in folder.iterdir()) == [
        "Dockerfile",
        "include-dddddddddddd.tar.gz",
        "requirements.txt",
    ]


def test_base_that_is_no_image_is_refused() -> None:
    with pytest.raises(ImageError, match="not the name of an image"):
        dockerfile(Recipe("python:3.11\nRUN rm -rf /", ()))


def test_pinned_image_is_used_as_long_as_its_content_is_the_step_s(tmp_path: Path) -> None:
    work = load(tmp_path, 'packages=["numpy"], image="python:3.12"')
    image = "registry.example.com/work@sha256:" + "0" * 64
    pin(tmp_path / "couler.lock", Recipe("python:3.12", ("numpy",)), image)
    assert read_lock(tmp_path / "couler.lock").images == {recipe_key("python:3.12", ("numpy",), ()): image}
    body = work.template().body
    assert (body.image, body.packages) == (image, ())
    assert load(tmp_path, 'packages=["scipy"], image="python:3.12"').template().body.image == "python:3.12"


def test_tag_is_not_pinned(tmp_path: Path) -> None:
    with pytest.raises(ImageError, match="has no digest"):
        pin(tmp_path / "couler.lock", Recipe("python:3.12", ("numpy",)), "registry.example.com/work:latest")
