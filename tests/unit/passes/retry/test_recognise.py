"""Failures of platforms are told from people's own, by what was really said of either."""

from __future__ import annotations

import re
from collections import Counter
from urllib.parse import urlsplit

import pytest

from couler_py.passes.retry.recognise import recognise
from couler_py.passes.retry.table import TABLE
from tests.unit.passes.retry.corpus import OWN, PLATFORM
from tests.unit.passes.retry.found import FOUND, NEAR


@pytest.mark.parametrize(("name", "message", "exit_code"), PLATFORM)
def test_a_fault_of_the_platform_is_recognised(name: str, message: str, exit_code: int | None) -> None:
    found = recognise(message, exit_code)
    assert found is not None
    assert (found.pattern.name, found.platform) == (name, True)


@pytest.mark.parametrize(("message", "exit_code"), OWN)
def test_an_error_of_one_s_own_is_never_the_platform_s(message: str, exit_code: int | None) -> None:
    found = recognise(message, exit_code)
    assert found is None or not found.platform
    assert found is None or not found.again


@pytest.mark.parametrize(("name", "message", "source"), FOUND)
def test_what_others_have_met_is_recognised(name: str, message: str, source: str) -> None:
    found = recognise(message)
    assert found is not None
    assert (found.pattern.name, found.platform) == (name, True)
    assert urlsplit(source).scheme == "https"


@pytest.mark.parametrize(("name", "message"), NEAR)
def test_what_only_sounds_like_it_is_not_tried_again(name: str, message: str) -> None:
    found = recognise(message, 1)
    assert found is None or (found.pattern.name != name and not found.again)


def test_there_are_enough_of_both() -> None:
    assert sum(not row.own for row in TABLE) >= 25
    assert len(PLATFORM) >= 60
    assert len(OWN) >= 60


def test_every_kind_of_the_platform_s_was_really_said() -> None:
    assert {row.name for row in TABLE if not row.own} == {name for name, _, _ in PLATFORM}
    assert len({name for name, _, _ in FOUND}) >= 25
    assert {name for name, _, _ in FOUND} - {name for name, _ in NEAR} <= {"s3-internal", "s3-clock"}


def test_every_system_has_its_rows() -> None:
    systems = Counter(row.system for row in TABLE if not row.own)
    assert {"Kubernetes", "Argo", "Airflow", "S3", "CUDA", "NCCL", "machine"} <= set(systems)


def test_rows_are_told_apart_by_name_and_say_where_they_come_from_and_what_to_do() -> None:
    assert max(Counter(row.name for row in TABLE).values()) == 1
    for row in TABLE:
        assert urlsplit(row.source).scheme == "https"
        assert row.title
        assert row.advice
        assert row.message or row.exit_codes
        re.compile(row.message)


def test_some_faults_are_worth_another_attempt_soon_some_later_and_some_never() -> None:
    pauses = {}
    for message in ("pod deleted", "exceeded quota: team-a", "OOMKilled"):
        found = recognise(message)
        assert found is not None
        pauses[message] = (found.again, found.pause(0), found.pause(2))
    assert pauses == {
        "pod deleted": (True, 10.0, 40.0),
        "exceeded quota: team-a": (True, 60.0, 240.0),
        "OOMKilled": (False, 0.0, 0.0),
    }
