"""A workflow that is there, changed as a text says: "retry train 3 times", "email me on failure", "use five folds"."""

from __future__ import annotations

import re
import time

import msgspec

from couler_py.ir import expr as x
from couler_py.ir.diagnostics import DiagnosticError
from couler_py.ir.graph import reachable
from couler_py.ir.model import Argument, Graph, Schedule, Template, Workflow
from couler_py.ir.names import free_name
from couler_py.nl import outline as o
from couler_py.nl.assemble import assemble
from couler_py.nl.draft import Cost, Draft, Question
from couler_py.nl.offering import offer_workflow
from couler_py.nl.offline import corrections, hostile, lexicon, numbers, schedules, settings
from couler_py.nl.offline.changing import closure, is_leaf, like, read_by, setting, speaks_of, stem, with_names
from couler_py.nl.offline.script import Script
from couler_py.nl.offline.settings import Said
from couler_py.nl.words import name_of

_CHANGE = re.compile(
    rf"(?:(?:use|set|make|change|with|take|switch to|put|let|increase|decrease|raise|lower|try|train (?:for|with))\s+)?(?:the |a |an )?"
    rf"(?:(?P<n1>{numbers.NUMBER})\s+(?P<noun1>[a-z][a-z_-]*(?: [a-z][a-z_-]*)?)|(?P<noun2>[a-z][a-z_-]*(?: (?!to\b|be\b|is\b|from\b)[a-z][a-z_-]*){{0,2}})\s+(?:(?:from [\w.]+ )?to(?: be)?|be|is|of|=|:|as)?\s*(?P<n2>{numbers.NUMBER})(?![\w]))"
)
_REMOVE = re.compile(
    r"\b(?:remove|drop|delete|leave out|skip|without|get rid of|take out)\s+(?:the\s+)?(?P<what>[a-z][a-z_ -]*?)(?:\s+step|\s+task)?(?=\s*(?:[.,;\n]|$|\band\b))"
)


def refine(text: str, workflow: Workflow) -> Draft:
    """A draft of a workflow, changed as the text says. Names, and what the text doesn't speak of, stay as they are."""
    began = time.perf_counter()
    script = Script(text)
    flags = hostile.cut(script)
    corrections.correct(script)
    found = _Refining(script, workflow)
    draft = Draft(text, flags=flags)
    problems: list[Question] = []
    try:
        changed = found.changed()
        if changed != workflow:
            draft = offer_workflow(changed, draft, engine=found.engine)
    except DiagnosticError as problem:
        problems.append(Question(f"This can't be done to the workflow: {str(problem).splitlines()[0]}", "structure"))
    if draft.workflow is None and not found.questions and not problems:
        problems.append(Question("What should change? No word of the text names a change of this workflow.", "change"))
    return msgspec.structs.replace(
        draft,
        questions=tuple(dict.fromkeys([*found.questions, *problems])),
        assumptions=tuple(dict.fromkeys(found.assumptions)),
        unused=script.unused(),
        cost=Cost(seconds=time.perf_counter() - began),
    )


class _Refining:
    def __init__(self, script: Script, workflow: Workflow):
        self.script = script
        self.workflow = workflow
        self.questions: list[Question] = []
        self.assumptions: list[str] = []
        self.engine = ""

    def changed(self) -> Workflow:
        """The workflow with all changes."""
        self._scheduled()
        said = settings.read(self.script)
        self.engine = said.engine
        self.questions += [
            Question(f"Who is told by {notice.channel}: which address?", "notify")
            for notice in said.notices
            if not notice.target and notice.channel in ("email", "slack", "sms", "webhook")
        ]
        for each in said.said:
            self._set(each)
        for notice in said.notices:
            self._tell(notice)
        self._removed()
        self._numbers()
        return self.workflow

    # ---- of the run

    def _scheduled(self) -> None:
        found = schedules.read(self.script)
        self.questions += found.questions
        self.questions += [Question(f"{each}: when is meant?", "schedule") for each in found.impossible]
        if found.schedule is None:
            return
        old = self.workflow.schedule
        given = found.schedule
        zone = given.timezone
        if old is not None and any("no time zone" in each for each in found.assumptions):
            zone = old.timezone
        else:
            self.assumptions += found.assumptions
        new = (
            Schedule(given.crons, zone)
            if old is None
            else msgspec.structs.replace(old, crons=given.crons, timezone=zone)
        )
        if given.overlap != "Allow":
            new = msgspec.structs.replace(new, concurrency=given.overlap)
        missing = [each.name for each in self.workflow.parameters if each.default is msgspec.UNSET]
        if missing:
            self.questions.append(
                Question(f"Which default has {missing[0]}? Nobody is asked when a schedule starts a run.", "parameter")
            )
            return
        self.workflow = msgspec.structs.replace(self.workflow, schedule=new)

    def _tell(self, notice: o.Notice) -> None:
        """Add a handler, made as in any draft."""
        told = assemble(o.Outline("told", tasks=(o.Task("nothing_else"),), notices=(notice,)))
        [handler] = told.handlers
        if any(each.on == handler.on and each.call == handler.call for each in self.workflow.handlers):
            return
        own = {each.name: each for each in told.templates}
        taken = {each.name for each in self.workflow.templates}
        wanted = closure(own, handler.call)
        renamed = {name: free_name(name, taken) for name in wanted}
        added = tuple(with_names(own[name], renamed) for name in wanted)
        name = free_name(handler.name, {each.name for each in self.workflow.handlers})
        new = msgspec.structs.replace(handler, name=name, call=renamed[handler.call])
        self.workflow = msgspec.structs.replace(
            self.workflow,
            templates=(*self.workflow.templates, *added),
            handlers=(*self.workflow.handlers, new),
        )

    # ---- of steps

    def _leaves(self) -> list[Template]:
        handled = {handler.call for handler in self.workflow.handlers}
        main = set(reachable(self.workflow, [self.workflow.entrypoint])) - handled
        return [each for each in self.workflow.templates if each.name in main and is_leaf(each)]

    def _set(self, said: Said) -> None:
        if said.what == "timeout" and said.scope == "run":
            self.workflow = msgspec.structs.replace(self.workflow, deadline=said.value)
            return
        if said.what == "parallel":
            self.workflow = msgspec.structs.replace(self.workflow, parallelism=said.value)
            return
        chosen = self._chosen(said)
        if not chosen:
            names = ", ".join(each.name for each in self._leaves())
            self.questions.append(
                Question(f"Which step is meant with \u201c{self._around(said)}\u201d? There are {names}.", "step")
            )
            return
        for template in chosen:
            self._replace(template.name, setting(template, said))

    def _around(self, said: Said) -> str:
        """The part of the text around a setting."""
        parts = re.finditer(r"[^.,;\n]+", self.script.text)
        return next((part.group().strip() for part in parts if part.start() <= said.start < part.end()), "")

    def _chosen(self, said: Said) -> list[Template]:
        leaves = self._leaves()
        if said.scope in ("all", "run"):
            return leaves
        words = said.name or self._around(said)
        found = [each for each in leaves if speaks_of(words.lower(), each.name)]
        if found:
            start = self.script.text.lower().find(words.lower())
            self._use_names(found, max(start, 0), max(start, 0) + len(words))
            return found
        if re.search(r"\b(?:every|each|all|any)\b|\beverything\b", words.lower()):
            return leaves
        return leaves if len(leaves) == 1 else []

    def _use_names(self, templates: list[Template], start: int, end: int) -> None:
        for word in re.finditer(r"[a-z]+", self.script.text[start:end].lower()):
            if any(speaks_of(word.group(), each.name) for each in templates):
                self.script.use(start + word.start(), start + word.end())

    def _replace(self, name: str, new: Template) -> None:
        templates = tuple(new if each.name == name else each for each in self.workflow.templates)
        self.workflow = msgspec.structs.replace(self.workflow, templates=templates)

    def _removed(self) -> None:
        for found in self.script.find(_REMOVE):
            words = found["what"]
            named = [each.name for each in self._leaves() if speaks_of(words, each.name)]
            if len(named) != 1:
                continue
            self.script.take(*found.span())
            self._remove(named[0])

    def _remove(self, name: str) -> None:
        """Take a step out whose results nobody reads."""
        for template in self.workflow.templates:
            graph = template.body
            if not isinstance(graph, Graph):
                continue
            gone = {task.name for task in graph.tasks if task.call == name}
            if not gone:
                continue
            kept = tuple(task for task in graph.tasks if task.name not in gone)
            reading = [task.name for task in kept if gone & read_by(task)]
            if reading or not kept:
                who = " and ".join(reading) or "the workflow"
                self.questions.append(
                    Question(f"{name} can't be left out as it is: {who} needs it. What should be instead?", "step")
                )
                return
            before = {after for task in graph.tasks if task.name in gone for after in task.after}
            tasks = tuple(
                msgspec.structs.replace(
                    task,
                    after=tuple(
                        dict.fromkeys(
                            [
                                *(each for each in task.after if each.task not in gone),
                                *(sorted(before, key=str) if any(each.task in gone for each in task.after) else ()),
                            ]
                        )
                    ),
                )
                for task in kept
            )
            self._replace(
                template.name, msgspec.structs.replace(template, body=msgspec.structs.replace(graph, tasks=tasks))
            )
        kept_names = reachable(self.workflow)
        by_name = {each.name: each for each in self.workflow.templates}
        self.workflow = msgspec.structs.replace(self.workflow, templates=tuple(by_name[each] for each in kept_names))

    # ---- numbers

    def _numbers(self) -> None:
        for found in self.script.find(_CHANGE):
            noun = found["noun1"] or found["noun2"]
            number = numbers.value(found["n1"] or found["n2"])
            words = [
                word
                for word in re.findall(r"[a-z]+", noun)
                if word not in lexicon.FILLERS and lexicon.verb(word) is None
            ] or re.findall(r"[a-z]+", noun)
            if self._change(words, number):
                self.script.take(*found.span())
            elif found["n1"]:
                self.script.use(*found.span())
                what = name_of(" ".join(words))
                self.questions.append(
                    Question(
                        f"Where does {what} belong? No parameter or argument of the workflow is called like it.",
                        "parameter",
                    )
                )

    def _change(self, words: list[str], number: int | float) -> bool:
        """Give a parameter of the run another default, or arguments of that name another value."""

        def fits(name: str) -> bool:
            return {stem(word) for word in words} <= {stem(part) for part in re.split(r"[_-]", name)}

        parameters = [each for each in self.workflow.parameters if fits(each.name)]
        if parameters:
            changed = tuple(
                msgspec.structs.replace(each, default=like(each.default, number)) if each in parameters else each
                for each in self.workflow.parameters
            )
            self.workflow = msgspec.structs.replace(self.workflow, parameters=changed)
            return True
        seen = False
        for template in self.workflow.templates:
            if not isinstance(template.body, Graph):
                continue
            tasks = []
            for task in template.body.tasks:
                given = []
                for each in task.arguments:
                    if fits(each.name) and isinstance(each.value, x.Literal):
                        each, seen = Argument(each.name, x.Literal(like(each.value.value, number))), True
                    given.append(each)
                tasks.append(msgspec.structs.replace(task, arguments=tuple(given)))
            self._replace(
                template.name,
                msgspec.structs.replace(template, body=msgspec.structs.replace(template.body, tasks=tuple(tasks))),
            )
        return seen


__all__ = ["refine"]
