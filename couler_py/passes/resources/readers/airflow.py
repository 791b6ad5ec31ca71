"""The attempts of a task on Airflow, from its log: JSON lines of Airflow 3, or lines of text before it.

The log tells how long an attempt took and how its pod ended; what it had asked for stands in the pod that the operator
prints where it fails. Airflow measures nothing itself.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from datetime import datetime

from couler_py.ir.quantity import quantity
from couler_py.passes.history import Attempt

_MARKS = re.compile(r"\[\d+\]|#\d+")
_TEXT = re.compile(r"\[(?P<time>\d{4}-\d\d-\d\dT[\d:.]+(?:[+-]\d{4}|[+-]\d\d:\d\d|Z))\] (?:\{[^}]*\} )?(?P<said>.*)")
_REASON = re.compile(r"['\"]?reason['\"]?: ['\"]?(?P<reason>OOMKilled|Evicted|Error|DeadlineExceeded)\b")
_CODE = re.compile(r"['\"]?exit_?[cC]ode['\"]?: (?P<code>\d+)")
_ASKED = re.compile(r"['\"]?(?:requests|limits)['\"]?: \{(?P<given>[^}]*)\}")
_AMOUNT = re.compile(r"['\"]?(?P<name>cpu|memory)['\"]?: ['\"](?P<amount>[^'\"]+)['\"]")
_FAILED = re.compile(
    r"\bTask failed with exception|Marking task as (?:FAILED|UP_FOR_RETRY)|\bPod \S+ returned a failure"
)
_SUCCEEDED = re.compile(r"Marking task as SUCCESS|finished_with_state=success|Task instance in success state")


def attempts(logs: Iterable[tuple[str, str]]) -> dict[str, list[Attempt]]:
    """The attempts that logs tell of, given by the path of their task; items and turns of one are of the same step."""
    found: dict[str, list[Attempt]] = {}
    for path, log in logs:
        if (made := attempt(log)) is not None:
            found.setdefault(_MARKS.sub("", path), []).append(made)
    return found


def attempt(log: str) -> Attempt | None:
    """The attempt that a log tells of; None for one without a time."""
    lines = list(_lines(log))
    times = [time for time, _ in lines]
    if not times:
        return None
    said = "\n".join(text for _, text in lines)
    reason, code = _REASON.search(said), _CODE.search(said)
    failed = reason is not None or (_FAILED.search(said) is not None and _SUCCEEDED.search(said) is None)
    memory, cpu = _asked(said)
    message = (
        f"{reason['reason']} (exit code {code['code']})" if reason and code else reason["reason"] if reason else ""
    )
    return Attempt(
        "Failed" if failed else "Succeeded",
        min(times),
        max(times) - min(times),
        message,
        int(code["code"]) if failed and code is not None else None,
        asked_memory=memory,
        asked_cpu=cpu,
    )


def _lines(log: str) -> Iterable[tuple[float, str]]:
    """The lines that have a time, and those that belong to them; JSON lines by their event and error."""
    last = 0.0
    for line in log.splitlines():
        if line.startswith("{"):
            try:
                record = json.loads(line)
                last = datetime.fromisoformat(record["timestamp"].replace("Z", "+00:00")).timestamp()
            except (ValueError, KeyError, TypeError, AttributeError):
                continue
            yield last, f"{record.get('event', '')} {json.dumps(record.get('error_detail', ''))}"
        elif (found := _TEXT.match(line)) is not None:
            last = datetime.fromisoformat(found["time"]).timestamp()
            yield last, found["said"]
        elif last:
            yield last, line


def _asked(said: str) -> tuple[int | None, float | None]:
    found: dict[str, float] = {}
    for given in _ASKED.finditer(said):
        for each in _AMOUNT.finditer(given["given"]):
            amount = quantity(each["amount"])
            if amount is not None:
                found[each["name"]] = max(found.get(each["name"], 0.0), float(amount))
    memory = found.get("memory")
    return (None if memory is None else int(memory)), found.get("cpu")
