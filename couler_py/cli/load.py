"""A workflow from what is typed: `FILE[:NAME]`, `MODULE[:NAME]`, an IR file, or Argo's YAML."""

from __future__ import annotations

import hashlib
import importlib
import importlib.util
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from types import ModuleType
from typing import Any

import msgspec

from couler_py import api
from couler_py.cli.errors import UsageError, UserCodeError
from couler_py.dsl import Workflow as Builder
from couler_py.dsl import WorkflowFunction
from couler_py.dsl.verbs import state
from couler_py.ir.diagnostics import CoulerError, Diagnostic, DiagnosticError
from couler_py.ir.model import Document, Source, Workflow

NAMED = 5  # files of a folder that are named

YAML = (".yaml", ".yml")
"""What files of Argo's documents are called."""


class Loaded(msgspec.Struct, frozen=True):
    """A workflow as its file has it. `parameters`, `submitter` and `options` are what the file's own `run` was given.

    `imported` marks a workflow that wasn't written in Python here (an IR file, Argo's YAML). `document` is the
    workflow with its kind and metadata, where it was written as a document of Argo's, and `written` what wrote it,
    where that was a program.
    """

    workflow: Workflow
    file: Path | None = None
    parameters: Mapping[str, Any] = {}
    submitter: Any = None
    options: Mapping[str, Any] = {}
    imported: bool = False
    document: Document | None = None
    written: Any = None

    @property
    def model(self) -> Workflow | Document:
        """What is compiled: the document where there is one."""
        return self.document or self.workflow


class _Target(msgspec.Struct, frozen=True):
    path: Path | None
    module: str
    name: str


def load(target: str) -> Loaded:
    """The workflow that is typed as `target`.

    Raises `UsageError` where there is none or it isn't clear which, `UserCodeError` where the file
    raises, and `DiagnosticError` for what is wrong with the workflow.
    """
    found = _parse(target)
    if found.path is not None and found.path.suffix == ".json":
        if found.name:
            raise UsageError(
                f"{found.path} is an IR file, which holds one workflow: leave out {':' + found.name!r}", "CLR704"
            )
        model = _from_json(found.path)
        document = model if isinstance(model, Document) else None
        return Loaded(api.build(model), found.path, imported=True, document=document)
    if found.path is not None and found.path.suffix in YAML:
        return _from_yaml(found)
    state.reset()  # a file loaded before may have left its recording
    with api.loading() as recorded:
        module = _execute(found)
        if found.path is not None and not (recorded or workflows_of(module) or _implicit()):
            module = _execute(found, as_main=True)
        return _choose(found, module, recorded)


def _parse(target: str) -> _Target:
    whole = Path(target)
    if whole.is_file():
        return _Target(_suffix_known(whole), "", "")
    left, colon, name = target.rpartition(":")
    if colon and Path(left).is_file():
        return _Target(_suffix_known(Path(left)), "", name)
    place = left if colon else target
    if place.endswith((".py", ".json")) or ("/" in place and not whole.is_dir()):
        raise UsageError(f"there is no file {place!r}", "CLR702")
    if whole.is_dir() and not _is_package(whole):
        raise UsageError(f"{place} is a folder: name the file of the workflow{_programs_in(whole)}", "CLR702")
    if all(part.isidentifier() for part in place.split(".")):
        return _Target(None, place, name if colon else "")
    raise UsageError(f"{target!r} is neither a file nor a module", "CLR702")


def _is_package(folder: Path) -> bool:
    return (folder / "__init__.py").exists() and "/" not in str(folder)


def _programs_in(folder: Path) -> str:
    found = sorted(each for each in folder.iterdir() if each.suffix in (".py", *YAML) and each.is_file())
    if not found:
        return ", and there is none in it"
    return f", as {', '.join(map(str, found[:NAMED]))}{', …' if len(found) > NAMED else ''}"


def _suffix_known(path: Path) -> Path:
    if path.suffix not in (".py", ".json", *YAML):
        raise UsageError(f"{path} is neither a Python file (.py), an IR file (.json) nor Argo's YAML (.yaml)", "CLR702")
    return path


def _from_yaml(found: _Target) -> Loaded:
    assert found.path is not None
    documents, _ = argo_documents(found.path, places=True)
    named = {each.workflow.name: each for each in documents}
    if found.name and found.name not in named:
        raise UsageError(f"{found.path} has no workflow {found.name!r}; it has {', '.join(named)}", "CLR704")
    if found.name:
        document = named[found.name]
    else:
        from couler_py.backends.argo.document.selection import main_of

        document = main_of(documents)
    return Loaded(document.workflow, found.path, imported=True, document=document)


def argo_documents(path: Path, *, places: bool = False) -> tuple[tuple[Document, ...], tuple[Diagnostic, ...]]:
    """Every document of Argo's in a YAML file, and what there is to say about them.

    With `places`, what is found later points at the line of the file.

    Raises `UsageError` for what is no YAML, and `DiagnosticError` for what is no document of Argo's.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise UsageError(f"{path}: {error}", "CLR702") from error
    return documents_of(text, str(path), places=places)


def documents_of(text: str, file: str, *, places: bool = False) -> tuple[tuple[Document, ...], tuple[Diagnostic, ...]]:
    """As `argo_documents`, of a text that is read already; `file` is how it is called."""
    from couler_py.backends.argo.document import loaded
    from couler_py.backends.yaml import YamlError

    try:
        return loaded(text, file=file, places=places)
    except YamlError as error:
        raise UsageError(f"{file}: {error}", "CLR702") from error


def _from_json(path: Path) -> Workflow | Document:
    from couler_py.ir.codec import IRError, from_json

    try:
        return from_json(path.read_bytes())
    except IRError as error:
        raise UsageError(f"{path}: {error}", "CLR702") from error


# ---- running a file


def _execute(target: _Target, *, as_main: bool = False) -> ModuleType:
    if target.path is None:
        return _import(target.module)
    path = target.path.resolve()
    # A name of its own: `random.py` must not hide Python's, and classes in it must be found again.
    unique = f"{path.stem}_{hashlib.sha256(str(path).encode()).hexdigest()[:8]}"
    name = "__main__" if as_main else unique
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    before = sys.modules.get(name)
    sys.modules[name] = sys.modules[unique] = module
    try:
        with _as_program(path), _users(target):
            spec.loader.exec_module(module)
    finally:
        if as_main and before is not None:
            sys.modules[name] = before
    return module


def _import(name: str) -> ModuleType:
    if "" not in sys.path and str(Path.cwd()) not in sys.path:
        sys.path.insert(0, str(Path.cwd()))
    root = name.split(".")[0]
    if root not in sys.modules and importlib.util.find_spec(root) is None:
        raise UsageError(f"there is neither a file nor a module {name!r}", "CLR702")
    with _users(_Target(None, name, "")):
        return importlib.import_module(name)


@contextmanager
def _as_program(path: Path) -> Iterator[None]:
    # As `python FILE`: its folder comes first in the search for modules, and it has no arguments.
    sys.path.insert(0, str(path.parent))
    arguments, sys.argv = sys.argv, [str(path)]
    try:
        yield
    finally:
        sys.argv = arguments


@contextmanager
def _users(target: _Target) -> Iterator[None]:
    place = target.path or target.module
    try:
        yield
    except CoulerError:
        raise
    except SystemExit as error:
        if error.code not in (None, 0):
            raise UserCodeError(f"{place} ended itself with {error.code!r} while it was loaded") from error
    except Exception as error:
        raise UserCodeError(f"{place} can't be loaded, it raises {type(error).__name__}") from error


# ---- which workflow


def workflows_of(module: ModuleType) -> dict[str, Any]:
    """The workflows that a module defines or imports, by their first name in it."""
    found: dict[str, Any] = {}
    seen: set[int] = set()
    for name, value in list(vars(module).items()):
        if _is_workflow(value) and id(value) not in seen:
            seen.add(id(value))
            found[name] = value
    return found


def _is_workflow(value: Any) -> bool:
    native = sys.modules.get("couler_py.backends.argo.native.workflows")  # there, where the module has used it
    return isinstance(value, Builder | WorkflowFunction | Workflow) or (
        native is not None and isinstance(value, native.Written)
    )


def _implicit() -> bool:
    return state.implicit() is not None


def _choose(target: _Target, module: ModuleType, recorded: list[api.Recorded]) -> Loaded:
    place = str(target.path or target.module)
    known = workflows_of(module)
    if target.name:
        if target.name not in known:
            raise UsageError(f"{place} has no workflow {target.name!r}; {_listing(known)}", "CLR704")
        return _loaded(target, known[target.name], recorded)
    own = {name: value for name, value in known.items() if _defined_in(value, module)} or known
    if len(own) == 1:
        return _loaded(target, next(iter(own.values())), recorded)
    named = [each for each in recorded if each.workflow is not None]
    if len(named) == 1 and (not own or any(value is named[0].workflow for value in own.values())):
        return _loaded(target, named[0].workflow, recorded)
    if len(own) > 1:
        outer = _not_called(own)
        if len(outer) == 1:
            return _loaded(target, outer[0], recorded)
        raise UsageError(
            f"{place} has several workflows: choose one of " + ", ".join(f"{place}:{name}" for name in own), "CLR704"
        )
    if not recorded and not _implicit():
        raise UsageError(
            f"{place} has no workflow: write a function with @couler.workflow, or call Couler's verbs", "CLR703"
        )
    return _loaded(target, None, recorded)


def _not_called(workflows: Mapping[str, Any]) -> list[Any]:
    """The workflows that are no part of another: what a workflow calls stands among its templates, by its place."""
    called: set[Source] = set()
    for value in workflows.values():
        with suppress(DiagnosticError):  # it is said when it turns out to be the one that is meant
            built = api.build(value)
            called.update(each.source for each in built.templates if each.name != built.entrypoint and each.source)
    return [value for value in workflows.values() if value.source not in called]


def _listing(known: Mapping[str, Any]) -> str:
    return f"it has {', '.join(known)}" if known else "it has none"


def _defined_in(value: Any, module: ModuleType) -> bool:
    return getattr(value, "__module__", module.__name__) == module.__name__


def _loaded(target: _Target, workflow: Any, recorded: list[api.Recorded]) -> Loaded:
    given = next((each for each in recorded if each.workflow is workflow), None)
    with _users(target):
        built = api.build(workflow)
        handed = api.given(workflow)
    document = handed if isinstance(handed, Document) else None
    written = workflow if document is not None and workflow is not document else None
    if given is None:
        return Loaded(built, target.path, document=document, written=written)
    own = (given.parameters, given.submitter, given.options)
    return Loaded(built, target.path, *own, document=document, written=written)
