"""Kubernetes objects as steps: what is done with the object, and when it counts as done, as the data of a constant.

Conditions are Argo's: requirements of a label selector over the fields of the object. It failed when one of the
failure conditions holds, and succeeded when all success conditions do (Argo, workflow/executor/resource.go).
"""

from __future__ import annotations

import re

from couler_py.backends.airflow import expressions
from couler_py.backends.airflow.emission import Emission
from couler_py.backends.airflow.pods import Marks
from couler_py.backends.airflow.scope import Scope
from couler_py.ir.model import Resource, Template
from couler_py.kubernetes import templated
from couler_py.printer.layout import Doc
from couler_py.printer.literal import literal, quoted

Requirement = tuple[list[str], str, list[str]]
_KEY = r"[\w.\-/]+"
_LISTED = re.compile(rf"({_KEY})\s+(in|notin)\s*\(([^()]*)\)")
_COMPARED = re.compile(rf"({_KEY})\s*(==|=|!=|<|>)\s*([\w.\-]*)")
_THERE = re.compile(rf"(!?)\s*({_KEY})")
_PATH = re.compile(r"\{?\.?([\w\-]+(?:(?:\.[\w\-]+)|(?:\[\d+\]))*)\}?")


class NotASelectorError(ValueError):
    """A condition that isn't a list of requirements."""


def requirements(text: str) -> list[Requirement]:
    """The requirements of a condition: the path of a field, what is asked of it, and the values.

    Raises `NotASelectorError`.

    >>> requirements("status.succeeded > 0, status.phase in (Ready, Done)")
    [(['status', 'succeeded'], '>', ['0']), (['status', 'phase'], 'in', ['Ready', 'Done'])]
    """
    return [_requirement(part.strip()) for part in re.split(r",(?![^()]*\))", text) if part.strip()]


def _requirement(text: str) -> Requirement:
    if found := _LISTED.fullmatch(text):
        return found[1].split("."), found[2], [each.strip() for each in found[3].split(",")]
    if found := _COMPARED.fullmatch(text):
        operator = {"=": "in", "==": "in", "!=": "notin"}.get(found[2], found[2])
        return found[1].split("."), operator, [found[3]]
    if found := _THERE.fullmatch(text):
        return found[2].split("."), found[1] or "exists", []
    raise NotASelectorError(f"{text!r} is no requirement of a label selector")


def path_of(text: str) -> list[str] | None:
    """The path of a field that a JSON path or a jq filter names; None for one that does more than that.

    >>> path_of("{.status.conditions[0].type}"), path_of(".status.phase"), path_of("{.items[*].x}")
    (['status', 'conditions', '0', 'type'], ['status', 'phase'], None)
    """
    found = _PATH.fullmatch(text.strip())
    return None if found is None else re.sub(r"\[(\d+)\]", r".\1", found[1]).split(".")


def resource_entries(emission: Emission, template: Template, scope: Scope) -> dict[str, Doc]:
    """What the constant of such a step says."""
    body = template.body
    assert isinstance(body, Resource)
    marks = Marks(scope)
    manifest = marks.written(templated(body.manifest, marks.render))
    found: dict[str, Doc] = {
        "action": quoted(body.action),
        "manifest": expressions.late(manifest, "given") if marks.docs else manifest,
    }
    for name, text in (("succeeds", body.success_condition), ("fails", body.failure_condition)):
        if text:
            found[name] = literal(_conditions(emission, template, text))
    if body.merge_strategy:
        found["patch"] = quoted(body.merge_strategy)
    fields = {}
    for output in template.outputs.parameters:
        path = path_of(output.json_path or output.jq_filter)
        if path is None:
            _problem(emission, template, f"the output {output.name!r} is more than the path of a field")
        fields[output.name] = path or []
    _left_out(emission, template, body)
    return found | ({"fields": literal(fields)} if fields else {})


def _conditions(emission: Emission, template: Template, text: str) -> list[Requirement]:
    try:
        return requirements(text)
    except NotASelectorError as error:
        _problem(emission, template, str(error))
        return []


def _left_out(emission: Emission, template: Template, body: Resource) -> None:
    step = template.display or template.name
    if body.flags or body.extra is not None:
        _problem(emission, template, f"flags of kubectl and fields of Argo's stand in {step!r}")
    if body.set_owner_reference:
        emission.problem(
            "CLR513",
            f"the object of {step!r} has no owner on Airflow: nothing deletes it with the run",
            severity="warning",
            step=step,
            source=template.source,
            help="delete it in a step behind always(...), or give the object a time to live",
        )


def _problem(emission: Emission, template: Template, text: str) -> None:
    step = template.display or template.name
    emission.problem("CLR515", f"{step!r}: {text}", step=step, source=template.source)
