"""The Hera halves of "From Hera to couler-py" are real, and what should be equal in effect to ours is.

Needs Hera, in this environment or in that of the Python that COULER_HERA_PYTHON names.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

import couler_py as couler
import couler_py.argo
from couler_py.backends.argo.durations import seconds_of
from couler_py.backends.argo.verify import verify
from couler_py.cli.load import load
from tests.pages import ROOT, blocks

PAGE = ROOT / "docs" / "from-hera.md"
BUILD = """
import json, pathlib, runpy, sys
built = {path.stem: runpy.run_path(str(path))["w"].to_dict() for path in pathlib.Path(sys.argv[1]).glob("*.py")}
json.dump(built, sys.stdout)
"""

# What both say alike, by workflow. What isn't here is different for a reason that the page names.
ALIKE: dict[str, tuple[str, ...]] = {
    "hello": ("kind", "images"),
    "diamond": ("kind", "images", "tasks"),
    "parameters": ("kind", "images", "tasks", "parameters"),
    "files": ("kind", "images", "tasks"),
    "conditions": ("kind", "images", "tasks"),
    "loop": ("kind", "images", "tasks", "loops"),
    "fan_in": ("kind", "images", "tasks", "loops"),
    "retries": ("kind", "images", "tasks", "attempts"),
    "exit": ("kind", "images", "tasks", "handled"),
    "schedule": ("kind", "images", "tasks", "schedule"),
    "suspend": ("kind", "images", "tasks", "waits"),
    "secrets": ("kind", "images", "tasks", "secrets", "claims"),
    "resources": ("kind", "images", "tasks", "asked", "placed"),
    "templates": ("kind", "images", "tasks", "referred"),
    "cache": ("kind", "images", "tasks", "cached"),
    "limits": ("kind", "images", "tasks", "mutexes", "parallelism"),
    "recursion": ("kind", "images", "recursive"),
}


def programs(theirs: bool) -> dict[str, str]:
    """The programs of the page by name."""
    found = {block.title.removesuffix(".py"): block.text for block in blocks(PAGE) if block.title}
    return {name.removeprefix("hera/"): text for name, text in found.items() if name.startswith("hera/") == theirs}


@pytest.fixture(scope="module")
def of_hera(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What Hera makes of each of its programs, which it reads from files."""
    python = os.environ.get("COULER_HERA_PYTHON") or sys.executable
    try:
        subprocess.run([python, "-c", "import hera.workflows"], check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError) as error:
        pytest.skip(f"no Hera: {error}; the extra dev installs it, or COULER_HERA_PYTHON names a Python that has it")
    folder = tmp_path_factory.mktemp("hera")
    for name, text in programs(True).items():
        (folder / f"{name}.py").write_text(text)
    built = subprocess.run([python, "-c", BUILD, folder], stdout=subprocess.PIPE, text=True, check=True)
    made: dict[str, Any] = json.loads(built.stdout)
    return made


def ours(name: str, text: str, folder: Path) -> dict[str, Any]:
    couler_py.argo.reset()
    (folder / f"{name}.py").write_text(text)
    document: dict[str, Any] = couler.compile(load(str(folder / f"{name}.py")).workflow).documents[-1]
    return document


def effects(document: Mapping[str, Any]) -> dict[str, Any]:
    """What a document does, whatever its templates are called."""
    spec = document["spec"].get("workflowSpec", document["spec"])
    templates = {each["name"]: each for each in spec["templates"]}
    tasks = templates[spec["entrypoint"]].get("dag", {}).get("tasks", [])
    pods = [each.get("container") or each.get("script") for each in spec["templates"]]
    steps = [each for each in spec["templates"] if "container" in each or "script" in each]
    every = [task for each in spec["templates"] for task in each.get("dag", {}).get("tasks", [])]
    helpers = {each["name"] for each in spec["templates"] if "couler.dev/role" in str(each.get("metadata"))}
    return {
        "kind": document["kind"],
        "images": sorted({pod["image"] for pod in pods if pod}),
        "tasks": {
            task["name"]: _waits_for(task)
            for task in tasks
            if task.get("template") not in helpers or _loop(task, templates)
        },
        "parameters": [(each["name"], each.get("value")) for each in spec.get("arguments", {}).get("parameters", [])],
        "loops": sum("withItems" in task or "withParam" in task for task in every),
        "attempts": [int(each["retryStrategy"]["limit"]) for each in steps if "retryStrategy" in each],
        "handled": "onExit" in spec or "hooks" in spec,
        "schedule": [document["spec"].get(key) for key in ("schedules", "timezone", "concurrencyPolicy")],
        "waits": sum("suspend" in each for each in spec["templates"]),
        "secrets": [
            entry["valueFrom"]["secretKeyRef"]
            for pod in pods
            for entry in (pod or {}).get("env", [])
            if "secretKeyRef" in entry.get("valueFrom", {})
        ],
        "claims": [
            volume["persistentVolumeClaim"]["claimName"]
            for owner in (spec, *spec["templates"])
            for volume in owner.get("volumes", [])
        ],
        "asked": [pod["resources"] for pod in pods if pod and "resources" in pod],
        "placed": [(each.get("nodeSelector"), each.get("tolerations")) for each in steps],
        "referred": [task["templateRef"] for task in every if "templateRef" in task],
        "cached": [seconds_of(each["memoize"]["maxAge"]) for each in spec["templates"] if "memoize" in each],
        "mutexes": [each["synchronization"]["mutexes"] for each in spec["templates"] if "synchronization" in each],
        "parallelism": spec.get("parallelism"),
        "recursive": any(
            task.get("template") == each["name"] and task.get("when") != "false"
            for each in spec["templates"]
            for task in each.get("dag", {}).get("tasks", [])
        ),
    }


def _loop(task: Mapping[str, Any], templates: Mapping[str, Any]) -> bool:
    return any(
        "withItems" in each or "withParam" in each
        for each in templates[task["template"]].get("dag", {}).get("tasks", [])
    )


def _waits_for(task: Mapping[str, Any]) -> list[str]:
    return sorted({each.partition(".")[0] for each in re.findall(r"[\w-]+(?:\.\w+)?", task.get("depends", ""))})


def test_each_workflow_stands_there_twice() -> None:
    assert programs(True).keys() == programs(False).keys() == ALIKE.keys()


@pytest.mark.parametrize("name", ALIKE)
def test_a_program_of_hera_does_what_ours_does(name: str, of_hera: dict[str, Any], tmp_path: Path) -> None:
    made = ours(name, programs(False)[name], tmp_path)
    assert verify([made]) == verify([of_hera[name]]) == []
    mine, theirs = effects(made), effects(of_hera[name])
    assert {what: mine[what] for what in ALIKE[name]} == {what: theirs[what] for what in ALIKE[name]}
