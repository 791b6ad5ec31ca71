"""What the Argo server is asked when a run is started again."""

from __future__ import annotations

import json

from couler_py.backends.argo.client.server import Server
from tests.unit.backends.argo.client.server import Answer, scripted

MADE = Answer(body=b'{"metadata": {"name": "flow-y"}}')


def test_other_parameters_go_along() -> None:
    with scripted(MADE) as (http, server):
        Server(http).retry("team-a", "flow-x", {"n": "a=b"})
        Server(http).resubmit("team-a", "flow-x", {"n": "3", "m": ""}, memoized=True)
        retried, resubmitted = (json.loads(each.body) for each in server.seen)
    assert retried == {"name": "flow-x", "namespace": "team-a", "parameters": ["n=a=b"]}
    assert resubmitted == {"name": "flow-x", "namespace": "team-a", "memoized": True, "parameters": ["n=3", "m="]}


def test_without_any_the_run_keeps_its_own() -> None:
    with scripted(MADE) as (http, server):
        Server(http).retry("team-a", "flow-x", {})
    assert json.loads(server.seen[0].body) == {"name": "flow-x", "namespace": "team-a"}
