"""Expressions, with the meaning that couler gives them everywhere."""

import json
import math

from couler_py.templates.airflow.values import Absent


def or_else(read, default):
    """The value, or the default where it is absent."""
    try:
        return read()
    except Absent:
        return default() if callable(default) else default


def first_of(*options):
    """The first value that is there."""
    for read in options:
        try:
            return read()
        except Absent:
            continue
    raise Absent("none of the values is there")


def kind_of(value):
    """The kind of a value: a boolean is not a number."""
    if value is None or isinstance(value, bool):
        return type(value)
    if isinstance(value, int | float):
        return float
    return type(value)


def checked(value):
    """The value; an integer that engines would compare differently is an error."""
    if isinstance(value, int) and abs(value) > 2**53:
        raise ValueError(f"{value} is beyond plus or minus 2^53")
    return value


def equal(left, right):
    """Whether two values are the same: by kind first, then by content."""
    if kind_of(left) is not kind_of(right):
        return False
    if isinstance(left, list):
        return len(left) == len(right) and all(map(equal, left, right))
    if isinstance(left, dict):
        return left.keys() == right.keys() and all(
            equal(left[key], right[key]) for key in left
        )
    return checked(left) == checked(right)


def less(left, right):
    """Whether a number or text comes before another."""
    ordered(left, right)
    return left < right


def at_most(left, right):
    """Whether a number or text comes before another, or is the same."""
    ordered(left, right)
    return left <= right


def ordered(left, right):
    """Raise an error unless both are numbers, or both texts."""
    if kind_of(left) is not kind_of(right) or kind_of(left) not in (float, str):
        raise TypeError(f"{left!r} can't be ordered with {right!r}")
    checked(left), checked(right)


def is_true(value):
    """The value, which must be true or false."""
    if not isinstance(value, bool):
        raise TypeError(f"{value!r} is neither true nor false")
    return value


def is_false(value):
    """The opposite of a value that must be true or false."""
    return not is_true(value)


def as_number(value):
    """A number; JSON has no word for some."""
    if value in ("NaN", "Infinity", "-Infinity"):
        return float(value)
    if kind_of(value) is not float:
        raise TypeError(f"{value!r} is not a number")
    return value


def as_float(value):
    """A value; a number that JSON has no word for is read as such."""
    return float(value) if value in ("NaN", "Infinity", "-Infinity") else value


def every(*conditions):
    """Whether all conditions hold, read in order."""
    return all(is_true(read()) for read in conditions)


def some(*conditions):
    """Whether one of the conditions holds, read in order."""
    return any(is_true(read()) for read in conditions)


def as_fraction(value):
    """A number with a decimal point, as its type says."""
    return None if value is None else float(value)


def compute(sign, left, right):
    """Arithmetic on numbers of 64 bits; `+` also joins texts and lists."""
    if sign == "+" and kind_of(left) is kind_of(right) and kind_of(left) in (str, list):
        return left + right
    left, right = as_number(left), as_number(right)
    if sign == "+":
        made = left + right
    elif sign == "-":
        made = left - right
    elif sign == "*":
        made = left * right
    elif sign == "/":
        made = left / right
    elif sign == "//":
        infinite = right and isinstance(left, float) and math.isinf(left)
        made = math.nan if infinite else left // right
    else:
        made = left % right
    if isinstance(made, int) and not -(2**63) <= made < 2**63:
        raise OverflowError(f"{left!r} {sign} {right!r} doesn't fit in 64 bits")
    return made


def as_json(value):
    """A computed value as JSON has it: NaN and infinities are words there."""
    if isinstance(value, float) and not math.isfinite(value):
        return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
    return value


def member_of(value, key):
    """A member of an object, or an element of a list."""
    if isinstance(value, dict) and isinstance(key, str):
        return value[key]
    if isinstance(value, list) and isinstance(key, int) and not isinstance(key, bool):
        return value[key]
    raise TypeError(f"{value!r} has no member {key!r}")


def contains(container, value):
    """Whether a list holds a value, an object a key, or a text a part."""
    if isinstance(container, list):
        return any(equal(value, each) for each in container)
    if isinstance(container, dict | str) and isinstance(value, str):
        return value in container
    raise TypeError(f"{container!r} can't hold {value!r}")


def joined(*parts):
    """A text made of parts: texts as they are, everything else as JSON."""
    return "".join(
        each
        if isinstance(each, str)
        else json.dumps(as_json(each), ensure_ascii=False, separators=(",", ":"))
        for each in parts
    )


def zipped(*lists):
    """Several lists of equal length as one list of lists."""
    return [list(each) for each in zip(*lists, strict=True)]


def numbers_from(start=0, *, count=None, end=None, form=None):
    """A list of numbers: so many from the first, or up to the last, also downwards."""
    if form is not None:
        return [form % each for each in numbers_from(start, count=count, end=end)]
    if count is not None:
        return list(range(start, start + count))
    return (
        list(range(start, end + 1)) if start <= end else list(range(start, end - 1, -1))
    )
