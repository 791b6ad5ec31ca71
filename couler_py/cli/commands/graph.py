"""`couler graph FILE`: the picture of a workflow."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from couler_py.cli import linting
from couler_py.cli.console import console
from couler_py.cli.errors import UsageError
from couler_py.cli.load import load
from couler_py.cli.options import File
from couler_py.ir.model import Workflow


def command(
    file: File,
    output: Annotated[
        str, typer.Option("-o", "--output", metavar="PATH", help="x.svg, x.html, x.mmd, or - for Mermaid on stdout.")
    ] = "-",
    graphviz: Annotated[
        bool | None,
        typer.Option("--graphviz/--no-graphviz", help="Lay out by `dot` (default: if installed), or not."),
    ] = None,
    limit: Annotated[int, typer.Option("--limit", min=1, help="Above so many boxes, alike tasks share one.")] = 500,
) -> None:
    """Draw a workflow as a picture (SVG), a page (HTML) or Mermaid text."""
    loaded = load(file)
    linting.refuse(loaded)
    workflow = loaded.workflow
    suffix = ".mmd" if output == "-" else Path(output).suffix.lower()
    text = drawn(workflow, suffix, limit=limit, graphviz=graphviz)
    if output == "-":
        sys.stdout.write(text)
        return
    Path(output).write_text(text, encoding="utf-8")
    console(stderr=True).print(f"wrote {output}")


def drawn(workflow: Workflow, suffix: str, *, limit: int, graphviz: bool | None) -> str:
    """The picture in the form that a file's suffix says. Raises `UsageError` for another."""
    from couler_py.report import graph

    if graphviz:
        from couler_py.report.graph import dot

        if not dot.installed():
            raise UsageError("--graphviz: there is no `dot`; install Graphviz, or leave the option out")
    scene = graph.scene(workflow, limit=limit)
    title = workflow.display or workflow.name
    if suffix == ".svg":
        return graph.svg(scene, title=title, graphviz=graphviz)
    if suffix in (".mmd", ".mermaid"):
        return graph.mermaid(scene)
    if suffix in (".html", ".htm"):
        from couler_py.report.workflows import workflow_page

        return workflow_page(workflow, graph.svg(scene, graphviz=graphviz))
    raise UsageError(f"a picture is written as .svg, .html or .mmd, not as {suffix or 'a file without suffix'}")
