"""Random documents in Argo's words, by seed, without pods: every way to wait, to ask, to repeat and to hand over."""

from __future__ import annotations

import random
from typing import Any

import yaml

PARTS: list[dict[str, Any]] = yaml.safe_load("""
- {name: ok, suspend: {duration: "0"}}
- {name: idle, steps: [[{name: x, template: ok, when: "false"}]]}
- {name: bad, script: {image: x, command: [sh], source: "exit 1"}}
- {name: many, script: {image: x, command: [sh], source: "echo '[\\"a\\", 2]'"}}
- name: say
  inputs: {parameters: [{name: v}]}
  steps: [[{name: x, template: ok, when: "false"}]]
  outputs: {parameters: [{name: o, valueFrom: {parameter: "{{inputs.parameters.v}}"}}]}
- name: sayd
  inputs: {parameters: [{name: v, default: default}]}
  steps: [[{name: x, template: ok, when: "false"}]]
  outputs: {parameters: [{name: o, valueFrom: {expression: inputs.parameters.v}}]}
""")
"""Templates: `ok` succeeds, `bad` fails, `many` prints a list, `say` gives back what it is given."""

STATES = ("Succeeded", "Failed", "Errored", "Skipped", "Omitted")
CONDITIONS = (
    "false",
    "true",
    "{{= workflow.parameters.w == 'yes'}}",
    "{{= workflow.parameters.w != 'yes' || inputs.parameters.i == 'given' }}",
    "{{= workflow.parameters.w == 'yes' && !(inputs.parameters.i == 'yes')}}",
)


def random_flow(seed: int) -> dict[str, Any]:
    """The document of a seed: the same one always."""
    chance = random.Random(f"argo flow {seed}")
    inner = {
        "name": "inner",
        "inputs": {"parameters": [{"name": "i", "default": "d"}]},
        **_graph(chance, 4, deep=False),
    }
    main = {"name": "main", "inputs": {"parameters": [{"name": "i"}]}, **_graph(chance, 7, deep=True)}
    parameters = [{"name": "w", "value": chance.choice(("yes", "no"))}, {"name": "i", "value": "given"}]
    return {
        "apiVersion": "argoproj.io/v1alpha1",
        "kind": "Workflow",
        "metadata": {"name": "flow"},
        "spec": {
            "entrypoint": "main",
            "arguments": {"parameters": parameters},
            "templates": [main, inner, *PARTS],
        },
    }


def _graph(chance: random.Random, most: int, deep: bool) -> dict[str, Any]:
    """The form of a graph, and its outputs."""
    count = chance.randint(2, most)
    if chance.random() < 0.3:
        return _steps(chance, count, deep)
    tasks: list[dict[str, Any]] = []
    for number in range(count):
        before = list(tasks)
        waits = chance.sample(before, min(len(before), chance.choice((0, 1, 1, 2))))
        task = _task(chance, f"t{number}", waits, "tasks", deep)
        if waits:
            task["depends"] = " && ".join(_wait(chance, each["name"]) for each in waits)
        tasks.append(task)
    chance.shuffle(tasks)
    return {"dag": {"tasks": tasks}}


def _steps(chance: random.Random, count: int, deep: bool) -> dict[str, Any]:
    groups: list[list[dict[str, Any]]] = []
    number = 0
    while number < count:
        before = [each for group in groups for each in group]
        group = []
        for _ in range(chance.randint(1, 2)):
            group.append(_task(chance, f"t{number}", before, "steps", deep))
            number += 1
        groups.append(group)
    return {"steps": groups}


def _wait(chance: random.Random, name: str) -> str:
    form = chance.random()
    if form < 0.6:
        return name
    if form < 0.75:
        return f"{name}.Succeeded"
    if form < 0.85:
        return f"({name}.Failed || {name}.Errored)"
    return "(" + " || ".join(f"{name}.{state}" for state in chance.sample(STATES, 3)) + ")"


def _task(chance: random.Random, name: str, before: list[dict[str, Any]], kind: str, deep: bool) -> dict[str, Any]:
    call = chance.choice(
        ("ok", "ok", "idle", "bad", "say", "say", "sayd", "sayd", "many", *(("inner",) if deep else ()))
    )
    task: dict[str, Any] = {"name": name, "template": call}
    sayers = [each["name"] for each in before if each["template"] in ("say", "sayd") and "withItems" not in each]
    lists = [each["name"] for each in before if each["template"] == "many"]
    value = chance.choice(("text", "{{workflow.parameters.w}}", "<{{inputs.parameters.i}}>"))
    if sayers and chance.random() < 0.7:
        producer = "{{" + f"{kind}.{chance.choice(sayers)}.outputs.parameters.o" + "}}"
        value = chance.choice((producer, producer, f"-{producer}-"))
    if call in ("say", "sayd") and chance.random() < 0.3:
        task["withItems"] = [chance.choice((1, "x", True, 2.5)) for _ in range(2)]
        value = chance.choice(("{{item}}", "({{item}})"))
    elif call in ("say", "sayd") and lists and chance.random() < 0.5:
        task["withParam"] = "{{" + f"{kind}.{chance.choice(lists)}.outputs.result" + "}}"
        value = "{{item}}"
    if call in ("say", "sayd"):
        task["arguments"] = {"parameters": [{"name": "v", "value": value}]}
    if chance.random() < 0.25 and "withItems" not in task and "withParam" not in task:
        task["when"] = chance.choice(CONDITIONS)
    return task
