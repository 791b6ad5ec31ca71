"""What tasks and runs gave: their XComs. Files in them are named by where they lie."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import quote

from couler_py.backends.airflow.client.server import Server
from couler_py.backends.airflow.names import RESULT
from couler_py.backends.rest.request import JSON

ELSEWHERE = "@file"
"""The member of an XCom that says where the outputs lie, which were too large for it."""


def of_run(server: Server, instances: list[JSON]) -> dict[str, Any]:
    """The outputs of a run: its last task has them. Empty where it hasn't succeeded."""
    last = next((each for each in instances if each["task_id"] == RESULT), None)
    return {} if last is None else of_instance(server, last)


def of_instance(server: Server, instance: JSON) -> dict[str, Any]:
    """The outputs of a task. What is too large for an XCom is named by where it lies, under `@file`."""
    if instance.get("state") != "success":
        return {}
    found = server.xcom(instance)
    return {} if not isinstance(found, Mapping) else dict(found)


def files(outputs: Mapping[str, Any], dag: str, run: str) -> Iterator[tuple[str, str]]:
    """Those of the outputs that are files of this run: by name, where they lie."""
    inside = f"/{quote(dag, safe='')}/{quote(run, safe='')}/"
    for name, value in outputs.items():
        if isinstance(value, str) and inside in value:
            yield name, value
