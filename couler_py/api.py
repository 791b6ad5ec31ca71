"""Compile and run: what the Python API and the command line share.

>>> import couler_py as couler
>>> @couler.step
... def greet(name: str) -> str:
...     return f"hello {name}"
>>> @couler.workflow
... def hello(name: str = "world"):
...     return greet(name)
>>> print(couler.compile(hello, to="argo").documents[0]["kind"])
Workflow
"""

from __future__ import annotations

import gc
import signal
import sys
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from contextvars import ContextVar
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from couler_py import display
from couler_py.backends.base import (
    FINISHED,
    Bundle,
    Client,
    DocumentBackend,
    NotOffered,
    OptionError,
    RunStatus,
    TaskStatus,
    backend,
    parse_target,
)
from couler_py.backends.imported import for_engine
from couler_py.backends.interrupts import Interrupts
from couler_py.display import Logs
from couler_py.ir.codec import from_json
from couler_py.ir.diagnostics import CoulerError, Diagnostic, DiagnosticError, warning
from couler_py.ir.model import Document, Workflow
from couler_py.ir.names import file_stem
from couler_py.passes.defaults import Filled, fill
from couler_py.passes.pipeline import PASSES, options_of, transform
from couler_py.passes.situation import Situation
from couler_py.settings import Settings, using
from couler_py.settings import load as load_settings

if TYPE_CHECKING:
    from couler_py.backends.local.cache.why import Why
    from couler_py.backends.local.runs.exporting import Files, Written


class RunFailedError(CoulerError):
    """A run that ended Failed or Stopped, and whose outputs were asked for, or that was run with `check=True`."""


class Checked(msgspec.Struct, frozen=True):
    """A workflow without errors, as it was `written` and as the settings fill it in, and what there is to say of it."""

    workflow: Workflow
    written: Workflow
    findings: tuple[Diagnostic, ...]
    settings: Settings
    filled: tuple[Filled, ...]


class Recorded(msgspec.Struct, frozen=True):
    """What a call of `run` was given while a file was being loaded by the command line."""

    workflow: Any
    parameters: Mapping[str, Any]
    submitter: Any
    options: Mapping[str, Any]


_loading: ContextVar[list[Recorded] | None] = ContextVar("couler_loading", default=None)
_default_submitter: ContextVar[Any] = ContextVar("couler_default_submitter", default=None)


@contextmanager
def loading() -> Iterator[list[Recorded]]:
    """While a file is loaded by the command line: `run` starts nothing and appends to the list that this gives."""
    recorded: list[Recorded] = []
    token = _loading.set(recorded)
    try:
        yield recorded
    finally:
        _loading.reset(token)


def set_default_submitter(submitter: Any) -> None:
    """What `run` hands workflows to when it isn't told: None for this machine, or see `run`.

    >>> couler.set_default_submitter("argo")  # doctest: +SKIP
    """
    _default_submitter.set(submitter)


def build(workflow: Any = None) -> Workflow:
    """The IR of a `@workflow`, a `Workflow`, IR itself, or (None) of what was recorded implicitly.

    Raises `DiagnosticError` for what is wrong with it, with the place where it was written.

    >>> w = couler.Workflow("pause")
    >>> nothing = w.add(couler.suspend("1m"))
    >>> couler.build(w).name
    'pause'
    """
    from couler_py import dsl

    return dsl.build(workflow)


def given(workflow: Any) -> Any:
    """What was handed over: of a document written in Argo's own words the IR that it is, everything else as it is."""
    written = getattr(workflow, "document", None)
    return written if isinstance(written, Document) else workflow


def check(workflow: Any = None) -> tuple[Diagnostic, ...]:
    """Everything that is wrong with a workflow whatever the engine: errors, and warnings.

    >>> w = couler.Workflow("pause")
    >>> nothing = w.add(couler.suspend("1m"))
    >>> couler.check(w)
    ()
    """
    from couler_py.passes.check import check as check_ir

    built = build(workflow)
    settings = settings_of(built)
    filled, _ = fill(built, settings)
    return (*check_ir(filled), *_by_policy(filled, given(workflow), settings))


def _by_policy(built: Workflow, handed: Any, settings: Settings) -> list[Diagnostic]:
    """What the policies don't allow of a workflow, or of the document in Argo's words that was handed over."""
    if not settings.policies:
        return []
    if built.dialect == "argo":
        argo: Any = backend("argo")
        found: list[Diagnostic] = argo.broken_by(handed if isinstance(handed, Document) else built, settings.policies)
        return found
    from couler_py.passes import policy

    return policy.check(built, settings.policies)


def settings_of(workflow: Workflow) -> Settings:
    """The settings that hold for a workflow: those of the project that it was written in, else of the working folder.

    The policies of the working folder hold too, for where a workflow was written is what it says of itself.
    Raises `SettingsError`.
    """
    here = load_settings()
    file = Path(workflow.source.file) if workflow.source is not None else None
    if file is None or not file.is_file():
        return here
    found = load_settings(file.parent)
    more = tuple(policy for policy in here.policies if policy not in found.policies)
    return msgspec.structs.replace(found, policies=found.policies + more)


def checked(workflow: Any = None) -> Checked:
    """The IR of a workflow without errors, as the settings fill it in. Raises `DiagnosticError` with every error."""
    from couler_py.passes.check import check as check_ir

    written = build(workflow)
    settings = settings_of(written)
    built, filled = fill(written, settings)
    findings = (*check_ir(built), *_by_policy(built, given(workflow), settings))
    _refuse(findings)
    return Checked(built, written, findings, settings, filled)


def compile(  # noqa: A001 - couler.compile
    workflow: Any = None,
    to: str | None = None,
    *,
    profile: str | None = None,
    without: Collection[str] = (),
    **options: Any,
) -> Bundle:
    """Emit a workflow for an engine: `to` is its name, with a version where that matters ("argo@3.5").

    Without `to` it is the engine of the settings, else Argo. `to="ir"` gives the IR as JSON, as it was written. What
    the workflow leaves open is filled in from the settings, with the `profile` of that name. A `Document` keeps its
    kind, its metadata and what stands around it. `without` names passes to leave out. Further options are those that
    passes take (`couler plan` shows them), and the engine's own, as `crds="minimal"` for Argo.
    Raises `DiagnosticError` with every error at once, `OptionError`, `SettingsError`, `UnknownEngineError`, and
    `UnknownPassError`.

    >>> w = couler.Workflow("pause")
    >>> nothing = w.add(couler.suspend("1m"))
    >>> couler.compile(w, to="argo").documents[0]["spec"]["entrypoint"]
    'pause'
    """
    with collector_at_rest(), using(profile):
        workflow = given(workflow)
        return emit(checked(workflow), workflow, to, without=without, **options)


def emit(
    made: Checked,
    workflow: Any,
    to: str | None = None,
    *,
    without: Collection[str] = (),
    passed: Workflow | None = None,
    **options: Any,
) -> Bundle:
    """Likewise, of what was checked before: `workflow` is what was handed over (see `given`). Raises as `compile`.

    `passed` is what the passes made of it with the same options, where they ran before.
    """
    built, findings = made.workflow, made.findings
    name, version = parse_target(to or made.settings.engine or "argo@4")
    for_passes = taken(options)
    if name == "ir":
        if options or for_passes:
            shown = ", ".join(sorted(options | for_passes))
            raise OptionError(f"compile(to='ir') takes no options, and got {shown}")
        from couler_py.ir.codec import to_json

        model = workflow if isinstance(workflow, Document) else made.written
        return Bundle("ir", {f"{file_stem(built.name)}.json": to_json(model)}, diagnostics=findings)
    engine = backend(name)
    if getattr(engine, "namespaced", False):
        if made.settings.namespace:
            options.setdefault("namespace", made.settings.namespace)
        findings = (*findings, *_namespace_by_policy(made, workflow, str(options.get("namespace") or "")))
    if hasattr(engine, "chosen"):
        options = engine.chosen(made.settings) | options
    if built.dialect == "argo" and name != "argo":
        built, findings = for_engine(workflow if isinstance(workflow, Document) else built, name)
        workflow = built
    asked = [each.name for each in PASSES if each.name not in without and each.asked_of(for_passes)]
    if built.dialect == "argo" and asked:
        message = f"{', '.join(asked)}: passes leave a workflow in Argo's own words as it is"
        findings = (*findings, warning("CLR709", message, source=built.source, step=built.display or built.name))
    from couler_py.steps.launchers import lowered as jobs
    from couler_py.store.history import history

    situation = Situation(
        name,
        version,
        options | for_passes,
        made.settings,
        history(),
        scale_of(engine, version, options),
        explain=False,
        jobs=jobs,
    )
    built, findings = _transformed(made, built, findings, situation, without, passed)
    if isinstance(workflow, Document):
        workflow = msgspec.structs.replace(workflow, workflow=built)
    if isinstance(workflow, Document) and isinstance(engine, DocumentBackend):
        bundle = engine.compile_document(workflow, version=version, **options)
    else:
        bundle = engine.compile(built, version=version, **options)
    if built.dialect != "argo" and made.settings.policies and hasattr(engine, "broken_by_emitted"):
        findings = (*findings, *engine.broken_by_emitted(bundle, built, made.settings.policies, findings))
        _refuse(findings)
    return msgspec.structs.replace(bundle, diagnostics=(*findings, *bundle.diagnostics))


def taken(options: dict[str, Any]) -> dict[str, Any]:
    """The options that passes take, out of all that were given: what is left is the engine's."""
    return {each.name: options.pop(each.name) for each in options_of() if each.name in options}


def scale_of(engine: Any, version: str | None, options: Mapping[str, Any]) -> Any:
    """How an engine weighs what is emitted for it with some options; None where it doesn't say."""
    scale = getattr(engine, "scale", None)
    return None if scale is None else scale(version, options)


def _transformed(
    made: Checked,
    built: Workflow,
    findings: tuple[Diagnostic, ...],
    situation: Situation,
    without: Collection[str],
    passed: Workflow | None,
) -> tuple[Workflow, tuple[Diagnostic, ...]]:
    """The workflow after the passes. What they changed is held against the checks and policies again."""
    from couler_py.passes.check import check as check_ir

    changed = passed if passed is not None else transform(built, situation, without=without)[0]
    if changed is built or changed == built:
        return built, findings
    again = (*check_ir(changed), *_by_policy(changed, changed, made.settings))
    if any(finding.severity == "error" for finding in again):
        # What is translated from another language is not checked before, and types may be said less exactly there.
        known = (*check_ir(built), *_by_policy(built, built, made.settings))
        _refuse(tuple(finding for finding in again if finding not in known))
    return changed, findings


def _namespace_by_policy(made: Checked, handed: Any, namespace: str) -> list[Diagnostic]:
    if not made.settings.policies:
        return []
    from couler_py.passes.policy import check_namespace

    if not namespace and isinstance(handed, Document):
        namespace = str(handed.metadata.get("namespace") or "")
    workflow = made.workflow
    found = check_namespace(namespace, made.settings.policies, step=workflow.name, source=workflow.source)
    _refuse((*made.findings, *found))
    return found


def _refuse(findings: tuple[Diagnostic, ...]) -> None:
    """Raises `DiagnosticError` where one of the findings is an error."""
    if any(finding.severity == "error" for finding in findings):
        raise DiagnosticError(findings)


@contextmanager
def collector_at_rest() -> Iterator[None]:
    """No search for garbage inside."""
    # A compilation makes many objects that live until its end, and no cycles among those that don't:
    # looking through them for garbage, again and again, took a third of its time.
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


class Run:
    """A run that was started, wherever that is. Its facts are read from the engine when they are asked for."""

    def __init__(self, client: Client, run: str, status: RunStatus | None = None):
        self._client = client
        self._status = status
        self.id = run

    def refresh(self) -> RunStatus:
        """The run as it stands now."""
        if self._status is None or self._status.status not in FINISHED:
            self._status = self._client.status(self.id)
        return self._status

    @property
    def status(self) -> str:
        """Pending, Running, Suspended, Stopped, Succeeded or Failed."""
        return self.refresh().status

    @property
    def tasks(self) -> dict[str, TaskStatus]:
        """The tasks by path."""
        return {task.name: task for task in self.refresh().tasks}

    @property
    def outputs(self) -> dict[str, Any]:
        """The outputs of the workflow by name. Raises `RunFailedError` for a run that failed."""
        status = self.refresh()
        if status.status in ("Failed", "Stopped"):
            raise RunFailedError(f"{self.id} {status.status.lower()}: {status.message or 'see couler logs ' + self.id}")
        return status.outputs

    def wait(self) -> Run:
        """Wait until the run has ended.

        Ctrl-C ends the steps of a run of this process, and a second one kills them; then `KeyboardInterrupt`
        is raised, and the run can be resumed. Of a run elsewhere it ends only the waiting.
        """
        interrupts = _ctrl_c()
        with interrupts.caught():
            return self._follow(interrupts)

    def _follow(self, interrupts: Interrupts) -> Run:
        for status in interrupts.passed_on(self._client.watch(self.id)):
            self._status = status
        if interrupts.count:
            if self._status is not None and self._status.status == "Stopped":
                _say(f"{self.id} stopped; `couler resume {self.id}` goes on with it")
            raise KeyboardInterrupt
        return self

    def logs(self, task: str | None = None, *, follow: bool = False) -> Logs:
        """What its steps wrote: iterate over the lines, or show it as text. With `follow`, until the run has ended.

        Reading them raises `RunNotFoundError` for a task that the run doesn't have.
        """
        return Logs(lambda: self._client.logs(self.id, task, follow=follow), of_one=task is not None)

    def stop(self) -> None:
        """Let running steps end, start no others, run exit handlers."""
        self._client.stop(self.id)

    def retry(self, *, start: Collection[str] = (), only: Collection[str] = (), workflow: Any = None) -> Run:
        """Run what failed again, keep what succeeded, and wait for the end where the run is on this machine.

        On this machine, `start` are tasks from which on everything runs again, too; `only` are those that run again
        with all that follows them, and nothing else; `workflow` is the workflow as it is now, whose changed steps run
        again with all that follows. Raises `RunNotFoundError` for a task that the run doesn't have.
        """
        options: dict[str, Any] = {"start": start, "only": only}
        if workflow is not None:
            options["workflow"] = from_json(compile(workflow, to=self._client.engine).text)
        self._client.retry(self.id, **{name: value for name, value in options.items() if value})
        self._status = None
        return self.wait() if self._client.engine == "local" else self

    def rerun(self, parameters: Mapping[str, Any] | None = None) -> Run:
        """Start a new run of the same workflow, `parameters` in the place of those of old; wait for it as `run` does.

        Raises `NotOffered` where the engine can't.
        """
        again = Run(self._client, str(self._of_this_machine("rerun")(self.id, parameters=parameters)))
        return again.wait()

    def why(self, task: str) -> Why:
        """Why a task was computed, or whose result it used: what differs from its nearest earlier success.

        Raises `NotOffered` where the engine can't say.
        """
        found: Why = self._of_this_machine("why")(self.id, task)
        return found

    def export(self, target: str | Path) -> Path:
        """Write the run to a folder, or to an archive (`.tar.gz`): record, workflow, logs and files, secrets hidden.

        Raises `NotOffered` where the engine can't, `FileExistsError`.
        """
        self._of_this_machine("export")
        export(self._client, self.id, target)
        return Path(target)

    def _of_this_machine(self, verb: str) -> Callable[..., Any]:
        found: Callable[..., Any] | None = getattr(self._client, verb, None)
        if found is None:
            raise NotOffered(f"{verb} is for runs on this machine, and {self.id} is on {self._client.engine}")
        return found

    def __repr__(self) -> str:
        return display.line(self.id, self._status)

    def _repr_html_(self) -> str:
        return display.html(self.refresh())


def export(client: Any, run: str, target: str | Path, *, files: Files = "small") -> Written:
    """Write a run of a client of this machine to a folder or archive, with its program and its page to read."""
    from couler_py.printer import print_python
    from couler_py.report.previews import attachments
    from couler_py.report.runs import run_page

    try:
        source = print_python(client.workflow(run))
    except CoulerError:
        source = ""  # not everything has a form in Python; the workflow's JSON is whole
    page = run_page(client.report(run), attachments(client.artifacts(run)))
    written: Written = client.export(run, target, files=files, source=source, page=page)
    return written


class NotStarted(Run):
    """What `run` gives while a file is loaded by the command line, which runs the workflow itself."""

    def __init__(self) -> None:
        self.id = "not started"
        self._status = None

    def refresh(self) -> RunStatus:
        raise NotOffered(
            "this file was loaded by the couler command, which runs its workflow itself: what reads the run belongs "
            "under `if __name__ == '__main__':`"
        )


def run(
    workflow: Any = None,
    *,
    submitter: Any = None,
    parameters: Mapping[str, Any] | None = None,
    wait: bool | None = None,
    check: bool = False,
    compile_options: Mapping[str, Any] | None = None,
    profile: str | None = None,
    without: Collection[str] = (),
    **options: Any,
) -> Run:
    """Run a workflow: here, or where `submitter` says.

    `submitter` is the name of an engine ("argo"), which is then reached as its own tools are configured; a `Client`; or
    an object with a method `client()`, as `ArgoSubmitter`. None is the engine of the settings, else this machine;
    `profile` chooses among the settings, which also fill in what the workflow leaves open. `parameters` are values for
    the workflow's parameters, `compile_options` those that `compile` takes for the engine, `without` the passes to
    leave out, and further options those of passes and of the engine's client. The call returns when the run has ended
    on this machine, and at once elsewhere; `wait` says otherwise. On this machine the steps of what a program wrote
    with couler's functions run as processes; those of IR and documents that were read from somewhere run in containers,
    or not at all: `runtime` ("process", "podman", "docker", "container") says otherwise. A run that fails doesn't
    raise: look at `status`, or read `outputs`, which does. So a program whose run failed ends with the exit code 0,
    unless it says otherwise; with `check=True` a run that was waited for and didn't succeed raises `RunFailedError`.
    Where the call waited, stderr says which tasks failed and why; a run that succeeds says nothing. Ctrl-C meanwhile:
    see `Run.wait`.

    Raises `DiagnosticError` for what is wrong with the workflow, `ValueError` for wrong parameters.

    >>> @couler.step
    ... def double(x: int) -> int:
    ...     return 2 * x
    >>> @couler.workflow
    ... def twice(x: int = 5):
    ...     return double(double(x))
    >>> couler.run(twice, parameters={"x": 1}).outputs
    {'result': 4}
    """
    if submitter is None:
        submitter = _default_submitter.get()
    recorded = _loading.get()
    if recorded is not None:
        recorded.append(Recorded(workflow, dict(parameters or {}), submitter, options))
        return NotStarted()
    from couler_py.dsl.building import written_here

    handed = given(workflow)
    with using(profile):
        built = build(handed)
        settings = settings_of(built)
        client, engine, version = _client(submitter or settings.engine)
        model = handed if isinstance(handed, Document) else built
        compiling = {**(compile_options or {}), **taken(options)}
        bundle = compile(model, to=f"{engine}@{version}" if version else engine, without=without, **compiling)
    named = options.get("namespace") or (compile_options or {}).get("namespace") or settings.namespace
    hand_over_secrets(built, client, str(named))
    here = engine == "local"
    if here and settings.artifacts:
        options.setdefault("artifacts", settings.artifacts)
    choose = getattr(client, "choose_runtime", None)
    if choose is not None:
        options["runtime"] = choose(options.get("runtime"), settings.runtime, trusted=written_here(workflow))
    if not (here if wait is None else wait):
        with using(profile):
            return Run(client, client.submit(bundle, parameters=parameters, **options))
    # A run of this process is never left behind half started; elsewhere Ctrl-C may end what doesn't answer.
    interrupts = _ctrl_c()
    with interrupts.caught() if here else nullcontext():
        with using(profile):
            started = Run(client, client.submit(bundle, parameters=parameters, **options))
        ended = started._follow(interrupts) if here else started.wait()
    if ended.status == "Failed":
        _say(display.failure(ended.refresh()))
    if check and ended.status != "Succeeded":
        raise RunFailedError(f"{ended.id} {ended.status.lower()}: {ended.refresh().message or 'see its logs'}")
    return ended


def picture(workflow: Any) -> str | None:
    """The SVG of a workflow's graph for a notebook; None where the workflow can't be built as it stands."""
    try:
        return display.picture(build(workflow))
    except DiagnosticError:  # whoever builds, checks or runs it is told; a notebook shows its name instead
        return None


def _ctrl_c() -> Interrupts:
    # A program's own handler of Ctrl-C has the last word.
    return Interrupts([signal.SIGINT] if signal.getsignal(signal.SIGINT) is signal.default_int_handler else [])


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)  # noqa: T201


def hand_over_secrets(workflow: Workflow, client: Client, namespace: str = "") -> None:
    """Give the data of the secrets that a program made for a workflow to the engine's own store.

    `namespace` is that of the run, where the engine has such.

    Raises `NotOffered` where the engine takes none.
    """
    from couler_py.dsl import secrets

    names = secrets.named_in(workflow)
    if not names:
        return
    keep = getattr(client, "keep_secret", None)
    if keep is None:
        raise NotOffered(
            f"this engine takes no secrets from a program: make {', '.join(names)} with its own tools, and name it by "
            "couler.obtain_secret"
        )
    secrets.hand_over(names, lambda secret: keep(secret.name, secret.data, namespace or secret.namespace))


def _client(submitter: Any) -> tuple[Client, str, str | None]:
    if submitter in (None, ""):
        submitter = "local"
    if isinstance(submitter, str):
        name, version = parse_target(submitter)
        return backend(name).client(), name, version
    if hasattr(submitter, "client"):
        submitter = submitter.client()
    engine = getattr(submitter, "engine", None)
    if not isinstance(engine, str):
        raise TypeError(f"{submitter!r} is neither the name of an engine nor a client of one")
    return submitter, engine, None
