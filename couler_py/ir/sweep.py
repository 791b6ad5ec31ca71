"""A sweep as data: the space of settings, what is measured, and how it is searched.

The steps of a sweep carry it as plain JSON (`plain`), which needs nothing of ours to be read.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, Self, TypeAlias

import msgspec

Goal: TypeAlias = Literal["maximize", "minimize"]
Algorithm: TypeAlias = Literal["grid", "random", "tpe", "cmaes", "nsga2", "asha", "hyperband"]
Where: TypeAlias = Mapping[str, tuple[Any, ...]]

STATIC: frozenset[str] = frozenset({"grid", "random"})
"""Algorithms whose trials are known before the first one runs."""

STOPPING: frozenset[str] = frozenset({"asha", "hyperband"})
"""Algorithms that stop trials early, by what these log."""


class _Struct(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    pass


class _Dimension(_Struct, frozen=True, tag_field="kind"):
    def only(self, **where: Any) -> Self:
        """The same dimension, used only where others have some values: `gamma.only(kernel="rbf")`.

        A tuple or a list of values means any of them.
        """
        several = {name: tuple(value) if isinstance(value, list | tuple) else (value,) for name, value in where.items()}
        return msgspec.structs.replace(self, where={**getattr(self, "where"), **several})  # noqa: B009 - of subclasses


class Real(_Dimension, frozen=True, tag="real"):
    """Real numbers from `low` to `high`; evenly by their logarithm with `log`.

    A grid takes `points` of them. `where` names other settings and the values with which this one is used.
    """

    low: float
    high: float
    log: bool = False
    points: int = 0
    where: Where = {}


class Integer(_Dimension, frozen=True, tag="integer"):
    """Whole numbers from `low` to `high`, both included, every `step`-th; evenly by their logarithm with `log`."""

    low: int
    high: int
    step: int = 1
    log: bool = False
    points: int = 0
    where: Where = {}


class Choice(_Dimension, frozen=True, tag="choice"):
    """One of some values: None, bool, int, float or str."""

    values: tuple[Any, ...]
    where: Where = {}


Dimension: TypeAlias = Real | Integer | Choice


class Metric(_Struct, frozen=True):
    """What a trial is judged by.

    `origin` says where it comes from: an output of that name, the step's only result, or what it logs last.
    """

    name: str
    goal: Goal = "minimize"
    origin: Literal["output", "result", "logged"] = "output"


class Plan(_Struct, frozen=True):
    """A whole sweep.

    `defaults` are the values of conditional settings where they aren't used. `rungs` are the steps of training at which
    a trial may be stopped: it goes on while it is among the best of `reduction` that came so far. `points` are the
    trials of a static sweep. `tolerate` is how many trials may fail, `curve` how many logged values of each are kept.
    """

    space: Mapping[str, Dimension]
    metrics: tuple[Metric, ...]
    algorithm: Algorithm
    trials: int
    batch: int
    seed: int = 0
    sampler: Literal["random", "tpe", "cmaes", "nsga2"] = "random"
    defaults: Mapping[str, Any] = {}
    first: tuple[Mapping[str, Any], ...] = ()
    points: tuple[Mapping[str, Any], ...] = ()
    rungs: tuple[int, ...] = ()
    reduction: int = 3
    tolerate: int = 0
    curve: int = 0

    @property
    def rounds(self) -> int:
        """How many times trials are begun, one batch each time."""
        return 1 if self.algorithm in STATIC else -(-self.trials // self.batch)


def plain(plan: Plan) -> dict[str, Any]:
    """The plan as JSON data with every field said, for readers that know no defaults."""
    made: dict[str, Any] = {name: msgspec.to_builtins(getattr(plan, name)) for name in plan.__struct_fields__}
    # A list: who reads JSON may order the members of objects, and settings follow those that they depend on.
    made["space"] = [{"name": name, **_full(dimension)} for name, dimension in plan.space.items()]
    made["metrics"] = [{"name": each.name, "goal": each.goal, "origin": each.origin} for each in plan.metrics]
    return made


def read(data: Any) -> Plan:
    """The plan that `plain` wrote. Raises `msgspec.ValidationError` for anything else."""
    space = {each["name"]: {key: value for key, value in each.items() if key != "name"} for each in data["space"]}
    return msgspec.convert({**data, "space": space}, Plan)


def _full(dimension: Dimension) -> dict[str, Any]:
    fields: dict[str, Any] = {
        name: msgspec.to_builtins(getattr(dimension, name)) for name in dimension.__struct_fields__
    }
    return {"kind": str(dimension.__struct_config__.tag), **fields}
