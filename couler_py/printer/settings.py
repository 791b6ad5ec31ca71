"""What is said of a workflow beside its steps, as options of `couler.workflow`."""

from __future__ import annotations

import inspect

import msgspec

from couler_py.ir.model import Graph, Schedule, Template, Ttl, Workflow
from couler_py.ir.pod import PodSettings
from couler_py.printer import options
from couler_py.printer.layout import Doc, items, keyword
from couler_py.printer.literal import block, literal, quoted
from couler_py.printer.options import UnsayableError
from couler_py.printer.structs import construct


def of_workflow(workflow: Workflow) -> dict[str, Doc]:
    """The options of the workflow of a run. Raises `UnsayableError`."""
    found: dict[str, Doc] = {}
    if workflow.schedule is not None:
        found |= _schedule(workflow.schedule)
    if workflow.parallelism is not None:
        if workflow.parallelism < 1:
            raise UnsayableError("no tasks at once")
        found["parallelism"] = repr(workflow.parallelism)
    if workflow.deadline is not None:
        found["deadline"] = options.duration(workflow.deadline)
    if workflow.ttl is not None:
        found["ttl"] = _ttl(workflow.ttl)
    if workflow.priority is not None:
        found["priority"] = repr(workflow.priority)
    found |= options.locks(workflow.locks)
    found |= _pod(workflow.pod)
    for name in ("labels", "annotations"):
        if given := getattr(workflow, name):
            found[name] = options.pairs(given)
    if workflow.pod_gc:
        found["pod_gc"] = quoted(workflow.pod_gc)
    if workflow.volumes or workflow.volume_claims:
        claims = [construct(claim) for claim in workflow.volume_claims]
        found["volumes"] = items([*map(options.volume, workflow.volumes), *claims])
    if own := workflow.engines.get("argo"):
        found["argo"] = literal(own)
    if others := {name: given for name, given in workflow.engines.items() if name != "argo" or not given}:
        found["engines"] = literal(others)
    return found


def of_entry(template: Template) -> dict[str, Doc]:
    """The options that stand on the graph of a run. Raises `UnsayableError`."""
    body = template.body
    assert isinstance(body, Graph)
    bare = Template(template.name, body, template.inputs, template.outputs, retry=template.retry)
    if template != msgspec.structs.replace(bare, source=template.source):
        raise UnsayableError("settings of the entrypoint")
    found: dict[str, Doc] = {}
    if template.retry is not None:
        found["retries"] = options.retry(template.retry)
    if body.fail_fast:
        found["fail_fast"] = "True"
    return found


def of_graph(template: Template) -> dict[str, Doc]:
    """The options of a workflow that another calls. Raises `UnsayableError`."""
    body = template.body
    assert isinstance(body, Graph)
    bare = Template(
        template.name,
        body,
        template.inputs,
        template.outputs,
        retry=template.retry,
        deadline=template.deadline,
        locks=template.locks,
        parallelism=template.parallelism,
        description=template.description,
        source=template.source,
    )
    if template != bare:
        raise UnsayableError("settings of a graph")
    found: dict[str, Doc] = {}
    if template.retry is not None:
        found["retries"] = options.retry(template.retry)
    if template.deadline is not None:
        found["deadline"] = options.duration(template.deadline)
    if template.parallelism is not None:
        if template.parallelism < 1:
            raise UnsayableError("no tasks at once")
        found["parallelism"] = repr(template.parallelism)
    if body.fail_fast:
        found["fail_fast"] = "True"
    return found | options.locks(template.locks)


def docstring(text: str) -> str | None:
    """A description as the docstring of a function; None where it wouldn't be read back as it is."""
    if not text or text != inspect.cleandoc(text) or text.startswith('"') or '"""' in text or "\\" in text:
        return None
    if "\n" in text:
        shown = block(text)
        return shown if shown is None else f'"""{_hanging(text)}\n    """'
    if not text.isprintable() or text.endswith(('"', " ")) or text != text.strip():
        return None
    return f'"""{text}"""'


def _hanging(text: str) -> str:
    return "\n".join("    " + line if line and number else line for number, line in enumerate(text.split("\n")))


def _schedule(given: Schedule) -> dict[str, Doc]:
    plain = Schedule(given.crons, given.timezone, given.concurrency)
    found: dict[str, Doc] = {"schedule": quoted(given.crons[0]) if len(given.crons) == 1 else literal([*given.crons])}
    if given != plain:
        if given.starting_deadline is not None:
            found["starting_deadline"] = options.duration(given.starting_deadline)
        for name in ("keep_succeeded", "keep_failed"):
            if (count := getattr(given, name)) is not None:
                found[name] = repr(count)
        if given.suspended:
            found["suspended"] = "True"
    if given.timezone != "UTC":
        found["timezone"] = quoted(given.timezone)
    if given.concurrency != "Allow":
        found["concurrency"] = quoted(given.concurrency)
    return found


def _ttl(given: Ttl) -> Doc:
    if given == Ttl(given.after_completion) and given.after_completion:
        return options.duration(float(given.after_completion))
    return construct(given)


def _pod(given: PodSettings) -> dict[str, Doc]:
    plain = msgspec.structs.replace(given, dns=None, labels=(), annotations=())
    if plain.extra is not None:
        raise UnsayableError("fields of the engine that all pods have")
    found = options.pod(plain)
    if given.volumes or set(found) & {"init_containers", "sidecars", "pod_patch"}:
        raise UnsayableError("settings of all pods")
    if given.labels:
        found["pod_labels"] = options.pairs(given.labels)
    if given.annotations:
        found["pod_annotations"] = options.pairs(given.annotations)
    if given.dns is not None:
        found["dns"] = construct(given.dns)
    return found


def decorator(found: dict[str, Doc]) -> list[Doc]:
    """Options as arguments of a decorator."""
    return [keyword(name, value) for name, value in found.items()]
