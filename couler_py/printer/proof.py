"""Does printed source build the workflow that it was printed from? Seen before it is given out.

Only text of this package's own making is executed: where a Python step stands in the module, the proof has a
stand-in, whose source was compared by reading it (`signatures`).
"""

from __future__ import annotations

import inspect
from typing import Any

import msgspec

from couler_py import dsl, ir
from couler_py.dsl.building import build
from couler_py.dsl.options import Reader
from couler_py.dsl.packages import normalise
from couler_py.dsl.templates import TemplateStep
from couler_py.ir.model import Function, Source, Template, Workflow
from couler_py.printer.functions import Step, unpublished
from couler_py.printer.layout import call, flat
from couler_py.printer.module import Draft
from couler_py.printer.options import arguments
from couler_py.printer.places import same, unplaced

PROBE = "<printed workflow>"


def differing(draft: Draft, workflow: Workflow) -> frozenset[str] | None:
    """The names of what the source doesn't build as it is in the workflow; none where it builds the same.

    None where it can't be built at all.
    """
    wrong = {template.name for step, template in draft.steps if not _same_options(step, template)}
    if wrong:
        return frozenset(wrong)
    namespace: dict[str, Any] = {"__name__": PROBE}
    _execute(draft.head, namespace)
    _stand_ins(draft, namespace)
    templates = {template.name: template for template in workflow.templates}
    wrong = {one[0] for one in draft.definitions if not _defines(one, templates, namespace)}
    if wrong:
        return frozenset(wrong)
    try:
        _execute(draft.probe, namespace)
        built = build(namespace[draft.variable])
    except Exception:
        # Whatever is refused by the DSL is written in another way; what nothing can write fails in the last one.
        return None
    return _differences(built, workflow)


def _execute(text: str, namespace: dict[str, Any]) -> None:
    exec(compile(text, PROBE, "exec", dont_inherit=True), namespace)  # noqa: S102  text of our own


def _stand_ins(draft: Draft, namespace: dict[str, Any]) -> None:
    for step, template in draft.steps:
        namespace[step.variable] = _stand_in(step, template)


def _defines(one: tuple[str, str, str], templates: dict[str, Template], namespace: dict[str, Any]) -> bool:
    """Whether a statement defines the step of a template, but for names of the run that its outputs have."""
    name, variable, statement = one
    try:
        _execute(statement, namespace)
    except Exception:
        return False  # refused by the DSL: there are other ways to say it
    made = namespace[variable].template()
    return any(unplaced(made) == unplaced(said) for said in (templates[name], unpublished(templates[name])))


def _stand_in(step: Step, template: Template) -> Any:
    """A step without a function, with the name and signature of the one that it stands for."""
    found: Any = TemplateStep(template, step.source.names, {}, (), generated=False)
    optional = {one.name for one in template.inputs.parameters if one.default is not msgspec.UNSET}
    optional |= {one.name for one in template.inputs.artifacts if one.optional}
    found.__name__ = step.source.own.name
    seen, by_name = False, False
    parameters = []
    for name in step.source.names:
        seen = seen or name in optional
        by_name = by_name or (seen and name not in optional)
        kind_of = inspect.Parameter.KEYWORD_ONLY if by_name else inspect.Parameter.POSITIONAL_OR_KEYWORD
        default = None if name in optional else inspect.Parameter.empty
        parameters.append(inspect.Parameter(name, kind_of, default=default))
    found.__signature__ = inspect.Signature(parameters)
    return found


def _same_options(step: Step, template: Template) -> bool:
    """Whether the options of a Python step say what its template has."""
    body = template.body
    assert isinstance(body, Function)
    source = flat(call("dict", *arguments(step.options)))
    given = eval(source, {"couler": dsl, "ir": ir})  # noqa: S307  text of our own
    place = template.source or Source(PROBE, 1)
    reader = Reader(given, template.name, place)
    policies, runtime = reader.policies(), reader.runtime()
    packages = normalise(given.get("packages", ()), place, template.name)
    bare = msgspec.structs.replace(
        template,
        body=msgspec.structs.replace(
            body,
            image=given.get("image", "python:3.11"),
            command=tuple(given.get("command", ("python",))),
            packages=packages,
            env=runtime.env,
            env_from=runtime.env_from,
            pull_policy=given.get("image_pull_policy"),
            mounts=runtime.mounts,
            resources=runtime.resources,
        ),
        retry=policies.retry,
        timeout=policies.timeout,
        deadline=policies.deadline,
        cache=policies.cache,
        locks=policies.locks,
        pod=reader.pod(),
    )
    return bare == template


def _differences(built: Workflow, workflow: Workflow) -> frozenset[str]:
    one, other = (msgspec.structs.replace(unplaced(each), includes=()) for each in (built, workflow))
    if same(one, other):
        return frozenset()
    mine = {template.name: template for template in one.templates}
    wrong = {template.name for template in other.templates if mine.get(template.name) != template}
    return frozenset(wrong or {workflow.entrypoint})
