"""Whether of several conditions one always holds, as of the two branches of an if."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence

import msgspec

from couler_py.ir.expr import AllOf, AnyOf, Compare, Expr, Literal, Not

_ATOMS = 8
"""Beyond so many distinct conditions (2^8 rows) the question isn't tried, and the answer is no."""

Truth = Callable[[Mapping[bytes, bool]], bool]


def one_holds(conditions: Sequence[Expr]) -> bool:
    """Whether at least one of the conditions is true, whatever the truth of what they are built from.

    True is certain; False also stands for not knowing. A condition without a value counts as neither:
    its task is Failed.

    >>> from couler_py.ir.expr import Input
    >>> one_holds([Input("c"), Not(Input("c"))])
    True
    """
    atoms: dict[bytes, None] = {}
    truths = [_truth(condition, atoms) for condition in conditions]
    if not truths or len(atoms) > _ATOMS:
        return False
    for row in itertools.product((False, True), repeat=len(atoms)):
        known = dict(zip(atoms, row, strict=True))
        if not any(truth(known) for truth in truths):
            return False
    return True


def _truth(expr: Expr, atoms: dict[bytes, None]) -> Truth:
    match expr:
        case Literal(value=bool(value)):
            return lambda known: value
        case Not(operand=operand):
            inner = _truth(operand, atoms)
            return lambda known: not inner(known)
        case AllOf(operands=operands):
            every = [_truth(operand, atoms) for operand in operands]
            return lambda known: all(one(known) for one in every)
        case AnyOf(operands=operands):
            some = [_truth(operand, atoms) for operand in operands]
            return lambda known: any(one(known) for one in some)
        case Compare(op="!=", left=left, right=right):
            return _truth(Not(Compare("==", left, right)), atoms)
        case _:
            # The JSON form tells 1 from True and 1.0, which are equal to Python.
            key = msgspec.json.encode(expr)
            atoms[key] = None
            return lambda known: known[key]
