"""Argo's tags as values: text that names what it stands for, and works in f-strings."""

from __future__ import annotations


class Reference(str):
    """A tag of Argo's, as `{{inputs.parameters.message}}`: text like any other, and shown as what it is."""

    def __repr__(self) -> str:
        return f"<Argo {str.__str__(self)}>"


class ArtifactReference(Reference):
    """An artifact of a task, or of the template's inputs. Given to an input by name, it is passed as an artifact.

    >>> ArtifactReference("{{inputs.artifacts.data}}").path
    <Argo {{inputs.artifacts.data.path}}>
    """

    @property
    def path(self) -> Reference:
        """Where the template finds its input artifact."""
        return Reference(self.removesuffix("}}") + ".path}}")


class Item(Reference):
    """The item that a task of a loop works on: `argo.item`, or a field of it, `argo.item["os"]`."""

    def __getitem__(self, key: str) -> Reference:  # type: ignore[override]  # a field of an item, not a letter of a tag
        return tag(f"item.{key}")


class WorkflowFacts:
    """What a template may read of the run that it belongs to."""

    name = Reference("{{workflow.name}}")
    namespace = Reference("{{workflow.namespace}}")
    uid = Reference("{{workflow.uid}}")
    serviceAccountName = Reference("{{workflow.serviceAccountName}}")
    mainEntrypoint = Reference("{{workflow.mainEntrypoint}}")
    parameters = Reference("{{workflow.parameters}}")
    """All parameters, as a JSON list."""
    creationTimestamp = Reference("{{workflow.creationTimestamp}}")
    scheduledTime = Reference("{{workflow.scheduledTime}}")
    priority = Reference("{{workflow.priority}}")
    status = Reference("{{workflow.status}}")
    """For exit handlers: Succeeded, Failed or Error."""
    failures = Reference("{{workflow.failures}}")
    """For exit handlers: a JSON list of what failed."""
    duration = Reference("{{workflow.duration}}")

    def parameter(self, name: str) -> Reference:
        """A parameter of the run."""
        return tag(f"workflow.parameters.{name}")

    def artifact(self, name: str) -> ArtifactReference:
        """An artifact given to the run, or left by it."""
        return ArtifactReference(f"{{{{workflow.outputs.artifacts.{name}}}}}")

    def output(self, name: str) -> Reference:
        """A parameter that a task exported by `globalName`."""
        return tag(f"workflow.outputs.parameters.{name}")

    def label(self, name: str) -> Reference:
        """A label of the run."""
        return tag(f"workflow.labels.{name}")

    def annotation(self, name: str) -> Reference:
        """An annotation of the run."""
        return tag(f"workflow.annotations.{name}")


def tag(text: str) -> Reference:
    """Any simple tag: `{{text}}`.

    >>> tag("pod.name")
    <Argo {{pod.name}}>
    """
    return Reference(f"{{{{{text}}}}}")


def expression(text: str) -> Reference:
    """An expression in Argo's expression language: `{{=text}}`.

    >>> expression("asInt(inputs.parameters.n) + 1")
    <Argo {{=asInt(inputs.parameters.n) + 1}}>
    """
    return Reference(f"{{{{={text}}}}}")


def input(name: str) -> Reference:  # noqa: A001  reads as argo.input("message")
    """An input parameter of the template: `{{inputs.parameters.NAME}}`.

    >>> f"say {input('message')}"
    'say {{inputs.parameters.message}}'
    """
    return tag(f"inputs.parameters.{name}")


def input_artifact(name: str) -> ArtifactReference:
    """An input artifact of the template; `.path` is where it lies: `{{inputs.artifacts.NAME.path}}`.

    >>> input_artifact("data").path
    <Argo {{inputs.artifacts.data.path}}>
    """
    return ArtifactReference(f"{{{{inputs.artifacts.{name}}}}}")


def output_path(name: str) -> Reference:
    """Where the template leaves an output parameter: `{{outputs.parameters.NAME.path}}`.

    >>> output_path("answer")
    <Argo {{outputs.parameters.answer.path}}>
    """
    return tag(f"outputs.parameters.{name}.path")


item = Item("{{item}}")
workflow = WorkflowFacts()
