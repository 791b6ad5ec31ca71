"""`@step`: a Python function as a unit of work.

    @couler.step(image="python:3.12", packages=["scikit-learn"], cpu=2, memory="4Gi", retries=2)
    def train(data: Path, c: float = 1.0) -> Trained: ...

Outside a workflow it is the plain function. Inside, a call adds a task and returns its outputs.
"""

from __future__ import annotations

import ast
import difflib
import functools
import inspect
import weakref
from collections.abc import Callable
from types import FrameType, FunctionType
from typing import Any, Generic, ParamSpec, TypeVar, Unpack, cast, overload

import msgspec

from couler_py.dsl import signature
from couler_py.dsl.annotations import Scope
from couler_py.dsl.capture import Captured, FunctionSource, LocalImport
from couler_py.dsl.errors import CallError, DefinitionError
from couler_py.dsl.images import recipe_key
from couler_py.dsl.include import Include, covers, included, project_include
from couler_py.dsl.lockfile import lock_of
from couler_py.dsl.option_types import without_none
from couler_py.dsl.options import DEFAULT_IMAGE, ArgoTask, Policies, Reader, Runtime, StepOptions, own_words
from couler_py.dsl.packages import index_environment, normalise, pinned
from couler_py.dsl.project import project_of
from couler_py.dsl.recorder import Defaults, Recorder, current
from couler_py.dsl.sources import caller, caller_frame, shown
from couler_py.ir.diagnostics import Diagnostic, error
from couler_py.ir.expr import TextLike
from couler_py.ir.model import Function, IncludeArchive, Inputs, Outputs, Source, Template
from couler_py.ir.pod import EnvVar, PodSettings, Templated, VolumeClaim

P = ParamSpec("P")
R = TypeVar("R")


class StepFunction(Generic[P, R]):
    """A step made of a Python function. It keeps the function's signature, name and documentation.

    >>> @step
    ... def double(x: int) -> int:
    ...     return 2 * x
    >>> double(21)
    42
    """

    def __init__(
        self,
        function: Callable[P, R],
        options: StepOptions,
        place: Source,
        frame: FrameType | None,
        source: FunctionSource | None = None,
    ):
        _check_decorated(function, place)
        plain = inspect.unwrap(function)
        options = without_none(options)
        functools.update_wrapper(self, function)
        self._function = function
        self._options = options
        self._place = place
        self._variant = source is not None
        self._task_name = ""
        self._task_extra: Templated | None = None
        name: str = options.get("name") or str(getattr(plain, "__name__", "step"))
        self.name = name
        _check_function(plain, place, name)
        assert isinstance(plain, FunctionType)
        self._source = source or FunctionSource(plain, name, frame)
        self._reader = Reader(options, name, place)
        self._policies: Policies = self._reader.policies()
        self._runtime: Runtime = self._reader.runtime()
        self._pod: PodSettings = self._reader.pod()
        self._packages = normalise(options.get("packages", ()), place, name)
        scope = _scope(plain, self._source, name)
        self.inputs: Inputs = signature.inputs(plain, scope)
        returns, outputs = signature.outputs(plain, scope, returns_value=self._source.returns_value())
        self._returns = returns
        self.outputs: Outputs = outputs
        self._include: Include | None = included(options.get("include", ()), plain.__code__.co_filename, place, name)
        self._names = tuple(inspect.signature(plain).parameters)
        self._required = _required(self.inputs)
        self._recorded: tuple[weakref.ref[Recorder], Defaults, Template] | None = None
        self._templates: dict[Any, Template] = {}
        captured = self._source.capture(partial=True)
        if captured.local and not _workflow_includes(self._source):
            self._check_imports(captured.local, self._includes(Defaults()))

    # ---- what people use

    def __call__(self, /, *args: P.args, **kwargs: P.kwargs) -> R:
        recorder = current()
        if recorder is None:
            return self._function(*args, **kwargs)
        place = caller()
        found = recorder.call(
            self._template_in(recorder),
            self._bind(args, kwargs, place),
            name=self._task_name,
            base=self.name,
            generated=self._generated(),
            source=place,
            extra=self._task_extra,
        )
        return cast(R, found)

    def with_options(self, **options: Unpack[StepOptions]) -> StepFunction[P, R]:
        """The same step with some options changed: `train.with_options(gpu=1)(data)`."""
        merged = cast(StepOptions, {**self._options, **options})
        found = StepFunction(self._function, merged, caller(), None, self._source)
        found._task_name, found._task_extra = self._task_name, self._task_extra
        return found

    def named(self, name: str) -> StepFunction[P, R]:
        """The same step, whose calls make a task of the given name: `train.named("train-svm")(data)`."""
        found: StepFunction[P, R] = StepFunction.__new__(StepFunction)
        found.__dict__.update(self.__dict__)
        found._task_name = name
        return found

    def argo_task(self, **fields: Unpack[ArgoTask]) -> StepFunction[P, R]:
        """The same step, whose calls have further fields of the Argo task, in Argo's own words.

        `train.argo_task(hooks={"running": {...}})(data)`. They are merged into what is emitted for the rest. Raises
        `DefinitionError` for what JSON can't say.
        """
        found: StepFunction[P, R] = StepFunction.__new__(StepFunction)
        found.__dict__.update(self.__dict__)
        found._task_extra = own_words(fields, self.name)
        return found

    def __repr__(self) -> str:
        return f"<step {self.name}>"

    # ---- what is recorded

    @property
    def __couler_source__(self) -> FunctionSource:
        return self._source

    @property
    def source(self) -> Source:
        """Where the function is defined."""
        return Source(self._source.definition.file, self._source.definition.node.lineno)

    @property
    def claims(self) -> tuple[VolumeClaim, ...]:
        """The volume claims that the step mounts; they belong to the workflow."""
        return self._runtime.claims

    def template(self, defaults: Defaults = Defaults()) -> Template:
        """The template of the step: the same object as long as nothing that it depends on has changed.

        Raises `DefinitionError` for what can't travel.
        """
        return self._make(defaults)[0]

    def archives(self, defaults: Defaults = Defaults()) -> tuple[IncludeArchive, ...]:
        """The include archives that the step reads: its own, the workflow's, the project's."""
        return self._make(defaults)[1]

    def _make(self, defaults: Defaults) -> tuple[Template, tuple[IncludeArchive, ...]]:
        captured = self._source.capture()
        includes = self._includes(defaults)
        self._check_imports(captured.local, includes)
        filename = self._source.function.__code__.co_filename
        packages = normalise((*defaults.packages, *self._packages), self._place, self.name)
        image = self._options.get("image") or defaults.image or project_of(filename)[1].image or DEFAULT_IMAGE
        packages = pinned(packages, image, filename, self._place, self.name)
        archives = tuple(include.archive for include in includes)
        lock = lock_of(filename)
        if lock is not None and lock.images and isinstance(image, str):
            holding = lock.images.get(recipe_key(image, packages, tuple(archive.digest for archive in archives)))
            if holding is not None:
                image, packages, archives = holding, (), ()
        indexes = index_environment(filename, self._place, self.name) if packages else ()
        digests = tuple(archive.digest for archive in archives)
        key = (image, packages, digests, captured, indexes)
        if key not in self._templates:
            self._templates[key] = self._template(captured, image, packages, digests, indexes)
        return self._templates[key], archives

    def _template(
        self,
        captured: Captured,
        image: TextLike,
        packages: tuple[str, ...],
        include: tuple[str, ...],
        indexes: tuple[EnvVar, ...],
    ) -> Template:
        own = {variable.name for variable in self._runtime.env}
        body = Function(
            name=captured.name,
            pieces=captured.pieces,
            returns=self._returns,
            image=image,
            command=tuple(self._options.get("command", ("python",))),
            future=captured.future,
            packages=packages,
            include=include,
            env=(*self._runtime.env, *(variable for variable in indexes if variable.name not in own)),
            env_from=self._runtime.env_from,
            pull_policy=self._options.get("image_pull_policy"),
            mounts=self._runtime.mounts,
            resources=self._runtime.resources,
        )
        return Template(
            name=self.name,
            body=body,
            inputs=self.inputs,
            outputs=self.outputs,
            retry=self._policies.retry,
            timeout=self._policies.timeout,
            deadline=self._policies.deadline,
            cache=self._policies.cache,
            locks=self._policies.locks,
            effects=self._policies.effects,
            pod=self._pod,
            description=self._options.get("description") or inspect.getdoc(self._source.function) or "",
            source=self.source,
        )

    def _template_in(self, recorder: Recorder) -> Template:
        """The template for one recording, made at its first call there and again when the source has changed."""
        known = self._recorded
        defaults = recorder.defaults
        if (
            known is not None
            and known[0]() is recorder
            and (known[1] is defaults or known[1] == defaults)
            and not self._source.changed()
        ):
            return known[2]
        template, archives = self._make(defaults)
        for archive in archives:
            recorder.include(archive)
        for claim in self.claims:
            recorder.claims[claim.name] = claim
        self._recorded = (weakref.ref(recorder), defaults, template)
        return template

    def _includes(self, defaults: Defaults) -> tuple[Include, ...]:
        filename = self._source.function.__code__.co_filename
        found = [self._include, project_include(filename)]
        if defaults.include:
            found.append(included(defaults.include, filename, self._place, self.name))
        return tuple({include.archive.digest: include for include in found if include is not None}.values())

    def _generated(self) -> bool:
        # Variants and functions made inside functions share a name by nature: the recorder counts them.
        if self._options.get("name"):
            return False
        return self._variant or "<locals>" in self._source.function.__qualname__

    def _bind(self, args: tuple[Any, ...], kwargs: dict[str, Any], place: Source) -> dict[str, Any]:
        names = self._names
        if len(args) > len(names):
            raise self._call_error(place, f"{self.name} takes {len(names)} arguments, and {len(args)} were given")
        found = dict(zip(names, args, strict=False))
        for name, value in kwargs.items():
            if name not in names:
                near = difflib.get_close_matches(name, names, 1)
                hint = f"did you mean {near[0]!r}?" if near else f"its parameters are {', '.join(names) or 'none'}"
                raise self._call_error(place, f"{self.name} has no parameter {name!r}", hint)
            if name in found:
                raise self._call_error(place, f"{self.name} was given {name!r} twice")
            found[name] = value
        for name in self._required:
            if name not in found:
                raise self._call_error(place, f"{self.name} needs the argument {name!r}")
        return found

    def _call_error(self, place: Source, message: str, help_: str = "") -> CallError:
        related = ((f"{self.name} is defined here", self.source),)
        return CallError([error("CLR120", message, source=place, step=self.name, help=help_, related=related)])

    def _check_imports(self, local: tuple[LocalImport, ...], includes: tuple[Include, ...]) -> None:
        missing = [found for found in local if not covers(includes, found.path)]
        if missing:
            raise DefinitionError([_undeclared(found, self.name) for found in missing])


@overload
def step(function: Callable[P, R], /) -> StepFunction[P, R]: ...


@overload
def step(
    function: None = None, /, **options: Unpack[StepOptions]
) -> Callable[[Callable[P, R]], StepFunction[P, R]]: ...


def step(function: Any = None, /, **options: Unpack[StepOptions]) -> Any:
    """Make a step of a function. Bare, or with options (see `StepOptions`).

    Raises `DefinitionError` at the step's line for a type, a variable or an option that can't be honoured.

    >>> @step(cpu=2, memory="4Gi", retries=2, timeout="10m")
    ... def train(c: float = 1.0) -> float:
    ...     return c
    """
    if isinstance(function, StepFunction):
        return function.with_options(**options)
    if function is not None:
        return StepFunction(function, options, caller(), caller_frame())

    def decorate(decorated: Callable[P, R]) -> StepFunction[P, R]:
        if isinstance(decorated, StepFunction):
            return decorated.with_options(**options)
        return StepFunction(decorated, options, caller(), caller_frame())

    return decorate


def _required(inputs: Inputs) -> tuple[str, ...]:
    values = [parameter.name for parameter in inputs.parameters if parameter.default is msgspec.UNSET]
    files = [artifact.name for artifact in inputs.artifacts if not artifact.optional and artifact.storage is None]
    return (*values, *files)


def _scope(function: FunctionType, source: FunctionSource, name: str) -> Scope:
    names: dict[str, Any] = {}
    for scope in reversed(source.origin().names):
        names.update(scope)
    place = Source(source.definition.file, source.definition.node.lineno)
    return Scope(names, place, name)


def _check_decorated(function: Any, place: Source) -> None:
    from couler_py.dsl.flow import WorkflowFunction

    if isinstance(function, WorkflowFunction):
        name = str(getattr(function, "__name__", "step"))
        raise _not_a_step(
            f"the workflow {name!r} can't be a step", place, name, "leave @step out: a workflow is called like a step"
        )


def _check_function(function: Any, place: Source, name: str) -> None:
    code = getattr(function, "__code__", None)
    if not isinstance(function, FunctionType) or code is None:
        raise _not_a_step(f"{function!r} is not a function", place, name, "make a step of a `def` function")
    at = Source(shown(code.co_filename), code.co_firstlineno)
    if function.__name__ == "<lambda>":
        raise _not_a_step("a lambda can't be a step", at, name, "write it as `def`, with annotations")
    if code.co_flags & (inspect.CO_GENERATOR | inspect.CO_ASYNC_GENERATOR):
        raise _not_a_step("a generator can't be a step", at, name, "return a list, and use couler.map to fan out")
    if code.co_flags & inspect.CO_COROUTINE:
        raise _not_a_step(
            "an async function can't be a step", at, name, "write a plain function that calls `asyncio.run` inside"
        )
    parent = function.__qualname__.rpartition(".")[0]
    first = code.co_varnames[:1] if code.co_argcount else ()
    takes_object = first in (("self",), ("cls",))
    if "__class__" in code.co_freevars or (parent and not parent.endswith("<locals>") and takes_object):
        raise _not_a_step(
            "a method can't be a step", at, name, "write a function that takes what it needs of the object as arguments"
        )


def _not_a_step(message: str, place: Source, name: str, help_: str) -> DefinitionError:
    return DefinitionError([error("CLR111", message, source=place, step=name, help=help_)])


def _workflow_includes(source: FunctionSource) -> bool:
    """Whether a workflow of the same file names files to include: then what a step imports is checked with it."""
    tree = source.definition.source.tree
    return any(
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute | ast.Name)
        and (node.func.attr if isinstance(node.func, ast.Attribute) else node.func.id).lower() == "workflow"
        and any(keyword.arg == "include" for keyword in node.keywords)
        for node in ast.walk(tree)
    )


def _undeclared(found: LocalImport, step_name: str) -> Diagnostic:
    top = found.module.partition(".")[0]
    name = found.path.name if found.path.suffix == ".py" else top
    return error(
        "CLR114",
        f"the step imports {found.module}, which is a module of your own",
        source=found.source,
        step=step_name,
        why=f"where the step runs there is no {shown(str(found.path))}",
        help=f'add include=["{name}"] to the step or the workflow, or to [tool.couler] in pyproject.toml',
    )
