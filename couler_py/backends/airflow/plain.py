"""A container that takes and gives nothing, as Airflow's own operator: the pod that a person would write.

Its texts are fixed, and none is one that Airflow would read as a Jinja template or as the name of a file with one.
"""

from __future__ import annotations

from typing import Any

from couler_py.backends.airflow.docker import container_settings
from couler_py.backends.airflow.emission import Emission
from couler_py.backends.airflow.pods import PLAIN_POD, pod_entry
from couler_py.backends.airflow.policies import operator_options, retry_condition
from couler_py.backends.airflow.scope import Scope
from couler_py.ir import to_builtins
from couler_py.ir.evaluate import evaluate
from couler_py.ir.expr import Input, Literal, Text, walk
from couler_py.ir.model import Task, Template
from couler_py.ir.pod import Container
from couler_py.printer.layout import Doc, call, keyword
from couler_py.printer.literal import literal, quoted

MARKS = ("{{", "{%", "{#")
ENDINGS = {"kubernetes": (".json", ".yaml", ".yml"), "docker": (".sh", ".bash", ".env")}
"""`template_ext` of the operators: a text that ends so is taken for a file."""


def plain_pod(emission: Emission, task: Task, template: Template, task_id: str, more: list[Doc]) -> Doc | None:
    """The operator of a task, or None where it needs more than that."""
    body = template.body
    if emission.options.operators == "local" or not isinstance(body, Container):
        return None
    outputs, inputs = template.outputs, template.inputs
    gives = outputs.parameters or outputs.artifacts or inputs.artifacts or template.cache or body.working_dir
    retried = retry_condition(template) is not None
    if gives or retried or task.when is not None or task.each is not None:
        return None
    given: dict[str, Any] = {}
    for argument in task.arguments:
        if not isinstance(argument.value, Literal):
            return None
        given[argument.name] = argument.value.value
    env = [(each.name, each.value) for each in body.env if isinstance(each.value, str | Text)]
    texts = [body.image, *body.command, *body.args, *(value for _, value in env)]
    fixed = [_fixed(each, given) for each in texts]
    if any(text is None or not _safe(text, emission.options.operators) for text in fixed):
        return None
    words = [text for text in fixed if text is not None]
    image, rest = words[0], words[1:]
    values = rest[len(body.command) + len(body.args) :]
    variables = {name: value for (name, _), value in zip(env, values, strict=True)}
    command, args = rest[: len(body.command)], rest[len(body.command) : len(body.command) + len(body.args)]
    if emission.options.operators == "docker":
        return _docker(emission, template, {"task_id": task_id, "image": image}, command, args, variables, more)
    found: dict[str, Doc] = {"task_id": quoted(task_id), "image": quoted(image)}
    if command:
        found["cmds"] = literal([_kept(each) for each in command])
    if args:
        found["arguments"] = literal([_kept(each) for each in args])
    if env:
        found["env_vars"] = literal({name: _kept(value) for name, value in variables.items()})
    pod = pod_entry(emission, template, Scope())
    if pod != PLAIN_POD:
        found["pod_template_dict"] = pod
    found |= operator_options(emission, template)
    return call("KubernetesPodOperator", *(keyword(name, value) for name, value in found.items()), *more)


def _docker(
    emission: Emission,
    template: Template,
    own: dict[str, str],
    command: list[str],
    args: list[str],
    variables: dict[str, str],
    more: list[Doc],
) -> Doc | None:
    settings = container_settings(template)
    if "gpus" in settings or template.pod.host_network or emission.workflow.pod.host_network:
        return None
    found: dict[str, Doc] = {name: quoted(text) for name, text in own.items()}
    said = {"entrypoint": command, "command": args, "environment": variables} | settings
    found |= {name: literal(value) for name, value in said.items() if value}
    found |= {"auto_remove": quoted("force"), "mount_tmp_dir": "False", "do_xcom_push": "False"}
    found |= operator_options(emission, template)
    return call("DockerOperator", *(keyword(name, value) for name, value in found.items()), *more)


def _fixed(text: Any, given: dict[str, Any]) -> str | None:
    if isinstance(text, str):
        return text
    nodes = [node for node in walk(text) if not isinstance(node, Text)]
    if any(
        not isinstance(node, Input | Literal) or (isinstance(node, Input) and node.name not in given) for node in nodes
    ):
        return None
    return str(evaluate(to_builtins(text), lambda node: given[node["name"]]))


def _safe(text: str, operators: str) -> bool:
    return not any(mark in text for mark in MARKS) and not text.endswith(ENDINGS[operators])


def _kept(text: str) -> str:
    return text.replace("$", "$$") if "$(" in text or "$$" in text else text
