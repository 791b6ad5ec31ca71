"""Retries, time-outs, caches, locks and limits: numbers that make sense, where they have a meaning."""

from __future__ import annotations

from couler_py.ir.model import Graph, Http, Loop, Schedule, Semaphore, Suspend, Template, Workflow
from couler_py.passes.check.findings import Findings, Place
from couler_py.passes.check.scope import IN_STEPS, Scope
from couler_py.passes.check.typing import check_condition


def check_policies(template: Template, scope: Scope) -> None:
    """The policies of one template. `scope` is what the condition of a retry sees."""
    findings, place, body = scope.findings, scope.place, template.body
    for name, seconds in (("timeout", template.timeout), ("deadline", template.deadline)):
        _positive(name, seconds, findings, place)
    if isinstance(body, Suspend):
        _not_negative("duration", body.duration, findings, place)
        if template.timeout is not None or template.deadline is not None:
            findings.error(
                "CLR283",
                "a step that only waits can't have a time-out",
                place,
                help="give the wait a duration, or the workflow a deadline",
            )
    if isinstance(body, Http):
        _positive("timeout", body.timeout, findings, place)
    if template.cache is not None:
        _positive("max_age", template.cache.max_age, findings, place)
    if template.parallelism is not None:
        _at_least_one("parallelism", template.parallelism, findings, place)
        if not isinstance(body, Graph):
            findings.error("CLR285", "only a graph can bound how many of its steps run at once", place)
    for lock in template.locks:
        if isinstance(lock, Semaphore):
            _check_semaphore(lock, findings, place)
    if template.retry is not None:
        _check_retry(template, scope)


def _check_retry(template: Template, scope: Scope) -> None:
    retry = template.retry
    assert retry is not None
    findings, place = scope.findings, scope.place
    if retry.limit < 0:
        findings.error("CLR280", f"{retry.limit} retries: it must be at least 0", place)
    if retry.backoff is not None:
        _not_negative("the wait before a retry", retry.backoff.duration, findings, place)
        _positive("the factor of a back-off", retry.backoff.factor, findings, place)
        _positive("the longest wait", retry.backoff.maximum, findings, place)
    if retry.when is not None:
        scope.what = "the condition of the retry"
        scope.last_retry, scope.run = True, scope.run | IN_STEPS
        check_condition(retry.when, scope)
    if isinstance(template.body, Graph | Loop):
        findings.note(
            "CLR282",
            "a retry of a graph runs all of it again; only Argo and the local engine can",
            place,
            help="put the retry on the steps inside",
        )


def check_limits(workflow: Workflow, findings: Findings) -> None:
    """The limits of the workflow itself."""
    place = Place(workflow.name, workflow.source)
    _positive("deadline", workflow.deadline, findings, place)
    _at_least_one("parallelism", workflow.parallelism, findings, place)
    for lock in workflow.locks:
        if isinstance(lock, Semaphore):
            _check_semaphore(lock, findings, place)
    if workflow.ttl is not None:
        for name in ("after_completion", "after_success", "after_failure"):
            _not_negative(f"ttl {name}", getattr(workflow.ttl, name), findings, place)


def check_keeping(schedule: Schedule, findings: Findings, place: Place) -> None:
    """The numbers of a schedule."""
    for name in ("starting_deadline", "keep_succeeded", "keep_failed"):
        _not_negative(name, getattr(schedule, name), findings, place)


def _check_semaphore(lock: Semaphore, findings: Findings, place: Place) -> None:
    _at_least_one("the limit of a semaphore", lock.limit, findings, place)


def _positive(what: str, number: float | None, findings: Findings, place: Place) -> None:
    if number is not None and not number > 0:
        findings.error("CLR281", f"{what} is {number}, and must be more than 0", place)


def _not_negative(what: str, number: float | None, findings: Findings, place: Place) -> None:
    if number is not None and not number >= 0:
        findings.error("CLR281", f"{what} is {number}, and can't be negative", place)


def _at_least_one(what: str, number: int | None, findings: Findings, place: Place) -> None:
    if number is not None and number < 1:
        findings.error("CLR285", f"{what} is {number}, and must be at least 1", place)
