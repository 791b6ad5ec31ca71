"""Twice the document, twice the work: calls of functions are counted, not seconds."""

from __future__ import annotations

import sys
from typing import Any

from couler_py.backends import yaml
from couler_py.backends.argo.document import dump, load


def graph(n: int) -> str:
    tasks: list[dict[str, Any]] = [{"name": "t-0", "template": "work"}]
    for number in range(1, n):
        before = f"t-{number - 1}"
        value = f"{{{{tasks.{before}.outputs.result}}}}"
        tasks.append(
            {
                "name": f"t-{number}",
                "depends": f"{before}&&t-0",
                "template": "work",
                "arguments": {"parameters": [{"name": "x", "value": value}]},
            }
        )
    spec = {"entrypoint": "main", "templates": [{"name": "main", "dag": {"tasks": tasks}}]}
    return yaml.dump({"apiVersion": "argoproj.io/v1alpha1", "kind": "Workflow", "metadata": {}, "spec": spec})


def calls(n: int) -> int:
    """How many functions are called, C functions too, from the text to the document and back."""
    text = graph(n)
    called = 0

    def count(frame: object, event: str, argument: object) -> None:
        nonlocal called
        called += event in ("call", "c_call")

    before = sys.getprofile()
    sys.setprofile(count)
    try:
        dump(load(text))
    finally:
        sys.setprofile(before)
    return called


def test_twice_the_tasks_take_twice_the_calls() -> None:
    calls(10)  # what is read and compiled once
    small, large = calls(200), calls(400)
    assert large < 2.1 * small
