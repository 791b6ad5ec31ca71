"""`couler plan FILE`: what a run would do, without doing it."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any

import msgspec
import typer

from couler_py import api
from couler_py.backends.argo.size import STORED, Size, size_of
from couler_py.backends.base import Bundle, backend, installed, parse_target
from couler_py.cli import linting
from couler_py.cli.commands.graph import drawn
from couler_py.cli.console import columns, console, one_line, seconds, size
from couler_py.cli.load import load
from couler_py.cli.options import AsJson, File, engine_options
from couler_py.cli.passing import Passes, passing
from couler_py.ir.diagnostics import CoulerError, DiagnosticError
from couler_py.ir.model import Workflow
from couler_py.ir.pod import Resources
from couler_py.passes.pipeline import Applied, transform
from couler_py.passes.plan import Plan, plan
from couler_py.passes.situation import Note, Situation
from couler_py.steps.foretelling import Foretold, foretold
from couler_py.steps.launchers import lowered as jobs
from couler_py.store.history import history

NOTES = 20
"""So many notes of a pass are shown as text; `--json` has all."""
LARGE = 20_000
"""Of workflows with more tasks, only what one engine reads is made, unless others are named: each takes seconds."""


class EngineView(msgspec.Struct, frozen=True):
    """How one engine sees the workflow: what it can't do or does another way, and the size of what it reads."""

    name: str
    never: dict[str, str]
    indirect: dict[str, str]
    bytes: int | None = None
    limit: int | None = None
    errors: tuple[str, ...] = ()
    run: Size | None = None


@passing
def command(
    file: File,
    engine: Annotated[list[str] | None, typer.Option("--engine", help="Only these engines (default: all).")] = None,
    output: Annotated[
        str | None,
        typer.Option("-o", "--output", metavar="PATH", help="Draw the graph as the passes leave it: x.svg, x.html."),
    ] = None,
    option: Annotated[
        list[str] | None,
        typer.Option(
            "-O",
            "--option",
            metavar="NAME=VALUE",
            help="An option of the first engine, as crds=minimal.",
        ),
    ] = None,
    as_json: AsJson = False,
    *,
    passes: Passes,
) -> None:
    """Say what a run would do: levels, critical path, resources, engines, sizes, and what passes do."""
    options = engine_options(option)
    with api.collector_at_rest():
        loaded = load(file)
        linting.refuse(loaded)
        checked = api.checked(loaded.model)
        name, version = parse_target(engine[0] if engine else checked.settings.engine or "argo")
        scale = api.scale_of(backend(name), version, options)
        situation = Situation(name, version, options | passes.options, checked.settings, history(), scale, jobs=jobs)
        workflow, applied = transform(checked.workflow, situation, without=passes.without)
        made = plan(workflow)
        decisions = tuple(foretold(checked.workflow))
        views = []
        for target in engine or (installed() if made.tasks <= LARGE else (name,)):
            own = parse_target(target)
            passed = workflow if own == (name, version) and workflow.dialect != "argo" else None
            views.append(view(checked, made, target, passes, options if own[0] == name else {}, passed))
    if output is not None:
        Path(output).write_text(drawn(workflow, Path(output).suffix.lower(), limit=500, graphviz=None), "utf-8")
        console(stderr=True).print(f"wrote {output}")
    if as_json:
        print(json.dumps(_plain(made, checked, applied, decisions, views), indent=2, ensure_ascii=False))
        return
    out = console()
    parts = (
        *(_overview(made), _steps(made), _filled(checked), _passes(applied), _decisions(decisions)),
        *(_engines(views), _others(made, engine)),
    )
    for line in itertools.chain.from_iterable(parts):
        out.print(line)


def view(
    checked: api.Checked,
    made: Plan,
    target: str,
    passes: Passes,
    options: Mapping[str, Any],
    passed: Workflow | None = None,
) -> EngineView:
    """How an engine sees a workflow, compiled with some options of it.

    `passed` is what the passes have made of it for that engine, where they did. Raises `UnknownEngineError`.
    """
    name = parse_target(target)[0]
    rows = {row.feature: row for row in backend(name).support()}
    used = [rows[feature] for feature in made.features if feature in rows]
    never = {row.feature: row.by for row in used if row.level == "never"}
    indirect = {row.feature: f"{row.level}: {row.by}" for row in used if row.level in ("lowered", "emulated")}
    try:
        given = {**passes.options, **options}
        bundle = api.emit(checked, checked.written, target, without=passes.without, passed=passed, **given)
    except DiagnosticError as error:
        messages = tuple(finding.message for finding in error.diagnostics if finding.severity == "error")
        return EngineView(name, never, indirect, errors=messages)
    except CoulerError as error:
        return EngineView(name, never, indirect, errors=(str(error),))
    if name != "argo":
        return EngineView(name, never, indirect, _largest(bundle))
    return EngineView(name, never, indirect, _largest(bundle), STORED, run=size_of(bundle.documents[-1]))


def _largest(bundle: Bundle) -> int:
    # A document travels to the cluster as JSON; a text of another kind is read as it is.
    documents = [len(msgspec.json.encode(document)) for document in bundle.documents]
    return max(documents, default=len(bundle.text.encode()))


# ---- as text


def _overview(made: Plan) -> Iterator[Any]:
    from rich.text import Text

    yield Text(made.workflow, "bold")
    path = " → ".join(made.critical_path[:12]) + (" → …" if len(made.critical_path) > 12 else "")
    rows = [
        ("tasks", f"{made.tasks:,}"),
        ("levels", f"{len(made.levels):,}, {_width(made.width)} at once"),
        ("pods", f"{made.pods}, further attempts not counted"),
        ("longest path", f"{len(made.critical_path):,}: {path}"),
    ]
    if made.schedule:
        rows.append(("starts", ", ".join(made.schedule)))
    if made.cached:
        rows.append(("cached", ", ".join(made.cached)))
    if made.recursive:
        rows.append(("recursive", ", ".join(made.recursive)))
    yield from columns([(f"  {name}", text) for name, text in rows])
    yield ""
    yield Text("Levels", "bold")
    for number, names in enumerate(made.levels[:20], 1):
        shown = ", ".join(map(one_line, names[:8])) + (f", and {len(names) - 8:,} more" if len(names) > 8 else "")
        yield f"  {number:>2}  {shown}"
    if len(made.levels) > 20:
        yield f"      and {len(made.levels) - 20:,} more levels"


def _width(most: int | None) -> str:
    return "nobody knows how many" if most is None else f"of at most {most:,}"


def _steps(made: Plan) -> Iterator[Any]:
    from rich.text import Text

    if not made.steps:
        return
    yield ""
    yield Text("Steps", "bold")
    rows = [
        (
            f"  {step.name}",
            step.kind,
            step.image,
            asked(step.resources),
            f"{step.retries} more tries" if step.retries else "",
            f"at most {seconds(step.timeout)}" if step.timeout else "",
        )
        for step in made.steps[:40]
    ]
    yield from columns(rows)
    if len(made.steps) > 40:
        yield f"  and {len(made.steps) - 40:,} more"


def asked(resources: Resources) -> str:
    """What a step asks for, in a few words."""
    parts = [f"{resources.cpu} cpu" if resources.cpu else "", resources.memory]
    if resources.gpu:
        parts.append(f"{resources.gpu} × {resources.gpu_type}")
    return ", ".join(part for part in parts if part)


def _filled(checked: api.Checked) -> Iterator[Any]:
    """What the settings said where the workflow says nothing."""
    from rich.text import Text

    if not checked.filled:
        return
    yield ""
    profile = f" (profile {checked.settings.profile})" if checked.settings.profile else ""
    yield Text(f"Filled in from the settings{profile}", "bold")
    yield from columns([(f"  {each.key}", _places(each.places), each.origin) for each in checked.filled])


def _places(count: int) -> str:
    return f"{count:,} place" if count == 1 else f"{count:,} places"


def _passes(applied: tuple[Applied, ...]) -> Iterator[Any]:
    from rich.text import Text

    if not applied:
        return
    yield ""
    yield Text("Passes", "bold")
    for each, line in zip(
        applied, columns([(f"  {each.name}", each.state, each.summary) for each in applied]), strict=True
    ):
        yield line
        yield from columns([(f"    {one_line(note.place)}", *_said(note)) for note in each.notes[:NOTES]])
        if len(each.notes) > NOTES:
            yield f"    and {len(each.notes) - NOTES:,} more"


def _said(note: Note) -> tuple[str, str]:
    """What a pass did or offers and why, and what it saves."""
    return f"{note.what}: {note.why}", f"saves {note.saves}" if note.saves else ""


def _decisions(decisions: tuple[Foretold, ...]) -> Iterator[Any]:
    """What steps will decide in the run, by what is known now."""
    from rich.text import Text

    if not decisions:
        return
    yield ""
    yield Text("Decisions", "bold")
    for each in decisions:
        yield Text(f"  {one_line(each.place)}")
        for line in each.lines:
            yield Text(f"    {line}")


def _engines(views: list[EngineView]) -> Iterator[Any]:
    from rich.text import Text

    yield ""
    yield Text("Engines", "bold")
    for each in views:
        yield Text.assemble("  ", (each.name, "bold"), ": ", _verdict(each))
        for line in _run(each.run) if each.run else ():
            yield Text(f"    {line}")
        for feature, why in each.never.items():
            yield Text(f"    can't do {feature}: {why}", "red")
        for message in () if each.never else each.errors[:5]:
            yield Text(f"    {one_line(message)}", "red")
        for feature, how in each.indirect.items():
            yield Text(f"    {feature}: {how}", "dim")


def _others(made: Plan, named: list[str] | None) -> Iterator[Any]:
    if made.tasks > LARGE and not named:
        yield "  others aren't tried with so many tasks, unless they are named: --engine"


def _run(found: Size) -> Iterator[str]:
    """What a run adds to the object that Argo keeps."""
    yield f"a run adds {_nodes(found.nodes)}, {size(found.status)}: {size(found.stored)} in all"
    yield "largest templates: " + ", ".join(f"{part.name} {size(part.bytes)}" for part in found.largest)
    for each in found.growing[:5]:
        yield f"{each.place}: {each.why} adds {_nodes(each.nodes)}, {size(each.bytes)}"


def _nodes(count: int) -> str:
    return f"{count:,} node" if count == 1 else f"{count:,} nodes"


def _verdict(each: EngineView) -> Any:
    from rich.text import Text

    if each.bytes is None:
        return Text("can't run it", "red")
    if each.limit is not None:
        text = f"{size(each.bytes)} of at most {size(each.limit)} for one object"
        return Text(text, "red" if each.bytes > each.limit else "green")
    return Text(size(each.bytes), "green")


# ---- as JSON


def _plain(
    made: Plan,
    checked: api.Checked,
    applied: tuple[Applied, ...],
    decisions: tuple[Foretold, ...],
    views: list[EngineView],
) -> dict[str, Any]:
    plain: dict[str, Any] = msgspec.to_builtins(made)
    plain["features"] = {
        feature: [str(place) for place in places if place is not None] for feature, places in made.features.items()
    }
    plain["profile"] = checked.settings.profile or None
    plain["filled"] = msgspec.to_builtins(checked.filled)
    plain["passes"] = msgspec.to_builtins(applied)
    plain["decisions"] = msgspec.to_builtins(decisions)
    plain["engines"] = msgspec.to_builtins(views)
    return plain
