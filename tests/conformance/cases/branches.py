"""`couler.when` over what steps return, and what becomes of the values in its branches."""

from __future__ import annotations

from typing import NamedTuple

import couler_py as couler
from tests.conformance.case import Never
from tests.conformance.cases.naming import done, written


class Score(NamedTuple):
    score: float
    name: str


@couler.step
def number(n: int) -> int:
    return n


@couler.step
def twice(n: int) -> int:
    return 2 * n


@couler.step
def minus(n: int) -> int:
    return -n


@couler.step
def score(value: float, name: str) -> Score:
    return Score(value, name)


@couler.step
def boom(n: int) -> int:
    raise RuntimeError(str(n))


@couler.step
def text(value: str) -> str:
    return value


@couler.workflow
def one_step_each():
    n = number(5)
    return couler.when(n > 3, lambda: twice(n), otherwise=lambda: minus(n))


@couler.workflow
def the_other_step():
    n = number(2)
    return couler.when(n > 3, lambda: twice(n), otherwise=lambda: minus(n))


@couler.workflow
def several_steps_each():
    n = number(5)
    joined = couler.when(n == 5, lambda: twice(twice(n)), otherwise=lambda: minus(minus(n)), name="big")
    return twice(joined)


@couler.workflow
def without_otherwise():
    n = number(1)
    return couler.when(n > 3, lambda: twice(n)).or_else(-1)


@couler.workflow
def reader_without_or_else_is_skipped():
    n = number(1)
    twice(couler.when(n > 3, lambda: twice(n)))


@couler.workflow
def one_inside_another():
    n = number(7)
    return couler.when(
        n > 3,
        lambda: couler.when(n > 10, lambda: number(100), otherwise=lambda: twice(n)),
        otherwise=lambda: minus(n),
    )


@couler.workflow
def branch_that_fails():
    n = number(7)
    twice(couler.when(n > 3, lambda: boom(n), otherwise=lambda: minus(n)))


@couler.workflow
def over_two_steps():
    a, b = score(0.25, "a"), score(0.5, "b")
    return couler.when(a.score < b.score, lambda: text(b.name), otherwise=lambda: text(a.name))


@couler.workflow
def over_texts_with_quotes():
    said = text('it\'s {{x}} "quoted"\n')
    return couler.when(said == 'it\'s {{x}} "quoted"\n', lambda: text("same"), otherwise=lambda: text("other"))


@couler.workflow
def over_a_parameter(mode: str = "fast"):
    return couler.when(mode == "fast", lambda: text("quick"), otherwise=lambda: text("slow"))


@couler.workflow
def by_conditions_joined():
    n, s = number(4), score(1.0, "x")
    return couler.when(((n >= 4) & (s.name != "y")) | (n == 0), lambda: text("yes"), otherwise=lambda: text("no"))


@couler.workflow
def known_when_it_is_built():
    return couler.when(1 > 2, lambda: number(1), otherwise=lambda: number(2))


@couler.workflow
def inside_a_fan_out():
    return couler.map(even_or_nothing, [1, 2, 3, 4])


def even_or_nothing(n: int) -> int:
    return couler.when(number(n) % 2 == 0, lambda: twice(n))


@couler.workflow
def either_inside_a_fan_out():
    return couler.map(lambda n: couler.when(number(n) % 2 == 0, lambda: twice(n), otherwise=lambda: minus(n)), [1, 2])


@couler.workflow
def by_the_state_of_a_task():
    tried = boom(1)
    mended = couler.on_failure(tried, lambda: number(3))
    return mended.or_else(0)


@couler.workflow
def always_after_a_failure():
    tried = boom(1)
    couler.always(tried, lambda: number(4))


@couler.workflow
def always_reads_by_or_else():
    made = number(3)
    couler.always(made, lambda: twice(made.or_else(-1)))


@couler.workflow
def flip(n: int) -> None:
    face = number(n)
    couler.when(face < 3, lambda: flip(face + 1))


@couler.workflow
def recursion():
    flip(0)


CASES = [
    written("branch", one_step_each, {"number": "Succeeded", "twice": "Succeeded", "minus": "Skipped"}, {"result": 10}),
    written(
        "branch", the_other_step, {"number": "Succeeded", "twice": "Skipped", "minus": "Succeeded"}, {"result": -2}
    ),
    written(
        "branch",
        several_steps_each,
        {"number": "Succeeded", "big": "Succeeded", "big-otherwise": "Skipped", "twice": "Succeeded"},
        {"result": 40},
    ),
    written("branch", without_otherwise, {"number": "Succeeded", "twice": "Skipped"}, {"result": -1}),
    written(
        "branch",
        reader_without_or_else_is_skipped,
        {"number": "Succeeded", "twice": "Skipped", "twice-2": "Skipped"},
    ),
    written(
        "branch",
        one_inside_another,
        {"number": "Succeeded", "number-branch": "Succeeded", "minus": "Skipped"},
        {"result": 14},
    ),
    written(
        "branch",
        branch_that_fails,
        {"number": "Succeeded", "boom": "Failed", "minus": "Skipped", "twice": "Blocked"},
        status="Failed",
    ),
    written(
        "branch",
        over_two_steps,
        {"score": "Succeeded", "score-2": "Succeeded", "text": "Succeeded", "text-2": "Skipped"},
        {"result": "b"},
    ),
    written(
        "branch",
        over_texts_with_quotes,
        {"text": "Succeeded", "text-2": "Succeeded", "text-3": "Skipped"},
        {"result": "same"},
    ),
    written("branch", over_a_parameter, {"text": "Succeeded", "text-2": "Skipped"}, {"result": "quick"}),
    written(
        "branch",
        by_conditions_joined,
        {"number": "Succeeded", "score": "Succeeded", "text": "Succeeded", "text-2": "Skipped"},
        {"result": "yes"},
    ),
    written("branch", known_when_it_is_built, done("number"), {"result": 2}),
    written("branch", inside_a_fan_out, done("even_or_nothing"), {"result": [4, 8]}),
    written("branch", either_inside_a_fan_out, done("number-map"), {"result": [-1, 4]}),
    written("branch", by_the_state_of_a_task, {"boom": "Failed", "number": "Succeeded"}, {"result": 3}),
    written("branch", always_after_a_failure, {"boom": "Failed", "number": "Succeeded"}, status="Failed"),
    written("branch", always_reads_by_or_else, done("number", "twice")),
    written("branch", recursion, done("flip"), refused={"airflow": Never("CLR501", "a DAG of Airflow's is finite")}),
]
