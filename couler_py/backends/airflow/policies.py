"""Retries, time limits, pools and priority as arguments of Airflow's operators."""

from __future__ import annotations

from couler_py.backends.airflow import expressions
from couler_py.backends.airflow.emission import Emission
from couler_py.backends.airflow.scope import Scope
from couler_py.ir.model import Mutex, Template
from couler_py.printer.layout import Doc, call, keyword
from couler_py.printer.literal import quoted


def operator_options(emission: Emission, template: Template) -> dict[str, Doc]:
    """The arguments that an operator gets for the policies of a template."""
    found: dict[str, Doc] = {}
    retry = template.retry
    if retry is not None and retry.limit:
        found["retries"] = str(retry.limit)
        backoff = retry.backoff
        found["retry_delay"] = seconds(0 if backoff is None else backoff.duration)
        if backoff is not None and backoff.factor != 1:
            found["retry_exponential_backoff"] = repr(backoff.factor)
    limits = [each for each in (template.timeout, None if retry else template.deadline) if each is not None]
    for lock in template.locks:
        slots = 1 if isinstance(lock, Mutex) else lock.limit or 1
        found["pool"] = quoted(str(lock.name))
        emission.pools[str(lock.name)] = slots
    if limits:
        found["execution_timeout"] = seconds(min(limits))
    return found


def retry_condition(template: Template) -> Doc | None:
    """Whether another attempt is worth it, as a function of the failure."""
    if template.retry is None or template.retry.when is None:
        return None
    return expressions.late(expressions.condition(template.retry.when, Scope()), "last")


def seconds(amount: float) -> Doc:
    """A span of time."""
    whole = int(amount) if amount == int(amount) else amount
    return call("timedelta", keyword("seconds", repr(whole)))
