"""`couler image build|push FILE`: images that hold what steps need."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Annotated

import typer

from couler_py.cli.console import console
from couler_py.cli.errors import UsageError
from couler_py.cli.load import load
from couler_py.cli.options import File
from couler_py.dsl import images
from couler_py.dsl.images import Recipe
from couler_py.dsl.lockfile import LOCK_FILE, ignoring
from couler_py.ir.graph import templates_by_name
from couler_py.ir.model import Template, Workflow

app = typer.Typer(add_completion=False, rich_markup_mode=None, no_args_is_help=True)

Repository = Annotated[
    str, typer.Option("--repository", metavar="NAME", help="Images are NAME/STEP:KEY, as registry.example.com/team.")
]
Tool = Annotated[str, typer.Option("--tool", help="docker, podman, or another with their commands.")]


@app.callback()
def group() -> None:
    """Build and push the container images of a workflow's steps."""


@app.command()
def build(
    file: File,
    repository: Repository = "couler",
    tool: Tool = "docker",
    context: Annotated[
        Path | None, typer.Option("--context", help="Only write the Dockerfiles and what they need, below this folder.")
    ] = None,
) -> None:
    """Build an image for each set of packages and files."""
    _, recipes = _recipes(file)
    for recipe in recipes:
        name = tag(repository, recipe)
        if context is not None:
            folder = context / recipe.steps[0]
            folder.mkdir(parents=True, exist_ok=True)
            images.write_context(recipe, folder)
            console(stderr=True).print(f"wrote {folder}, for {name}")
            continue
        with tempfile.TemporaryDirectory() as empty:
            images.build(recipe, name, Path(empty), tool=tool)
        print(name)


@app.command()
def push(file: File, repository: Repository, tool: Tool = "docker") -> None:
    """Push the images that were built, and pin each by its digest in couler.lock."""
    workflow, recipes = _recipes(file)
    templates = templates_by_name(workflow)
    for recipe in recipes:
        pinned = images.push(tag(repository, recipe), tool=tool)
        for folder in {folder_of_template(templates[step]) for step in recipe.steps}:
            images.pin(folder / LOCK_FILE, recipe, pinned)
        print(pinned)


def folder_of_template(template: Template) -> Path:
    """The folder that a step's lock lies in: that of the file it was written in."""
    return Path(template.source.file).resolve().parent if template.source else Path.cwd()


def _recipes(file: str) -> tuple[Workflow, tuple[Recipe, ...]]:
    with ignoring("images"):
        workflow = load(file).workflow
    found = images.recipes(workflow)
    if not found:
        raise UsageError(f"no step of {workflow.name} has packages= or include=: its images need nothing built")
    return workflow, found


def tag(repository: str, recipe: Recipe) -> str:
    """The name of a recipe's image: its first step, and as tag the first digits of its key."""
    step = "".join(char if char.isalnum() else "-" for char in recipe.steps[0].lower()).strip("-")
    return f"{repository.rstrip('/')}/{step or 'step'}:{recipe.key[:12]}"
