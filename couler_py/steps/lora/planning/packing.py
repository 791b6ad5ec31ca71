"""Rows of a step for replicas one by one, in micro-batches as long as their own longest row.

LobRA deals out numbers of rows by bucket, and pads each to its bucket. Rows that are sorted and packed need neither: a
micro-batch is padded to the longest row in it. Which kind of replica does how much of each length is a linear program;
rows then go to the replica of a kind that ends soonest, and move from the last to others while that helps.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from couler_py.passes.solver import Program
from couler_py.steps.lora.planning.costs import Config, Costs

MOVES = 1000
"""The most rows that are moved."""

Micros = list[tuple[int, int]]
"""Rows and padded length of each micro-batch."""


def packed(config: Config, lengths: Sequence[int], costs: Costs) -> Micros:
    """Rows, longest first, in micro-batches that fit.

    A micro-batch ends where no more fit, or where its padding would take longer than another one takes by itself.
    """
    tau, found = costs.taus[config.tensor], list[tuple[int, int]]()
    longest, most, count, padding = 0, 0, 0, 0.0
    for length in sorted(lengths, reverse=True):
        per_row, once = tau.parts(length)
        padding += tau.parts(longest)[0] - per_row if count else 0.0
        if count == most or padding > once:
            if count:
                found.append((count, longest))
            longest, most, count, padding = length, config.rows(length), 0, 0.0
        count += 1
    return [*found, (count, longest)] if count else found


def time_of(config: Config, lengths: Sequence[int], costs: Costs) -> float:
    """A step of a replica with these rows: its micro-batches, and the longest once more for each stage but one."""
    times = [costs.micro(config, rows, length) for rows, length in packed(config, lengths, costs)]
    return sum(times) + (config.stages - 1) * max(times, default=0.0)


def shared_out(replicas: Sequence[Config], lengths: Sequence[int], costs: Costs) -> list[list[int]]:
    """The lengths of each replica's rows. Raises `ValueError` for a row that no replica holds."""
    longest = max((config.tokens for config in replicas), default=0)
    if lengths and max(lengths) > longest:
        raise ValueError(f"a row of {max(lengths)} tokens: no replica holds more than {longest}")
    own: list[list[int]] = [[] for _ in replicas]
    ends = [0.0] * len(replicas)
    for length, given in sorted(_by_kind(replicas, Counter(lengths), costs).items(), reverse=True):
        for kind, count in given.items():
            one = costs.micro(kind, kind.rows(length), length) / kind.rows(length)
            able = [number for number, config in enumerate(replicas) if config == kind]
            for _ in range(count):
                to = min(able, key=lambda number: (ends[number], number))
                own[to].append(length)
                ends[to] += one
    return _moved(replicas, own, costs)


def _by_kind(replicas: Sequence[Config], rows: Counter[int], costs: Costs) -> dict[int, dict[Config, int]]:
    """How many rows of each length each kind of replica does: whole numbers near those of the program."""
    kinds = dict.fromkeys(replicas)
    program = Program()
    end = program.variable(cost=1.0)
    placed: dict[int, dict[Config, int]] = {length: {} for length in rows}
    for kind in kinds:
        spent = {end: -float(replicas.count(kind))}
        for length in rows:
            if most := kind.rows(length):
                placed[length][kind] = number = program.variable()
                spent[number] = costs.micro(kind, most, length) / most
        program.at_most(spent, 0)
    for length, given in placed.items():
        program.equal(dict.fromkeys(given.values(), 1.0), rows[length])
    solved = program.solve()
    found: dict[int, dict[Config, int]] = {}
    owed = dict.fromkeys(kinds, 0.0)
    for length in sorted(rows, reverse=True):
        for kind, number in placed[length].items():
            owed[kind] += solved.values[number]
        found[length] = dict.fromkeys(placed[length], 0)
        for _ in range(rows[length]):
            to = max(found[length], key=lambda kind: owed[kind])
            found[length][to] += 1
            owed[to] -= 1
    return found


def _moved(replicas: Sequence[Config], own: list[list[int]], costs: Costs) -> list[list[int]]:
    """Move rows from the replica that ends last while the later of both then ends sooner."""
    times = [time_of(config, rows, costs) for config, rows in zip(replicas, own, strict=True)]
    for _ in range(MOVES):
        last = max(range(len(own)), key=times.__getitem__)
        best = (times[last], 0, 0, 0.0, 0.0)
        targets = sorted((number for number in range(len(own)) if number != last), key=times.__getitem__)[:4]
        for length in sorted(set(own[last])):
            less = list(own[last])
            less.remove(length)
            here = time_of(replicas[last], less, costs)
            for to in targets:
                if here < best[0] and replicas[to].tokens >= length:
                    there = time_of(replicas[to], [*own[to], length], costs)
                    if max(here, there) < best[0]:
                        best = (max(here, there), to, length, here, there)
        if not best[2]:
            break
        _, to, length, times[last], times[to] = best
        own[last].remove(length)
        own[to].append(length)
    return own
