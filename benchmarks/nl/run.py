"""How often a description becomes the workflow that was meant: pass@1, 3 and 5, validity, tokens, seconds.

run.py MODEL [--half develop|held|fresh] [--answers N] [--only ID] [--why]
"""

from __future__ import annotations

import argparse
import math
import statistics
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, get_args

from benchmarks.nl.descriptions import Description, Half, read
from benchmarks.nl.facts import Finding, Told, check, passes

TARGETS = ("local", "argo")
TRIES = (1, 3, 5)


@dataclass(frozen=True)
class Answer:
    """One draft, measured. `valid`: none where no workflow was offered."""

    description: Description
    findings: tuple[Finding, ...]
    valid: bool | None
    tokens: int
    seconds: float
    dollars: float | None

    @property
    def right(self) -> bool:
        return self.valid is not False and passes(self.findings)


def main() -> None:
    parser = argparse.ArgumentParser(prog="benchmarks/nl/run.py", description=__doc__)
    parser.add_argument("model", help="as `couler ask --model` takes it: offline, openai:NAME, an address")
    parser.add_argument("--half", choices=get_args(Half), default="develop")
    parser.add_argument("--answers", type=int, default=1, help="drafts of each description (1)")
    parser.add_argument("--only", default="", help="descriptions whose id begins so")
    parser.add_argument("--why", action="store_true", help="what didn't hold, of held and fresh ones too")
    options = parser.parse_args()

    from couler_py.nl import ask

    answers: list[list[Answer]] = []
    for description in read(options.half):
        if description.id.startswith(options.only):
            answers.append([answer(ask, description, options.model) for _ in range(options.answers)])
            if options.why or options.half == "develop":
                say(answers[-1], options.why)
    print(f"{options.model} on {options.half}: {len(answers)} descriptions, {options.answers} answers each\n")
    print(table(answers))


def answer(ask: Callable[..., Any], description: Description, model: str) -> Answer:
    """Ask once and check what comes."""
    start = time.perf_counter()
    # Each answer of a model is a new one, as hot as the paper's middle temperature.
    given = {} if model == "offline" else {"cache": False, "temperature": 0.6}
    draft = ask(description.text, model=model, **given)
    seconds = time.perf_counter() - start
    valid = None if draft.workflow is None else compiles(draft.workflow)
    tokens = draft.cost.tokens_in + draft.cost.tokens_out
    findings = check(description, draft.workflow, told(draft))
    return Answer(description, findings, valid, tokens, seconds, draft.cost.dollars)


def told(draft: Any) -> Told:
    """What a draft says to the person."""
    unused = ["some words were not used"] if draft.unused else []
    return Told(
        questions=tuple(question.text for question in draft.questions),
        notes=(*draft.assumptions, *unused, draft.explanation),
        refusals=draft.impossible,
        flags=tuple(f"{flag.text}: {flag.why}" for flag in draft.flags),
        engine=draft.engine,
    )


def compiles(workflow: Any) -> bool:
    """Whether a workflow has no errors and every target takes it."""
    import couler_py as couler

    try:
        for target in TARGETS:
            couler.compile(workflow, to=target)
    except couler.CoulerError:
        return False
    return True


def say(answers: list[Answer], why: bool) -> None:
    """One line a description, and what doesn't hold in the first answer."""
    right = sum(one.right for one in answers)
    print(f"{'right' if right else 'WRONG':<6} {right}/{len(answers)}  {answers[0].description.id}")
    if why:
        for finding in answers[0].findings:
            if not finding.held:
                print(f"         {finding}")
        if answers[0].valid is False:
            print("         it doesn't compile")


def pass_at(tries: int, right: int, answers: int) -> float:
    """The chance that one of `tries` answers is right, estimated without bias from `answers` of which `right` are.

    Source: Chen et al., Evaluating Large Language Models Trained on Code (2021), equation 1.
    """
    if answers - right < tries:
        return 1.0
    return 1.0 - math.comb(answers - right, tries) / math.comb(answers, tries)


def table(answers: list[list[Answer]]) -> str:
    """All descriptions together, and by kind, level and language."""
    groups: dict[str, list[list[Answer]]] = {"all": answers}
    for several in answers:
        description = several[0].description
        language = "English" if description.language == "en" else "other languages"
        for name in (description.kind, description.level, language):
            groups.setdefault(name, []).append(several)
    names = ["", "n", *(f"pass@{tries}" for tries in TRIES), "facts", "offered", "valid", "tokens", "seconds", "$"]
    rows = [names, *(_row(name, groups[name]) for name in ordered(groups))]
    widths = [max(len(row[at]) for row in rows) for at in range(len(names))]
    return "\n".join("  ".join(cell.rjust(width) for cell, width in zip(row, widths, strict=True)) for row in rows)


def ordered(groups: Iterable[str]) -> list[str]:
    order = ["all", "plain", "open", "impossible", "hostile", "easy", "medium", "hard", "English", "other languages"]
    return sorted(groups, key=order.index)


def _row(name: str, group: list[list[Answer]]) -> list[str]:
    each = len(group[0])
    everything = [one for several in group for one in several]
    rights = [sum(one.right for one in several) for several in group]
    rates = [
        _percent(statistics.mean(pass_at(tries, right, each) for right in rights)) if tries <= each else "-"
        for tries in TRIES
    ]
    facts = [finding.held for one in everything for finding in one.findings]
    offered = [one.valid for one in everything if one.valid is not None]
    dollars = [one.dollars for one in everything]
    return [
        name,
        str(len(group)),
        *rates,
        _percent(statistics.mean(facts)) if facts else "-",
        str(len(offered)),
        _percent(statistics.mean(offered)) if offered else "-",
        f"{statistics.mean(one.tokens for one in everything):.0f}",
        f"{statistics.mean(one.seconds for one in everything):.3f}",
        "-" if None in dollars else f"{statistics.mean(one or 0.0 for one in dollars):.4f}",
    ]


def _percent(share: float) -> str:
    return f"{share:.1%}"


if __name__ == "__main__":
    main()
