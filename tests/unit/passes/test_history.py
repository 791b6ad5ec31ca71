"""What earlier runs took is found by what was done, then by name."""

from __future__ import annotations

from couler_py.ir.model import RetryPolicy, Script, Template
from couler_py.ir.pod import Resources
from couler_py.passes.history import History, Observed, work_of

LOAD = Template("load", Script("python:3.11", "print(1)"))
SEEN = Observed("flow", "load", work_of(LOAD), seconds=(1.0,))


def test_work_is_found_whatever_it_is_called() -> None:
    assert History.of(SEEN).find("other", Template("renamed", LOAD.body)) == SEEN


def test_changed_work_is_found_by_its_name_in_its_workflow() -> None:
    changed = Template("load", Script("python:3.11", "print(2)"))
    assert History.of(SEEN).find("flow", changed) == SEEN
    assert History.of(SEEN).find("other", changed) is None


def test_resources_and_retries_are_no_part_of_the_work() -> None:
    body = Script("python:3.11", "print(1)", resources=Resources(memory="1Gi"))
    assert work_of(Template("load", body, retry=RetryPolicy(3), timeout=5.0)) == work_of(LOAD)


def test_history_is_read_when_it_is_first_asked_and_once() -> None:
    reads = []
    history = History(lambda: reads.append(1) or (SEEN,))
    assert reads == []
    assert history.find("flow", LOAD) == history.all()[0] == SEEN
    assert reads == [1]
