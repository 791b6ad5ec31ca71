"""Which of several is best: `compare` ranks names by their scores, `select_best` picks a file or folder too."""

from __future__ import annotations

from pathlib import Path
from typing import Literal, NamedTuple

from couler_py import log_metric, step

Goal = Literal["maximize", "minimize"]


class Ranking(NamedTuple):
    """The best name and its score, all names from best to worst, and a table of them in Markdown."""

    best: str
    score: float
    ranking: list[str]
    report: Path


class Best(NamedTuple):
    """What was chosen, its name and its score."""

    model: Path
    name: str
    score: float


def places(names: list[str], scores: list[float], goal: Goal) -> list[int]:
    """The places of the scores, best first; of equal ones, the first given. Scores that are no numbers come last."""
    import math

    if len(names) != len(scores):
        raise ValueError(f"there are {len(names)} names and {len(scores)} scores")
    if not any(math.isfinite(score) for score in scores):
        raise ValueError(f"no score is a number: {', '.join(names) or 'there are none'}")
    sign = -1 if goal == "maximize" else 1
    return sorted(range(len(scores)), key=lambda i: sign * scores[i] if math.isfinite(scores[i]) else math.inf)


@step
def compare(names: list[str], scores: list[float], goal: Goal = "maximize") -> Ranking:
    """Rank names by their scores.

    Raises `ValueError` where there are more of one than of the other, or no score is a number.

    >>> compare(["a", "b"], [0.7, 0.9]).ranking  # doctest: +SKIP
    ['b', 'a']
    """
    order = places(names, scores, goal)
    rows = [f"| {rank} | {names[i].replace('|', chr(92) + '|')} | {scores[i]:g} |" for rank, i in enumerate(order, 1)]
    report = Path("comparison.md")
    report.write_text("\n".join(["| rank | name | score |", "|---|---|---|", *rows, ""]), encoding="utf-8")
    log_metric("score", scores[order[0]])
    return Ranking(names[order[0]], scores[order[0]], [names[i] for i in order], report)


@step(name="select-best")
def select_best(models: list[Path], names: list[str], scores: list[float], goal: Goal = "maximize") -> Best:
    """Of several files or folders, that of the best score; all three lists are in the same order.

    Raises `ValueError` where the lists differ in length, or no score is a number.

    >>> best = select_best(fitted.model, names, fitted.score)  # doctest: +SKIP
    """
    if len(models) != len(scores):
        raise ValueError(f"there are {len(models)} models and {len(scores)} scores")
    first = places(names, scores, goal)[0]
    log_metric("score", scores[first])
    return Best(models[first], names[first], scores[first])
