"""`couler cache replay`: what each policy would have saved on the runs of this machine, or on a trace."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import msgspec
import typer

from couler_py.cli.amounts import bytes_of
from couler_py.cli.console import columns, console, seconds, size
from couler_py.cli.errors import UsageError
from couler_py.cli.options import AsJson
from couler_py.cli.running import to_json
from couler_py.passes.cache.forecast import forecast
from couler_py.passes.cache.optimum import Optimum, optimum
from couler_py.passes.cache.policies import POLICIES
from couler_py.passes.cache.replay import Replayed, replay
from couler_py.passes.cache.trace import Trace
from couler_py.settings import load
from couler_py.store.database import connect
from couler_py.store.home import open_home
from couler_py.store.traces import recent, traced

RUNS = 200
"""So many of the newest runs are replayed."""

PARTS = (0.1, 0.25, 0.5, 1.0)
"""Where no budget is given: parts of what would have to be held for nothing to be made twice."""


def command(
    file: Annotated[
        str | None, typer.Argument(metavar="[FILE]", help="A trace as JSON (default: the runs of this machine).")
    ] = None,
    budget: Annotated[
        str | None, typer.Option("--budget", metavar="SIZE", help="A budget, as 20GiB (default: several).")
    ] = None,
    output: Annotated[
        str | None, typer.Option("-o", "--output", metavar="FILE", help="Write the trace as JSON, and replay nothing.")
    ] = None,
    best: Annotated[
        bool, typer.Option("--optimum", help="Beside them the least that anybody can make again, who knows the future.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Replay earlier runs: what each policy would have had to make again under a budget."""
    trace = _trace(file)
    if output is not None:
        Path(output).write_bytes(msgspec.json.format(msgspec.json.encode(trace), indent=2) + b"\n")
        console(stderr=True).print(f"wrote {output}: {len(trace.rounds):,} runs, {len(trace.artifacts):,} results")
        return
    if not trace.rounds:
        console(stderr=True).print("no run has asked for a cached result yet")
        return
    chosen = budget or load().cache.budget
    budgets = [bytes_of("--budget", chosen)] if chosen else [int(trace.peak() * part) for part in PARTS]
    found = {room: [replay(trace, policy(), room, forecast) for policy in POLICIES.values()] for room in budgets}
    least = {room: optimum(trace, room) for room in budgets} if best else {}
    if as_json:
        rows = [_plain(room, each, least.get(room)) for room, each in found.items()]
        print(to_json(rows), end="")
        return
    out = console()
    out.print(f"{len(trace.rounds):,} runs, {len(trace.artifacts):,} results; made again, by policy and budget:")
    header = ("POLICY", *(size(room) for room in budgets))
    shown = [[name, *(seconds(found[room][place].again) for room in budgets)] for place, name in enumerate(POLICIES)]
    if least:
        shown.append(["the least there is", *(_said(least[room]) for room in budgets)])
    for line in columns(shown, header=header):
        out.print(line)


def _plain(budget: int, policies: list[Replayed], least: Optimum | None) -> dict[str, Any]:
    row = {"budget": budget, "policies": msgspec.to_builtins(policies)}
    return row if least is None else row | {"optimum": msgspec.to_builtins(least)}


def _said(least: Optimum) -> str:
    return seconds(least.again) if least.exact else f"{seconds(least.bound)} or more"


def _trace(file: str | None) -> Trace:
    if file is None:
        connection = connect(open_home())
        try:
            return traced(connection, recent(connection, RUNS)).trace("runs of this machine")
        finally:
            connection.close()
    try:
        return msgspec.json.decode(Path(file).read_bytes(), type=Trace)
    except (OSError, msgspec.DecodeError) as error:
        raise UsageError(f"{file} can't be read as a trace: {error}") from None
