"""What a rule of the linter sees: one document, its workflow spec, its templates, and what stands beside it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import Any, Literal

import msgspec

from couler_py.backends.argo.lint.finding import Path

JSON = dict[str, Any]
Engine = Literal["4", "3.5"]
Crds = Literal["full", "minimal"]

CLUSTER, NAMESPACED = "ClusterWorkflowTemplate", "WorkflowTemplate"


class At(msgspec.Struct, frozen=True):
    """A mapping of the document, as a template or a task, and the path to it."""

    path: Path
    data: JSON


class Known:
    """The WorkflowTemplates and ClusterWorkflowTemplates that references can name, by kind and name."""

    def __init__(self, specs: Mapping[tuple[str, str], JSON] | None = None) -> None:
        self._specs = dict(specs or {})

    def spec(self, kind: str, name: str) -> JSON | None:
        """The spec of the template object of this kind and name; None where it isn't known."""
        return self._specs.get((kind, name))

    def referenced(self, reference: JSON) -> JSON | None:
        """The spec that a `templateRef` or `workflowTemplateRef` names; None where it isn't known."""
        return self.spec(CLUSTER if reference.get("clusterScope") is True else NAMESPACED, str(reference.get("name")))


class Context:
    """One document as rules see it.

    `document` holds to the types of the schema. Where it doesn't (a finding by itself), an empty mapping or list stands
    in the place of what should be one, an empty item in a list, and other values are left out, as null is. Required
    fields may be missing. `schedule`, `mutex` and `semaphore` of older versions are the lists that they became. `raw`
    is the document as it stands.

    A rule is a function from a context to findings:

    >>> def no_script_without_source(context):
    ...     for template in context.templates:
    ...         if template.data.get("script", {}).get("source") == "":
    ...             yield Finding("CLR424", "the script is empty", (*template.path, "script", "source"))
    """

    def __init__(
        self,
        document: JSON,
        *,
        raw: JSON | None = None,
        known: Known | None = None,
        engine: Engine = "4",
        crds: Crds = "full",
    ) -> None:
        self.document = document
        self.raw = document if raw is None else raw
        self.kind: str = document["kind"]
        self.known = known or Known()
        self.engine = engine
        self.crds = crds

    @property
    def spec_path(self) -> Path:
        """Where the workflow spec stands: that of a CronWorkflow is inside its own."""
        return ("spec", "workflowSpec") if self.kind == "CronWorkflow" else ("spec",)

    @cached_property
    def spec(self) -> JSON:
        """The workflow spec; empty where the document has none."""
        found: Any = self.document
        for key in self.spec_path:
            found = found.get(key, {})
        return found  # type: ignore[no-any-return]

    @cached_property
    def templates(self) -> tuple[At, ...]:
        """The templates of the spec in their order; inline ones aren't among them (see `all_templates`)."""
        path = (*self.spec_path, "templates")
        return tuple(At((*path, index), each) for index, each in enumerate(self.spec.get("templates", ())))

    @cached_property
    def by_name(self) -> dict[str, At]:
        """The templates of the spec by name; the first where two have the same."""
        named: dict[str, At] = {}
        for each in self.templates:
            named.setdefault(each.data.get("name", ""), each)
        return named

    @cached_property
    def all_templates(self) -> tuple[At, ...]:
        """The templates of the spec, and those written inline in their tasks, at any depth."""
        found = list(self.templates)
        for each in found:  # grows while it is read
            for call in calls(each):
                if "inline" in call.data:
                    found.append(At((*call.path, "inline"), call.data["inline"]))
        return tuple(found)

    @cached_property
    def strings(self) -> tuple[tuple[Path, str], ...]:
        """Every string of the workflow spec with its path, in the order of the document; keys aren't among them."""
        return tuple(strings(self.spec, self.spec_path))


def calls(template: At) -> Iterator[At]:
    """The tasks of a `dag`, or the steps of `steps`, of one template in their order."""
    for index, task in enumerate(template.data.get("dag", {}).get("tasks", ())):
        yield At((*template.path, "dag", "tasks", index), task)
    for index, group in enumerate(template.data.get("steps", ())):
        for inner, step in enumerate(group):
            yield At((*template.path, "steps", index, inner), step)


def strings(value: Any, path: Path) -> Iterator[tuple[Path, str]]:
    """Every string inside a value with its path."""
    if isinstance(value, str):
        yield path, value
    elif isinstance(value, dict):
        for key, inner in value.items():
            yield from strings(inner, (*path, key))
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            yield from strings(inner, (*path, index))
