"""The loop: a plan, details, the checks, the model's own score, and again with what was found wrong."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import msgspec

from couler_py.nl.calls import Calls
from couler_py.nl.draft import Draft, Flag, Question
from couler_py.nl.lake.entries import Found
from couler_py.nl.pipeline import critics, retrieval
from couler_py.nl.pipeline.merging import Merged, merged
from couler_py.nl.pipeline.options import Options
from couler_py.nl.pipeline.prompts import prompt
from couler_py.nl.pipeline.reuse import by_name, reused
from couler_py.nl.pipeline.shapes import (
    Detail,
    Details,
    Module,
    Plan,
    ReplyError,
    Score,
    Shape,
    read,
    schema,
)
from couler_py.nl.words import PRODUCTS

CHUNK = 10
"""Steps whose details are asked for at once, as many as `Details` holds."""

HOTTER = 0.4
"""What the temperature rises by with each further try: the same question has to get another answer."""


class Candidate(msgspec.Struct, frozen=True):
    """A valid draft, and the model's score of it (None: it gave none that could be read)."""

    draft: Draft
    score: float | None
    wrong: tuple[str, ...] = ()


class Drafting:
    """One description on its way to a draft. `sent` is the text that the model sees, `own` what commands may be of."""

    def __init__(self, calls: Calls, options: Options, sent: str, own: str, lake: Sequence[Found]):
        self._calls = calls
        self._options = options
        self._sent = sent
        self._own = own
        self._lake = lake
        self._named = by_name(lake)
        self.findings: tuple[str, ...] = ()
        """Why the last candidate was no workflow."""

    def best(self, blank: Draft) -> Candidate | None:
        """The candidate of the highest score; the first that reaches the baseline ends the search. None: none is valid.

        Raises `ModelError` where the model doesn't answer before there is a candidate.
        """
        best: Candidate | None = None
        critique: tuple[str, ...] = ()
        for round_ in range(self._options.rounds):
            found = self._candidate(blank, critique, round_)
            if found is None:
                critique = self.findings
                continue
            if best is None or (found.score or 0.0) > (best.score or 0.0):
                best = found
            if found.score is None or found.score >= self._options.baseline:
                break
            critique = found.wrong or ("it is not yet what the description asks for",)
        return best

    def _candidate(self, blank: Draft, critique: tuple[str, ...], round_: int) -> Candidate | None:
        plan = self._plan(critique, round_)
        if plan is None:
            return None
        made = self._detailed(plan, blank, critique, round_)
        if made is None:
            return None
        if not self._options.score:
            return Candidate(made, None)
        self._options.said("the model scores the draft")
        text = prompt("score", text=self._sent, workflow=made.explanation)
        reply = self._calls.ask(prompt("system"), text, schema(Score), name="score", temperature=0.0)
        try:
            score = read(reply.text, Score, cut=reply.cut)
        except ReplyError:
            return Candidate(made, None)  # the checks have passed; there is no second opinion
        self._calls.keep(reply)
        return Candidate(made, score.score, score.wrong)

    def _plan(self, critique: tuple[str, ...], round_: int) -> Plan | None:
        self._options.said("the model plans the steps")

        def write(critique: tuple[str, ...]) -> str:
            return plan_prompt(self._sent, critique)

        return self._tried(write, Plan, critics.of_plan, critique, round_)

    def _tried(
        self,
        write: Callable[[tuple[str, ...]], str],
        shape: type[Shape],
        check: Callable[[Shape], tuple[str, ...]],
        critique: tuple[str, ...],
        round_: int,
    ) -> Shape | None:
        """The first reply in which nothing is wrong, of as many as there are tries."""
        for attempt in range(self._options.tries):
            reply = self._calls.ask(
                prompt("system"),
                write(critique),
                schema(shape),
                name=shape.__name__.lower(),
                temperature=self._temperature(attempt + round_),
            )
            try:
                found = read(reply.text, shape, cut=reply.cut)
            except ReplyError as error:
                self.findings = critique = (str(error),)
                continue
            wrong = check(found)
            if not wrong:
                self._calls.keep(reply)
                return found
            self.findings = critique = wrong
        return None

    def _detailed(self, plan: Plan, blank: Draft, critique: tuple[str, ...], round_: int) -> Draft | None:
        details: dict[str, Detail] = {}
        chunks = [plan.steps[start : start + CHUNK] for start in range(0, len(plan.steps), CHUNK)]
        asked = chunks
        for attempt in range(self._options.tries):
            for chunk in asked:
                self._options.said(f"the model says what {', '.join(step.name for step in chunk)} are")
                found = self._details_of(plan, chunk, critique, attempt + round_)
                if found is None:
                    return None
                details |= found
            verdict = self._judged(plan, details, blank)
            if verdict.draft is not None:
                return verdict.draft
            self.findings = critique = verdict.findings
            named = [chunk for chunk in chunks if any(step.name in line for step in chunk for line in critique)]
            asked = named or chunks
        return None

    def _judged(self, plan: Plan, details: dict[str, Detail], blank: Draft) -> critics.Verdict:
        """What the checks say: with what steps of the lake give, and, where that doesn't fit, without these."""
        verdict = critics.Verdict(None)
        used = any(detail.uses in self._named for detail in details.values())
        for named in (self._named, {}) if used else ({},):
            made = merged(plan, details, self._own, named)
            verdict = critics.judge(made.outline, _described(blank, plan, made), dry=self._options.dry_run)
            if verdict.draft is not None:
                return critics.Verdict(reused(verdict.draft, made.outline, details, named))
        return verdict

    def _details_of(
        self, plan: Plan, chunk: Sequence[Module], critique: tuple[str, ...], heat: int
    ) -> dict[str, Detail] | None:
        known = retrieval.known_for(chunk, self._lake, self._options.embeddings)
        lines = [retrieval.shown(each, source=self._options.share_source and each.own) for each in known]
        names = {step.name for step in chunk}

        def write(critique: tuple[str, ...]) -> str:
            return prompt(
                "details",
                text=self._sent,
                steps=chunk,
                parameters=[each.name for each in plan.parameters],
                known=lines,
                critique=critique,
            )

        def check(found: Details) -> tuple[str, ...]:
            others = [each.name for each in found.steps if each.name not in names]
            return (f"the plan has no step {others[0]!r}; there are {', '.join(sorted(names))}",) if others else ()

        found = self._tried(write, Details, check, critique, heat)
        return None if found is None else {each.name: each for each in found.steps}

    def _temperature(self, tries: int) -> float:
        return min(1.0, self._options.temperature + HOTTER * tries)


def plan_prompt(text: str, critique: tuple[str, ...] = ()) -> str:
    """The first prompt of a description."""
    return prompt("plan", text=text, roles=sorted(PRODUCTS), critique=critique)


def _described(blank: Draft, plan: Plan, made: Merged) -> Draft:
    refused = tuple(Flag(each, "the model took it for no part of the workflow") for each in plan.refused)
    return msgspec.structs.replace(
        blank,
        questions=tuple(Question(each) for each in plan.questions),
        assumptions=plan.assumptions,
        impossible=plan.impossible,
        flags=tuple(dict.fromkeys((*blank.flags, *refused, *made.flags))),
        commands=tuple(each.command for each in made.outline.tasks if each.command),
    )
