"""Failures of the platform: recognised, told from a step's own, and repeated where that is asked for.

Nothing is repeated by default, for an attempt may have done half of what the step does. With the option
`retry_platform` (or the setting `retry.platform`), steps that say nothing of retries themselves get so many further
attempts after faults of the platform, and after nothing else. A step that declares `effects=` gets them only for faults
from before its program began.
"""

from __future__ import annotations

from msgspec.structs import replace

from couler_py.ir.graph import reachable
from couler_py.ir.model import ContainerSet, Function, RetryPolicy, Script, Template, Workflow
from couler_py.ir.pod import Container
from couler_py.ir.policies import Backoff
from couler_py.passes.situation import Note, Outcome, PassOptionError, Situation, asked

BACKOFF = Backoff(30.0, 2.0)
"""How long engines wait before another attempt, in seconds; this machine goes by what kind of fault it was."""

MOST = 10
"""So many further attempts can be asked for: the last of them begins after more than eight hours."""


class RetryOptionError(PassOptionError):
    """What `retry_platform` is given is no number of attempts."""


def apply(workflow: Workflow, situation: Situation) -> Outcome:
    """Give steps without retries of their own further attempts after faults of the platform, where it is asked for."""
    limit = attempts(situation)
    called = set(reachable(workflow))
    bare = [each for each in workflow.templates if each.name in called and _could(each)]
    if not limit:
        what = f"{len(bare):,} {'step' if len(bare) == 1 else 'steps'} could be tried again"
        why = "only after faults of the platform, as lost nodes; --retry-platform 3"
        return Outcome(workflow, (Note(workflow.display or workflow.name, what, why),) if bare else ())
    names = {each.name for each in bare}
    notes = tuple(_note(each, limit) for each in bare)
    templates = tuple(_with(each, limit, situation) if each.name in names else each for each in workflow.templates)
    return Outcome(replace(workflow, templates=templates), notes)


def attempts(situation: Situation) -> int:
    """How many further attempts are asked for. Raises `RetryOptionError`."""
    given = situation.options.get("retry_platform")
    if given is None:
        return situation.settings.retry.platform
    if asked(situation.options, "retry_platform") is None:
        return 0
    try:
        limit = -1 if given is True else int(given)
    except (TypeError, ValueError):
        limit = -1
    if not 0 <= limit <= MOST:
        raise RetryOptionError("retry_platform", given, f" is not a number of further attempts from 0 to {MOST}")
    return limit


def _could(template: Template) -> bool:
    return template.retry is None and isinstance(template.body, Function | Container | Script | ContainerSet)


def _with(template: Template, limit: int, situation: Situation) -> Template:
    # What kind of fault it was says on this machine how long to wait.
    backoff = None if situation.engine == "local" else BACKOFF
    return replace(template, retry=RetryPolicy(limit, backoff, policy="OnPlatformFault"))


def _note(template: Template, limit: int) -> Note:
    why = "after faults of the platform"
    if template.effects:
        why += f" from before it began, for it has effects ({', '.join(template.effects)})"
    what = f"gets {limit} more {'attempt' if limit == 1 else 'attempts'}"
    return Note(template.display or template.name, what, why, source=template.source)
