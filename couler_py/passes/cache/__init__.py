"""Which results are kept for later runs, and why.

The pass says for each step with a cache what keeping its results is worth, from what earlier runs took; with
`cache_steps` it gives a cache to every step whose results can be reused: that declares no `effects=`, touches nothing
that others share, and reads no facts of the run.

Which results stay under a budget is decided while runs go on, by a policy (`policies.py`): `foresight` unless the
settings name another. `replay.py` says what each would have saved on a trace, `optimum.py` what nobody can beat.
"""

from __future__ import annotations

from collections.abc import Iterator

from msgspec.structs import replace

from couler_py.ir.graph import reachable
from couler_py.ir.model import Template, Workflow
from couler_py.ir.policies import Cache
from couler_py.ir.quantity import amount
from couler_py.passes.cache.keeping import Worth, kept, obstacle, worth
from couler_py.passes.parallel.effects import Effects
from couler_py.passes.situation import Note, Outcome, Situation, asked
from couler_py.settings import size_of


def apply(workflow: Workflow, situation: Situation) -> Outcome:
    """Say what is kept; with the option `cache_steps`, keep the results of every step that allows it."""
    notes: list[Note] = []
    changed = workflow
    if asked(situation.options, "cache_steps") is not None:
        changed, added = _with_caches(workflow, situation)
        notes.extend(added)
    return Outcome(changed, (*notes, *_kept(changed, situation)))


def _with_caches(workflow: Workflow, situation: Situation) -> tuple[Workflow, list[Note]]:
    effects = Effects(workflow)
    called = set(reachable(workflow))
    notes = []
    templates = []
    for template in workflow.templates:
        if template.cache is None and template.name in called:
            why = obstacle(template, effects, situation.engine)
            if not why:
                template = replace(template, cache=Cache())
                notes.append(_note(template, "gets a cache", "it has no effects, so the same inputs give the same"))
            elif why != "it is no step with a program":
                notes.append(_note(template, "gets no cache", why))
        templates.append(template)
    return replace(workflow, templates=tuple(templates)), notes


def _kept(workflow: Workflow, situation: Situation) -> Iterator[Note]:
    """What becomes of the results of each step with a cache: those that a budget lets go first come last."""
    steps = [template for template in workflow.templates if template.cache is not None]
    if not steps:
        return
    cache = situation.settings.cache
    found = {each.name: seen for each in steps if (seen := worth(workflow, each, situation.history)) is not None}
    bounded = bool(cache.budget) and cache.policy not in ("none", "all") and situation.engine == "local"
    stays = kept(found, size_of(cache.budget)) if bounded else frozenset(found)
    for each in sorted(steps, key=lambda each: _order(found.get(each.name))):
        seen = found.get(each.name)
        if situation.engine == "local" and cache.policy == "none":
            yield _note(each, "isn't kept", "cache.policy is none")
        elif seen is None:
            yield _note(each, "is kept", "no earlier run says what it takes")
        elif each.name in stays:
            why = f"{_amount(seen)}" + (f", within {cache.budget}" if bounded else "")
            yield replace(_note(each, "is kept", why), saves=f"{seen.seconds:.3g} s a run")
        elif seen.size > size_of(cache.budget):
            yield _note(each, "isn't kept", f"{_amount(seen)}: alone it is larger than {cache.budget}")
        else:
            yield _note(each, "goes first", f"{_amount(seen)}: others save more for each byte of {cache.budget}")


def _order(seen: Worth | None) -> float:
    return 1.0 if seen is None else -seen.seconds / max(1, seen.size)


def _amount(seen: Worth) -> str:
    return f"{amount(seen.size)} for {seen.seconds:.3g} s of work"


def _note(template: Template, what: str, why: str) -> Note:
    return Note(template.display or template.name, what, why, source=template.source)
