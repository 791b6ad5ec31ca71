"""English in, a workflow out: `ask("load the data, train a model, then evaluate it").source`.

What comes back is a draft: IR that compiles, as Python to keep, with what was assumed, what is open, and which words
nothing was made of. The text is data: nothing in it is run, and nothing of it becomes a program but what is quoted
as a command.
"""

from __future__ import annotations

from typing import Any

from couler_py.ir.model import Workflow
from couler_py.nl.draft import Cost as Cost
from couler_py.nl.draft import Draft as Draft
from couler_py.nl.draft import Flag as Flag
from couler_py.nl.draft import Question as Question


def ask(text: str, model: Any = "offline", *, refine: Workflow | None = None, name: str = "", **options: Any) -> Draft:
    """A draft of the workflow that a text describes.

    `model` is "offline", the grammar of this package, which needs nothing and always says the same; see
    `couler_py.nl.pipeline` for the others, which take further `options`. With `refine` the text says what to change in
    that workflow. `name` is the workflow's, where the text gives none.
    """
    from couler_py.nl import offline

    if model == "offline":
        if options:
            raise TypeError(f"the model 'offline' takes no {', '.join(sorted(options))}")
        return offline.draft(text, name=name) if refine is None else offline.refine(text, refine)
    from couler_py.nl import pipeline

    found: Draft = pipeline.draft(text, model, refine=refine, name=name, **options)
    return found
