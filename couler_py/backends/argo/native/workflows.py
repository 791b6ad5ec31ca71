"""The four kinds of documents: `with argo.Workflow(...) as w:`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any, ClassVar, Self, Unpack

import msgspec

from couler_py.backends.argo.names import name_of
from couler_py.backends.argo.native.interface import members
from couler_py.backends.argo.native.recording import Recording, recording
from couler_py.backends.argo.native.values import plain
from couler_py.backends.argo.schema.checking import JSON, check, spec_schema
from couler_py.backends.argo.vocabulary import API, Kind
from couler_py.dsl.problems import fail
from couler_py.dsl.sources import caller
from couler_py.ir.diagnostics import Diagnostic
from couler_py.ir.model import Document
from couler_py.ir.model import Workflow as WorkflowIR

if TYPE_CHECKING:
    from couler_py.api import Run
    from couler_py.backends.argo import words
    from couler_py.backends.argo.native.calls import Given
    from couler_py.backends.base import Bundle


class Written:
    """A document in progress: its templates are those written under `with`.

    `before` and `after` are other documents of the same file. `check=False` takes fields and values as they are
    written, also those that Argo 4 doesn't know: for what another version of Argo reads.
    """

    kind: ClassVar[Kind]

    def __init__(
        self,
        metadata: Mapping[str, Any],
        spec: Mapping[str, Any],
        around: tuple[Sequence[Any], Sequence[Any]],
        checked: bool,
    ):
        self.source = caller()
        self._metadata = plain(metadata, "metadata")
        self.name = name_of(self._metadata)
        self._spec = {key: plain(value, key) for key, value in spec.items() if value is not None}
        if checked:
            check(self._spec, spec_schema(self.kind), "", self.name)
        before, after = around
        self.around = (tuple(plain(each) for each in before), tuple(plain(each) for each in after))
        self.recording = Recording(self.name, checked=checked)
        self._first: tuple[str, ...] = ()
        self._open = ExitStack()

    def __enter__(self) -> Self:
        self._open.enter_context(recording(self.recording))
        return self

    def __exit__(self, *problem: Any) -> None:
        self._open.close()

    def arrange(self, *names: str) -> None:
        """Put these templates first, in this order; the others follow as they were written.

        Argo doesn't mind; a document that is compared with another, or read, may.
        """
        for name in names:
            if name not in self.recording.templates:
                fail("CLR191", f"there is no template {name!r} to arrange", step=self.name)
        self._first = tuple(plain(name) for name in names)

    @property
    def data(self) -> JSON:
        """The document as plain data: what `yaml` writes."""
        spec = dict(self._spec)
        inner = dict(spec.get("workflowSpec") or {}) if self.kind == "CronWorkflow" else spec
        templates = self.recording.templates
        written = [templates[name] for name in self._first]
        written += [template for name, template in templates.items() if name not in self._first]
        if written:
            inner["templates"] = [*(inner.get("templates") or []), *written]
        if self.kind == "CronWorkflow" and (inner or "workflowSpec" not in spec):
            spec["workflowSpec"] = inner
        return {"apiVersion": API, "kind": self.kind, "metadata": dict(self._metadata), "spec": spec}

    @property
    def document(self) -> Document:
        """The document as IR, with what stands around it in its file."""
        from couler_py.backends.argo.document import read

        before, after = self.around
        return msgspec.structs.replace(read(self.data), before=before, after=after)

    def yaml(self) -> str:
        """The document as YAML, with what stands around it."""
        from couler_py.backends import yaml

        before, after = self.around
        return yaml.dump_all([*before, self.data, *after])

    def lint(self) -> tuple[Diagnostic, ...]:
        """What the API server or the controller would refuse, each finding at its line. Needs the extra `argo`.

        >>> with argo.Workflow(generateName="hello-", entrypoint="helo") as w:
        ...     hello = argo.container("hello", image="alpine:3.20")
        >>> [finding.severity for finding in w.lint()]
        ['error']
        """
        from couler_py.backends.argo.native.linting import findings

        return findings(self)

    def build(self) -> WorkflowIR:
        """The workflow as IR."""
        return self.document.workflow

    def compile(self, to: str = "argo", **options: Any) -> Bundle:
        """Compile for an engine: `couler.compile(w, to, **options)`."""
        from couler_py import api

        return api.compile(self, to=to, **options)

    def run(self, **options: Any) -> Run:
        """Run it: `couler.run(w, submitter=..., parameters=...)`."""
        from couler_py import api

        return api.run(self, **options)

    def __repr__(self) -> str:
        return f"<{self.kind} {self.name}: {len(self.recording.templates)} templates>"


def _metadata(
    metadata: Mapping[str, Any] | None, name: str | None, labels: Any, annotations: Any, **more: str | None
) -> dict[str, Any]:
    found = dict(metadata or {})
    for key, value in {"name": name, **more, "labels": labels, "annotations": annotations}.items():
        if value is not None:
            if key in found:
                fail("CLR193", f"{key} is given twice: in metadata too")
            found[key] = value
    return found


def _spec(arguments: Any, fields: Mapping[str, Any]) -> dict[str, Any]:
    return {**({} if arguments is None else {"arguments": members(arguments, "arguments")}), **fields}


class _Namespaced(Written):
    """A document of a namespace whose `spec` is a workflow's."""

    def __init__(
        self,
        name: str | None = None,
        /,
        *,
        generateName: str | None = None,
        namespace: str | None = None,
        labels: Mapping[str, str] | None = None,
        annotations: Mapping[str, str] | None = None,
        metadata: words.ObjectMeta | None = None,
        arguments: Given | None = None,
        before: Sequence[Mapping[str, Any]] = (),
        after: Sequence[Mapping[str, Any]] = (),
        check: bool = True,
        **fields: Unpack[words.WorkflowFields],
    ):
        about = _metadata(metadata, name, labels, annotations, generateName=generateName, namespace=namespace)
        super().__init__(about, _spec(arguments, fields), (before, after), check)


class Workflow(_Namespaced):
    """A run's document. `fields` are those of `spec`, in Argo's own words.

    >>> with argo.Workflow(generateName="hello-", entrypoint="hello") as w:
    ...     hello = argo.container("hello", image="alpine:3.20", command=["echo", "hello"])
    >>> w.data["spec"]["entrypoint"]
    'hello'
    """

    kind = "Workflow"


class WorkflowTemplate(_Namespaced):
    """Templates that workflows of a namespace call. `fields` are those of `spec`."""

    kind = "WorkflowTemplate"


class ClusterWorkflowTemplate(Written):
    """Templates that workflows of every namespace call. `fields` are those of `spec`."""

    kind = "ClusterWorkflowTemplate"

    def __init__(
        self,
        name: str | None = None,
        /,
        *,
        generateName: str | None = None,
        labels: Mapping[str, str] | None = None,
        annotations: Mapping[str, str] | None = None,
        metadata: words.ObjectMeta | None = None,
        arguments: Given | None = None,
        before: Sequence[Mapping[str, Any]] = (),
        after: Sequence[Mapping[str, Any]] = (),
        check: bool = True,
        **fields: Unpack[words.WorkflowFields],
    ):
        about = _metadata(metadata, name, labels, annotations, generateName=generateName)
        super().__init__(about, _spec(arguments, fields), (before, after), check)


class CronWorkflow(Written):
    """A workflow with a schedule. `fields` are those of its `spec`; templates go into its `workflowSpec`.

    >>> with argo.CronWorkflow("nightly", schedules=["0 3 * * *"], workflowSpec={"entrypoint": "hello"}) as w:
    ...     hello = argo.container("hello", image="alpine:3.20", command=["echo", "hello"])
    """

    kind = "CronWorkflow"

    def __init__(
        self,
        name: str | None = None,
        /,
        *,
        generateName: str | None = None,
        namespace: str | None = None,
        labels: Mapping[str, str] | None = None,
        annotations: Mapping[str, str] | None = None,
        metadata: words.ObjectMeta | None = None,
        before: Sequence[Mapping[str, Any]] = (),
        after: Sequence[Mapping[str, Any]] = (),
        check: bool = True,
        **fields: Unpack[words.CronWorkflowSpec],
    ):
        about = _metadata(metadata, name, labels, annotations, generateName=generateName, namespace=namespace)
        super().__init__(about, fields, (before, after), check)
