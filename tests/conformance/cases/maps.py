"""`couler.map` over lists of every kind, and the lists that come of it."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import couler_py as couler
from tests.conformance.cases.naming import done, written


class Pair(NamedTuple):
    left: int
    right: str


@couler.step
def numbers(count: int) -> list[int]:
    return list(range(count))


@couler.step
def texts() -> list[str]:
    return ['{"a": 1}', "[1]", "null", "", "it's {{x}}"]


@couler.step
def records() -> list[Pair]:
    return [Pair(1, "one"), Pair(2, "{{two}}")]


@couler.step
def double(n: int) -> int:
    return 2 * n


@couler.step
def add(a: int, b: int) -> int:
    return a + b


@couler.step
def total(values: list[int]) -> int:
    return sum(values)


@couler.step
def split(n: int) -> Pair:
    return Pair(n, str(n))


@couler.step
def record_text(pair: Pair) -> str:
    return f"{pair.left}={pair.right}"


@couler.step
def echo(value: str) -> str:
    return value


@couler.step
def maybe_none(n: int) -> int | None:
    return None if n == 1 else n


@couler.step
def boxed(n: int) -> dict[str, int]:
    return {"n": n}


@couler.step
def boxes(values: list[dict[str, int]]) -> int:
    return sum(value["n"] for value in values)


@couler.step
def only_even(n: int) -> int:
    if n % 2:
        raise ValueError(f"{n} is odd")
    return n


@couler.step
def pairs_of(items: list[int], results: list[int]) -> list[str]:
    return [f"{item}>{result}" for item, result in zip(items, results)]  # noqa: B905


@couler.step
def beyond_doubles() -> list[int]:
    return [2**53 + 1]


@couler.workflow
def over_integers_that_an_engine_would_round():
    couler.map(double, beyond_doubles())


@couler.workflow
def integers_that_are_only_handed_on():
    return total(beyond_doubles())


@couler.workflow
def over_a_list_of_a_step():
    return total(couler.map(double, numbers(4)))


@couler.workflow
def over_an_empty_list_of_a_step():
    return total(couler.map(double, numbers(0)))


@couler.workflow
def over_a_list_known_now():
    return couler.map(double, [3, 1, 2])


@couler.workflow
def over_two_lists():
    return couler.map(add, [1, 2], [10, 20])


@couler.workflow
def with_a_value_from_outside():
    base = double(50)
    return couler.map(lambda n: add(n, base), numbers(2))


@couler.workflow
def over_texts_that_look_like_json():
    return couler.map(echo, texts())


@couler.workflow
def over_records():
    return couler.map(record_text, records())


@couler.workflow
def with_members():
    runs = couler.map(split, [1, 2])
    return {"lefts": runs.left, "rights": runs.right, "total": total(runs.left)}


@couler.workflow
def of_objects():
    return boxes(couler.map(boxed, [1, 2, 3]))


@couler.workflow
def that_gives_none():
    return couler.map(maybe_none, [0, 1, 2])


@couler.workflow
def of_several_steps():
    return total(couler.map(lambda n: add(double(n), n), [1, 2]))


@couler.workflow
def inside_another():
    return couler.map(lambda n: total(couler.map(double, numbers(n))), [0, 2])


@couler.workflow
def over_the_results_of_another():
    return couler.map(double, couler.map(double, [1, 2]))


@couler.workflow
def of_a_workflow(n: int) -> int:
    return double(double(n))


@couler.workflow
def over_a_workflow():
    return couler.map(of_a_workflow, [1, 2])


@couler.workflow
def aligned_with_its_inputs():
    runs = couler.map(only_even, [1, 2, 3, 4], tolerate=2)
    return pairs_of(runs.inputs, runs)


@couler.workflow
def that_tolerates_too_little():
    total(couler.map(only_even, [1, 2, 3], tolerate=1))


@couler.workflow
def of_one_item_that_fails():
    total(couler.map(only_even, numbers(2)))


@couler.step
def noted(number: int) -> Path:
    path = Path("number.txt")
    path.write_text(str(number))
    return path


@couler.step
def read_in_order(files: Path) -> list[str]:
    return [f"{file.name} {file.read_text()}" for file in sorted(files.iterdir())]


@couler.workflow
def files_over_a_sequence_downwards():
    return read_in_order(couler.map(noted, couler.sequence(start=5, end=3)))


@couler.workflow
def files_over_a_sequence_from_a_step():
    return read_in_order(couler.map(noted, couler.sequence(start=double(5), count=3)))


@couler.workflow
def over_a_sequence_counted_by_a_step():
    return couler.map(double, couler.sequence(count=double(1), start=5))


@couler.workflow
def longer_than_allowed():
    couler.map(double, numbers(5), max_items=3)


@couler.workflow
def one_at_a_time():
    return couler.map(double, [1, 2, 3], parallel=1)


@couler.workflow
def its_length():
    runs = couler.map(double, numbers(3))
    return {"length": couler.length(runs), "last": runs[-1]}


CASES = [
    written("map", over_a_list_of_a_step, done("numbers", "double", "total"), {"result": 12}),
    written("map", over_an_empty_list_of_a_step, done("numbers", "double", "total"), {"result": 0}),
    written("map", over_a_list_known_now, done("double", "double[0]", "double[2]"), {"result": [6, 2, 4]}),
    written("map", over_two_lists, done("add"), {"result": [11, 22]}),
    written("map", with_a_value_from_outside, done("numbers", "double", "add"), {"result": [100, 101]}),
    written(
        "map",
        over_texts_that_look_like_json,
        done("texts", "echo"),
        {"result": ['{"a": 1}', "[1]", "null", "", "it's {{x}}"]},
    ),
    written("map", over_records, done("records", "record_text"), {"result": ["1=one", "2={{two}}"]}),
    written("map", with_members, done("split", "total"), {"lefts": [1, 2], "rights": ["1", "2"], "total": 3}),
    written("map", of_objects, done("boxed", "boxes"), {"result": 6}),
    written("map", that_gives_none, done("maybe_none"), {"result": [0, None, 2]}),
    written("map", of_several_steps, done("double-map", "double-map[1]/double", "total"), {"result": 9}),
    written(
        "map",
        inside_another,
        done("numbers-map", "numbers-map[0]/double", "numbers-map[1]/double[1]"),
        {"result": [0, 2]},
    ),
    written("map", over_the_results_of_another, done("double", "double-2"), {"result": [4, 8]}),
    written("map", over_a_workflow, done("of_a_workflow", "of_a_workflow[0]/double"), {"result": [4, 8]}),
    written(
        "map",
        aligned_with_its_inputs,
        {"only_even": "Succeeded", "only_even[0]": "Failed", "only_even[1]": "Succeeded", "pairs_of": "Succeeded"},
        {"result": ["2>2", "4>4"]},
    ),
    written("map", that_tolerates_too_little, {"only_even": "Failed", "total": "Blocked"}, status="Failed"),
    written(
        "map",
        of_one_item_that_fails,
        {"numbers": "Succeeded", "only_even": "Failed", "total": "Blocked"},
        status="Failed",
    ),
    written(
        "map",
        files_over_a_sequence_downwards,
        done("noted", "read_in_order"),
        {"result": ["000000 5", "000001 4", "000002 3"]},
    ),
    written(
        "map",
        files_over_a_sequence_from_a_step,
        done("double", "noted", "read_in_order"),
        {"result": ["000000 10", "000001 11", "000002 12"]},
    ),
    written("map", over_a_sequence_counted_by_a_step, done("double", "double-2"), {"result": [10, 12]}),
    written("map", longer_than_allowed, {"numbers": "Succeeded", "double": "Failed"}, status="Failed"),
    written(
        "map",
        over_integers_that_an_engine_would_round,
        {"beyond_doubles": "Failed", "double": "Blocked"},
        status="Failed",
    ),
    written("map", integers_that_are_only_handed_on, done("beyond_doubles", "total"), {"result": 2**53 + 1}),
    written("map", one_at_a_time, done("double"), {"result": [2, 4, 6]}),
    written("map", its_length, done("numbers", "double"), {"length": 3, "last": 4}),
]
