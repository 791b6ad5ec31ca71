"""`couler compile FILE --to ENGINE`: what an engine reads."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Any

import msgspec
import typer

from couler_py import api
from couler_py.backends.base import Bundle
from couler_py.cli import linting
from couler_py.cli.console import console, size
from couler_py.cli.findings import show
from couler_py.cli.load import Loaded, load
from couler_py.cli.options import EngineOptions, File, engine_options
from couler_py.cli.passing import Passes, passing


@passing
def command(
    file: File,
    to: Annotated[
        str | None,
        typer.Option(
            "--to",
            metavar="ENGINE[@VERSION]",
            help="argo, argo@3.5, airflow, local, ir, … (default: the settings', else argo).",
        ),
    ] = None,
    output: Annotated[
        str, typer.Option("-o", "--output", metavar="PATH", help="A file, a folder (ending in /), or - for stdout.")
    ] = "-",
    crds: Annotated[str | None, typer.Option("--crds", help="Argo: full or minimal, as is installed.")] = None,
    on_unsupported: Annotated[
        str | None, typer.Option("--on-unsupported", help="What the engine can't do: error, warn or emulate.")
    ] = None,
    option: EngineOptions = None,
    *,
    passes: Passes,
) -> None:
    """Write what an engine reads: Argo YAML, a DAG file for Airflow, or the IR as JSON."""
    options = engine_options(option) | given(crds=crds, on_unsupported=on_unsupported)
    loaded = load(file)
    bundle = api.compile(loaded.model, to=to, without=passes.without, **passes.options, **options)
    show(bundle.diagnostics, console(stderr=True))
    if bundle.engine == "argo":
        _warn(loaded, to)
    if output == "-":
        printed(bundle)
        return
    for path in write(bundle, output):
        console(stderr=True).print(f"wrote {path} ({size(path.stat().st_size)})")


def _warn(loaded: Loaded, to: str | None) -> None:
    """Say what Argo would refuse of a document in its own words: it is written, for whoever knows better."""
    found, lines = linting.refused(loaded, "argo@3.5" if to == "argo@3.5" else "argo@4")
    warnings = [msgspec.structs.replace(each, severity="warning") for each in found]
    show(warnings, console(stderr=True), lines)


def given(**options: Any) -> dict[str, Any]:
    """The options that were typed."""
    return {name: value for name, value in options.items() if value is not None}


def printed(bundle: Bundle) -> None:
    """Write a bundle's main file to stdout, and say which others there are."""
    sys.stdout.write(bundle.text)
    beside = [*list(bundle.files)[1:], *bundle.blobs]
    if beside:
        names = ", ".join(beside)
        console(stderr=True).print(f"not printed: {names}; `-o FOLDER/` writes all files")


def write(bundle: Bundle, output: str) -> tuple[Path, ...]:
    """Write a bundle to a file (what belongs to it lies beside), or into a folder. Gives the paths, the main first."""
    path = Path(output)
    if output.endswith("/") or path.is_dir():
        return bundle.write(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(bundle.text, encoding="utf-8")
    others = Bundle(bundle.engine, dict(list(bundle.files.items())[1:]), blobs=bundle.blobs)
    return (path, *others.write(path.parent))
