"""What an attempt's record says, as the result of its task."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

from msgspec import UNSET

from couler_py.backends.local import metrics
from couler_py.backends.local.artifacts.keys import key_of
from couler_py.backends.local.artifacts.makers import made_anew
from couler_py.backends.local.artifacts.transfer import send
from couler_py.backends.local.context import Call, Context
from couler_py.backends.local.scope import TaskFailure, plain
from couler_py.ir import wire
from couler_py.ir.model import Function, OutputParameter
from couler_py.ir.types import STR, mismatch
from couler_py.store.records import ArtifactRef, Result

LINES = 12  # the last lines of a failed step's log that its message repeats


async def read_result(context: Context, made: Call, folder: Path, record: dict[str, Any]) -> Result:
    """The result that a record stands for. Raises `TaskFailure` for an output that isn't of its type."""
    metrics.remember(context, made.path, folder)
    if record["reason"] != "exited" or record["exit"] != 0:
        return _left(context, made, record) if context.imported else Result("Failed", message=_why(context, record))
    texts = record.get("parameters", {})
    parameters = {}
    for output in made.template.outputs.parameters:
        if output.name in texts:
            parameters[output.name] = _value(made, output, texts[output.name])
        elif output.default is not UNSET:
            parameters[output.name] = wire.restore(plain(output.type), output.default)
    artifacts = {name: ArtifactRef(**ref) for name, ref in record.get("artifacts", {}).items()}
    scope = context.scope(made)
    for left in made.template.outputs.artifacts:
        if left.storage is not None and left.name in artifacts and key_of(left.storage, scope) is None:
            await asyncio.to_thread(send, context, artifacts[left.name], left.storage, scope, left.archive)
    return Result("Succeeded", parameters, artifacts, exit_code=0 if context.imported else None)


def _left(context: Context, made: Call, record: dict[str, Any]) -> Result:
    """A failure by Argo's rules: with the outputs that the step left, and its exit code."""
    texts = record.get("parameters", {})
    parameters = {
        output.name: _value(made, output, texts[output.name])
        for output in made.template.outputs.parameters
        if output.name in texts
    }
    artifacts = {name: ArtifactRef(**ref) for name, ref in record.get("artifacts", {}).items()}
    errored = record["reason"] == "error"
    return Result(
        "Failed", parameters, artifacts, None, _why(context, record), errored, None if errored else record["exit"]
    )


def _why(context: Context, record: dict[str, Any]) -> str:
    if "lost" in record:
        return f"{record['message']}. {made_anew(context, record['lost'])}"
    lines = [line for line in record.get("log", "").splitlines() if line.strip()]
    first = record["message"] or "failed"
    return "\n".join([first, *lines[-LINES:]])


def _value(made: Call, output: OutputParameter, text: str) -> Any:
    try:
        if isinstance(made.template.body, Function):
            value = wire.decode(plain(output.type), text)
        else:
            # One newline at the end is what `echo` adds; Argo drops it too.
            text = text.removesuffix("\n")
            value = text if output.type == STR else wire.decode(plain(output.type), text)
    except ValueError as error:
        raise TaskFailure(f"the output {output.name!r}: {error}") from None
    problem = mismatch(output.type, value)
    if problem is not None:
        raise TaskFailure(f"the output {output.name!r}: {problem}")
    return value
