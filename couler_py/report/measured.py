"""What the tasks of a run logged by `couler.log_metric`, as plots over steps and a table of single values."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from couler_py.report.cards import Card, Plot, Table, Text
from couler_py.report.facts import Series, TaskFacts
from couler_py.report.plots import line

CURVES = 8
"""So many tasks share a plot of a metric."""

PLOTS = 40
"""So many metrics have a plot."""

POINTS = 600
"""So many points a curve has at most; of more, every second, third, … is drawn, and the last."""

ROWS = 1000
"""So many single values are listed."""


def cards(tasks: Sequence[TaskFacts]) -> Iterator[Card]:
    """A plot for each metric, with a line for each task; those of one value in a table."""
    by_name: dict[str, dict[str, Series]] = {}
    for task in tasks:
        for name, series in task.metrics.items():
            by_name.setdefault(name, {})[task.name] = series
    single: list[tuple[str, str, float]] = []
    plots = 0
    for name, of_tasks in by_name.items():
        single += [(name, task, series[0][1]) for task, series in of_tasks.items() if len(series) == 1]
        curves = {task: series for task, series in of_tasks.items() if len(series) > 1}
        plots += bool(curves)
        if curves and plots <= PLOTS:
            yield _plot(name, curves)
    if plots > PLOTS:
        yield Text(f"{plots - PLOTS:,} more metrics have no plot here.")
    if single:
        yield Table(("metric", "task", "value"), tuple(single[:ROWS]))
    if len(single) > ROWS:
        yield Text(f"{len(single) - ROWS:,} more values are not listed.")


def _plot(name: str, curves: dict[str, Series]) -> Plot:
    """Lines over steps; of a step that was logged several times, the last value."""
    title = f"{name} (of {CURVES} of {len(curves):,} tasks)" if len(curves) > CURVES else name
    drawn = {task: tuple(sorted(dict(series).items())) for task, series in list(curves.items())[:CURVES]}
    return Plot("", line({task: thinned(series) for task, series in drawn.items()}, title=title, x_label="step"))


def thinned(series: Series) -> Series:
    """A series in at most `POINTS` points and its last.

    >>> len(thinned(tuple((float(step), 0.0) for step in range(100_000))))
    600
    """
    every = -(-len(series) // POINTS)
    kept = series[::every]
    return kept if kept[-1] == series[-1] else (*kept, series[-1])
