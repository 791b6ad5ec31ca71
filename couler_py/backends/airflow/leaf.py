"""Steps: what each is, written once as a constant of the file."""

from __future__ import annotations

import base64
from collections.abc import Iterable
from typing import Any

import msgspec
from msgspec import UNSET

from couler_py import runner
from couler_py.backends.airflow import expressions
from couler_py.backends.airflow.docker import container_entry
from couler_py.backends.airflow.emission import Emission
from couler_py.backends.airflow.pods import PLAIN_POD, pod_entry
from couler_py.backends.airflow.policies import operator_options
from couler_py.backends.airflow.resources import resource_entries
from couler_py.backends.airflow.scope import Scope
from couler_py.backends.airflow.stores import location
from couler_py.backends.airflow.types import form_of
from couler_py.backends.includes import packed
from couler_py.ir.codec import digest
from couler_py.ir.expr import Text, TextLike, WorkflowParameter
from couler_py.ir.model import Cache, Function, Resource, Script, Suspend, Template
from couler_py.ir.pod import Container, EnvVar
from couler_py.ir.structs import nodes
from couler_py.passes.check.texts import texts_in
from couler_py.printer.layout import Doc, Group, Named, items
from couler_py.printer.literal import literal, quoted, verbatim

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
            entries |= {"image": _text(body.image, scope)} | _function(emission, template)
        case Container():
            words = [*body.command, *body.args]
            entries["image"] = _text(body.image, scope)
            entries["command"] = _late(items(expressions.value(each, scope) for each in words), words)
        case Script():
            entries["image"] = _text(body.image, scope)
            entries["command"] = _late(items(expressions.value(each, scope) for each in body.command), body.command)
            entries["script"] = _late(source_text(body.source, scope), [body.source])
        case Resource():
            entries |= resource_entries(emission, template, scope) | _signature(template)
            return display(entries | _policies(emission, template, scope))
        case _:
            return display(_policies(emission, template, scope))
    if isinstance(body, Container | Script):
        entries |= _places(template)
        if body.working_dir:
            entries["directory"] = _text(body.working_dir, scope)
    entries |= _signature(template) | _stores(emission, template, scope)
    entries |= _environment(emission, template, body.env, scope)
    if emission.options.operators == "local":
        entries.pop("image")
    elif emission.options.operators == "docker":
        entries |= container_entry(emission, template)
    else:
        if (pod := pod_entry(emission, template, scope)) != PLAIN_POD:
            entries["pod"] = pod
    return display(entries | _policies(emission, template, scope))


def _policies(emission: Emission, template: Template, scope: Scope) -> dict[str, Doc]:
    found: dict[str, Doc] = {}
    if template.cache is not None:
        found["cache"] = _cache(template, template.cache, scope)
    options = operator_options(emission, template)
    return found | ({"options": display(options)} if options else {})


def _cache(template: Template, rule: Cache, scope: Scope) -> Doc:
    """What outputs are found again by: the step itself, the run's parameters that it reads, its inputs or its key."""
    bare = msgspec.structs.replace(template, cache=None, retry=None)
    found: dict[str, Doc] = {"program": quoted(digest(bare)), "version": quoted(rule.version)}
    found["seconds"] = literal(rule.max_age)
    if parameters := sorted({each.name for each in nodes(bare) if isinstance(each, WorkflowParameter)}):
        found["parameters"] = literal(parameters)
    if rule.key is not None:
        found["key"] = _text(rule.key, scope)
    return display(found)


def leaf_scope(emission: Emission, template: Template) -> Scope:
    """What expressions inside a step see: what it was given."""
    names = [each.name for each in template.inputs.parameters] + [each.name for each in template.inputs.artifacts]
    return Scope(
        inputs={name: f"given[{quoted(name)}]" for name in names},
        input_types={each.name: each.type for each in template.inputs.parameters},
        parameters=emission.parameters,
    )


def _function(emission: Emission, template: Template) -> dict[str, Doc]:
    emission.specs[template.name], text = runner.parts(template)
    found = {"name": quoted(template.name), "source": program_text(text)}
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
    found = verbatim(text)
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


def _text(text: TextLike, scope: Scope) -> Doc:
    """A text of the step's, read when it starts where inputs are in it."""
    return _late(expressions.value(text, scope), [text])


def _signature(template: Template) -> dict[str, Doc]:
    found: dict[str, Doc] = {}
    outputs, inputs = template.outputs, template.inputs
    if outputs.parameters:
        forms = [(each.name, form_of(each.type)) for each in outputs.parameters]
        found["outputs"] = display(dict(forms))
    if outputs.artifacts:
        found["gives"] = literal({each.name: each.optional for each in outputs.artifacts})
    if inputs.artifacts:
        paths = {each.name: each.path for each in inputs.artifacts}
        found["files"] = literal(list(paths) if isinstance(template.body, Function) else paths)
    defaults = {each.name: each.default for each in inputs.parameters if each.default is not UNSET}
    if defaults:
        found["defaults"] = literal(defaults)
    return found


def _stores(emission: Emission, template: Template, scope: Scope) -> dict[str, Doc]:
    """Files that the step itself says to be in a named store."""
    found: dict[str, Doc] = {}
    for key, slots in (("from", template.inputs.artifacts), ("to", template.outputs.artifacts)):
        named: dict[str, Doc] = {}
        texts: list[Any] = []
        for slot in slots:
            if slot.storage is None:
                continue
            place = location(emission, slot.storage, scope, template.display or template.name, template.source)
            if place is not None:
                named[slot.name] = place
                texts += texts_in(slot.storage)
        if named:
            found[key] = _late(display(named), texts)
    return found


def _places(template: Template) -> dict[str, Doc]:
    """Where a container leaves its outputs, and what it prints."""
    found: dict[str, Doc] = {}
    paths = {each.name: each.path for each in template.outputs.parameters if each.path}
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
        if template.body.packages and emission.options.operators != "local":
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
