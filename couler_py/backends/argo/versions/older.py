"""Documents of Argo 4 as Argo 3.5 takes them.

Facts: the CRDs, changes and upgrade notes of 3.5.14, 3.6, 3.7, 4.0 and 4.1.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from couler_py.backends.argo.options import Version
from couler_py.backends.argo.paths import Path, dotted
from couler_py.backends.argo.versions.failing import failures_seen
from couler_py.backends.argo.versions.fields import NEWER, OPEN, Field, field_at
from couler_py.backends.argo.versions.items import items_apart
from couler_py.backends.argo.versions.texts import text_findings
from couler_py.backends.argo.vocabulary import KINDS
from couler_py.ir.diagnostics import Diagnostic, error, warning

JSON = dict[str, Any]
LONGEST = 52
"""Characters of a CronWorkflow's name: Argo appends a time to it for each run."""


def lowered(
    documents: Iterable[JSON], version: Version, *, emitted: bool = False
) -> tuple[list[JSON], list[Diagnostic]]:
    """The documents in the words of `version`, and what that version can't say.

    The given documents stay as they are. A finding names the template in `step`, and the field by its path in its
    message; of severity error is what changes what a run does, a warning is what only people see. What a version
    doesn't know is left out, as its API server would. Documents of other kinds than Argo's are passed on. With
    `emitted` they are ours, made of a workflow whose meaning we keep; without, a person's, who wrote what they wrote.

    >>> document = {"kind": "CronWorkflow", "spec": {"schedules": ["@daily"], "workflowSpec": {}}}
    >>> lowered([document], "3.5")
    ([{'kind': 'CronWorkflow', 'spec': {'schedule': '@daily', 'workflowSpec': {}}}], [])
    """
    given = list(documents)
    if version != "3.5":
        return given, []
    made: list[JSON] = []
    found: list[Diagnostic] = []
    for document in given:
        if document.get("kind") not in KINDS:
            made.append(document)
            continue
        step = _Lowering(document, emitted)
        made += step.documents()
        found += step.found
    return made, found


class _Lowering:
    """One document on its way to 3.5."""

    def __init__(self, document: JSON, emitted: bool):
        self.document = document
        self.emitted = emitted
        self.kind: str = document["kind"]
        self.found: list[Diagnostic] = []

    def documents(self) -> list[JSON]:
        body = self._evaluated(self._mapping(self.document, (self.kind,), (), ""))
        if self.kind != "CronWorkflow" or (body.get("spec") or {}).get("schedules") is None:
            return [body]
        return self._one_schedule_each(body)

    def _evaluated(self, body: JSON) -> JSON:
        """The document with what is evaluated while it runs."""
        outer = body.get("spec") or {}
        spec = (outer.get("workflowSpec") or {}) if self.kind == "CronWorkflow" else outer
        if not spec:
            return body
        spec, found = items_apart(spec)
        self.found += found
        if self.emitted:
            spec = failures_seen(spec)
        return {**body, "spec": {**outer, "workflowSpec": spec} if self.kind == "CronWorkflow" else spec}

    # ---- fields

    def _node(self, node: Any, names: tuple[str, ...], path: Path, template: str) -> Any:
        if isinstance(node, dict):
            if names[-1] in ("templates", "inline") and isinstance(node.get("name"), str):
                template = node["name"]
            return self._mapping(node, names, path, template)
        if isinstance(node, list):
            return [self._node(each, names, (*path, number), template) for number, each in enumerate(node)]
        if isinstance(node, str) and "{{" in node:
            self.found += text_findings(node, names, dotted(path), template)
        return node

    def _mapping(self, node: JSON, names: tuple[str, ...], path: Path, template: str) -> JSON:
        made: JSON = {}
        for key, value in node.items():
            if key in OPEN and field_at(names, key) is None:
                made[key] = value
                continue
            field = field_at(names, key)
            if field is None or field.effect == "another word":
                made[key] = self._node(value, (*names, key), (*path, key), template)
            else:
                self._lost(field, dotted((*path, key)), template)
        if names[-1] == "synchronization":
            return self._one_lock(made, path, template)
        return made

    def _lost(self, field: Field, place: str, template: str) -> None:
        newer = NEWER.format(since=field.since)
        if field.effect == "shown":
            self.found.append(
                warning(
                    "CLR414",
                    f"{place} is left out: Argo has it since {field.since}",
                    step=template,
                    why="it only says how things are shown",
                )
            )
            return
        self.found.append(
            error(
                "CLR414",
                f"Argo 3.5 has no {place}",
                step=template,
                why=f"Argo has it since {field.since}; an older one drops it in silence",
                help=f"{field.help}, or {newer}" if field.help else newer,
            )
        )

    # ---- what is said by another word

    def _one_lock(self, given: JSON, path: Path, template: str) -> JSON:
        """`mutexes` and `semaphores` as `mutex` or `semaphore`: 3.5 takes one lock, and of both only the semaphore."""
        locks = [("mutex", each) for each in given.get("mutexes") or ()]
        locks += [("semaphore", each) for each in given.get("semaphores") or ()]
        made = {key: value for key, value in given.items() if key not in ("mutexes", "semaphores")}
        locks += [(key, made.pop(key)) for key in ("mutex", "semaphore") if key in made]
        if len(locks) > 1:
            self.found.append(
                error(
                    "CLR414",
                    f"Argo 3.5 takes one lock, and {dotted(path)} has {len(locks)}",
                    step=template,
                    why="of a mutex and a semaphore it takes the semaphore and forgets the mutex",
                    help="use one lock for all of it, put the inner ones on templates inside, or use Argo 3.6 or later",
                )
            )
        return made | dict(locks[:1])

    def _one_schedule_each(self, body: JSON) -> list[JSON]:
        """`schedules` as `schedule`: one CronWorkflow for each where runs don't look at each other."""
        spec = body["spec"]
        schedules = list(spec["schedules"])
        if len(schedules) <= 1:
            return [_scheduled(body, schedules)]
        policy = spec.get("concurrencyPolicy") or "Allow"
        if policy != "Allow":
            self.found.append(
                error(
                    "CLR414",
                    f"Argo 3.5 takes one cron expression, and spec.schedules has {len(schedules)}",
                    why=f"one CronWorkflow for each would be the same, but not with concurrencyPolicy {policy}, which "
                    "looks at the runs of one of them only",
                    help="say all times in one expression, or use Argo 3.6 or later",
                )
            )
            return [_scheduled(body, schedules[:1])]
        return [
            _numbered(_scheduled(body, [schedule]), number, len(str(len(schedules))))
            for number, schedule in enumerate(schedules, 1)
        ]


def _scheduled(document: JSON, schedules: list[Any]) -> JSON:
    spec: JSON = {}
    for key, value in document["spec"].items():
        if key == "schedules":
            spec |= {"schedule": schedules[0]} if schedules else {}
        else:
            spec[key] = value
    return {**document, "spec": spec}


def _numbered(document: JSON, number: int, digits: int) -> JSON:
    """The document under a name of its own."""
    metadata = dict(document.get("metadata") or {})
    if isinstance(name := metadata.get("name"), str):
        ending = f"-{number:0{digits}}"
        metadata["name"] = name[: LONGEST - len(ending)].rstrip("-.") + ending
    return {**document, "metadata": metadata}
