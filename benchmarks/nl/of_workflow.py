"""Facts about settings: values, parameters, schedule, retries, time, resources, handlers."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

from benchmarks.nl import descriptions
from benchmarks.nl.descriptions import Handler, Holds, Wait
from benchmarks.nl.findings import Finding, Seen
from benchmarks.nl.reading import same, stands, words
from benchmarks.nl.schedules import agrees
from benchmarks.nl.units import Unit
from benchmarks.nl.values import flat, texts
from couler_py.ir.model import DistributedJob, Function, Script, Suspend
from couler_py.ir.pod import Resources
from couler_py.ir.quantity import quantity

_MEMORY = 0.1  # between GB and GiB are 7 %


def of_roles(seen: Seen) -> Iterator[Finding]:
    """The facts about tasks of certain roles."""
    yield from (held(seen, wanted) for wanted in seen.facts.values if wanted.role)
    yield from _settings(seen)
    yield from (waits(seen, wanted) for wanted in seen.facts.waits)


def of_all(seen: Seen) -> Iterator[Finding]:
    """The facts that are the same whoever plays which role."""
    facts = seen.facts
    yield from (parameter(seen, wanted) for wanted in facts.parameters)
    yield from (held(seen, wanted) for wanted in facts.values if not wanted.role)
    if facts.schedule is not None:
        yield scheduled(seen, facts.schedule)
    if facts.concurrency:
        schedule = seen.workflow.schedule
        found = "nothing" if schedule is None else schedule.concurrency
        yield Finding(f"concurrency {facts.concurrency}", found == facts.concurrency, f"it is {found}")
    yield from (handled(seen, wanted) for wanted in facts.handlers)
    everything = [*_everything(seen), *_sources(seen)]
    for text in facts.absent:
        yield Finding(f"no {text!r}", not any(text in str(value) for value in everything), "it stands there")
    for word in facts.no_task:
        named = next((unit.path[-1] for unit in seen.main() if stands(word, words(unit.names))), "")
        yield Finding(f"no task that is called {word}", not named, f"there is {named}")


def parameter(seen: Seen, wanted: descriptions.Parameter) -> Finding:
    fact = f"parameter {wanted.name[0]} = {wanted.default}"
    named = [
        one
        for one in seen.workflow.parameters
        if any(all(stands(word, words(one.name)) for word in words(name)) for name in wanted.name)
    ]
    if not named:
        return Finding(fact, False, "no such parameter")
    right = any(same(wanted.default, one.default) for one in named)
    return Finding(fact, right, f"its default is {named[0].default}")


def held(seen: Seen, wanted: Holds) -> Finding:
    fact = f"{wanted.any[0]!r} in {wanted.role or 'it'}"
    if wanted.role:
        values = [value for unit in seen.players(wanted.role) for value in unit.values]
    else:
        values = _everything(seen)
    return Finding(fact, any(_is_in(one, value) for one in wanted.any for value in values), "it stands nowhere")


def _is_in(expected: Any, value: Any) -> bool:
    if isinstance(expected, str):
        return expected in str(value)
    if isinstance(value, str):
        return any(same(expected, part) for part in value.replace("=", " ").replace(",", " ").split())
    return same(expected, value)


def _everything(seen: Seen) -> list[Any]:
    defaults = [value for one in seen.workflow.parameters for value in flat(one.default)]
    places = [value for one in seen.workflow.artifacts for value in texts(one.storage)]
    return [*defaults, *places, *(value for unit in seen.units for value in unit.values)]


def _sources(seen: Seen) -> list[str]:
    """Names, and programs of steps."""
    found = [unit.names for unit in seen.units]
    for unit in seen.units:
        match unit.template.body:
            case Function(pieces=pieces):
                found += [piece.text for piece in pieces]
            case Script(source=source):
                found.append(str(source))
    return found


def scheduled(seen: Seen, wanted: descriptions.Schedule) -> Finding:
    found = seen.workflow.schedule
    when = " or ".join(wanted.crons) or f"every {wanted.every}"
    fact = f"starts at {when} {wanted.timezone}".rstrip()
    if found is None:
        return Finding(fact, False, "it has no schedule")
    return Finding(fact, agrees(wanted, found), f"it starts at {' and '.join(found.crons)} {found.timezone}")


def _settings(seen: Seen) -> Iterator[Finding]:
    facts = seen.facts
    for role, limit in facts.retries.items():
        yield _every(
            seen, role, f"{limit} retries of {role}", lambda u: u.template.retry and u.template.retry.limit, limit
        )
    for role, seconds in facts.backoff.items():
        yield _every(seen, role, f"{seconds} s before {role} again", _delay, seconds)
    for role, seconds in facts.timeouts.items():
        fact = f"{seconds} s for {role}"
        if role == "run":
            found = seen.workflow.deadline
            yield Finding(fact, found == seconds, f"it may take {found}")
        else:
            yield _every(seen, role, fact, lambda u: (u.template.timeout, u.template.deadline), seconds)
    for role, resources in facts.resources.items():
        yield from _resources(seen, role, resources)
    for role, job in facts.distributed.items():
        wanted = (job.nodes, job.processes)
        yield _every(seen, role, f"{role} on {job.nodes} nodes", _nodes, wanted)
    for role in facts.cache:
        yield _every(seen, role, f"{role} is kept", lambda u: u.template.cache is not None, True)


def _every(seen: Seen, role: str, fact: str, of: Callable[[Unit], Any], wanted: Any) -> Finding:
    """Whether each task of a role has a setting; of "*" each that runs something."""
    if role == "*":
        players = [unit for unit in seen.main() if not isinstance(unit.template.body, Suspend)]
    else:
        players = seen.players(role)
    if not players:
        return Finding(fact, False, f"no task for {role}")
    for unit in players:
        found = of(unit)
        several = isinstance(found, tuple) and not isinstance(wanted, tuple)
        if not (wanted in found if several else found == wanted):
            return Finding(fact, False, f"{unit.path[-1]} has {found}")
    return Finding(fact, True)


def _delay(unit: Unit) -> float | None:
    retry = unit.template.retry
    return None if retry is None or retry.backoff is None else retry.backoff.duration


def _nodes(unit: Unit) -> tuple[int, int] | None:
    body = unit.template.body
    if not isinstance(body, DistributedJob):
        return None
    # one process that has all devices of its node is the same machine
    return body.nodes, max(body.processes_per_node, body.container.resources.gpu)


def _resources(seen: Seen, role: str, wanted: descriptions.Resources) -> Iterator[Finding]:
    if wanted.cpu:
        yield _every(seen, role, f"{wanted.cpu} cpus for {role}", lambda u: _amount(_asks(u).cpu), _amount(wanted.cpu))
    if wanted.gpu:
        yield _every(seen, role, f"{wanted.gpu} gpus for {role}", lambda u: _asks(u).gpu, wanted.gpu)
    if wanted.memory:
        right = _amount(wanted.memory)
        yield _every(
            seen,
            role,
            f"{wanted.memory} for {role}",
            lambda u: abs(_amount(_asks(u).memory) / right - 1) <= _MEMORY,
            True,
        )


def _asks(unit: Unit) -> Resources:
    body = unit.template.body
    container = body.container if isinstance(body, DistributedJob) else body
    found = getattr(container, "resources", Resources())
    return found if isinstance(found, Resources) else Resources()


def _amount(text: str) -> float:
    return float(quantity(text) or 0) if text else 0.0


def handled(seen: Seen, wanted: Handler) -> Finding:
    """A handler for that end of the run; for success also a task that is the last, for any end one for each."""
    fact = f"{wanted.words[0]} on {wanted.on}"
    moments = {unit.moment for unit in seen.units if _speaks(unit, wanted.words)}
    right = wanted.on in moments or (wanted.on == "exit" and {"success", "failure"} <= moments)
    if wanted.on == "success" and not right:
        mains = [place for place, unit in enumerate(seen.units) if not unit.moment]
        right = any(
            _speaks(seen.units[place], wanted.words) and seen.units[place].before >= set(mains) - {place}
            for place in mains
        )
    return Finding(fact, right, "no such handler")


def _speaks(unit: Unit, names: tuple[str, ...]) -> bool:
    among = words(" ".join([unit.names, unit.about, json.dumps(unit.values, default=str, ensure_ascii=False)]))
    return any(stands(name, among) for name in names)


def waits(seen: Seen, wanted: Wait) -> Finding:
    fact = f"{wanted.role} waits" + (f" {wanted.seconds} s" if wanted.seconds is not None else "")

    def of(unit: Unit) -> Any:
        body = unit.template.body
        return (body.duration,) if isinstance(body, Suspend) else "no wait"

    return _every(seen, wanted.role, fact, of, (wanted.seconds,))
