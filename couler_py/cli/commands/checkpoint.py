"""`couler checkpoint`: what training steps have saved, whatever layout they had."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Annotated, Any

import msgspec
import typer

from couler_py.cli.amounts import bytes_of
from couler_py.cli.app import COMMANDS
from couler_py.cli.console import columns, console, size
from couler_py.cli.errors import UsageError
from couler_py.cli.options import AsJson
from couler_py.cli.running import to_json
from couler_py.steps.checkpoint import folders, inspecting
from couler_py.steps.checkpoint.manifest import CheckpointError
from couler_py.steps.checkpoint.places import Place, place

app = typer.Typer(help=COMMANDS["checkpoint"][1], add_completion=False, rich_markup_mode=None, no_args_is_help=True)

Where = Annotated[str, typer.Argument(metavar="FOLDER", help="The folder or URL (s3://…) with the checkpoints.")]
Step = Annotated[int | None, typer.Option("--step", metavar="N", help="The step (default: the newest).")]


@app.command("ls")
def list_all(
    where: Where,
    step: Annotated[int | None, typer.Option("--step", metavar="N", help="Its tensors instead of all steps.")] = None,
    as_json: AsJson = False,
) -> None:
    """List the checkpoints of a training, or the tensors and facts of one."""
    source = place(where)
    if step is not None:
        _tensors(source, _found(source, step), as_json)
        return
    found = inspecting.listed(source)
    if as_json:
        print(to_json(msgspec.to_builtins(found)), end="")
        return
    if not found:
        console(stderr=True).print(f"no checkpoint is in {where}")
        return
    rows = [
        [str(each.step), str(each.tensors), size(each.size), "newest" if each.is_latest else "", each.folder]
        if each.is_whole
        else [str(each.step), "", "", "not whole", each.folder]
        for each in found
    ]
    for line in columns(rows, header=("STEP", "TENSORS", "SIZE", "", "FOLDER")):
        console().print(line)


@app.command("verify")
def verify(where: Where, step: Step = None) -> None:
    """Read all of a checkpoint, and name each part that was altered, cut off, or is gone."""
    source = place(where)
    folder = _found(source, step)
    with _said():
        found = list(inspecting.problems(source, folder))
        manifest = folders.manifest_of(source, folder)
    for each in found:
        console().print(each)
    if found:
        raise typer.Exit(1)
    total = sum(each.size for each in manifest.files)
    console().print(f"step {manifest.step}: {len(manifest.tensors)} tensors, {size(total)}, all as they were written")


@app.command("diff")
def diff(
    one: Where,
    other: Annotated[str, typer.Argument(metavar="OTHER", help="The folder or URL of the other.")],
    step: Step = None,
    other_step: Annotated[int | None, typer.Option("--other-step", metavar="N", help="The step of the other.")] = None,
    as_json: AsJson = False,
) -> None:
    """Say which tensors two checkpoints don't have alike, and by how much. Exit code 1 where there are such."""
    left, right = place(one), place(other)
    with _said():
        found = list(inspecting.differences((left, _found(left, step)), (right, _found(right, other_step))))
    if as_json:
        print(to_json(msgspec.to_builtins(found)), end="")
    for each in [] if as_json else found:
        much = f", by {each.most:.3g} at most" if each.most is not None else ""
        numbers = f" in {each.numbers:,} numbers{much}" if each.numbers else ""
        console().print(f"{each.name}: {each.what}{numbers}")
    if found:
        raise typer.Exit(1)
    if not as_json:
        console(stderr=True).print("no difference")


@app.command("reshard")
def reshard(
    where: Where,
    target: Annotated[str, typer.Argument(metavar="TARGET", help="The folder or URL to write to.")],
    count: Annotated[int, typer.Option("--files", metavar="N", help="Into so many files.")],
    step: Step = None,
) -> None:
    """Write a checkpoint anew in more files or fewer. Loading needs no such thing, whatever the number of ranks."""
    source = place(where)
    with _said():
        folder = inspecting.reshard(source, _found(source, step), place(target), count)
    console().print(f"{target}/{folder}")


@app.command("export")
def export(
    where: Where,
    target: Annotated[str, typer.Argument(metavar="TARGET", help="The folder or URL to write to.")],
    step: Step = None,
    under: Annotated[str, typer.Option("--under", help="Only tensors whose names begin so; it is cut off.")] = "model/",
    prefix: Annotated[str, typer.Option("--prefix", help="What their names get instead, as `model.`")] = "",
    largest: Annotated[str, typer.Option("--largest", metavar="SIZE", help="The most bytes of a file.")] = "5GB",
) -> None:
    """Write the weights as plain safetensors, as Hugging Face's tools read them."""
    source = place(where)
    with _said():
        made = inspecting.export(
            source,
            _found(source, step),
            place(target),
            under=under,
            prefix=prefix,
            largest=bytes_of("--largest", largest),
        )
    for name in made:
        console().print(f"{target}/{name}")


def _tensors(source: Place, folder: str, as_json: bool) -> None:
    with _said():
        manifest = folders.manifest_of(source, folder)
    told: list[dict[str, Any]] = [
        {"name": name, "dtype": each.dtype, "shape": each.shape, "bytes": each.size, "cells": len(each.cells)}
        | ({"same_as": each.same_as} if each.same_as else {})
        for name, each in sorted(manifest.tensors.items())
    ]
    if as_json:
        print(to_json({"step": manifest.step, "facts": manifest.facts, "tensors": told}), end="")
        return
    rows = [
        [
            each["name"],
            each["dtype"],
            "x".join(map(str, each["shape"])) or "a number",
            f"same as {each['same_as']}" if "same_as" in each else size(each["bytes"]),
        ]
        for each in told
    ]
    for line in columns(rows, header=("TENSOR", "TYPE", "SHAPE", "SIZE")):
        console().print(line)
    for name, value in sorted(manifest.facts.items()):
        console().print(f"{name} = {msgspec.json.encode(value).decode()}", style="dim")


def _found(source: Place, step: int | None) -> str:
    with _said():
        return folders.find(source, step)


@contextlib.contextmanager
def _said() -> Iterator[None]:
    """What is wrong with a checkpoint is said as what was typed wrongly is."""
    try:
        yield
    except CheckpointError as error:
        raise UsageError(str(error)) from error
