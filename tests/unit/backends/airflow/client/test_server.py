"""Answers of something that is no Airflow: each call says so, and nothing is taken for done."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from couler_py.backends.airflow.client.server import Server
from couler_py.backends.rest.failures import NotUnderstoodError
from tests.unit.backends.argo.client.server import Answer, scripted

CALLS: list[tuple[Callable[[Server], Any], str]] = [
    (lambda server: list(server.runs()), "list runs .* has no dag_runs"),
    (lambda server: server.tasks("d"), "list the tasks of d .* has no tasks"),
    (lambda server: server.trigger("d", "r", {}, ""), "start a run of d .* has no dag_run_id"),
    (lambda server: server.clear("d", "r", ["t"], ""), "run failed tasks of r again .* has no task_instances"),
    (lambda server: server.backfill_instants({"dag_id": "d"}), "try a backfill of d .* has no backfills"),
]


@pytest.mark.parametrize(("call", "said"), CALLS, ids=lambda each: each if isinstance(each, str) else "")
def test_json_of_another_server_is_not_understood(call: Callable[[Server], Any], said: str) -> None:
    with (
        scripted(Answer(body=b'{"items": []}')) as (http, _),
        pytest.raises(NotUnderstoodError, match=rf"{said}; is this the URL of an Airflow 3\?"),
    ):
        call(Server(http))


def test_a_file_that_is_asked_to_be_read_is_asked_for_once() -> None:
    with scripted(Answer(201, b"null")) as (http, script):
        Server(http).parse({"dag_id": "d", "file_token": "t"})
    assert script.methods == ["PUT"]
