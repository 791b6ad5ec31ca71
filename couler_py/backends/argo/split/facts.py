"""Facts of the run that a part reads: its own run has others, so it is told them as parameters."""

from __future__ import annotations

import re
from typing import Any

FACT = re.compile(r"\bworkflow\.(uid|name|scheduledTime|creationTimestamp(?:\.\w+)?)(?![\w.'\[(])")
TAG = re.compile(r"\{\{(.*?)\}\}", re.DOTALL)


def told(value: Any, found: dict[str, str]) -> Any:
    """A part of a document in which facts of the run are parameters; `found` gets the fact by the parameter's name."""
    if isinstance(value, dict):
        return {key: told(each, found) for key, each in value.items()}
    if isinstance(value, list):
        return [told(each, found) for each in value]
    if isinstance(value, str) and "workflow." in value:
        return TAG.sub(lambda tag: _inside(tag[1], found), value)
    return value


def _inside(text: str, found: dict[str, str]) -> str:
    expression = text.startswith("=")

    def parameter(fact: re.Match[str]) -> str:
        name = f"run--{fact[1].replace('.', '-')}"
        found[name] = fact[0]
        return f"workflow.parameters['{name}']" if expression else f"workflow.parameters.{name}"

    return "{{" + FACT.sub(parameter, text) + "}}"
