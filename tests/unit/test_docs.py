"""The documentation is true: what it shows runs, and everything public has its place there."""

from __future__ import annotations

import doctest
import importlib
import inspect
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import nbformat
import pytest
from nbclient import NotebookClient

import couler_py
import couler_py.argo
from couler_py.argo_native import Written
from couler_py.backends.features import FEATURES
from couler_py.cli.app import COMMANDS
from couler_py.ir.codes import explanations
from tests.pages import ROOT, Reader, blocks
from tools.docs import hook, reference

PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
SHOWING = [page for page in PAGES if any(block.language in ("python", "console") for block in blocks(page))]

SLOW = [page for page in SHOWING if any(block.note == "slow" for block in blocks(page))]


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """An empty working folder, which also holds the runs, and a terminal without colours."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COULER_HOME", str(tmp_path / ".couler"))
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setenv("TERM", "dumb")
    monkeypatch.setenv("COLUMNS", "110")
    monkeypatch.syspath_prepend(str(tmp_path))
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    couler_py.argo.reset()
    before = set(sys.modules)
    yield tmp_path
    couler_py.argo.reset()  # what an example recorded
    for name in set(sys.modules) - before:  # files that a page wrote and imported: the next page may have one so named
        if Path(getattr(sys.modules[name], "__file__", None) or "/").is_relative_to(tmp_path):
            del sys.modules[name]


@pytest.mark.parametrize("page", SHOWING, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_what_a_page_shows_is_so(page: Path, here: Path) -> None:
    Reader(page, here).read()


@pytest.mark.soak
@pytest.mark.parametrize("page", SLOW, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_what_takes_long_is_so_too(page: Path, here: Path) -> None:
    Reader(page, here, slow=True).read()


def test_every_public_name_is_explained_in_the_reference() -> None:
    assert set(reference.public()) - reference.explained() == set()


@pytest.mark.parametrize("name", sorted({*reference.public(), *couler_py.argo.__all__}))
def test_every_public_name_says_what_it_is(name: str) -> None:
    thing = getattr(couler_py if hasattr(couler_py, name) else couler_py.argo, name)
    text = thing.__doc__ if inspect.isclass(thing) else inspect.getdoc(thing)
    assert text
    assert "A base class for defining efficient serializable objects" not in text  # msgspec's own words


@pytest.mark.parametrize("module", [couler_py, couler_py.argo], ids=lambda module: module.__name__)
def test_every_public_function_has_an_example(module: ModuleType) -> None:
    functions = [getattr(module, name) for name in dir(module) if inspect.isfunction(getattr(module, name))]
    public = [each for each in functions if each.__name__ in (*reference.public(), *couler_py.argo.__all__)]
    assert [each.__name__ for each in public if ">>> " not in (inspect.getdoc(each) or "")] == []


def test_every_diagnostic_and_every_feature_has_its_place() -> None:
    made = hook.made()
    sections = re.findall(r"^### (CLR\d+): .*\{ #clr\d+ \}$", made["diagnostics.md"], re.MULTILINE)
    assert sections == list(explanations())
    assert re.findall(r"^\| `(\w+)`<br>", made["matrix.md"], re.MULTILINE) == list(FEATURES)


def test_every_command_is_on_the_page_of_the_command_line() -> None:
    page = (ROOT / "docs" / "cli.md").read_text(encoding="utf-8")
    assert [name for name in COMMANDS if f"`couler {name} " not in page] == []


def test_programs_in_argos_own_words_pass_the_linter() -> None:
    page = list(blocks(ROOT / "docs" / "guides" / "argo-native.md"))
    programs = [each for each in page if each.language == "python" and "\nwith argo." in each.text]
    said = []
    for block in programs:
        if block.title == "typo.py":  # shows a mistake
            continue
        names: dict[str, Any] = {}
        exec(compile(block.text, f"line {block.line}", "exec"), names)
        written = [each for each in names.values() if isinstance(each, Written)]
        assert written
        said += [(block.line, str(found)) for each in written for found in each.lint() if found.severity != "note"]
    assert said == []


def test_every_example_has_a_page_with_its_picture() -> None:
    made = hook.made()
    names = sorted(path.stem for path in (ROOT / "examples").glob("*.py"))
    assert [name for name in names if f"examples/{name}.md" in made and f"examples/{name}.svg" in made] == names


def test_what_is_made_is_the_same_each_time() -> None:
    first = dict(hook.made())
    hook.examples.files.cache_clear()
    assert hook.made() == first


HOMES = sorted(
    {reference.home(getattr(couler_py, name)).rpartition(".")[0] for name in reference.public()}
    | {reference.home(getattr(couler_py.argo, name)).rpartition(".")[0] for name in couler_py.argo.__all__}
)


@pytest.mark.parametrize("module", [name.removesuffix(".RunInfo") for name in HOMES])
def test_the_examples_of_public_docstrings_are_so(module: str, here: Path) -> None:
    ran = doctest.testmod(
        importlib.import_module(module), optionflags=doctest.ELLIPSIS, extraglobs={"couler": couler_py}
    )
    assert ran.failed == 0


def test_the_notebook_runs(here: Path) -> None:
    notebook = nbformat.read(ROOT / "docs" / "guides" / "notebook.ipynb", as_version=4)
    ran = NotebookClient(
        notebook, timeout=120, iopub_timeout=60, coalesce_streams=True, resources={"metadata": {"path": str(here)}}
    ).execute()
    shown = [
        output["data"]["text/plain"]
        for cell in ran.cells
        if cell.cell_type == "code"
        for output in cell.outputs
        if output.output_type == "execute_result"
    ]
    assert shown == ["144", "{'result': 14}", "'Succeeded'", "{'result': 500}", "'Workflow'"]
