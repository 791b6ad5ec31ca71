"""Tasks of a dag and steps of a `steps` template, and what others read of them."""

from __future__ import annotations

from typing import Literal, TypeAlias

from couler_py.backends.argo.native.depends import Depends
from couler_py.backends.argo.native.references import ArtifactReference, Reference, tag

Form: TypeAlias = Literal["dag", "steps"]


class Task(Depends):
    """A task that was written: its name, which `depends` and `dependencies` take, and what others read of it."""

    form: Form = "dag"

    def _tag(self, rest: str) -> Reference:
        return tag(f"{'steps' if self.form == 'steps' else 'tasks'}.{str.__str__(self)}.{rest}")

    @property
    def result(self) -> Reference:
        """What it printed (container, script) or answered (http)."""
        return self._tag("outputs.result")

    @property
    def outputs(self) -> Outputs:
        """Its outputs by kind: `a.outputs.parameters["x"]`, `a.outputs.artifacts["y"]`."""
        return Outputs(self)

    @property
    def exit_code(self) -> Reference:
        """With what its container ended."""
        return self._tag("exitCode")

    @property
    def status(self) -> Reference:
        """How it ended: Succeeded, Failed, Errored, Skipped, Omitted or Daemoned."""
        return self._tag("status")

    @property
    def id(self) -> Reference:
        """The id of its node, or pod."""
        return self._tag("id")

    @property
    def ip(self) -> Reference:
        """The address of a daemon."""
        return self._tag("ip")

    @property
    def started_at(self) -> Reference:
        """When it began."""
        return self._tag("startedAt")

    @property
    def finished_at(self) -> Reference:
        """When it ended."""
        return self._tag("finishedAt")

    @property
    def host_node_name(self) -> Reference:
        """The machine that it ran on."""
        return self._tag("hostNodeName")

    def parameter(self, name: str) -> Reference:
        """An output parameter."""
        return self._tag(f"outputs.parameters.{name}")

    def artifact(self, name: str) -> ArtifactReference:
        """An output artifact, for another task's input."""
        return ArtifactReference(self._tag(f"outputs.artifacts.{name}"))

    # ---- for `depends`

    @property
    def succeeded(self) -> Depends:
        """`A.Succeeded`: it ran and was right."""
        return Depends(f"{str.__str__(self)}.Succeeded")

    @property
    def failed(self) -> Depends:
        """`A.Failed`: it ended with another exit code than 0."""
        return Depends(f"{str.__str__(self)}.Failed")

    @property
    def errored(self) -> Depends:
        """`A.Errored`: it couldn't be run."""
        return Depends(f"{str.__str__(self)}.Errored")

    @property
    def skipped(self) -> Depends:
        """`A.Skipped`: its `when` was false."""
        return Depends(f"{str.__str__(self)}.Skipped")

    @property
    def omitted(self) -> Depends:
        """`A.Omitted`: its `depends` was false."""
        return Depends(f"{str.__str__(self)}.Omitted")

    @property
    def daemoned(self) -> Depends:
        """`A.Daemoned`: it is a daemon, and is ready."""
        return Depends(f"{str.__str__(self)}.Daemoned")

    @property
    def any_succeeded(self) -> Depends:
        """`A.AnySucceeded`: one of its items succeeded."""
        return Depends(f"{str.__str__(self)}.AnySucceeded")

    @property
    def all_failed(self) -> Depends:
        """`A.AllFailed`: all of its items failed."""
        return Depends(f"{str.__str__(self)}.AllFailed")

    def __repr__(self) -> str:
        return f"<{'step' if self.form == 'steps' else 'task'} {str.__str__(self)}>"


class Outputs:
    """The outputs of a task by kind."""

    def __init__(self, task: Task):
        self.parameters = Parameters(task)
        self.artifacts = Artifacts(task)
        self.result = task.result
        self.exit_code = task.exit_code


class Parameters:
    """The output parameters of a task; as text, all of them as a JSON list."""

    def __init__(self, task: Task):
        self._task = task

    def __getitem__(self, name: str) -> Reference:
        return self._task.parameter(name)

    def __str__(self) -> str:
        return str.__str__(self._task._tag("outputs.parameters"))


class Artifacts:
    """The output artifacts of a task."""

    def __init__(self, task: Task):
        self._task = task

    def __getitem__(self, name: str) -> ArtifactReference:
        return self._task.artifact(name)
