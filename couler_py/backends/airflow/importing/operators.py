"""Operators as templates: what a task runs, by the class of its operator."""

from __future__ import annotations

import shlex
from collections.abc import Callable
from typing import Any

from couler_py.backends.airflow.importing import facts, templating
from couler_py.backends.airflow.importing.facts import marked
from couler_py.backends.airflow.importing.functions import branching, python_step, short_circuit
from couler_py.backends.airflow.importing.made import Made, Slots, printed
from couler_py.backends.airflow.importing.pods import pod
from couler_py.backends.airflow.importing.shell import TAKEN, command, last_line
from couler_py.backends.airflow.importing.unsayable import UnsayableError
from couler_py.backends.airflow.importing.values import Values
from couler_py.ir.expr import Text
from couler_py.ir.model import Outputs, Script, Suspend
from couler_py.ir.pod import Container, EnvVar

BASH_IMAGE = "python:3.11"
"""An image with bash, for commands that ran in Airflow's worker."""
Maker = Callable[[facts.Task, Values, bool], Made]


def made(task: facts.Task, values: Values, pulled: bool) -> Made:
    """What a task's operator becomes; `pulled` tells whether anybody reads its XCom.

    Raises `UnsayableError` for an operator that has no counterpart.
    """
    for names, maker in MAKERS:
        if task.is_a(*names):
            if task.overrides:
                raise UnsayableError(
                    f"its operator, {task.shown}, does other things than Airflow's: it has its own "
                    f"{', '.join(task.overrides)}",
                    "write a step that does what it does",
                )
            return maker(task, values, pulled)
    raise UnsayableError(
        f"its operator, {task.shown}, has no counterpart",
        _WAYS_OUT.get(task.shown, "write a step that does what it did"),
    )


_WAYS_OUT = {
    "TriggerDagRunOperator": "import the other DAG too, and call its workflow",
    "ExternalTaskSensor": 'on Airflow, let this workflow run after an asset: engines={"airflow": {"after": [...]}}',
    "PythonSensor": "repeat a step until it is true: couler.loop",
    "@task.sensor": "repeat a step until it is true: couler.loop",
    "FileSensor": "repeat a step until the file is there: couler.loop",
    "LatestOnlyOperator": "ask in a step whether couler.run_info.scheduled_time is the latest, and use couler.when",
}


def _empty(task: facts.Task, values: Values, pulled: bool) -> Made:
    return Made(Suspend(duration=0))


def _bash(task: facts.Task, values: Values, pulled: bool) -> Made:
    given = task.given
    if given.get("skip_on_exit_code") not in (None, 99, [99]):
        raise UnsayableError(
            "a command that skips itself by its exit code has no counterpart",
            "print whether there is something to do, and use couler.when",
        )
    environment = values.mapping(given.get("env"), "env")
    slots = Slots(TAKEN | environment.keys(), values.types)
    own = tuple(EnvVar(name, slots.text(values.text(value))) for name, value in environment.items())
    bash_command = given.get("bash_command")
    if isinstance(bash_command, str):
        if bash_command.endswith((".sh", ".bash")) and not templating.is_template(bash_command):
            raise UnsayableError("the command is a file beside the DAG", "write what is in it into the DAG")
        text = command(templating.parts(bash_command, values), slots)
    elif marked(bash_command) == "element":
        text = f'eval "${{{slots.input(values.expr(bash_command), "command").name}}}"'
    else:
        raise UnsayableError("the command isn't known before the run", "write it as text in the DAG")
    text = last_line(text) if pulled else text.strip("\n") + "\n"
    working_dir = given.get("cwd") or ""
    env = (*own, *(EnvVar(name, Text((value,))) for name, value in _handed(slots, own)))
    body = Script(BASH_IMAGE, text, ("bash",), env=env, working_dir=working_dir)
    return Made(body, slots.inputs, printed() if pulled else Outputs(), slots.arguments)


def _handed(slots: Slots, own: tuple[EnvVar, ...]) -> list[tuple[str, Any]]:
    from couler_py.ir.expr import Input

    return [(name, Input(name)) for name in slots.parameters]


def _docker(task: facts.Task, values: Values, pulled: bool) -> Made:
    given = task.given
    slots = Slots(types=values.types)
    told = given.get("command")
    words = shlex.split(told) if isinstance(told, str) and told else values.sequence(told, "command")
    args = tuple(slots.text(values.text(each)) for each in words)
    entry = given.get("entrypoint") or ()
    entrypoint = tuple(shlex.split(entry)) if isinstance(entry, str) else tuple(entry)
    env = tuple(
        EnvVar(name, slots.text(values.text(value)))
        for name, value in values.mapping(given.get("environment"), "environment").items()
    )
    body = Container(
        slots.text(values.text(given.get("image", ""))),
        entrypoint,
        args,
        env=env,
        working_dir=given.get("working_dir") or "",
    )
    about = tuple(
        ("CLR535", f"the setting {name} was left out", "say it on the step, if it is needed")
        for name in ("mounts", "network_mode", "mem_limit", "cpus", "docker_url", "auto_remove", "user", "privileged")
        if given.get(name) and name not in ("docker_url", "auto_remove")
    )
    return Made(body, slots.inputs, printed() if pulled else Outputs(), slots.arguments, about=about)


MAKERS: tuple[tuple[tuple[str, ...], Maker], ...] = (
    (("EmptyOperator", "DummyOperator"), _empty),
    (("_BashDecoratedOperator", "_DockerDecoratedOperator"), python_step),
    (("BashOperator",), _bash),
    (("ShortCircuitOperator",), short_circuit),
    (("BranchPythonOperator", "BranchPythonVirtualenvOperator", "BranchExternalPythonOperator"), branching),
    (("PythonOperator", "_KubernetesDecoratedOperator"), python_step),
    (("KubernetesPodOperator",), pod),
    (("DockerOperator",), _docker),
)
"""By the names of classes, the first that an operator is of."""
