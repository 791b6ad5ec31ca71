"""YAML files of Argo's documents, read as they are: nothing of them is understood, nothing left out."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from couler_py.backends import yaml_reader
from couler_py.backends.argo.verify import verify
from couler_py.cli import linting
from couler_py.cli.console import console
from couler_py.cli.errors import UsageError
from couler_py.cli.findings import show
from couler_py.ir.diagnostics import DiagnosticError

JSON = dict[str, Any]
SUFFIXES = (".yaml", ".yml")


def is_yaml(file: str) -> bool:
    """Whether what is typed names a YAML file."""
    return file.endswith(SUFFIXES)


def read(file: str) -> list[JSON]:
    """The documents of a file, as Kubernetes reads them; what its schema refuses is refused here.

    Raises `UsageError` for what is no document, and `DiagnosticError` with everything that the schema refuses.
    """
    path = Path(file)
    if not path.is_file():
        raise UsageError(f"there is no file {file!r}", "CLR702")
    try:
        text = path.read_text(encoding="utf-8")
        found = yaml_reader.load_all(text)
    except UnicodeDecodeError as error:
        raise UsageError(f"{file} is no text: {error}", "CLR702") from None
    except yaml_reader.YamlError as error:
        raise UsageError(f"{file}: {error}", "CLR702") from None
    documents = [each for each in found if each is not None]
    for each in documents:
        if not isinstance(each, dict) or not isinstance(each.get("metadata"), dict) or not each.get("kind"):
            raise UsageError(f"{file} isn't made of Kubernetes' documents: each has kind and metadata", "CLR702")
    if not documents:
        raise UsageError(f"{file} is empty", "CLR703")
    whole: list[JSON] = [each for each in documents if isinstance(each, dict)]
    if findings := verify(whole):
        raise DiagnosticError(findings)
    _heed_policies(file, text)
    return whole


def _heed_policies(file: str, text: str) -> None:
    """Say what the policies don't allow of a file. Raises `DiagnosticError` where one refuses it."""
    found = linting.by_policy({file: text})
    if any(each.severity == "error" for each in found):
        raise DiagnosticError(found)
    show(found, console(stderr=True))
