"""Documents of Argo's four kinds, drawn over every field of the full CRDs.

They have the structure that the CRDs ask for, and mean nothing: names don't match, references lead nowhere, several
bodies stand in one template. `dice_document` rolls a `Dice`; `documents()` is the hypothesis strategy,
`random_document(seed)` the same by seed.
"""

from __future__ import annotations

import random
from typing import Any

from hypothesis import strategies as st

from couler_py.backends.argo.schema import PLURALS, schema
from tests.strategies.dice import Dice, Drawn, Seeded, chance, pick, some
from tests.strategies.text import HOSTILE

JSON = dict[str, Any]

NAMES = ("a", "main", "task-b", "x1", "result", "item")
TAGGED = (
    "{{inputs.parameters.a}}",
    "{{ inputs.parameters.a }}",
    "{{workflow.parameters.x1}}-{{item}}",
    "{{item.main}}",
    "{{tasks.task-b.outputs.parameters.a}}",
    "{{steps.a.outputs.result}} {{tasks.a.outputs.result}}",
    "{{tasks.a.outputs.parameters.result}}",
    "{{tasks.a.status}}{{steps.a.status}}",
    "{{inputs.artifacts.a.path}}",
    "{{inputs.artifacts.a}}",
    "{{tasks.a.outputs.artifacts.main}}",
    "{{steps.a.outputs.artifacts.main}}",
    "{{workflow.outputs.parameters.a}}{{workflow.name}}{{workflow.creationTimestamp.Y}}",
    "{{=asInt(inputs.parameters.a) + 1}}",
    "{{= tasks['task-b'].outputs.result ?? 'x' }} and more",
    "{{unknown.name}}",
    "{{workflow.duration}}{{retries}}",
)
EXPRESSIONS = (
    "a && b.Failed",
    "(a || b) && !c.AnySucceeded",
    "a&&b||!(c && d)",
    "tasks.a.status == 'Failed'",
    "5",
    "007",
    "1h30m",
    "90s",
    "10",
    "0",
    "1.5s",
    "Always",
    "GET",
    "500m",
    "1Gi",
    "a b",
    "true",
)
NUMBERS = (0, 1, 2, 3, 60, 3600, 2**31 - 1, 2**53 + 1, 2**63 - 1, -1)


def dice_document(dice: Dice) -> JSON:
    """A document of one of the four kinds."""
    kind = pick(dice, tuple(PLURALS))
    found: JSON = {"apiVersion": "argoproj.io/v1alpha1", "kind": kind, "metadata": _metadata(dice)}
    found["spec"] = _value(dice, schema(kind)["properties"]["spec"], "spec", 6)
    if kind != "CronWorkflow" or "workflowSpec" in found["spec"]:
        spec = found["spec"] if kind != "CronWorkflow" else found["spec"]["workflowSpec"]
        spec["templates"] = [_template(dice, 4) for _ in range(dice.number(0, 3))]
    return found


def random_document(seed: int) -> JSON:
    """The document of a seed."""
    return dice_document(Seeded(random.Random(seed)))


@st.composite
def documents(draw: st.DrawFn) -> JSON:
    """Documents of Argo's four kinds."""
    return dice_document(Drawn(draw))


def broken(dice: Dice, document: JSON) -> JSON:
    """A document in which one value stands that another type was expected at, or a null."""
    places = list(_places(document))
    holder, key = pick(dice, places)
    holder[key] = pick(dice, (None, 5, "x", True, 1.5, [], {}, [None], {"a": None}, [[1]], [{}]))
    return document


def _places(value: Any) -> Any:
    if isinstance(value, dict | list):
        for key, item in list(value.items() if isinstance(value, dict) else enumerate(value)):
            yield value, key
            yield from _places(item)


def _metadata(dice: Dice) -> JSON:
    found: JSON = pick(dice, ({"generateName": "hello-"}, {"name": "hello"}, {}, {"name": "-"}, {"generateName": "--"}))
    found = dict(found)
    if chance(dice, 30):
        found["namespace"] = pick(dice, NAMES)
    for key in ("labels", "annotations"):
        if chance(dice, 30):
            found[key] = {name: _text(dice) for name in some(dice, ("a.b/c~d", "name", "app", "kind"), 3)}
    if chance(dice, 10):
        found["finalizers"] = ["x"]
    return found


def _template(dice: Dice, depth: int) -> JSON:
    """A template, more often than not with one body only."""
    node = schema("Workflow")["properties"]["spec"]["properties"]["templates"]["items"]
    found: JSON = _value(dice, node, "template", depth)
    bodies = ("container", "dag", "steps", "script", "resource", "http", "suspend", "data", "containerSet", "plugin")
    if chance(dice, 80):
        for each in bodies:
            found.pop(each, None)
    if chance(dice, 90):
        body = pick(dice, bodies)
        found[body] = _value(dice, node["properties"][body], body, depth)
    return found


def _value(dice: Dice, node: JSON, name: str, depth: int) -> Any:
    """Anything that the schema's node allows."""
    kinds = node.get("type")
    if kinds is None:
        return _free(dice, name, depth)
    if "enum" in node:
        return pick(dice, node["enum"])
    kind = pick(dice, kinds) if isinstance(kinds, list) else kinds
    if kind == "object":
        return _object(dice, node, depth)
    if kind == "array":
        count = dice.number(0, 3) if depth > 0 else 0
        return [_value(dice, node["items"], name, depth - 1) for _ in range(count)]
    if kind == "boolean":
        return bool(dice.number(0, 1))
    if kind in ("integer", "number"):
        return max(node.get("minimum", -(2**63)), min(node.get("maximum", 2**63), pick(dice, NUMBERS)))
    return pick(dice, NAMES) if "pattern" in node else _text(dice)


def _object(dice: Dice, node: JSON, depth: int) -> JSON:
    fields = node.get("properties", {})
    found: JSON = {}
    chosen = some(dice, tuple(fields), 6 if depth > 0 else 0)
    for key in dict.fromkeys((*node.get("required", ()), *chosen)):
        found[key] = _value(dice, fields[key], key, depth - 1)
    more = node.get("additionalProperties", True)
    if isinstance(more, dict):
        for key in some(dice, ("cpu", "memory", "nvidia.com/gpu", "exit", "running", "onExit", "a~/b"), 3):
            found[key] = _value(dice, more, key, depth - 1)
    elif more is True and not fields and chance(dice, 50):
        found = {"slack": {"text": _text(dice)}}
    return found


def _free(dice: Dice, name: str, depth: int) -> Any:
    """A value of a field whose structure the CRDs leave open."""
    if name == "inline" and depth > 0 and chance(dice, 80):
        return _template(dice, depth - 2)
    if name == "withItems":
        return [_json(dice, 2) for _ in range(dice.number(0, 3))]
    return _json(dice, 3)


def _json(dice: Dice, depth: int) -> Any:
    shape = dice.number(0, 5 if depth > 0 else 3)
    if shape <= 1:
        return _text(dice)
    if shape == 2:
        return pick(dice, (0, 1, 1.0, True, False, None, 2**70, -1.5e300))
    if shape == 3:
        return pick(dice, ([], {}))
    if shape == 4:
        return [_json(dice, depth - 1) for _ in range(dice.number(0, 3))]
    return {key: _json(dice, depth - 1) for key in some(dice, ("b", "a", "name", "{{item}}", "~1/"), 3)}


def _text(dice: Dice) -> str:
    kind = dice.number(0, 9)
    if kind <= 2:
        return pick(dice, NAMES)
    if kind <= 5:
        return pick(dice, TAGGED)
    if kind <= 7:
        return pick(dice, EXPRESSIONS)
    return pick(dice, HOSTILE) if kind == 8 else dice.text()
