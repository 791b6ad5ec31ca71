"""What `couler ask` says around a model: what is about to be sent, how it goes, what it took."""

from __future__ import annotations

import sys
from typing import Any

import typer

from couler_py.cli.console import clean, console
from couler_py.nl import Cost, Draft
from couler_py.nl.privacy import Sending


def options(
    model: str, *, yes: bool = False, share_source: bool = False, cache: bool = True, prices: str | None = None
) -> dict[str, Any]:
    """What `ask` is told for a model; nothing for the grammar. On a terminal nothing is sent without a yes."""
    if model == "offline":
        return {}
    return {
        "show": lambda sending: _shown(sending, yes=yes),
        "said": _Progress(),
        "share_source": share_source,
        "cache": cache,
        "prices": prices,
    }


def _shown(sending: Sending, *, yes: bool) -> bool:
    out = console(stderr=True)
    out.print("what is sent", style="bold", end=" ")
    out.print(clean(sending.said()), style="dim")
    if yes or not sys.stdin.isatty():
        return True
    return typer.confirm("Send it?", default=True, err=True)


class _Progress:
    """Says each stage on a line of its own; the length of a growing reply is for terminals, in one place."""

    def __init__(self) -> None:
        self._out = console(stderr=True)
        self._open = False

    def __call__(self, text: str) -> None:
        growing = text.endswith(" characters")
        if growing and not self._out.is_terminal:
            return
        if growing:
            print(f"\r  {text}", end="", file=sys.stderr, flush=True)
            self._open = True
            return
        if self._open:
            print(file=sys.stderr)
            self._open = False
        self._out.print(clean(text), style="dim")


def tell_cost(draft: Draft) -> None:
    """Say what happened on the way and what the draft took, where a model was asked."""
    out = console(stderr=True)
    for note in draft.notes:
        out.print(f"note: {clean(note)}", style="yellow")
    if draft.cost.calls or draft.model != "offline":
        out.print(f"{clean(draft.model)}: {cost_text(draft.cost)}", style="dim")


def cost_text(cost: Cost) -> str:
    """What a draft took, as text.

    >>> cost_text(Cost(1200, 300, 3, 4.25, 0.0036))
    '3 calls, 1,200 tokens sent, 300 received, 4.2 s, $0.0036'
    >>> cost_text(Cost())
    'no call: its replies were kept'
    """
    if not cost.calls:
        return "no call: its replies were kept"
    calls = "1 call" if cost.calls == 1 else f"{cost.calls} calls"
    money = "price unknown" if cost.dollars is None else f"${cost.dollars:.4f}"
    return f"{calls}, {cost.tokens_in:,} tokens sent, {cost.tokens_out:,} received, {cost.seconds:.1f} s, {money}"
