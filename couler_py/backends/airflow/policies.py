"""Retries, time limits, pools and priority as arguments of Airflow's operators."""

from __future__ import annotations

from couler_py.backends.airflow import expressions
from couler_py.backends.airflow.emission import Emission
from couler_py.backends.airflow.scope import Scope
from couler_py.ir.expr import AllOf
from couler_py.ir.model import Mutex, Template
from couler_py.passes.retry.condition import condition as platform_fault
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
    for name, slots in pools_of(template).items():
        found["pool"] = quoted(name)
        emission.pools[name] = slots
    if limits:
        found["execution_timeout"] = seconds(min(limits))
    return found


def pools_of(template: Template) -> dict[str, int]:
    """The pools that stand for the locks of a template: their slots by name."""
    return {str(lock.name): 1 if isinstance(lock, Mutex) else lock.limit or 1 for lock in template.locks}


def retry_condition(template: Template) -> Doc | None:
    """Whether another attempt is worth it, as a function of the failure."""
    retry = template.retry
    if retry is None:
        return None
    asked = [] if retry.when is None else [retry.when]
    if retry.policy == "OnPlatformFault":
        asked.append(platform_fault("Airflow", begun=not template.effects))
    if not asked:
        return None
    whole = asked[0] if len(asked) == 1 else AllOf(tuple(asked))
    return expressions.late(expressions.condition(whole, Scope()), "last")


def seconds(amount: float) -> Doc:
    """A span of time."""
    whole = int(amount) if amount == int(amount) else amount
    return call("timedelta", keyword("seconds", repr(whole)))
