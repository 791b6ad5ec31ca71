"""A dry run: the workflow on the local engine, every step a stub that gives a value of the type it promises.

It finds what only a run shows, as a graph in which nothing can start. No step's own source, command or address is
used; waits end at once, loops after one round, and nothing is asked of the machine. Everything lies in a folder of its
own, which is gone afterwards.
"""

from __future__ import annotations

import tempfile
import time

import msgspec
from msgspec import UNSET

from couler_py import api
from couler_py.backends.local.client import LocalClient
from couler_py.ir import expr as x
from couler_py.ir.model import Function, Graph, Loop, OutputParameter, Outputs, Piece, Template, Workflow
from couler_py.ir.pod import PodSettings
from couler_py.ir.types import Choice, DictOf, ListOf, Record, Scalar, Type, UnionOf
from couler_py.printer.literal import quoted

LONGEST = 60.0
"""Seconds that a dry run may take; one that takes longer says nothing either way."""

_SCALARS: dict[str, object] = {
    "str": "1",
    "int": 1,
    "float": 1.0,
    "bool": True,
    "none": None,
    "datetime": "2026-01-01T00:00:00+00:00",
    "any": 1,
}


def dry_run(workflow: Workflow) -> str:
    """What went wrong in a dry run, "" where nothing did.

    >>> import couler_py as couler
    >>> @couler.step
    ... def fails() -> int:
    ...     raise NotImplementedError
    >>> @couler.workflow
    ... def flow():
    ...     fails()
    >>> dry_run(api.build(flow))
    ''
    """
    stubbed = stub(workflow)
    given = {each.name: value_of(each.type) for each in workflow.parameters if each.default is UNSET}
    with tempfile.TemporaryDirectory(prefix="couler-dry-", ignore_cleanup_errors=True) as folder:
        client = LocalClient(folder)
        run = client.submit(api.compile(stubbed, to="local"), parameters=given, runtime="process")
        end = time.monotonic() + LONGEST
        status = client.status(run)
        for status in client.watch(run):
            if time.monotonic() > end and status.status == "Running":
                client.stop(run)
    if status.status in ("Succeeded", "Stopped"):
        return ""
    failed = [f"{task.name}: {task.message}" for task in status.tasks if task.status == "Failed"]
    return f"a dry run with stubs ended {status.status}: {'; '.join(failed[:3]) or status.message}"


def stub(workflow: Workflow) -> Workflow:
    """The same graph, every step of it a stub."""
    return msgspec.structs.replace(
        workflow,
        templates=tuple(map(_stub, workflow.templates)),
        schedule=None,
        deadline=None,
    )


def _stub(template: Template) -> Template:
    plain = Template(template.name, template.body, template.inputs, template.outputs)
    match template.body:
        case Graph():
            return plain
        case Loop() as loop:
            return msgspec.structs.replace(plain, body=msgspec.structs.replace(loop, until=x.Literal(True)))
    parameters = tuple(OutputParameter(each.name, each.type) for each in template.outputs.parameters)
    outputs = Outputs(parameters, template.outputs.artifacts)
    inputs = template.inputs
    names = [*(each.name for each in outputs.parameters), *(each.name for each in outputs.artifacts)]
    given = ", ".join((*(each.name for each in inputs.parameters), *(each.name for each in inputs.artifacts)))
    values = {each.name: repr(value_of(each.type)) for each in outputs.parameters}
    files = {each.name: f"_file({quoted(each.name)})" for each in outputs.artifacts}
    said = values | files
    returned = "None" if not names else said[names[0]] if len(names) == 1 else "{" + _pairs(said) + "}"
    text = f"def stub({given}):\n    return {returned}"
    returns = ("none", "one")[len(names)] if len(names) < 2 else "fields"
    pieces = (Piece(_FILE), Piece(text)) if files else (Piece(text),)
    body = Function("stub", pieces, returns=returns, command=("python",))  # type: ignore[arg-type]
    return msgspec.structs.replace(plain, body=body, outputs=outputs, pod=PodSettings())


_FILE = """\
def _file(name):
    from pathlib import Path
    path = Path(name)
    path.write_text("stub")
    return path"""


def _pairs(said: dict[str, str]) -> str:
    return ", ".join(f"{quoted(name)}: {value}" for name, value in said.items())


def value_of(type_: Type) -> object:
    """A value of a type.

    >>> value_of(ListOf(Scalar("int")))
    [1]
    """
    match type_:
        case Scalar(name=name):
            return _SCALARS[name]
        case ListOf(item=item):
            return [value_of(item)]
        case DictOf():
            return {}
        case Choice(values=values):
            return values[0]
        case UnionOf(options=options):
            return value_of(options[0])
        case Record(fields=fields):
            return {field.name: value_of(field.type) for field in fields if field.required}


__all__ = ["dry_run", "stub", "value_of"]
