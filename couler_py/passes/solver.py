"""Linear programs, also with integers, solved by HiGHS through SciPy; each answer comes with what proves it.

Huangfu and Hall, "Parallelizing the dual revised simplex method", Math. Prog. Comp. 2018; https://highs.dev.
Needs SciPy, which the extra `train` brings.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

TOLERANCE = 1e-6
"""How far a row, a bound or an integer of a solution may be off, relative to the size of its numbers (HiGHS's own)."""

OPTIMAL, LIMIT, INFEASIBLE, UNBOUNDED = 0, 1, 2, 3  # scipy.optimize.milp, `status`


def not_negative(columns: Any, target: Any) -> Any:
    """Coefficients of columns, none below 0, whose sum is nearest to a target (Lawson and Hanson, 1974).

    `columns` is an array (rows, columns), `target` (rows,). Columns may differ by orders of magnitude. Needs SciPy.
    """
    import numpy
    from scipy.optimize import nnls

    scale = numpy.abs(columns).max(axis=0)
    scale[scale == 0] = 1.0
    return nnls(columns / scale, target)[0] / scale


class UnsolvableError(ValueError):
    """A program that has no solution, or whose best one has no end, or none that was found within a limit."""

    def __init__(self, why: str, bound: float = -math.inf):
        super().__init__(why)
        self.bound = bound
        """No solution's objective is better, as far as the search came."""


class Solution(msgspec.Struct, frozen=True):
    """Values of all variables, and how good they are."""

    values: tuple[float, ...]
    objective: float
    bound: float
    """No solution's objective is better."""

    def __getitem__(self, variable: int) -> float:
        """The value of a variable."""
        return self.values[variable]

    def whole(self, variable: int) -> int:
        """The value of an integer variable."""
        return round(self.values[variable])

    @property
    def gap(self) -> float:
        """How far the objective may be from the best, relative to it."""
        return abs(self.objective - self.bound) / max(1.0, abs(self.objective))

    @property
    def optimal(self) -> bool:
        """Whether there is nothing better."""
        return self.gap <= TOLERANCE


class Row(msgspec.Struct, frozen=True):
    """Coefficients by variable; their sum lies between two bounds."""

    terms: Mapping[int, float]
    low: float
    high: float


class Program:
    """A program to be minimised: variables, rows, and what each variable costs.

    >>> program = Program()
    >>> small, large = program.variable(cost=1.0, integer=True), program.variable(cost=3.0, integer=True)
    >>> program.at_least({small: 2, large: 7}, 15)
    >>> found = program.solve()
    >>> (found.whole(small), found.whole(large), found.objective, found.optimal)
    (1, 2, 7.0, True)
    """

    def __init__(self) -> None:
        self.costs: list[float] = []
        self.low: list[float] = []
        self.high: list[float] = []
        self.integer: list[bool] = []
        self.rows: list[Row] = []

    def variable(self, *, cost: float = 0.0, low: float = 0.0, high: float = math.inf, integer: bool = False) -> int:
        """A new variable: its number."""
        self.costs.append(cost)
        self.low.append(low)
        self.high.append(high)
        self.integer.append(integer)
        return len(self.costs) - 1

    def at_least(self, terms: Mapping[int, float], bound: float) -> None:
        """The sum of coefficients times variables is `bound` or more."""
        self.between(terms, bound, math.inf)

    def at_most(self, terms: Mapping[int, float], bound: float) -> None:
        """The sum is `bound` or less."""
        self.between(terms, -math.inf, bound)

    def equal(self, terms: Mapping[int, float], value: float) -> None:
        """The sum is `value`."""
        self.between(terms, value, value)

    def between(self, terms: Mapping[int, float], low: float, high: float) -> None:
        """The sum lies between two bounds."""
        self.rows.append(Row(dict(terms), low, high))

    def solve(self, *, gap: float = 0.0, nodes: int | None = None, seconds: float | None = None) -> Solution:
        """The best values, or good ones where a limit ends the search first.

        `gap` is how far from the best is near enough, relative; `nodes` ends the search after so many branches, alike
        on every machine; `seconds` after a time, which makes the answer depend on the machine.
        Raises `UnsolvableError` where there is no solution, none was found within the limits, or the best has no end.
        """
        from scipy.optimize import Bounds, LinearConstraint, milp

        if not self.costs:
            return Solution((), 0.0, 0.0)
        options: dict[str, float] = {"mip_rel_gap": gap}
        if nodes is not None:
            options["node_limit"] = nodes
        if seconds is not None:
            options["time_limit"] = seconds
        constraints = []
        if self.rows:
            low, high = [row.low for row in self.rows], [row.high for row in self.rows]
            constraints.append(LinearConstraint(self._matrix(), low, high))
        found = milp(
            self.costs,
            integrality=self.integer,
            bounds=Bounds(self.low, self.high),
            constraints=constraints,
            options=options,
        )
        if found.x is None:
            known = found.mip_dual_bound
            raise UnsolvableError(self._why(found), -math.inf if known is None else float(known))
        values = tuple(round(x) + 0.0 if whole else float(x) for x, whole in zip(found.x, self.integer, strict=True))
        objective = math.fsum(cost * value for cost, value in zip(self.costs, values, strict=True))
        bound = objective if found.mip_dual_bound is None else min(objective, float(found.mip_dual_bound))
        return Solution(values, objective, bound)

    def violations(self, values: Sequence[float], tolerance: float = TOLERANCE) -> list[str]:
        """What values break, one line each; none where they are a solution. It knows nothing of how they were found."""
        broken = []
        for number, (value, low, high, whole) in enumerate(zip(values, self.low, self.high, self.integer, strict=True)):
            if not low - tolerance <= value <= high + tolerance:
                broken.append(f"variable {number} is {value:g}, not between {low:g} and {high:g}")
            if whole and abs(value - round(value)) > tolerance:
                broken.append(f"variable {number} is {value:g}, not an integer")
        for number, row in enumerate(self.rows):
            parts = [factor * values[variable] for variable, factor in row.terms.items()]
            total, slack = math.fsum(parts), tolerance * max([1.0, *map(abs, parts)])
            if not row.low - slack <= total <= row.high + slack:
                broken.append(f"row {number} is {total:g}, not between {row.low:g} and {row.high:g}")
        return broken

    def _matrix(self) -> object:
        from scipy.sparse import csr_matrix

        starts, columns, factors = [0], list[int](), list[float]()
        for row in self.rows:
            columns += row.terms.keys()
            factors += row.terms.values()
            starts.append(len(columns))
        return csr_matrix((factors, columns, starts), shape=(len(self.rows), len(self.costs)))

    def _why(self, found: object) -> str:
        status = getattr(found, "status", None)
        if status == INFEASIBLE:
            return f"no values of the {len(self.costs)} variables satisfy all {len(self.rows)} rows"
        if status == UNBOUNDED:
            return "the objective can be made as small as one likes: a bound is missing"
        if status == LIMIT:
            return "no solution was found within the limit: allow more nodes or seconds"
        return f"HiGHS found no solution: {getattr(found, 'message', '')}"
