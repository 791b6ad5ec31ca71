"""What belongs to a whole run: parameters, facts, handlers, workflows in workflows, loops of steps, memory."""

from __future__ import annotations

from datetime import datetime
from enum import Enum
from typing import Any, Literal, NamedTuple

import couler_py as couler
from tests.conformance.case import Case
from tests.conformance.cases.naming import done, written


class Size(Enum):
    SMALL = "small"
    LARGE = "large"


class State(NamedTuple):
    n: int
    trace: str


@couler.step
def show(n: int, ratio: float, flag: bool, words: list[str], size: Size, mode: Literal["a", "b"]) -> str:
    return f"{n} {ratio} {flag} {words} {size.name} {mode}"


@couler.step
def inc(n: int) -> int:
    return n + 1


@couler.step
def boom() -> int:
    raise RuntimeError("as told")


@couler.step
def grow(n: int, trace: str) -> State:
    return State(n + 1, trace + str(n))


@couler.step
def expect(found: Any, wanted: Any) -> None:
    if found != wanted:
        raise AssertionError(f"{found!r} is not {wanted!r}")


@couler.step
def expect_failure(status: str, failures: list[Any]) -> None:
    if status != "Failed" or not failures:
        raise AssertionError(f"{status} {failures!r}")


@couler.step
def inside() -> list[str]:
    return [couler.run_info.id, couler.run_info.name]


@couler.step
def facts(run: str, name: str, scheduled: datetime, start: datetime, seen: list[str]) -> bool:
    return seen == [run, name] and run != "" and scheduled.tzinfo is not None and start.tzinfo is not None


@couler.step(cache=True)
def drawn(seed: int) -> str:
    import uuid

    return str(uuid.uuid4())


@couler.step
def same(a: str, b: str) -> bool:
    return a == b


@couler.workflow
def with_defaults(
    n: int = 3,
    ratio: float = 0.5,
    flag: bool = True,
    words: list[str] = ["{{a}}", "b'"],  # noqa: B006  a default is data here
    size: Size = Size.LARGE,
    mode: Literal["a", "b"] = "b",
):
    return show(n, ratio, flag, words, size, mode)


GIVEN = {"n": -(2**63), "ratio": 2, "flag": False, "words": ["x"], "size": "small", "mode": "a"}


@couler.workflow
def facts_of_the_run():
    info = couler.run_info
    return facts(info.id, info.name, info.scheduled_time, info.start, inside())


@couler.workflow
def status_and_published_values():
    n = inc(1)
    couler.publish("number", n)
    couler.on_exit(lambda: expect(couler.run_info.status, "Succeeded"))
    couler.on_success(lambda: expect(couler.published("number"), 2))
    couler.on_failure(boom)
    return n


@couler.workflow
def exit_handler_that_fails():
    inc(1)
    couler.on_exit(boom)


@couler.workflow
def success_handler_does_not_run_after_a_failure():
    couler.on_success(lambda: inc(1))
    couler.on_failure(lambda: expect_failure(couler.run_info.status, couler.run_info.failures))
    boom()


@couler.workflow
def handler_reads_a_parameter(text: str = "it's {{x}}"):
    inc(1)
    couler.on_exit(lambda: expect(text, "it's {{x}}"))


@couler.workflow
def handler_of_several_steps():
    inc(1)
    couler.on_exit(lambda: expect(inc(inc(1)), 3))


@couler.workflow
def add_two(n: int) -> int:
    return inc(inc(n))


@couler.workflow
def two_values(n: int) -> State:
    return State(inc(n), couler.format("from {}", n))


@couler.workflow
def called_twice():
    return add_two(add_two(1))


@couler.workflow
def called_with_members():
    made = two_values(4)
    return {"n": inc(made.n), "trace": made.trace}


@couler.workflow
def failing(n: int) -> int:
    boom()
    return inc(n)


@couler.workflow
def called_and_failing():
    n = failing(1)
    mended = couler.on_failure(n, lambda: inc(9))
    return mended.or_else(0)


@couler.workflow
def with_carried_values():
    last = couler.loop(grow, until=lambda state: state.n >= 3, initial=(0, ""))
    return {"n": last.n, "trace": last.trace}


@couler.workflow
def of_several_steps():
    return couler.loop(lambda n: inc(inc(n)), until=lambda n: n > 4, initial=0)


@couler.workflow
def that_never_ends():
    inc(couler.loop(inc, until=lambda n: n > 100, initial=0, max_iterations=3))


@couler.workflow
def while_a_condition_holds():
    return couler.exec_while(lambda n: n < 0, lambda: inc(1))


@couler.workflow
def inside_a_fan_out():
    return couler.map(lambda start: couler.loop(inc, until=lambda n: n >= 3, initial=start), [0, 2])


@couler.workflow
def same_inputs_run_once():
    first = drawn(1)
    second = drawn(1).after(first)
    other = drawn(2)
    return {"same": same(first, second), "other": same(first, other)}


@couler.workflow
def explicit_order():
    a, b = inc(1), inc(2)
    a >> b
    return b


CASES = [
    written("parameter", with_defaults, done("show"), {"result": "3 0.5 True ['{{a}}', \"b'\"] LARGE b"}),
    Case(
        "parameter-given-when-it-starts",
        with_defaults.build,
        done("show"),
        outputs={"result": "-9223372036854775808 2.0 False ['x'] SMALL a"},
        parameters=GIVEN,
    ),
    written("run", facts_of_the_run, done("inside", "facts"), {"result": True}),
    written("handler", status_and_published_values, done("inc"), {"result": 2}),
    written("handler", exit_handler_that_fails, done("inc"), status="Failed"),
    written("handler", success_handler_does_not_run_after_a_failure, {"boom": "Failed"}, status="Failed"),
    written("handler", handler_reads_a_parameter, done("inc")),
    written("handler", handler_of_several_steps, done("inc")),
    written("workflow", called_twice, done("add_two", "add_two/inc", "add_two/inc-2", "add_two-2"), {"result": 5}),
    written("workflow", called_with_members, done("two_values", "inc"), {"n": 6, "trace": "from 4"}),
    written("workflow", called_and_failing, {"failing": "Failed", "inc": "Succeeded"}, {"result": 10}),
    written("loop", with_carried_values, done("grow"), {"n": 3, "trace": "012"}),
    written("loop", of_several_steps, done("inc-loop"), {"result": 6}),
    written("loop", that_never_ends, {"inc": "Failed", "inc-2": "Blocked"}, status="Failed"),
    written("loop", while_a_condition_holds, done("inc-loop"), {"result": 2}),
    written("loop", inside_a_fan_out, done("inc"), {"result": [3, 3]}),
    written(
        "cache",
        same_inputs_run_once,
        done("drawn", "drawn-2", "drawn-3", "same", "same-2"),
        {"same": True, "other": False},
    ),
    written("order", explicit_order, done("inc", "inc-2"), {"result": 3}),
]
