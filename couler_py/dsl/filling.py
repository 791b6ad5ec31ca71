"""Texts of containers and manifests with values in them: each value becomes an input of the template.

User text never becomes program text: a value known only at run time is an argument of the task, and the
template says where it goes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from couler_py.dsl.annotations import ArtifactType, Hint
from couler_py.dsl.errors import DefinitionError
from couler_py.dsl.placeholder import Placeholder
from couler_py.ir.diagnostics import error
from couler_py.ir.expr import Input, Run, Text, TextLike, WorkflowParameter
from couler_py.ir.model import InputArtifact, Parameter, Source
from couler_py.ir.pod import ConfigMapRef, EnvVar, FieldRef, Substitution, Templated
from couler_py.ir.storage import SecretRef

INPUTS_FOLDER = "/tmp/couler/inputs"  # noqa: S108  the folder of input artifacts, as for Python steps


class Argument(msgspec.Struct, frozen=True):
    """Where a declared input goes in a text: `couler.argument("lr")` in args, env or a manifest."""

    name: str


class Filling:
    """The inputs of one template while its texts are read: declared ones, and one for each placeholder met."""

    def __init__(self, declared: Mapping[str, Parameter | InputArtifact], place: Source, step: str):
        self.parameters: dict[str, Parameter] = {}
        self.artifacts: dict[str, InputArtifact] = {}
        for name, input_ in declared.items():
            if isinstance(input_, Parameter):
                self.parameters[name] = input_
            else:
                self.artifacts[name] = input_
        self.given: dict[str, Any] = {}
        self.place = place
        self.step = step
        self._known: dict[int, str] = {}

    def text(self, value: Any, what: str) -> TextLike:
        """A string, number, placeholder, `Argument`, or expression as text of the template."""
        if isinstance(value, str):
            return value
        if isinstance(value, bool):
            return "true" if value else "false"
        if isinstance(value, int | float):
            return str(value)
        if isinstance(value, Argument):
            return self._declared(value)
        if isinstance(value, Text):
            return value
        if isinstance(value, Input | Run | WorkflowParameter):
            return Text((value,))
        if isinstance(value, Placeholder):
            return self._placeholder(value)
        raise self._error(
            f"{what} can't be a {type(value).__name__}", "give text, a number, or what a step or parameter returned"
        )

    def texts(self, values: Sequence[Any], what: str) -> tuple[TextLike, ...]:
        """The texts of a command line."""
        if isinstance(values, str):
            raise self._error(f"{what} is one text", f"write {what}=[{values!r}], one element for each word")
        what = f"an element of {what}"
        return tuple([self.text(value, what) for value in values])

    def env(self, values: Mapping[str, Any]) -> tuple[EnvVar, ...]:
        """Environment variables; references to secrets and ConfigMaps stay references."""
        return tuple(
            EnvVar(
                name,
                value
                if isinstance(value, SecretRef | ConfigMapRef | FieldRef)
                else self.text(value, f"the environment variable {name!r}"),
            )
            for name, value in values.items()
        )

    def templated(self, value: Any) -> Templated:
        """A JSON value with placeholders as leaves. Raises `DefinitionError` for what isn't JSON."""
        texts: list[Substitution] = []
        return Templated(self._leaf(value, "", texts), tuple(texts))

    def _leaf(self, value: Any, pointer: str, texts: list[Substitution]) -> Any:
        if value is None or isinstance(value, bool | int | float | str):
            return value
        if isinstance(value, Mapping):
            found = {}
            for key, item in value.items():
                if not isinstance(key, str):
                    raise self._error(f"the key {key!r} of the manifest is not a string", "quote it")
                escaped = key.replace("~", "~0").replace("/", "~1")
                found[key] = self._leaf(item, f"{pointer}/{escaped}", texts)
            return found
        if isinstance(value, list | tuple):
            return [self._leaf(item, f"{pointer}/{index}", texts) for index, item in enumerate(value)]
        text = self.text(value, f"the value at {pointer or '/'}")
        if isinstance(text, str):
            return text
        texts.append(Substitution(pointer, text))
        return ""

    def _declared(self, argument: Argument) -> TextLike:
        if argument.name in self.artifacts:
            return self.artifacts[argument.name].path
        if argument.name in self.parameters:
            return Text((Input(argument.name),))
        known = ", ".join([*self.parameters, *self.artifacts]) or "none"
        raise self._error(f"there is no input {argument.name!r}", f"declare it in inputs=; the inputs are: {known}")

    def _placeholder(self, value: Any) -> TextLike:
        name = self._known.get(id(value))
        if name is None:
            name = f"value-{len(self.given) + 1}"
            self._known[id(value)] = name
            self.given[name] = value
            if value._couler_type is None:
                self.artifacts[name] = InputArtifact(name, f"{INPUTS_FOLDER}/{name}")
            else:
                self.parameters[name] = Parameter(name, value._couler_type)
        return self.artifacts[name].path if name in self.artifacts else Text((Input(name),))

    def _error(self, message: str, help_: str) -> DefinitionError:
        return DefinitionError([error("CLR134", message, source=self.place, step=self.step, help=help_)])


def input_of(name: str, found: Hint) -> Parameter | InputArtifact:
    """The input of a container for a type: a value, or a file below `INPUTS_FOLDER`."""
    if isinstance(found, ArtifactType):
        return InputArtifact(name, f"{INPUTS_FOLDER}/{name}", optional=found.optional)
    return Parameter(name, found)
