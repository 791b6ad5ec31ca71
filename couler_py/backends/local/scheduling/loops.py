"""A loop: its body again and again, until the condition holds."""

from __future__ import annotations

from typing import Any

from couler_py.backends.local.context import Call, Context
from couler_py.backends.local.scope import TaskFailure, bind, plain
from couler_py.ir import wire
from couler_py.ir.evaluate import EvaluationError
from couler_py.ir.model import Loop
from couler_py.store.records import ArtifactRef, Result


async def run(context: Context, made: Call, loop: Loop, attempt: int) -> Result:
    """Run the body at least once; the outputs are those of the last iteration."""
    body = context.templates[loop.body]
    wanted = {parameter.name: parameter for parameter in body.inputs.parameters}
    parameters = {name: value for name, value in made.parameters.items() if name in wanted}
    for name, parameter in wanted.items():
        if name not in parameters:
            if not isinstance(parameter.default, str | int | float | bool | list | dict | None):
                raise TaskFailure(f"the input {name!r} of {body.name} was not given")
            parameters[name] = wire.restore(plain(parameter.type), parameter.default)
    files = {artifact.name for artifact in body.inputs.artifacts}
    artifacts = {name: ref for name, ref in made.artifacts.items() if name in files}
    own = f"{made.path}~{attempt}" if attempt else made.path
    for iteration in range(1, loop.max_iterations + 1):
        inner = Call(body, f"{own}#{iteration}", parameters, artifacts, slots=made.slots, depth=made.depth + 1)
        result = await context.call(context, inner)
        if result.state != "Succeeded":
            return Result("Failed", message=f"iteration {iteration}: {result.message}")
        outputs: dict[str, Any] = {**result.parameters, **result.artifacts}
        scope = context.scope(made, own=outputs)
        if scope.condition(loop.until):
            return _outputs(made, scope.value, result)
        parameters, artifacts = dict(parameters), dict(artifacts)
        for carry in loop.carry:
            if carry.output not in outputs:
                raise TaskFailure(f"iteration {iteration} left no output {carry.output!r} to carry on")
            value = outputs[carry.output]
            if isinstance(value, ArtifactRef):
                artifacts[carry.input] = value
            else:
                parameters[carry.input] = bind(wanted[carry.input], value)
    return Result(
        "Failed",
        message=f"the condition didn't hold after {loop.max_iterations} iterations: raise max_iterations, or mend it",
    )


def _outputs(made: Call, value_of: Any, last: Result) -> Result:
    parameters: dict[str, Any] = {}
    artifacts: dict[str, ArtifactRef] = {}
    template = made.template
    try:
        for output in template.outputs.parameters:
            value = last.parameters[output.name] if output.value is None else value_of(output.value)
            parameters[output.name] = wire.restore(plain(output.type), value)
        for left in template.outputs.artifacts:
            found = last.artifacts.get(left.name) if left.value is None else value_of(left.value)
            if isinstance(found, ArtifactRef):
                artifacts[left.name] = found
    except EvaluationError as error:
        raise TaskFailure(f"an output of the loop has no value: {error}") from None
    return Result("Succeeded", parameters, artifacts)
