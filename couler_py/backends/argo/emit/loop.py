"""Loops as templates that call themselves."""

from __future__ import annotations

from typing import Any

from couler_py.backends.argo.emission import Emission
from couler_py.backends.argo.emit.arguments import report
from couler_py.backends.argo.emit.expressions import UnprovenError, condition
from couler_py.backends.argo.emit.literals import failing, member, tag
from couler_py.backends.argo.emit.scope import TemplateScope, output_of
from couler_py.backends.argo.emit.signature import inputs
from couler_py.backends.argo.emit.values import Form, Value, to_plain, to_wire
from couler_py.backends.argo.program import KEY, Program, Variant
from couler_py.ir.expr import Expr, Own
from couler_py.ir.model import InputArtifact, Loop, Template

JSON = dict[str, Any]
COUNTER = "couler-iteration"


class BodyScope(TemplateScope):
    """The scope of a loop's condition: the outputs of the iteration that has just run."""

    def __init__(self, emission: Emission, template: Template):
        super().__init__(emission.program, template)
        assert isinstance(template.body, Loop)
        self.body = emission.program.templates[template.body.body]

    def reference(self, node: Expr, guarded: bool) -> Value:
        if not isinstance(node, Own):
            return super().reference(node, guarded)
        return body_output(self.program, self.body, node.name)


def body_output(program: Program, body: Template, name: str) -> Value:
    """An output of the iteration that has just run."""
    form: Form = "plain" if program.writes_plain(body) else "wire"
    marks = program.marks("output", body.name, name)
    return Value(output_of(program, body, "tasks['run']", name), form, program.output_type(body.name, name), "", marks)


def loop_fields(emission: Emission, template: Template, scope: TemplateScope, name: str, variant: Variant) -> JSON:
    """Run the body; then itself again, with what is carried, unless the condition holds; too often is a failure."""
    loop = template.body
    assert isinstance(loop, Loop)
    program = emission.program
    body = program.templates[loop.body]
    emission.loops[name] = template
    try:
        done = condition(loop.until, BodyScope(emission, template))
    except UnprovenError as error:
        report(emission, error, "the condition of the loop", template.display or template.name, template.source)
        done = "true"
    count = f"asInt({member('inputs.parameters', COUNTER)})"
    carried = {carry.input: carry.output for carry in loop.carry}
    own = [(parameter.name, scope.input_name(parameter.name)) for parameter in template.inputs.parameters]
    passed = [{"name": program.field(body, given), "value": _input(known)} for given, known in own]
    again = []
    for given, known in own:
        output = carried.get(given)
        text = _input(known)
        if output is not None:
            value = body_output(program, body, output)
            plain = (template.name, given) in program.plain_inputs
            types = {parameter.name: parameter.type for parameter in template.inputs.parameters}
            text = tag(to_plain(value, types[given]) if plain else to_wire(value, types[given]))
        again.append({"name": known, "value": text})
    again.append({"name": COUNTER, "value": "{{=string(" + count + " + 1)}}"})
    artifacts = [(given, scope.input_name(given.name)) for given in template.inputs.artifacts]
    message = failing(f"the loop ran {loop.max_iterations} times and its condition did not hold")
    found: JSON = {"inputs": inputs(emission, template, scope, variant)}
    found["inputs"].setdefault("parameters", []).append({"name": COUNTER, "default": "1"})
    if produced := _outputs(emission, template, body):
        found["outputs"] = produced
    keys = [KEY + each for each in sorted(program.keyed.get(template.name, ()))] if "keyed" in variant else []
    passed += _body_keys(program, template, body) if keys else []
    again += [{"name": key, "value": _input(key)} for key in keys]
    first: JSON = {"name": "run", "template": program.template_name(loop.body, "keyed" if keys else "")}
    arguments: JSON = {"parameters": passed} if passed else {}
    if artifacts:
        arguments["artifacts"] = [
            {"name": program.field(body, given.name), "from": "{{inputs.artifacts." + known + "}}"} | _optional(given)
            for given, known in artifacts
        ]
    if arguments:
        first["arguments"] = arguments
    repeat: JSON = {
        "name": "again",
        "depends": "run",
        # The condition is decided before the bound: reaching the bound while it doesn't hold is the failure.
        "when": "{{= " + _again(done, f"{count} < {loop.max_iterations} ? true : {message}") + " }}",
        "template": name,
        "arguments": {"parameters": again},
    }
    if artifacts:
        repeat["arguments"]["artifacts"] = [
            {
                "name": known,
                "from": "{{tasks.run.outputs.artifacts." + program.field(body, carried[given.name]) + "}}"
                if given.name in carried
                else "{{inputs.artifacts." + known + "}}",
            }
            | _optional(given)
            for given, known in artifacts
        ]
    found["dag"] = {"failFast": False, "tasks": [first, repeat]}
    return found


def _body_keys(program: Program, template: Template, body: Template) -> list[JSON]:
    """Where the artifacts of each iteration go: the last one's stay."""
    outer = {getattr(each.value, "name", each.name): each.name for each in template.outputs.artifacts}
    keyed = program.keyed[template.name]
    some = next(iter(sorted(keyed)))
    found = []
    for inner in sorted(program.keyed[body.name]):
        own = outer.get(inner)
        text = member("inputs.parameters", KEY + (own if own in keyed else some))
        found.append({"name": KEY + inner, "value": tag(text if own in keyed else f"{text} + '/{inner}'")})
    return found


def _again(done: str, bounded: str) -> str:
    return bounded if done == "false" else f"({done}) ? false : {bounded}"


def _input(name: str) -> str:
    return "{{=" + member("inputs.parameters", name) + "}}"


def _outputs(emission: Emission, template: Template, body: Template) -> JSON:
    program = emission.program
    found: JSON = {}
    last = "tasks['again'].status == 'Succeeded'"
    if template.outputs.parameters:
        found["parameters"] = []
        for output in template.outputs.parameters:
            name, inner = program.field(template, output.name), _inner(output.value, output.name)
            again = member("tasks['again'].outputs?.parameters", name, optional=True)
            value = body_output(program, body, inner)
            plain = (template.name, output.name) in program.plain_outputs
            run = to_plain(value, output.type) if plain else to_wire(value, output.type)
            entry: JSON = {"name": name, "valueFrom": {"expression": f"({last} ? {again} : nil) ?? ({run})"}}
            if output.global_name:
                entry["globalName"] = program.published_name(output.global_name)
            found["parameters"].append(entry)
    if template.outputs.artifacts:
        found["artifacts"] = []
        for left in template.outputs.artifacts:
            name, inner = program.field(template, left.name), _inner(left.value, left.name)
            again = member("tasks['again'].outputs.artifacts", name)
            run = member("tasks.run.outputs.artifacts", program.field(body, inner))
            found["artifacts"].append({"name": name, "fromExpression": f"{last} ? {again} : {run}"})
    return found


def _optional(given: InputArtifact) -> JSON:
    return {"optional": True} if given.optional else {}


def _inner(value: Expr | None, name: str) -> str:
    return value.name if isinstance(value, Own) else name
