"""The workflow that a description's own facts describe: a container for each role, with the edges and settings."""

from __future__ import annotations

import itertools
from typing import Any

import msgspec

from benchmarks.nl import descriptions
from benchmarks.nl.descriptions import Description
from benchmarks.nl.facts import Told
from couler_py.ir import expr as ir
from couler_py.ir.model import (
    After,
    Argument,
    Backoff,
    Body,
    Cache,
    DistributedJob,
    Each,
    Graph,
    Handler,
    Inputs,
    Loop,
    OutputParameter,
    Outputs,
    Parameter,
    RetryPolicy,
    Schedule,
    Sequence,
    Suspend,
    Task,
    Template,
    Workflow,
)
from couler_py.ir.pod import Container, Resources
from couler_py.ir.types import ANY, FLOAT, INT, STR, ListOf, Type

_EVERY = {"hour": "7 * * * *", "day": "7 5 * * *", "week": "7 5 * * 2", "month": "7 5 9 * *"}


def workflow(description: Description) -> Workflow:
    """IR in which every fact holds."""
    return _Meant(description).workflow()


def told(description: Description) -> Told:
    """What is said where everything is said that has to be."""
    said = description.said
    return Told(
        questions=tuple(words[0] for words in said.ask),
        refusals=tuple(words[0] for words in said.say),
        flags=("this was not followed",) if said.flag else (),
    )


class _Meant:
    def __init__(self, description: Description):
        self.facts = description.facts
        self.names = {
            role: self.name(number, names[0]) for number, (role, names) in enumerate(description.roles.items())
        }
        self.templates: list[Template] = []
        self.rounds = {role: until for until in self.facts.until for role in (until.role, *until.together)}

    @staticmethod
    def name(number: int, words: str) -> str:
        legal = "".join(letter if letter.isalnum() else "-" for letter in words).strip("-")
        return f"{legal}-{number}"

    def workflow(self) -> Workflow:
        facts = self.facts
        alone = [role for role in self.names if role not in self.rounds]
        tasks = [self.task(role) for role in alone]
        tasks += [self.round(until, number) for number, until in enumerate(facts.until)]
        if any(each.start == "*" for each in facts.each):
            tasks.append(Task("list-all", self.template("list-all", self.container("", ()))))
        handlers = tuple(self.handler(number, one) for number, one in enumerate(facts.handlers))
        entry = Template("meant", Graph(tuple(tasks) or (Task("nothing", self.template("nothing", _container())),)))
        defaults = [one.any[0] for one in facts.values if not one.role]
        given = [Parameter(f"given-{number}", _type(value), value) for number, value in enumerate(defaults)]
        asked = [Parameter(one.name[0].replace(" ", "-"), _type(one.default), one.default) for one in facts.parameters]
        return Workflow(
            "meant",
            "meant",
            (entry, *self.templates),
            parameters=(*given, *asked),
            schedule=self.schedule(),
            handlers=handlers,
            deadline=facts.timeouts.get("run"),
            engines={facts.engine: {}} if facts.engine else {},
        )

    def schedule(self) -> Schedule | None:
        wanted = self.facts.schedule
        if wanted is None:
            return None
        crons = wanted.crons[:1] or (_EVERY[wanted.every],)
        return Schedule(crons, wanted.timezone or "UTC", concurrency=self.facts.concurrency or "Allow")

    def task(self, role: str) -> Task:
        name = self.names[role]
        items = next((each for each in self.facts.each if each.role == role), None)
        whens = [when for when in self.facts.when if when.role == role]
        inside = role in self.rounds
        after = [After(self.names[a] if inside else self.at(a)) for a, b in self.pairs() if b == role]
        after += [After(self.names[a], "on_failure") for a, b in self.facts.after_failure if b == role]
        return Task(
            name,
            self.template(name, self.body(role), role),
            arguments=() if items is None else (Argument("item", ir.Item()),),
            after=tuple(dict.fromkeys(after)),
            when=None if not whens else ir.AllOf(tuple(self.guard(when) for when in whens)),
            each=None if items is None else self.each(items),
        )

    def each(self, wanted: descriptions.Each) -> Each:
        items: Any
        if wanted.items:
            items = ir.Literal([one[0] for one in wanted.items])
        elif wanted.start:
            items = ir.TaskOutput("list-all" if wanted.start == "*" else self.names[wanted.start], "result")
        else:
            items = Sequence(count=ir.Literal(wanted.count or 2))
        return Each(items, parallel=wanted.parallel)

    def guard(self, when: descriptions.When) -> ir.Expr:
        on = when.on or next(first for first, then in self.pairs() if then == when.role)
        found = ir.TaskOutput(self.at(on), "result")
        return ir.Compare("==", found, ir.Literal(True)) if not when.tests else _compare(when.tests[0], found)

    def round(self, until: descriptions.Until, number: int) -> Task:
        """The roles that are repeated together, as a loop over a graph of them."""
        roles = [role for role in self.names if self.rounds.get(role) is until]
        inner = [self.task(role) for role in roles]
        inner = [
            msgspec.structs.replace(one, after=self.only(one, {t.name for t in inner}), when=None) for one in inner
        ]
        last = ir.TaskOutput(self.names[roles[-1]], "result")
        graph = Template(f"round-{number}", Graph(tuple(inner)), outputs=_result(last))
        loop = Loop(graph.name, _compare(until.tests[0], ir.Own("result")), max_iterations=until.most or 50)
        self.templates += [graph, Template(f"loop-{number}", loop, outputs=_result(ir.Own("result")))]
        after = [After(self.at(a)) for a, b in self.pairs() if b in roles and a not in roles]
        return Task(f"loop-{number}", f"loop-{number}", after=tuple(dict.fromkeys(after)))

    @staticmethod
    def only(task: Task, names: set[str]) -> tuple[After, ...]:
        return tuple(after for after in task.after if after.task in names)

    def pairs(self) -> list[tuple[str, str]]:
        return list(dict.fromkeys(pair for chain in self.facts.order for pair in itertools.pairwise(chain)))

    def at(self, role: str) -> str:
        """The task at the top that a role is in."""
        until = self.rounds.get(role)
        return self.names[role] if until is None else f"loop-{self.facts.until.index(until)}"

    def template(self, name: str, body: Body, role: str = "") -> str:
        facts = self.facts
        wait = isinstance(body, Suspend)
        limit = None if wait else facts.retries.get(role, facts.retries.get("*") if role else None)
        backoff = facts.backoff.get(role)
        fanned = any(each.role == role for each in facts.each)
        self.templates.append(
            Template(
                name,
                body,
                inputs=Inputs((Parameter("item", ANY),) if fanned else ()),
                outputs=Outputs() if wait else Outputs((OutputParameter("result", self.result(role), path="/result"),)),
                retry=None if limit is None else RetryPolicy(limit, Backoff(backoff) if backoff else None),
                timeout=facts.timeouts.get(role),
                cache=Cache() if role in facts.cache else None,
            )
        )
        return name

    def result(self, role: str) -> Type:
        return ListOf(ANY) if not role or any(each.start == role for each in self.facts.each) else ANY

    def body(self, role: str) -> Body:
        facts = self.facts
        for wait in facts.waits:
            if wait.role == role:
                return Suspend(wait.seconds)
        values = [str(one.any[0]) for one in facts.values if one.role == role]
        container = self.container(role, tuple(values))
        if role in facts.distributed:
            job = facts.distributed[role]
            return DistributedJob("torch", container, nodes=job.nodes, processes_per_node=job.processes)
        return container

    def container(self, role: str, args: tuple[str, ...]) -> Container:
        asked = self.facts.resources.get(role, descriptions.Resources())
        return _container(args, Resources(asked.cpu, asked.memory, gpu=asked.gpu))

    def handler(self, number: int, wanted: descriptions.Handler) -> Handler:
        name = f"{wanted.words[0]}-{wanted.on}-{number}"
        return Handler(name, self.template(name, _container()), on=wanted.on)


def _result(value: ir.Expr) -> Outputs:
    return Outputs((OutputParameter("result", ANY, value=value),))


def _container(args: tuple[str, ...] = (), resources: Resources = Resources()) -> Container:
    return Container("alpine:3", ("true",), args, resources=resources)


def _compare(test: descriptions.Comparison, found: ir.Expr) -> ir.Compare:
    return ir.Compare(test.op[0], found, ir.Literal(test.value[0]))


def _type(value: Any) -> Type:
    return STR if isinstance(value, str) else INT if isinstance(value, int) else FLOAT
