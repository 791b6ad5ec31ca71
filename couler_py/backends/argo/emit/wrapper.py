"""A graph around one item of a fan-out, where the mapped template can't write its outputs as items itself."""

from __future__ import annotations

from typing import Any

from couler_py.backends.argo.emission import Emission
from couler_py.backends.argo.emit.literals import member
from couler_py.backends.argo.emit.scope import output_of
from couler_py.backends.argo.emit.values import Value, to_json
from couler_py.backends.argo.program import KEY
from couler_py.ir.model import Graph, Template

JSON = dict[str, Any]
ITEM = "couler-item"
DONE = "couler-done"


def item_wrapper(emission: Emission, callee: Template, name: str, variant: str, items_read: bool) -> str:
    """The name of the wrapper of a template: its inputs go through, its outputs come as JSON strings of JSON text.

    With `items_read` it gives the item out beside them, so that readers know which items succeeded. Without any output
    it gives a constant, to count.
    """
    program = emission.program
    parameters = [program.field(callee, parameter.name) for parameter in callee.inputs.parameters]
    artifacts = [(program.field(callee, each.name), each.optional) for each in callee.inputs.artifacts]
    outputs: list[JSON] = []
    for output in sorted(program.gathered_of.get(callee.name, ())):
        known = program.field(callee, output)
        text = output_of(program, callee, "tasks['run']", output)
        if "item" in variant:
            outputs.append({"name": known, "valueFrom": {"expression": text}})
            continue
        form = "plain" if program.writes_plain(callee) else "wire"
        value = Value(text, form, program.output_type(callee.name, output))  # type: ignore[arg-type]
        outputs.append({"name": known, "valueFrom": {"expression": f"toJson({to_json(value)})"}})
    if items_read:
        expression = f"toJson({member('inputs.parameters', ITEM)})"
        if "item" in variant and isinstance(callee.body, Graph) and program.may_lack_outputs(callee):
            absent = [
                f"{output_of(program, callee, 'tasks.run', each.name)} == 'null'" for each in callee.outputs.parameters
            ]
            expression = f"{' || '.join(absent)} ? 'null' : {expression}"
        outputs.append({"name": ITEM, "valueFrom": {"expression": expression}})
    if not outputs:
        outputs.append({"name": DONE, "valueFrom": {"expression": "'\\u0022\\u0022'"}})
    if "keyed" in variant:
        parameters += [KEY + each for each in sorted(program.keyed[callee.name])]
    call: JSON = {"name": "run", "template": name}
    arguments: JSON = {}
    if parameters:
        arguments["parameters"] = [
            {"name": each, "value": "{{=" + member("inputs.parameters", each) + "}}"} for each in parameters
        ]
    if artifacts:
        arguments["artifacts"] = [
            {"name": each, "from": "{{inputs.artifacts." + each + "}}", **({"optional": True} if optional else {})}
            for each, optional in artifacts
        ]
    if arguments:
        call["arguments"] = arguments
    defaults = {entry["name"]: entry for entry in _defaults(emission, callee)}
    template: JSON = {}
    signature: JSON = {}
    if parameters or items_read:
        signature["parameters"] = [defaults.get(each, {"name": each}) for each in parameters]
        if items_read:
            signature["parameters"].append({"name": ITEM})
    if artifacts:
        signature["artifacts"] = [
            {"name": each, **({"optional": True} if optional else {})} for each, optional in artifacts
        ]
    if signature:
        template["inputs"] = signature
    template["outputs"] = {"parameters": outputs}
    template["dag"] = {"failFast": False, "tasks": [call]}
    suffix = "".join(["-with-item" if items_read else "", "-of-item"])
    return emission.shared(f"{name}{suffix}", "item", template)


def _defaults(emission: Emission, callee: Template) -> list[JSON]:
    from couler_py.backends.argo.emit.scope import TemplateScope
    from couler_py.backends.argo.emit.signature import inputs

    found = inputs(emission, callee, TemplateScope(emission.program, callee)).get("parameters", [])
    return [entry for entry in found if "default" in entry]
