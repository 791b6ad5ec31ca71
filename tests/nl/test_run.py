"""What the benchmark reports of the drafts it gets."""

from __future__ import annotations

import pytest

import couler_py as couler
from benchmarks.nl.descriptions import read
from benchmarks.nl.run import answer, compiles, pass_at, table
from couler_py.ir.model import Workflow
from couler_py.nl import Cost, Draft, Flag, Question


@couler.step
def nothing() -> None:
    return None


@couler.workflow
def one():
    nothing()


@pytest.mark.parametrize(
    ("tries", "right", "answers", "chance"),
    [(1, 1, 5, 0.2), (3, 1, 5, 0.6), (5, 1, 5, 1.0), (1, 0, 5, 0.0), (3, 5, 5, 1.0), (1, 1, 1, 1.0)],
)
def test_pass_at_is_the_unbiased_estimate(tries: int, right: int, answers: int, chance: float) -> None:
    assert pass_at(tries, right, answers) == pytest.approx(chance)


def test_a_workflow_is_valid_where_every_target_takes_it() -> None:
    assert compiles(couler.build(one))
    assert not compiles(Workflow("x", "missing", ()))


def test_the_table_counts_what_came() -> None:
    drafts = iter(
        [
            Draft("", questions=(Question("Which data?"),), cost=Cost(tokens_in=100, tokens_out=50)),
            Draft("", workflow=couler.build(one), flags=(Flag("x", "y"),), cost=Cost(dollars=None)),
        ]
    )
    asked = [one for one in read("develop") if one.kind == "open" and not one.roles][:1]
    answers = [[answer(lambda text, model, **options: next(drafts), one, "m") for _ in range(2)] for one in asked]
    first, second = answers[0]
    assert (first.valid, first.tokens, second.valid) == (None, 150, True)
    rows = [line.split() for line in table(answers).splitlines()]
    assert rows[0] == ["n", "pass@1", "pass@3", "pass@5", "facts", "offered", "valid", "tokens", "seconds", "$"]
    assert rows[1][:2] == ["all", "1"]
    assert rows[1][3:5] == ["-", "-"]
    assert rows[1][6:9] == ["1", "100.0%", "75"]
    assert rows[1][-1] == "-"
