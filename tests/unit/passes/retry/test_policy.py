"""Further attempts after faults of the platform: who gets them, and what each engine is told."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

import couler_py as couler
from couler_py.argolang import evaluate
from couler_py.ir import to_builtins
from couler_py.ir.evaluate import evaluate_condition
from couler_py.ir.model import Graph, RetryPolicy, Suspend, Task, Template, Workflow
from couler_py.ir.pod import Container
from couler_py.ir.policies import Backoff
from couler_py.passes.retry import RetryOptionError, apply
from couler_py.passes.retry.condition import condition
from couler_py.passes.retry.recognise import recognise
from couler_py.passes.retry.table import TABLE
from couler_py.passes.situation import Note, Situation
from couler_py.settings import Settings
from couler_py.settings.model import RetrySettings
from tests.unit.passes.retry.corpus import OWN, PLATFORM

PLAIN = Template("plain", Container("alpine"))
EFFECTS = Template("writes", Container("alpine"), effects=("db",))
RETRIED = Template("retried", Container("alpine"), retry=RetryPolicy(5))
WAIT = Template("wait", Suspend(1.0))
STEPS = (PLAIN, EFFECTS, RETRIED, WAIT)
FLOW = Workflow("flow", "main", (Template("main", Graph(tuple(Task(each.name, each.name) for each in STEPS))), *STEPS))


def asked(limit: object, engine: str = "argo") -> Situation:
    return Situation(engine, options={"retry_platform": limit})


def retries(situation: Situation) -> dict[str, RetryPolicy | None]:
    return {each.name: each.retry for each in apply(FLOW, situation).workflow.templates}


def test_nothing_is_repeated_unless_it_is_asked_for() -> None:
    outcome = apply(FLOW, Situation())
    assert outcome.workflow == FLOW
    why = "only after faults of the platform, as lost nodes; --retry-platform 3"
    assert outcome.notes == (Note("flow", "2 steps could be tried again", why),)


def test_steps_without_retries_of_their_own_get_them() -> None:
    given = RetryPolicy(3, Backoff(30.0, 2.0), policy="OnPlatformFault")
    assert retries(asked("3")) == {
        "main": None, "plain": given, "writes": given, "retried": RetryPolicy(5), "wait": None,
    }  # fmt: skip


def test_the_setting_asks_too_and_the_option_has_the_last_word() -> None:
    situation = Situation(settings=Settings(retry=RetrySettings(platform=2)))
    assert retries(situation)["plain"] == RetryPolicy(2, policy="OnPlatformFault")
    assert retries(replace(situation, options={"retry_platform": 0}))["plain"] is None


@pytest.mark.parametrize("given", ["many", -1, 11])
def test_what_is_no_number_of_attempts_is_refused(given: object) -> None:
    with pytest.raises(RetryOptionError, match="is not a number of further attempts from 0 to 10"):
        apply(FLOW, asked(given))


def test_applying_it_again_changes_nothing() -> None:
    once = apply(FLOW, asked(3)).workflow
    assert apply(once, asked(3)).workflow == once


def holds(engine: str, message: str, exit_code: int | None, *, begun: bool = True) -> bool:
    last = {"message": message, "exit_code": -1 if exit_code is None else exit_code}
    return evaluate_condition(to_builtins(condition(engine, begun=begun)), lambda node: last[node["field"]])


SILENT = frozenset({"argo-artifact-load", "argo-artifact-save", "argo-executor", "k8s-pull"})
"""Argo tells of these by its status Error."""

HEARD = [
    (name, message, exit_code)
    for name, message, exit_code in PLATFORM
    if name.startswith(("k8s-", "argo-", "machine-ended", "machine-killed"))
    if name not in SILENT and not message.startswith("out of memory")  # which is what this machine says
]


@pytest.mark.parametrize(("name", "message", "exit_code"), HEARD)
def test_argo_s_condition_says_the_same_of_what_argo_tells(name: str, message: str, exit_code: int | None) -> None:
    found = recognise(message, exit_code)
    assert found is not None
    code = exit_code if exit_code is None or exit_code >= 0 else 128 - exit_code
    assert holds("Argo", message, code) == found.again


@pytest.mark.parametrize(("message", "exit_code"), OWN)
def test_no_error_of_one_s_own_is_repeated_by_a_condition(message: str, exit_code: int | None) -> None:
    # What engines say of an attempt, without what its program wrote.
    for engine in ("Argo", "Airflow"):
        assert not holds(engine, message.splitlines()[0], exit_code)


@given(st.sampled_from(TABLE), st.text(max_size=20))
def test_what_a_step_with_effects_may_have_begun_is_not_repeated(row: object, around: str) -> None:
    words = getattr(row, "words")  # noqa: B009
    if words and getattr(row, "begun"):  # noqa: B009
        assert not holds("Argo", words[0], None, begun=False)


def test_argo_is_told_by_an_expression() -> None:
    documents = couler.compile(FLOW, to="argo", retry_platform=2).documents
    templates = {each["name"]: each for each in documents[-1]["spec"]["templates"]}
    strategy = templates["plain"]["retryStrategy"]
    assert (strategy["limit"], strategy["retryPolicy"]) == (2, "Always")
    assert strategy["backoff"] == {"duration": "30s", "factor": 2}
    assert strategy["expression"].startswith('(lastRetry.status == "Error" || (asInt(trim(lastRetry.exitCode)) == 143')
    assert "lastRetry.status" not in templates["writes"]["retryStrategy"]["expression"]
    assert templates["retried"]["retryStrategy"] == {"limit": 5, "retryPolicy": "Always"}


@pytest.mark.parametrize("step", ["plain", "writes"])
def test_what_argo_is_told_is_the_condition_in_few_bytes(step: str) -> None:
    documents = couler.compile(FLOW, to="argo", retry_platform=2).documents
    [expression] = [
        each["retryStrategy"]["expression"] for each in documents[-1]["spec"]["templates"] if each["name"] == step
    ]
    assert len(expression) < 1_600
    words = [word for row in TABLE for word in row.words]
    said = [(message, code) for _, message, code in PLATFORM] + list(OWN) + [(f"x {word} y", 1) for word in words]
    said += [(f"{one} {other}", 143) for one, other in itertools.pairwise(words)]
    for message, code in said:
        code = -1 if code is None else code % 256
        last = {"status": "Failed", "message": message, "exitCode": str(code)}
        assert evaluate(expression, {"lastRetry": last}) is holds("Argo", message, code, begun=step == "plain")


def test_airflow_is_told_by_a_function() -> None:
    text = couler.compile(FLOW, to="airflow", retry_platform=2).text
    assert text.count('"retries": 2,') == text.count('"retry_exponential_backoff": 2.0,') == 2
    assert text.count("again=lambda last: every(") == 2
