"""What a step's process finds in its environment, and the strings in it that must not show in its log."""

from __future__ import annotations

import base64

from couler_py.backends.local.context import VALUE_LIMIT, Call, Context
from couler_py.backends.local.imported.expansion import expanded
from couler_py.backends.local.scope import Scope, TaskFailure, encode
from couler_py.ir.expr import Text
from couler_py.ir.model import Function, Script
from couler_py.ir.pod import ConfigMapRef, Container, EnvFrom, EnvVar
from couler_py.ir.storage import SecretRef
from couler_py.runner.step import variable_of
from couler_py.store.masking import forms
from couler_py.store.secrets import SecretNotFoundError, read_key, read_secret


class Environment:
    """Variables, and secret values among them."""

    def __init__(self, around: dict[str, str]):
        self.variables = dict(around)
        self.declared: dict[str, str] = {}
        self.secrets: list[str] = []

    def declare(self, name: str, value: str) -> None:
        """Set a variable that the step itself declares."""
        self.variables[name] = self.declared[name] = value

    def secret(self, name: str, value: str) -> None:
        self.declare(name, value)
        self.secrets += hidden_parts(value)


def hidden_parts(secret: str) -> list[str]:
    """What must not show in a log, as text for a request: the forms that a secret may be printed in."""
    return [form.decode("utf-8", "surrogateescape") for form in forms(secret)]


def run_facts(context: Context, number: int) -> dict[str, str]:
    """The facts about the run that every step finds."""
    return context.run_facts | {"COULER_RUN_ATTEMPT": str(number)}


def of_body(context: Context, scope: Scope, body: Container | Script | Function, number: int) -> Environment:
    """The environment of a step: this process's own, the run's facts, then what the step declares.

    Raises `TaskFailure` for a reference to what this machine doesn't have.
    """
    environment = Environment(context.ambient)
    environment.variables |= run_facts(context, number)
    try:
        for source in body.env_from:
            _from(context, environment, source)
        for variable in body.env:
            _variable(context, scope, environment, variable)
    except SecretNotFoundError as error:
        raise TaskFailure(str(error)) from None
    return environment


def _from(context: Context, environment: Environment, source: EnvFrom) -> None:
    if source.kind == "config_map":
        data = context.options.config_maps.get(source.name)
        if data is None and not source.optional:
            raise TaskFailure(missing_config_map(context, source.name))
        for key, value in (data or {}).items():
            environment.declare(source.prefix + key, value)
        return
    try:
        secrets = read_secret(context.home, source.name)
    except SecretNotFoundError:
        if source.optional:
            return
        raise
    for key, value in secrets.items():
        environment.secret(source.prefix + key, value)


def _variable(context: Context, scope: Scope, environment: Environment, variable: EnvVar) -> None:
    value = variable.value
    if isinstance(value, SecretRef):
        try:
            environment.secret(variable.name, read_key(context.home, value.name, value.key))
        except SecretNotFoundError:
            if not value.optional:
                raise
        return
    if isinstance(value, ConfigMapRef):
        data = context.options.config_maps.get(scope.text(value.name), {})
        key = scope.text(value.key)
        if key in data:
            environment.declare(variable.name, data[key])
        elif not value.optional:
            raise TaskFailure(missing_config_map(context, scope.text(value.name), key))
        return
    if isinstance(value, str | Text):
        text = scope.text(value)
        if "\0" in text:
            raise TaskFailure(f"the environment variable {variable.name} holds a NUL character, which none can")
        environment.declare(variable.name, expanded(text, environment.declared) if context.imported else text)
        return
    raise TaskFailure(f"the environment variable {variable.name} is a field of a pod, and this step has none")


def missing_config_map(context: Context, name: str, key: str = "") -> str:
    """Why a reference to a ConfigMap has no value here, and the way out."""
    where = context.home.path / "config.toml"
    what = f"ConfigMap {name!r} with the key {key!r}" if key else f"ConfigMap {name!r}"
    return f"this machine has no {what}: write [local.config_maps.{name}] into {where}"


def function_inputs(made: Call) -> dict[str, str]:
    """The inputs of a Python step as its runner reads them. Raises `TaskFailure` for one that is too long."""
    variables = {}
    for parameter in made.template.inputs.parameters:
        data = encode(parameter.type, made.parameters[parameter.name]).encode("utf-8")
        check_size(parameter.name, len(data))
        variables[variable_of(parameter.name)] = base64.b64encode(data).decode()
    return variables


def check_size(name: str, size: int) -> None:
    """Raises `TaskFailure` for an encoded value that no step could be given."""
    if size > VALUE_LIMIT:
        raise TaskFailure(
            f"the input {name!r} is {size} bytes long, and a value can have {VALUE_LIMIT}: "
            "pass a file (Path), or let the step before return couler.spill(value)"
        )
