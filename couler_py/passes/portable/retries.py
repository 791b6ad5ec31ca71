"""Retries that the IR's policy can't say to the letter."""

from __future__ import annotations

from typing import Any

import msgspec

from couler_py import argolang
from couler_py.argolang.functions.spans import read_duration
from couler_py.ir.expr import Input, Raw, Text, WorkflowParameter
from couler_py.ir.model import Backoff, RetryPolicy, Template
from couler_py.ir.templated import Templated

ENDLESS = 2**31 - 1
"""Without a limit Argo tries again and again."""
WORD = "retryStrategy"


def with_retry(template: Template) -> Template:
    """The template, a `retryStrategy` in Argo's words said by the IR's policy, without its `cap`."""
    extra = template.pod.extra
    if extra is None or WORD not in extra.value:
        return template
    own = [text for text in extra.texts if text.pointer.startswith(f"/{WORD}/")]
    texts = {text.pointer.removeprefix(f"/{WORD}/"): text for text in own}
    given = dict(extra.value[WORD])
    if "expression" in texts and (said := tagged(texts.pop("expression").text)) is not None:
        given["expression"] = said
    policy = None if texts else _policy(given)
    if policy is None:
        return template
    rest = {name: value for name, value in extra.value.items() if name != WORD}
    others = tuple(text for text in extra.texts if text not in own)
    pod = msgspec.structs.replace(template.pod, extra=Templated(rest, others) if rest else None)
    return msgspec.structs.replace(template, retry=policy, pod=pod)


def tagged(text: Text) -> str | None:
    """A text with the inputs in it as tags again; None where it holds anything else."""
    parts = []
    for part in text.parts:
        if isinstance(part, Input | WorkflowParameter):
            kind = "inputs" if isinstance(part, Input) else "workflow"
            part = "{{" + f"{kind}.parameters.{part.name}" + "}}"
        if not isinstance(part, str):
            return None
        parts.append(part)
    return "".join(parts)


def _policy(given: Any) -> RetryPolicy | None:
    if not isinstance(given, dict) or given.keys() - {"limit", "retryPolicy", "backoff", "expression", "affinity"}:
        return None
    try:
        limit = int(given.get("limit", ENDLESS))
        backoff = _backoff(given["backoff"]) if given.get("backoff") else None
    except (KeyError, ValueError, TypeError):
        return None
    expression = given.get("expression")
    policy: Any = given.get("retryPolicy") or ("OnFailure" if expression is None else "Always")
    if policy not in ("Always", "OnFailure", "OnError", "OnTransientError"):
        return None
    return RetryPolicy(limit, backoff, None if expression is None else Raw("argo", expression), policy)


def _backoff(given: dict[str, Any]) -> Backoff:
    maximum: Any = given.get("maxDuration")
    factor = float(given.get("factor", 1))
    return Backoff(seconds(given["duration"]), factor, None if maximum in (None, "") else seconds(maximum))


def seconds(text: Any) -> float:
    """A duration in seconds: a number of them, or Go's words ("1h30m"). Raises `ValueError` for all else."""
    if not isinstance(text, str):
        raise ValueError(f"{text!r} is no text")
    if text.isascii() and text.isdigit():
        return float(text)
    try:
        return read_duration(text) / 1e9
    except argolang.EvaluationProblem as problem:
        raise ValueError(str(problem)) from None
