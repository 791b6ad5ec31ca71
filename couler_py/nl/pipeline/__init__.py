"""A draft by a model: a plan of steps, what each is, this package's own checks, the model's score, and again.

| file | what it does |
|---|---|
| `shapes.py`, `prompts.py` | what a model fills in, and the texts that ask for it |
| `drafting.py` | the loop, with its bounds |
| `retrieval.py`, `reuse.py` | steps of the lake in prompts, and their source in drafts |
| `merging.py` | an outline of what the model said, without what only a person may say |
| `critics.py`, `dryrun.py` | the checks, and a run with stubs |
| `refining.py` | a change of a workflow, said by a model in the words of the grammar |

What a model says is data all along: it is read into bounded structures, and no part of it is run.
"""

from __future__ import annotations

from typing import Any

import msgspec

from couler_py.ir.model import Workflow
from couler_py.nl import offline
from couler_py.nl.calls import Calls
from couler_py.nl.cost import own_prices, price_of
from couler_py.nl.draft import Draft
from couler_py.nl.models import ModelError, model_of
from couler_py.nl.pipeline.drafting import Drafting, plan_prompt
from couler_py.nl.pipeline.options import Options, options_of
from couler_py.nl.pipeline.refining import refined
from couler_py.nl.pipeline.retrieval import candidates
from couler_py.nl.privacy import Sending, clean
from couler_py.nl.replies import Replies
from couler_py.store.home import home_path


def draft(text: str, model: Any, *, refine: Workflow | None = None, name: str = "", **options: Any) -> Draft:
    """A draft by a model (see `couler_py.nl.models`), with the options of `couler_py.nl.pipeline.options.Options`.

    Where the model doesn't answer, finds nothing valid, or nothing may be sent, the draft is the one of the grammar,
    and its `notes` say why. Raises `ModelError` for a model that can't be used as it is named, `LakeError`,
    `PricesError`, `TypeError` and `ValueError` for options.
    """
    chosen = options_of(options)
    base = offline.draft(text, name=name) if refine is None else offline.refine(text, refine)
    if refine is not None and base.workflow is not None and not base.unused:
        return base
    prices = chosen.prices if isinstance(chosen.prices, dict) else own_prices(chosen.prices)  # type: ignore[arg-type]
    used = model_of(model, timeout=chosen.limits.silence)
    replies = Replies(home_path() / "replies" if chosen.cache else None)
    calls = Calls(used, chosen.limits, replies, chosen.said)
    made = _made(text, base, refine, calls, chosen)
    price = price_of(used.name, here=used.here, own=prices)
    return msgspec.structs.replace(made, cost=calls.account.cost(price))


def _made(text: str, base: Draft, refine: Workflow | None, calls: Calls, options: Options) -> Draft:
    cleaned = clean(text)
    lake = candidates(cleaned.text, options) if refine is None else ()
    own = tuple(each.entry.key for each in lake if each.own)
    first = plan_prompt(cleaned.text) if refine is None else cleaned.text
    sending = Sending(calls.model.name, calls.model.place, first, own, options.share_source, cleaned.removed)
    if not options.show(sending):
        return _noted(base, "nothing was sent: this draft is made without a model")
    try:
        if refine is not None:
            return refined(text, cleaned.text, refine, base, calls, options)
        drafting = Drafting(calls, options, cleaned.text, _unflagged(text, base), lake)
        found = drafting.best(Draft(text, flags=base.flags, model=calls.model.name))
    except ModelError as error:
        return _noted(base, f"{error}: this draft is made without it")
    if found is None:
        why = "; ".join(drafting.findings[:2])
        return _noted(base, f"{calls.model.name} gave no valid workflow ({why}): this draft is made without it")
    if found.score is not None and found.score < options.baseline:
        wrong = "; ".join(found.wrong[:3])
        return _noted(found.draft, f"the model itself gives this draft {found.score:g} of 1: {wrong}".rstrip(": "))
    return found.draft


def _noted(draft: Draft, note: str) -> Draft:
    return msgspec.structs.replace(draft, notes=(*draft.notes, note))


def _unflagged(text: str, base: Draft) -> str:
    for flag in base.flags:
        text = text.replace(flag.text, " ")
    return text
