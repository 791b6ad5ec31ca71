"""What the makers of container steps share: the step itself, its inputs and outputs, and how they are described."""

from __future__ import annotations

import pathlib
from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias, Unpack

import msgspec

from couler_py.dsl.annotations import ArtifactType, Scope, hint
from couler_py.dsl.conversions import ValueMismatchError, to_wire
from couler_py.dsl.durations import Duration, seconds
from couler_py.dsl.errors import CallError, DefinitionError
from couler_py.dsl.filling import Argument, Filling, input_of
from couler_py.dsl.option_types import without_none
from couler_py.dsl.options import ArgoTask, PodOptions, Reader, own_words
from couler_py.dsl.recorder import Recorder, current
from couler_py.dsl.sources import caller
from couler_py.ir.diagnostics import error
from couler_py.ir.model import (
    Body,
    InputArtifact,
    Inputs,
    OutputArtifact,
    OutputParameter,
    Outputs,
    Parameter,
    Source,
    Template,
)
from couler_py.ir.pod import EnvVar, Templated, VolumeClaim
from couler_py.ir.storage import Storage

InputSpec: TypeAlias = Any
"""A type (`int`, `Path`), a pair (type, default), or a `Parameter` or `InputArtifact` of the IR."""

OutputSpec: TypeAlias = Any
"""A type, a `Path` (a file there), what `value_at`, `file_at`, `stdout` make, or an output of the IR."""

OUTPUTS_FOLDER = "/tmp/couler/outputs"  # noqa: S108  where a container leaves an output without a path


class TemplateStep:
    """A step that is a template: called in a workflow with its inputs, it adds a task and returns its outputs."""

    def __init__(
        self,
        template: Template,
        names: tuple[str, ...],
        given: Mapping[str, Any],
        claims: tuple[VolumeClaim, ...],
        *,
        generated: bool,
        uses: Sequence[Any] = (),
    ):
        self.name = template.name
        self.inputs = template.inputs
        self.outputs = template.outputs
        self.claims = claims
        self._template = template
        self._names = names
        self._given = dict(given)
        self._generated = generated
        self._uses = tuple(uses)
        self._task_name = ""
        self._task_extra: Templated | None = None

    def __call__(self, /, *args: Any, **kwargs: Any) -> Any:
        recorder = current()
        place = caller()
        if recorder is None:
            raise CallError(
                [
                    error(
                        "CLR121",
                        f"{self.name} is called outside of a workflow",
                        source=place,
                        step=self.name,
                        help="call it inside a function marked with couler.workflow",
                    )
                ]
            )
        names = self._names
        if len(args) > len(names):
            raise self._call_error(place, f"{self.name} takes {len(names)} arguments, and {len(args)} were given")
        arguments = {**self._given, **dict(zip(names, args, strict=False))}
        for name, value in kwargs.items():
            key = name if name in names else name.replace("_", "-")
            if key in arguments:
                raise self._call_error(place, f"{self.name} was given {name!r} twice")
            arguments[key] = value
        for claim in self.claims:
            recorder.claims[claim.name] = claim
        self._take_along(recorder)
        return recorder.call(
            self._template,
            arguments,
            name=self._task_name,
            base=self.name,
            generated=self._generated,
            source=place,
            extra=self._task_extra,
        )

    def named(self, name: str) -> TemplateStep:
        """The same step, whose calls make a task of the given name."""
        found = TemplateStep.__new__(TemplateStep)
        found.__dict__.update(self.__dict__)
        found._task_name = name
        return found

    def argo_task(self, **fields: Unpack[ArgoTask]) -> TemplateStep:
        """The same step, whose calls have further fields of the Argo task, in Argo's own words.

        `train.argo_task(hooks={"running": {...}})(data)`. They are merged into what is emitted for the rest. Raises
        `DefinitionError` for what JSON can't say.
        """
        found = TemplateStep.__new__(TemplateStep)
        found.__dict__.update(self.__dict__)
        found._task_extra = own_words(fields, self.name)
        return found

    def template(self) -> Template:
        """The template of the step."""
        return self._template

    def __repr__(self) -> str:
        return f"<step {self.name}>"

    def _take_along(self, recorder: Recorder) -> None:
        """Make the templates that this one calls by name part of the workflow."""
        for used in self._uses:
            recorder.templates.add(used.template())
            for claim in used.claims:
                recorder.claims[claim.name] = claim
            if isinstance(used, TemplateStep):
                used._take_along(recorder)
            else:
                for archive in used.archives(recorder.defaults):
                    recorder.include(archive)

    def _call_error(self, place: Source, message: str) -> CallError:
        return CallError([error("CLR120", message, source=place, step=self.name)])


class ValueAt(msgspec.Struct, frozen=True):
    """An output value: in a file, or what the container prints."""

    type: Any
    path: str = ""
    printed: bool = False


class FileAt(msgspec.Struct, frozen=True):
    """An output file or folder at a path."""

    path: str
    storage: Storage | None = None
    optional: bool = False


def template(template: Template, *, uses: Sequence[Any] = ()) -> TemplateStep:
    """A step that is a template of the IR, just as it is: for what the other verbs have no words for.

    A graph or loop calls templates by their names: `uses` are the steps that these are.

    >>> from couler_py.ir import Suspend, Template
    >>> template(Template("wait", Suspend(60.0))).name
    'wait'
    """
    inputs = template.inputs
    names = (*(item.name for item in inputs.parameters), *(item.name for item in inputs.artifacts))
    if template.source is None:
        template = msgspec.structs.replace(template, source=caller())
    return TemplateStep(template, names, {}, (), generated=False, uses=uses)


def argument(name: str) -> Any:
    """Where a declared input goes in a text of a container, script's environment or manifest.

    >>> say = couler.container("alpine:3.20", ["echo"], [couler.argument("word")], inputs={"word": str})
    """
    return Argument(name)


def value_at(path: str, type: Any = str) -> Any:  # noqa: A002  reads as the type of the value
    """An output whose value the container writes to a file: text where the type is `str`, else JSON.

    >>> score = couler.container(
    ...     "scorer:1", ["score", "--out", "/tmp/score"], outputs={"score": couler.value_at("/tmp/score", float)}
    ... )
    """
    return ValueAt(type, path)


def file_at(path: str, *, storage: Storage | None = None, optional: bool = False) -> Any:
    """An output that is a file or folder at a path; kept in `storage` instead of the engine's own store.

    >>> model = couler.file_at("/tmp/model", storage=couler.S3("models/latest", bucket="team-a"))
    >>> train = couler.container("trainer:1", ["train"], outputs={"model": model})
    """
    return FileAt(path, storage, optional)


def stdout(type: Any = str) -> Any:  # noqa: A002  reads as the type of the value
    """An output that is all that the container prints.

    >>> count = couler.script("alpine:3.20", "ls | wc -l", outputs={"files": couler.stdout(int)})
    """
    return ValueAt(type, printed=True)


class Making:
    """What all makers of templates share: options, declared inputs, and the texts that are filled."""

    def __init__(self, options: PodOptions, default_name: str, inputs: Mapping[str, InputSpec] | None):
        self.place = caller()
        self.options = options = without_none(options)
        self.name = options.get("name") or default_name
        plain = {key: value for key, value in options.items() if key != "env"}
        self.reader = Reader(plain, self.name, self.place, PodOptions)
        declared = {name: self._input(name, spec) for name, spec in (inputs or {}).items()}
        self.names = tuple(declared)
        self.filling = Filling(declared, self.place, self.name)

    def wrong(self, message: str, help_: str) -> DefinitionError:
        """The error for a description that can't be honoured."""
        return DefinitionError([error("CLR134", message, source=self.place, step=self.name, help=help_)])

    def type_of(self, annotation: Any, what: str) -> Any:
        """The type or artifact that an annotation stands for."""
        return hint(annotation, Scope({}, self.place, self.name, what))

    def wire(self, type_: Any, value: Any, what: str) -> Any:
        """A default as wire JSON."""
        try:
            return to_wire(type_, value)
        except ValueMismatchError as problem:
            raise self.wrong(f"{what} doesn't fit: {problem}", "") from problem

    def seconds(self, what: str, given: Duration | None) -> float | None:
        """A length of time in seconds; None where none is given."""
        if given is None:
            return None
        try:
            return seconds(given)
        except ValueError as problem:
            raise self.wrong(f"{what}: {problem}", "") from problem

    def env(self) -> tuple[EnvVar, ...]:
        """Environment variables, with keys of secrets among them."""
        found = self.filling.env(self.options.get("env") or {})
        return (*found, *self.reader.secrets())

    def outputs(self, specs: Mapping[str, OutputSpec] | None) -> Outputs:
        """What the step leaves."""
        parameters: list[OutputParameter] = []
        artifacts: list[OutputArtifact] = []
        for name, spec in (specs or {}).items():
            found = self._output(name, spec)
            if isinstance(found, OutputParameter):
                parameters.append(found)
            else:
                artifacts.append(found)
        return Outputs(tuple(parameters), tuple(artifacts))

    def step(
        self, body: Body, outputs: Outputs, claims: tuple[VolumeClaim, ...], *, daemon: bool = False
    ) -> TemplateStep:
        """The step with this body."""
        policies = self.reader.policies()
        template = Template(
            name=self.name,
            body=body,
            inputs=Inputs(tuple(self.filling.parameters.values()), tuple(self.filling.artifacts.values())),
            outputs=outputs,
            retry=policies.retry,
            timeout=policies.timeout,
            deadline=policies.deadline,
            cache=policies.cache,
            locks=policies.locks,
            effects=policies.effects,
            pod=self.reader.pod(),
            daemon=daemon,
            description=self.options.get("description", ""),
            source=self.place,
        )
        generated = "name" not in self.options
        return TemplateStep(template, self.names, self.filling.given, claims, generated=generated)

    def _input(self, name: str, spec: InputSpec) -> Parameter | InputArtifact:
        if isinstance(spec, Parameter | InputArtifact):
            return spec
        annotation, default = spec if isinstance(spec, tuple) else (spec, msgspec.UNSET)
        found = input_of(name, self.type_of(annotation, f"input {name!r}"))
        if default is msgspec.UNSET:
            return found
        if isinstance(found, InputArtifact):
            raise self.wrong(f"the file input {name!r} can't have a default", "annotate it `Path | None`")
        default = self.wire(found.type, default, f"the default of {name!r}")
        return msgspec.structs.replace(found, default=default)

    def _output(self, name: str, spec: OutputSpec) -> OutputParameter | OutputArtifact:
        path = f"{OUTPUTS_FOLDER}/{name}"
        if isinstance(spec, OutputParameter | OutputArtifact):
            return spec
        if isinstance(spec, pathlib.PurePath):
            return OutputArtifact(name, str(spec))
        if isinstance(spec, FileAt):
            return OutputArtifact(name, spec.path, storage=spec.storage, optional=spec.optional)
        annotation = spec.type if isinstance(spec, ValueAt) else spec
        found = self.type_of(annotation, f"output {name!r}")
        if isinstance(found, ArtifactType):
            return OutputArtifact(name, path, optional=found.optional)
        if isinstance(spec, ValueAt):
            return OutputParameter(name, found, path=spec.path, stdout=spec.printed)
        return OutputParameter(name, found, path=path)
