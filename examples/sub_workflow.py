"""A workflow used as a step of another one, twice."""

import couler_py as couler


@couler.step
def square(x: int) -> int:
    return x * x


@couler.step
def add(x: int, y: int) -> int:
    return x + y


@couler.workflow
def sum_of_squares(x: int, y: int) -> int:
    return add(square(x), square(y))


@couler.workflow
def sub_workflow(a: int = 3):
    return sum_of_squares(sum_of_squares(a, 4), 5)
