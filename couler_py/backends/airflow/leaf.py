"""Steps: what each is, written once as a constant of the file."""

from __future__ import annotations

import base64
from collections.abc import Iterable
from typing import Any

from msgspec import UNSET

from couler_py import runner
from couler_py.backends.airflow import expressions
from couler_py.backends.airflow.emission import Emission
from couler_py.backends.airflow.pods import pod_entry
from couler_py.backends.airflow.policies import operator_options
from couler_py.backends.airflow.scope import Scope
from couler_py.backends.airflow.types import form_of
from couler_py.backends.includes import packed
from couler_py.ir.expr import Text
from couler_py.ir.model import Function, Script, Suspend, Template
from couler_py.ir.pod import Container, EnvVar
from couler_py.printer.layout import Doc, Group, Named, items
from couler_py.printer.literal import block, literal, quoted

INCLUDED = 256 * 1024
"""Most characters of archives in one DAG file: Airflow keeps its text for every version."""


def step_constant(emission: Emission, template: Template) -> str:
    """The name of the constant that says what a step is."""
    known = emission.known.get(template.name)
    if known is None:
        known = emission.known[template.name] = emission.constant(template, _definition(emission, template))
    return known


def _definition(emission: Emission, template: Template) -> Doc:
    entries: dict[str, Doc] = {}
    body = template.body
    scope = leaf_scope(emission, template)
    match body:
        case Function():
            entries |= {"image": expressions.value(body.image, scope)} | _function(emission, template)
        case Container():
            words = [*body.command, *body.args]
            entries["image"] = expressions.value(body.image, scope)
            entries["command"] = _late(items(expressions.value(each, scope) for each in words), words)
        case Script():
            entries["image"] = expressions.value(body.image, scope)
            entries["command"] = _late(items(expressions.value(each, scope) for each in body.command), body.command)
            entries["script"] = _late(source_text(body.source, scope), [body.source])
        case _:
            return display(_policies(emission, template))
    if isinstance(body, Container | Script):
        entries |= _places(template)
        if body.working_dir:
            entries["directory"] = expressions.value(body.working_dir, scope)
    entries |= _signature(template)
    entries |= _environment(emission, template, body.env, scope)
    if emission.options.operators == "local":
        entries.pop("image")
    else:
        entries["pod"] = pod_entry(emission, template, scope)
    return display(entries | _policies(emission, template))


def _policies(emission: Emission, template: Template) -> dict[str, Doc]:
    found: dict[str, Doc] = {}
    if template.cache is not None:
        found["cache"] = literal({"version": template.cache.version, "seconds": template.cache.max_age})
    options = operator_options(emission, template)
    return found | ({"options": display(options)} if options else {})


def leaf_scope(emission: Emission, template: Template) -> Scope:
    """What expressions inside a step see: what it was given."""
    names = [each.name for each in template.inputs.parameters] + [each.name for each in template.inputs.artifacts]
    return Scope(
        inputs={name: f"given[{quoted(name)}]" for name in names},
        input_types={each.name: each.type for each in template.inputs.parameters},
        parameters=emission.parameters,
    )


def _function(emission: Emission, template: Template) -> dict[str, Doc]:
    first, _, rest = runner.source(template).partition("\n")
    emission.beginnings[template.name] = first
    found = {"name": quoted(template.name), "source": program_text(rest)}
    body = template.body
    assert isinstance(body, Function)
    if body.command != ("python",):
        found["python"] = literal(list(body.command))
    if body.include:
        _include(emission, template, body)
        found["include"] = literal(list(body.include))
    return found


def _include(emission: Emission, template: Template, body: Function) -> None:
    for archive in emission.workflow.includes:
        if archive.digest in body.include and archive.digest not in emission.includes:
            emission.includes[archive.digest] = base64.b85encode(packed(archive)).decode()
    if sum(map(len, emission.includes.values())) > INCLUDED:
        emission.problem(
            "CLR510",
            f"the modules that {template.display or template.name!r} includes are too large for a DAG file",
            step=template.display or template.name,
            source=template.source,
            help="make an image that has them, or include less",
        )


def program_text(text: str) -> Doc:
    """A program as it reads: its lines as they are where that is exact, else each as a string."""
    found = block(text)
    if found is not None:
        return found
    lines = text.split("\n")
    if len(lines) < 2:
        return quoted(text)
    return Group('"\\n".join(', (Group("[", tuple(quoted(line) for line in lines), "]"),), ")", call=True)


def source_text(text: Any, scope: Scope) -> Doc:
    """The text of a script."""
    return program_text(text) if isinstance(text, str) else expressions.value(text, scope)


def _late(doc: Doc, parts: Iterable[Any]) -> Doc:
    """Read when the step starts, where inputs are in it."""
    return doc if all(isinstance(each, str) for each in parts) else expressions.late(doc, "given")


def _signature(template: Template) -> dict[str, Doc]:
    found: dict[str, Doc] = {}
    outputs, inputs = template.outputs, template.inputs
    if outputs.parameters:
        forms = [(each.name, form_of(each.type)) for each in outputs.parameters]
        found["outputs"] = display(dict(forms))
    if outputs.artifacts:
        found["gives"] = literal({each.name: each.optional for each in outputs.artifacts})
    if inputs.artifacts:
        found["files"] = literal([each.name for each in inputs.artifacts])
    defaults = {each.name: each.default for each in inputs.parameters if each.default is not UNSET}
    if defaults:
        found["defaults"] = literal(defaults)
    return found


def _places(template: Template) -> dict[str, Doc]:
    """Where a container has its files, and what it prints."""
    found: dict[str, Doc] = {}
    paths = {each.name: each.path for each in template.inputs.artifacts if each.path}
    paths |= {each.name: each.path for each in template.outputs.parameters if each.path}
    paths |= {each.name: each.path for each in template.outputs.artifacts if each.path}
    if paths:
        found["paths"] = literal(paths)
    for output in template.outputs.parameters:
        if output.stdout or (not output.path and output.name == "result"):
            found["stdout"] = quoted(output.name)
    otherwise = {each.name: each.default for each in template.outputs.parameters if each.default is not UNSET}
    return found | ({"otherwise": literal(otherwise)} if otherwise else {})


def _environment(emission: Emission, template: Template, env: Iterable[EnvVar], scope: Scope) -> dict[str, Doc]:
    own: dict[str, Doc] = {}
    texts: list[Any] = []
    for variable in env:
        if isinstance(variable.value, str | Text):
            own[variable.name] = expressions.value(variable.value, scope)
            texts.append(variable.value)
    plain = [
        each.name for each in template.outputs.parameters if ("output", template.name, each.name) in emission.plain
    ]
    if isinstance(template.body, Function):
        if template.body.packages and emission.options.operators == "kubernetes":
            own["COULER_INSTALL"] = quoted("1")
        if plain:
            own["COULER_PLAIN"] = quoted(",".join(plain))
        if exact := emission.exact.get(template.name):
            own["COULER_EXACT"] = quoted(",".join(exact))
    return {"env": _late(display(own), texts)} if own else {}


def display(entries: dict[str, Doc]) -> Doc:
    """A dict whose values are source."""
    return Group("{", tuple(Named((quoted(key), ": "), value) for key, value in entries.items()), "}")


def waits_only(template: Template) -> bool:
    """Whether a step does nothing at all."""
    return isinstance(template.body, Suspend) and template.body.duration == 0
