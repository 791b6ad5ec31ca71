"""`sprig`: objects. What changes one gives a copy here: an expression can't tell."""

from __future__ import annotations

import copy
from typing import Any

from couler_py.argolang.functions.goformat import formatted
from couler_py.argolang.functions.sprig.lists import empty
from couler_py.argolang.functions.tables import table
from couler_py.argolang.problems import EvaluationProblem
from couler_py.argolang.values import Strings

Object = dict[str, Any]


def _dict(*given: Any) -> Object:
    return {
        formatted(given[place]): given[place + 1] if place + 1 < len(given) else "" for place in range(0, len(given), 2)
    }


def _merged(first: Object, *others: Object, overwrite: bool = False) -> Object:
    """Objects in one: the first that has a value wins, or with `overwrite` the last; objects within are merged too."""
    found = dict(first)
    for other in others:
        for key, value in other.items():
            mine = found.get(key)
            if isinstance(mine, dict) and isinstance(value, dict):
                found[key] = _merged(mine, value, overwrite=overwrite)
            elif key not in found or empty(mine) or (overwrite and not empty(value)):
                found[key] = value
    return found


def _dig(*given: Any) -> Any:
    if len(given) < 3:
        raise EvaluationProblem("sprig.dig needs three arguments or more")
    *keys, instead, here = given
    for key in keys:
        if not isinstance(here, dict) or not isinstance(key, str):
            raise EvaluationProblem("sprig.dig needs texts as keys, and an object for each of them")
        if key not in here:
            return instead
        here = here[key]
    return here


MAPS = table(
    dict=("any*", _dict),
    get=("map string", lambda values, key: values.get(key, "")),
    set=("map string any", lambda values, key, value: {**values, key: value}),
    unset=("map string", lambda values, key: {each: value for each, value in values.items() if each != key}),
    hasKey=("map string", lambda values, key: key in values),
    pluck=("string map*", lambda key, *all_: [values[key] for values in all_ if key in values]),
    keys=("map*", lambda *all_: Strings(key for values in all_ for key in values)),
    pick=("map string*", lambda values, *keys: {key: values[key] for key in keys if key in values}),
    omit=("map string*", lambda values, *keys: {key: value for key, value in values.items() if key not in keys}),
    values=("map", lambda values: list(values.values())),
    merge=("map map*", _merged),
    mustMerge=("map map*", _merged),
    mergeOverwrite=("map map*", lambda *all_: _merged(*all_, overwrite=True)),
    mustMergeOverwrite=("map map*", lambda *all_: _merged(*all_, overwrite=True)),
    deepCopy=("any", copy.deepcopy),
    mustDeepCopy=("any", copy.deepcopy),
    dig=("any*", _dig),
)
