"""Arguments whose expression fails, which Argo 3.5 hands over unevaluated.

Where an expression in an argument fails (an index beyond a list, a division by zero), 4 fails the task. 3.5 leaves the
tag as it stands, and the task runs with its text. (Seen on 3.5.14.) In a `when` the text that is left is no condition,
and the task is Error: so what may fail is evaluated there as well.
"""

from __future__ import annotations

import re
from typing import Any

from couler_py.argolang.tags import tags_in
from couler_py.backends.argo.versions.expressions import without_texts

JSON = dict[str, Any]
_RISKY = re.compile(r"\b(?:fromJSON|fromBase64|asInt|asFloat|int|float|date|duration)\s*\(|[/%]|\[(?!['\"])")
_SAFE = re.compile(r"\[[^\]\[]*:[^\]\[]*\]|fromJSON\((?:#|'' \+ item \+ '')\)")
"""Slices, which are cut to what there is, and JSON text that Argo has made."""


def failures_seen(spec: JSON) -> JSON:
    """The `spec` of a workflow in which every call with an argument that may fail evaluates it in its `when` too."""
    templates = [_template(each) for each in spec.get("templates") or ()]
    return {**spec, "templates": templates} if templates else spec


def _template(template: JSON) -> JSON:
    if "dag" in template:
        return {**template, "dag": {**template["dag"], "tasks": [_call(each) for each in template["dag"]["tasks"]]}}
    if "steps" in template:
        return {**template, "steps": [[_call(each) for each in group] for group in template["steps"]]}
    return template


def _call(call: JSON) -> JSON:
    when = call.get("when", "")
    values = [each.get("value", "") for each in call.get("arguments", {}).get("parameters", ())]
    risky = [
        tag.name
        for value in values
        for tag in tags_in(value)
        if tag.expression and _RISKY.search(_SAFE.sub("", without_texts(tag.text)))
    ]
    if not risky or when == "false":
        return call
    # The type of a value is a word, whatever the value: true wherever there is one.
    guards = [f"type({expression}) != ''" for expression in dict.fromkeys(risky)]
    if not when:
        return {**call, "when": _expression(guards)}
    tags = tags_in(when)
    if len(tags) == 1 and tags[0].expression and (tags[0].start, tags[0].end) == (0, len(when)):
        return {**call, "when": _expression([f"({tags[0].name})", *guards])}
    return {**call, "when": f"({when}) && {_expression(guards)}"}


def _expression(parts: list[str]) -> str:
    return "{{= " + " && ".join(parts) + " }}"
