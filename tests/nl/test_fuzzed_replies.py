"""A thousand replies that are nearly right, or not at all: whatever a model says, no invalid draft is offered."""

from __future__ import annotations

import copy
import json
import random
from pathlib import Path
from typing import Any

import pytest

from couler_py import api
from couler_py.nl import ask
from tests.nl.scripted import TEXT, said

REPLIES = 1000
NAMES = ["load", "clean", "train", "evaluate", "publish", "each", "again", "nobody", "", "Ünïcode", "class", "x" * 60]
VALUES: list[Any] = [
    None,
    True,
    -1,
    0,
    3,
    0.5,
    1e308,
    "",
    "0.9",
    "{{x}}",
    "${HOME}",
    "'; rm -rf /",
    [],
    {},
    [[1]],
    "\0",
    *NAMES,
]

PLAN: dict[str, Any] = {
    "name": "flow",
    "steps": [
        {"name": "load", "does": "load sales.csv"},
        {"name": "clean", "takes": ["load"], "inside": "each"},
        {"name": "train", "takes": ["clean"], "after": ["load"]},
        {"name": "evaluate", "takes": ["train"], "inside": "again"},
        {"name": "publish", "takes": ["train", "evaluate"]},
    ],
    "blocks": [
        {"name": "each", "item": "part", "items_from": "load", "parallel": 2},
        {"name": "again", "kind": "loop", "until": [{"task": "evaluate", "op": ">", "value": 0.9}], "most": 5},
    ],
    "parameters": [{"name": "seed", "type": "int", "default": 1}],
    "schedule": {"crons": ["0 3 * * *"], "timezone": "Europe/Berlin"},
    "notices": [{"on": "failure", "channel": "email"}],
    "engine": "argo",
    "parallelism": 3,
    "retries": 1,
}
DETAILS: dict[str, Any] = {
    "steps": [
        {"name": "load", "gives": "list", "arguments": [{"name": "path", "value": "sales.csv"}], "uses": "load_table"},
        {"name": "clean", "retry": {"limit": 2, "wait": 5}, "resources": {"cpu": 1, "memory": "1Gi"}},
        {"name": "train", "arguments": [{"name": "seed", "parameter": "seed"}], "packages": ["numpy"], "timeout": 60},
        {"name": "evaluate", "gives": "number"},
        {"name": "publish", "when": [{"parameter": "seed", "op": ">=", "value": 1}], "kind": "python"},
    ]
}


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [path, *(found for key, each in inner for found in places(each, (*path, key)))]


def mutated(value: Any, chance: random.Random) -> str:
    """A reply with up to three changes: another value, a field less, one twice, other letters, an end too early."""
    found = copy.deepcopy(value)
    for _ in range(chance.choice([0, 0, 1, 1, 2, 3])):
        *way, last = chance.choice(places(found)[1:])
        holder = found
        for key in way:
            holder = holder[key]
        match chance.randrange(5):
            case 0:
                holder[last] = copy.deepcopy(chance.choice(VALUES))
            case 1:
                del holder[last]
            case 2 if isinstance(holder, list):
                holder.append(copy.deepcopy(holder[last]))
            case 3 if isinstance(holder, dict):
                holder[chance.choice(["name", "takes", "when", "gives", "kind", "inside", "uses"])] = holder[last]
            case _:
                holder[last] = chance.choice(NAMES)
        if len(places(found)) < 2:
            break
    text = json.dumps(found)
    match chance.randrange(20):
        case 0:
            return text[: chance.randrange(len(text) + 1)]
        case 1:
            return f"Here you are: ```{text}```"
        case _:
            return text


@pytest.mark.parametrize("part", range(10))
def test_no_invalid_draft_is_offered(part: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("COULER_HOME", str(tmp_path))
    offered = 0
    for seed in range(part * REPLIES // 20, (part + 1) * REPLIES // 20):
        chance = random.Random(seed)
        model = said(mutated(PLAN, chance), mutated(DETAILS, chance))
        draft = ask(TEXT, model=model, tries=1, rounds=1, score=False, dry_run=False, cache=False)
        if draft.workflow is None or draft.model == "offline":
            continue
        offered += 1
        for engine in ("local", "argo"):
            api.compile(draft.workflow, to=engine)
        compile(draft.source, "draft", "exec")
    assert offered > 0
