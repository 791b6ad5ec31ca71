"""A change of a workflow that the grammar doesn't understand as it was said: a model says it in the grammar's words.

So the change itself is still made by the grammar, and touches nothing but what it names.
"""

from __future__ import annotations

import re

import msgspec

from couler_py.ir.model import Workflow
from couler_py.nl import offline
from couler_py.nl.calls import Calls
from couler_py.nl.draft import Draft
from couler_py.nl.pipeline.options import Options
from couler_py.nl.pipeline.prompts import prompt
from couler_py.nl.pipeline.shapes import ReplyError, Sentences, read, schema


def refined(text: str, sent: str, workflow: Workflow, base: Draft, calls: Calls, options: Options) -> Draft:
    """The workflow, changed as a text says: with the model's sentences, where these leave fewer words unused.

    Raises `ModelError` where the model doesn't answer.
    """
    steps = [template.name for template in workflow.templates if template.name != workflow.entrypoint]
    critique: tuple[str, ...] = ()
    best = base
    for attempt in range(options.tries):
        options.said("the model says the change in plain sentences")
        question = prompt("refine", text=sent, steps=steps, critique=critique)
        reply = calls.ask(
            prompt("system"),
            question,
            schema(Sentences),
            name="sentences",
            temperature=options.temperature + attempt * 0.4,
        )
        try:
            said = read(reply.text, Sentences, cut=reply.cut).sentences
        except ReplyError as error:
            critique = (str(error),)
            continue
        calls.keep(reply)
        found = offline.refine(". ".join(_own(said, text)), workflow)
        if found.workflow is not None and (best.workflow is None or len(found.unused) < len(best.unused)):
            flags = tuple(dict.fromkeys((*base.flags, *found.flags)))
            best = msgspec.structs.replace(found, text=text, flags=flags, model=calls.model.name)
        if best is not base and not best.unused:
            break
        critique = (f"these words were not understood: {', '.join(found.unused[:8])}",)
    return best


def _own(sentences: tuple[str, ...], text: str) -> list[str]:
    """The sentences that quote nothing, or only what the person's text has: a model can bring in no command."""
    kept = []
    for sentence in sentences:
        quoted = re.findall(r"[`\"“”']([^`\"“”']+)[`\"“”']?|https?://\S+", sentence)
        addresses = re.findall(r"\S+(?:://|@)\S+", sentence)
        if all(each in text for each in (*quoted, *addresses)):
            kept.append(sentence.rstrip(". "))
    return kept
