"""Attempts: how often a step runs, what it sees of it, and limits of time."""

from __future__ import annotations

import couler_py as couler
from tests.conformance.cases.naming import done, written


@couler.step(retries=3)
def third_time_lucky() -> int:
    if couler.run_info.attempt < 2:
        raise RuntimeError(f"attempt {couler.run_info.attempt}")
    return couler.run_info.attempt


@couler.step(retries=2)
def never_lucky() -> int:
    raise RuntimeError("as always")


@couler.step(retries=2)
def lucky_at_once() -> int:
    return couler.run_info.attempt


@couler.step(retries=couler.retry(5, when=couler.last_attempt.exit_code == 7))
def gives_up_at_another_exit_code() -> int:
    import sys

    sys.exit(7 if couler.run_info.attempt == 0 else 8)


@couler.step(retries=couler.retry(2, delay="1s", factor=2))
def waits_between_attempts() -> int:
    if couler.run_info.attempt == 0:
        raise RuntimeError("once")
    return couler.run_info.attempt


@couler.step(timeout="4s")
def takes_too_long() -> int:
    import time

    time.sleep(600)
    return 1


@couler.step(timeout="20s", retries=1)
def takes_too_long_at_first() -> int:
    import time

    if couler.run_info.attempt == 0:
        time.sleep(600)
    return couler.run_info.attempt


@couler.step
def note(value: int) -> int:
    return value * 10


@couler.step
def mend() -> str:
    return "mended"


@couler.workflow
def until_it_succeeds():
    return note(third_time_lucky())


@couler.workflow
def until_there_are_no_attempts_left():
    note(never_lucky())


@couler.workflow
def not_after_a_success():
    return lucky_at_once()


@couler.workflow
def while_a_condition_holds():
    gives_up_at_another_exit_code()


@couler.workflow
def with_a_delay():
    return waits_between_attempts()


@couler.workflow
def items_of_a_fan_out_each_by_itself():
    return couler.map(lucky_only_if_even, [0, 1, 2])


@couler.step(retries=1)
def lucky_only_if_even(n: int) -> str:
    if n % 2 and couler.run_info.attempt == 0:
        raise RuntimeError("odd")
    return f"{n}:{couler.run_info.attempt}"


@couler.workflow
def a_step():
    return couler.on_failure(takes_too_long(), mend).or_else("not")


@couler.workflow
def an_attempt():
    return takes_too_long_at_first()


CASES = [
    # time-outs first: they are submitted first, before the cluster is full of other cases
    written(
        "timeout", an_attempt, done("takes_too_long_at_first"), {"result": 1}, attempts={"takes_too_long_at_first": 2}
    ),
    written("timeout", a_step, {"takes_too_long": "Failed", "mend": "Succeeded"}, {"result": "mended"}),
    written(
        "retry", until_it_succeeds, done("third_time_lucky", "note"), {"result": 20}, attempts={"third_time_lucky": 3}
    ),
    written(
        "retry",
        until_there_are_no_attempts_left,
        {"never_lucky": "Failed", "note": "Blocked"},
        status="Failed",
        attempts={"never_lucky": 3},
    ),
    written("retry", not_after_a_success, done("lucky_at_once"), {"result": 0}, attempts={"lucky_at_once": 1}),
    written(
        "retry",
        while_a_condition_holds,
        {"gives_up_at_another_exit_code": "Failed"},
        status="Failed",
        attempts={"gives_up_at_another_exit_code": 2},
    ),
    written(
        "retry", with_a_delay, done("waits_between_attempts"), {"result": 1}, attempts={"waits_between_attempts": 2}
    ),
    written("retry", items_of_a_fan_out_each_by_itself, done("lucky_only_if_even"), {"result": ["0:0", "1:1", "2:0"]}),
]
