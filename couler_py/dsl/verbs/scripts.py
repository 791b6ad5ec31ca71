"""`run_script`: source text, or a Python function, in a container."""

from __future__ import annotations

import posixpath
from collections.abc import Callable
from types import FunctionType, MethodType
from typing import Any

import msgspec

from couler_py.dsl.frames import Node
from couler_py.dsl.problems import fail
from couler_py.dsl.sources import caller, caller_frame
from couler_py.dsl.step import StepFunction
from couler_py.dsl.verbs import settings
from couler_py.dsl.verbs.calls import RESULT, Declared, declared, name_of, record
from couler_py.dsl.verbs.containers import gather, need_image, words
from couler_py.dsl.verbs.inputs import CallInputs
from couler_py.dsl.verbs.outputs import OutputScript
from couler_py.dsl.verbs.state import state
from couler_py.ir import model, pod
from couler_py.ir.types import STR

SHELLS = frozenset({"sh", "bash", "dash", "ash", "ksh", "zsh"})

PRINTED = "_couler_printed"
"""The name of the function that calls a user's and returns what it printed."""


def run_script(
    image: Any,
    command: Any = None,
    source: Any = None,
    args: Any = None,
    output: Any = None,
    input: Any = None,  # noqa: A002  Couler's own name for it
    env: Any = None,
    secret: Any = None,
    resources: Any = None,
    timeout: Any = None,
    retry: Any = None,
    step_name: str | None = None,
    image_pull_policy: Any = None,
    pool: Any = None,
    enable_ulogfs: bool = True,
    daemon: bool = False,
    volume_mounts: Any = None,
    working_dir: Any = None,
    node_selector: Any = None,
    cache: Any = None,
) -> list[Any]:
    """Run source text, or a Python function, in a container. The last of its outputs is what it prints.

    A function travels with what it needs, as a step does; it gets `args` as its arguments, typed by its
    annotations, and where it returns a value, that is its output. A text is run by `command` ("python"
    without one); with `args`, which it finds in `sys.argv[1:]` or `$1`, the command is Python or a shell.

    Raises `RecordingError` for what can't be honoured: a function and another command than Python, say.

    >>> flip = run_script("python:3.11", source=flip_coin)  # doctest: +SKIP
    """
    settings.refuse(pool=pool)
    if source is None:
        fail("CLR181", "run_script has no source", help="give a text, or a function")
    name = name_of(step_name, "script")
    inputs = CallInputs("run_script")
    values = gather(inputs, args, input)
    image = inputs.text(need_image(image), "image")
    common: dict[str, Any] = {
        "env": settings.environment(inputs, env, secret),
        "env_from": settings.environment_from(None, secret),
        "pull_policy": settings.pull_policy(image_pull_policy),
        "mounts": settings.mounts(volume_mounts),
        "resources": settings.resources(resources),
    }
    folder = inputs.text(working_dir, "working-dir") if working_dir is not None else ""
    outputs = declared(output, result=True)
    body: model.Body
    if isinstance(source, str):
        body = _text(inputs, image, command, source, values, folder, common)
    else:
        step = _step(source)
        recorder = state().recorder
        template = step.template(recorder.defaults)
        function = template.body
        assert isinstance(function, model.Function)
        if values or function.returns != "none" or step.archives(recorder.defaults):
            if output is not None or working_dir is not None or inputs.artifacts:
                fail(
                    "CLR181",
                    "a function with arguments, a result or modules of your own has no output=, input= or working_dir=",
                    help="let it take and return `Path`s (see couler.step), or give the source as text",
                )
            for archive in step.archives(recorder.defaults):
                recorder.include(archive)
            body, outputs = _function(inputs, image, command, template, function, values, common)
        else:
            body = model.Script(image, _standalone(template, function), _python(command), working_dir=folder, **common)
    policies = settings.policies(inputs, retry=retry, timeout=timeout, cache=cache)
    return record(
        name,
        body,
        inputs,
        outputs,
        retry=policies.retry,
        timeout=policies.timeout,
        cache=policies.cache,
        pod=settings.pod_settings(inputs, node_selector),
        daemon=bool(daemon),
    )


def _text(
    inputs: CallInputs, image: Any, command: Any, source: str, values: list[Any], folder: Any, common: dict[str, Any]
) -> model.Body:
    if not values:
        return model.Script(image, source, words(inputs, command) or ("python",), working_dir=folder, **common)
    # A script has no arguments of its own: Argo puts the script's file behind them.
    given = words(inputs, command) or ("python",)
    program = posixpath.basename(given[0]) if isinstance(given[0], str) else ""
    arguments = tuple(inputs.argument(value) for value in values)
    if program.startswith("python") and len(given) == 1:
        prefix: tuple[Any, ...] = (*given, "-c", source)
    elif program in SHELLS and len(given) == 1:
        prefix = (*given, "-c", source, program)
    else:
        fail(
            "CLR181",
            f"run_script can't hand args to a script of {command!r}",
            help="use run_container with the script in its command, or env=",
        )
    return pod.Container(image, prefix, arguments, working_dir=folder, **common)


def _standalone(template: model.Template, function: model.Function) -> str:
    """The source of a function with what it needs, and a call of it: a program that prints."""
    missing = [item.name for item in template.inputs.parameters if item.default is msgspec.UNSET]
    if missing:
        fail("CLR181", f"the function {function.name} needs {', '.join(missing)}", help="give args=[...] to run_script")
    future = [f"from __future__ import {', '.join(function.future)}"] if function.future else []
    pieces = [piece.text.strip("\n") for piece in function.pieces]
    return "\n\n".join([*future, *pieces, f"{function.name}()"]) + "\n"


def _function(
    inputs: CallInputs,
    image: Any,
    command: Any,
    template: model.Template,
    function: model.Function,
    values: list[Any],
    common: dict[str, Any],
) -> tuple[model.Function, Declared]:
    places = template.inputs.parameters
    if template.inputs.artifacts:
        fail("CLR181", f"{function.name} takes files", help="make it a @couler.step, and call it")
    if len(values) > len(places):
        fail("CLR181", f"{function.name} takes {len(places)} arguments, and {len(values)} were given")
    for parameter, value in zip(places, values, strict=False):
        inputs.given[parameter.name] = value
    inputs.parameters.extend(places)
    body = msgspec.structs.replace(function, image=image, command=_python(command), **common)
    if function.returns == "none":
        body = msgspec.structs.replace(
            body, name=PRINTED, pieces=(*body.pieces, _printing(function.name)), returns="one"
        )
        output = model.Outputs((model.OutputParameter(RESULT, STR),))
        return body, Declared(output, (lambda node: OutputScript(node, RESULT, STR),))
    if template.outputs.artifacts:
        fail("CLR181", f"{function.name} returns files", help="make it a @couler.step, and call it")
    return body, Declared(template.outputs, tuple(_result(item) for item in template.outputs.parameters))


def _result(output: model.OutputParameter) -> Callable[[Node], Any]:
    return lambda node: OutputScript(node, output.name, output.type)


def _printing(name: str) -> model.Piece:
    """A function that calls another and returns what it printed, which is printed all the same."""
    return model.Piece(
        f"def {PRINTED}(*args, **kwargs):\n"
        "    import contextlib, io, sys\n"
        "    text = io.StringIO()\n"
        "    with contextlib.redirect_stdout(text):\n"
        f"        {name}(*args, **kwargs)\n"
        "    printed = text.getvalue()\n"
        "    sys.stdout.write(printed)\n"
        "    return printed[:-1] if printed.endswith('\\n') else printed"
    )


def _step(source: Any) -> StepFunction[..., Any]:
    if isinstance(source, StepFunction):
        return source
    if isinstance(source, MethodType) or not isinstance(source, FunctionType):
        fail(
            "CLR181",
            f"source={source!r} is neither a text nor a function",
            help="give a function that is defined by `def`, and what it needs as args",
        )
    return StepFunction(source, {}, caller(), caller_frame())


def _python(command: Any) -> tuple[str, ...]:
    if command is None:
        return ("python",)
    given = [command] if isinstance(command, str) else command
    if (
        not isinstance(given, list | tuple)
        or not given
        or not all(isinstance(word, str) for word in given)
        or not posixpath.basename(given[0]).startswith(("python", "pypy"))
    ):
        fail(
            "CLR181",
            f"command={command!r} can't run a Python function",
            help="leave command out, or give the source as text",
        )
    return tuple(given)
