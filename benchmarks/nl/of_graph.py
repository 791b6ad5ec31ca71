"""Facts about the shape: order, what is side by side, fan-outs, conditions, loops."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Iterator

from benchmarks.nl.descriptions import Comparison, Each, Until, When
from benchmarks.nl.fans import Fan
from benchmarks.nl.findings import Finding, Seen
from benchmarks.nl.reading import same
from benchmarks.nl.units import Unit
from couler_py.ir import expr as ir
from couler_py.ir.expr import Expr

_OPPOSITE = {"==": "!=", "!=": "==", "<": ">=", ">=": "<", ">": "<=", "<=": ">"}
_MIRRORED = {"==": "==", "!=": "!=", "<": ">", ">": "<", "<=": ">=", ">=": "<="}


def findings(seen: Seen) -> Iterator[Finding]:
    facts = seen.facts
    pairs = dict.fromkeys(pair for chain in facts.order for pair in itertools.pairwise(chain))
    for first, then in pairs:
        yield ordered(seen, first, then)
    for roles in facts.parallel:
        for left, right in itertools.combinations(roles, 2):
            yield side_by_side(seen, left, right)
    for each in facts.each:
        yield fanned(seen, each)
    for when in facts.when:
        yield guarded(seen, when)
    for until in facts.until:
        yield repeated(seen, until)
    for failing, handler in facts.after_failure:
        yield absolved(seen, failing, handler)


def ordered(seen: Seen, first: str, then: str) -> Finding:
    """Every task of the second role comes after one of the first, and every one of the first comes before one."""
    fact = f"{first} before {then}"
    before, after = seen.places(first), seen.places(then)
    if not before or not after:
        return Finding(fact, False, _nobody(seen, first, then))
    late = next((place for place in after if seen.units[place].before.isdisjoint(before)), None)
    if late is not None:
        return Finding(fact, False, f"{_name(seen, late)} waits for no {first}")
    unread = next((place for place in before if not any(place in seen.units[p].before for p in after)), None)
    if unread is not None:
        return Finding(fact, False, f"no {then} waits for {_name(seen, unread)}")
    return Finding(fact, True)


def side_by_side(seen: Seen, left: str, right: str) -> Finding:
    """Neither role waits for the other."""
    fact = f"{left} beside {right}"
    ours, theirs = seen.places(left), seen.places(right)
    if not ours or not theirs:
        return Finding(fact, False, _nobody(seen, left, right))
    for one, other in itertools.product(ours, theirs):
        if one in seen.units[other].before or other in seen.units[one].before:
            return Finding(fact, False, f"{_name(seen, one)} and {_name(seen, other)} run one after the other")
    return Finding(fact, True)


def fanned(seen: Seen, each: Each) -> Finding:
    """A role runs for each item: one task over a list, or lists in lists; or a task of its own for each."""
    what = [str(item[0]) for item in each.items] or each.count or each.start or "item"
    fact = f"{each.role} for each of {what}"
    players = seen.players(each.role)
    if not players:
        return Finding(fact, False, _nobody(seen, each.role))
    if len(players) > 1 and not any(unit.fans for unit in players):
        return Finding(fact, *_written_out(seen, each, players))
    reasons = [_over_list(seen, each, unit) for unit in players]
    reason = next((reason for reason in reasons if reason), "")
    return Finding(fact, not reason, reason)


def _written_out(seen: Seen, each: Each, players: list[Unit]) -> tuple[bool, str]:
    wanted = len(each.items) or each.count
    if each.start:
        return False, "the list is known only when it runs, so no task can be written out for each"
    if wanted is not None and len(players) != wanted:
        return False, f"there are {len(players)} tasks for {wanted} items"
    places = set(seen.places(each.role))
    if any(not unit.before.isdisjoint(places) for unit in players):
        return False, "the tasks run one after the other"
    if each.parallel is not None and seen.workflow.parallelism != each.parallel:
        return False, f"not bounded to {each.parallel} at once"
    return True, ""


def _over_list(seen: Seen, each: Each, unit: Unit) -> str:
    """Why a task doesn't run over the list; "" if it does."""
    if not unit.fans:
        return f"{unit.path[-1]} runs once"
    if each.items and not any(_holds(fan, each) for fan in unit.fans):
        return f"{unit.path[-1]} runs over {[fan.values for fan in unit.fans]}"
    if each.count is not None and each.count not in _products(unit.fans):
        return f"{unit.path[-1]} runs over {[fan.count for fan in unit.fans]} items"
    if each.start and not any(_from(seen, fan, each.start) for fan in unit.fans):
        return f"the list of {unit.path[-1]} isn't from {each.start}"
    if each.parallel is not None and all(fan.parallel != each.parallel for fan in unit.fans):
        return f"not bounded to {each.parallel} at once"
    return ""


def _holds(fan: Fan, each: Each) -> bool:
    if fan.count != len(each.items):
        return False
    left = list(fan.values or ())
    for alternatives in each.items:
        found = next((v for v in left if any(_item_is(one, v) for one in alternatives)), None)
        if found is None:
            return False
        left.remove(found)
    return True


def _item_is(expected: object, value: object) -> bool:
    if isinstance(value, list | tuple):
        return any(_item_is(expected, one) for one in value)
    if isinstance(value, dict):
        return any(_item_is(expected, one) for one in value.values())
    return same(expected, value)


def _products(fans: Iterable[Fan]) -> set[int]:
    """How many runs lists in lists make, for every choice of them."""
    counts = [fan.count for fan in fans if fan.count is not None]
    return {math.prod(some) for size in range(1, len(counts) + 1) for some in itertools.combinations(counts, size)}


def _from(seen: Seen, fan: Fan, role: str) -> bool:
    if role == "*":
        return fan.values is None and fan.count is None
    return fan.start is not None and any(unit.path[: len(fan.start)] == fan.start for unit in seen.players(role))


def guarded(seen: Seen, when: When) -> Finding:
    """A role runs only where a test of what another found holds."""
    fact = f"{when.role} only if {when.on or 'something'} {_said(when.tests)}"
    players = seen.players(when.role)
    if not players or (when.on and not seen.places(when.on)):
        return Finding(fact, False, _nobody(seen, when.role, *([when.on] if when.on else [])))
    for unit in players:
        guards = [guard for expr in unit.whens for guard in _guards(expr)]
        if not guards:
            return Finding(fact, False, f"{unit.path[-1]} runs in any case")
        if not any(_test(guard, when.tests) and _about(seen, guard, when.on, unit) for guard in guards):
            return Finding(fact, False, f"{unit.path[-1]} runs if {[_text(guard) for guard in guards]}")
    return Finding(fact, True)


def repeated(seen: Seen, until: Until) -> Finding:
    """A role is repeated until a test holds."""
    fact = f"{until.role} until {_said(until.tests)}"
    players = seen.players(until.role)
    if not players:
        return Finding(fact, False, _nobody(seen, until.role))
    for unit in players:
        ends = [repeat for repeat in unit.repeats if any(_test(g, until.tests) for g in _guards(repeat.until))]
        if not ends:
            return Finding(fact, False, f"{unit.path[-1]} is repeated until {[_text(r.until) for r in unit.repeats]}")
        if until.most is not None and all(repeat.most != until.most for repeat in ends):
            return Finding(fact, False, f"at most {[repeat.most for repeat in ends]} times instead of {until.most}")
        for other in until.together:
            if not any(repeat in ends for one in seen.players(other) for repeat in one.repeats):
                return Finding(fact, False, f"{other} is not repeated with {until.role}")
    return Finding(fact, True)


def absolved(seen: Seen, failing: str, handler: str) -> Finding:
    """A role runs where another failed, and only there."""
    fact = f"{handler} if {failing} fails"
    if not seen.places(failing) or not seen.places(handler):
        return Finding(fact, False, _nobody(seen, failing, handler))
    if any(unit.failing.isdisjoint(seen.places(failing)) for unit in seen.players(handler)):
        return Finding(fact, False, f"{handler} doesn't run on the failure of {failing}")
    return Finding(fact, True)


def _guards(expr: Expr) -> Iterator[Expr]:
    """What must hold for an expression to hold, each by itself; `not` drawn inwards."""
    match expr:
        case ir.AllOf(operands=operands):
            for operand in operands:
                yield from _guards(operand)
        case ir.Not(operand=ir.Not(operand=operand)):
            yield from _guards(operand)
        case ir.Not(operand=ir.AnyOf(operands=operands)):
            for operand in operands:
                yield from _guards(ir.Not(operand))
        case ir.Not(operand=ir.Compare(op=op, left=left, right=right)):
            yield ir.Compare(_OPPOSITE[op], left, right)  # type: ignore[arg-type]
        case ir.AnyOf(operands=(operand,)):
            yield from _guards(operand)
        case _:
            yield expr


def _test(guard: Expr, tests: tuple[Comparison, ...]) -> bool:
    """Whether a guard is one of the tests, with the value on either side. Without tests any guard is right."""
    if not tests:
        return True
    if not isinstance(guard, ir.Compare):
        return False
    if isinstance(guard.right, ir.Literal):
        op, value = guard.op, guard.right.value
    elif isinstance(guard.left, ir.Literal):
        op, value = _MIRRORED[guard.op], guard.left.value  # type: ignore[assignment]
    else:
        return False
    return any(op in test.op and any(same(one, value) for one in test.value) for test in tests)


def _about(seen: Seen, guard: Expr, on: str, guarded_unit: Unit) -> bool:
    """Whether a guard asks what a role found, or what came of that before the guarded task."""
    if not on:
        return True
    source = set(seen.places(on))
    asked = {
        tuple(node.task.split("/"))
        for node in ir.walk(guard)
        if isinstance(node, ir.TaskOutput | ir.TaskItems | ir.TaskStatus)
    }
    for place, unit in enumerate(seen.units):
        from_it = place in source or not unit.before.isdisjoint(source)
        if from_it and place in guarded_unit.before and any(unit.path[: len(path)] == path for path in asked):
            return True
    return False


def _said(tests: tuple[Comparison, ...]) -> str:
    return " or ".join(f"{'/'.join(test.op)} {test.value[0]}" for test in tests) or "says so"


def _text(expr: Expr) -> str:
    match expr:
        case ir.Compare(op=op, left=left, right=right):
            return f"{_text(left)} {op} {_text(right)}"
        case ir.Literal(value=value):
            return repr(value)
        case ir.TaskOutput(task=task, name=name):
            return f"{task}.{name}"
        case ir.Own(name=name):
            return name
        case _:
            return type(expr).__name__


def _nobody(seen: Seen, *roles: str) -> str:
    missing = [role for role in roles if not seen.places(role)]
    return f"no task for {' and '.join(missing)}"


def _name(seen: Seen, place: int) -> str:
    return seen.units[place].path[-1]
