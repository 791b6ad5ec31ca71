"""Templates that do something themselves: containers, scripts, Python steps, and Argo's other kinds."""

from __future__ import annotations

from typing import Any

from msgspec import UNSET

from couler_py.backends.argo import durations
from couler_py.backends.argo.emission import Emission, named, place, refusing
from couler_py.backends.argo.emit.arguments import plain_literal, report
from couler_py.backends.argo.emit.caching import cached_place
from couler_py.backends.argo.emit.expressions import UnprovenError
from couler_py.backends.argo.emit.function import function_fields, function_outputs
from couler_py.backends.argo.emit.manifest import manifest
from couler_py.backends.argo.emit.scope import TemplateScope
from couler_py.backends.argo.emit.signature import archive, inputs, keyed
from couler_py.backends.argo.emit.storage import storage
from couler_py.backends.argo.emit.text import EMPTY, needs_empty, render, render_command
from couler_py.backends.argo.program import Variant
from couler_py.ir.model import (
    ContainerSet,
    Data,
    Function,
    Http,
    OutputParameter,
    Plugin,
    Resource,
    Script,
    Suspend,
    Template,
)
from couler_py.ir.pod import Container
from couler_py.ir.storage import SecretRef
from couler_py.kubernetes import Render, container, container_fields, mounts, templated
from couler_py.kubernetes.containers import secret_key

JSON = dict[str, Any]


class LeafWriter:
    """Writes one template that isn't a graph or a loop."""

    def __init__(self, emission: Emission, template: Template, variant: Variant):
        self.emission = emission
        self.template = template
        self.variant: Variant = variant
        self.scope = TemplateScope(emission.program, template)
        self.render: Render = render(emission, template, self.scope)
        self.command: Render = render_command(emission, template, self.scope)

    def write(self) -> JSON:
        found: JSON = {}
        if given := inputs(self.emission, self.template, self.scope, self.variant):
            found["inputs"] = given
        if produced := self.outputs():
            found["outputs"] = produced
        return found | self.body()

    # ---- outputs

    def outputs(self) -> JSON:
        outputs = self.template.outputs
        if isinstance(self.template.body, Function):
            return function_outputs(self.emission, self.template, self.variant, self.scope)
        found: JSON = {}
        if outputs.parameters:
            found["parameters"] = [self._parameter(each) for each in outputs.parameters if not self._printed(each)]
            if not found["parameters"]:
                del found["parameters"]
        if outputs.artifacts:
            found["artifacts"] = [self._artifact(output) for output in outputs.artifacts]
        return found

    def _printed(self, output: OutputParameter) -> bool:
        """Whether an output is what the program prints: Argo's own output `result`, which isn't declared."""
        if output.stdout and output.global_name:
            self.emission.problem(
                "CLR401",
                f"the output {output.name!r} is what the program prints, and can't be published on Argo",
                help="write it to a file and make that the output",
                **place(self.template),  # type: ignore[arg-type]
            )
        return output.stdout

    def _parameter(self, output: OutputParameter) -> JSON:
        source: JSON = {}
        if output.path:
            source["path"] = output.path
        elif output.json_path:
            source["jsonPath"] = output.json_path
        elif output.jq_filter:
            source["jqFilter"] = output.jq_filter
        elif output.supplied:
            source["supplied"] = {}
        if output.default is not UNSET:
            try:
                source["default"] = plain_literal(output.default, output.type)
            except UnprovenError as error:
                what = f"the default of the output {output.name!r}"
                report(self.emission, error, what, *named(self.template))
        found: JSON = {"name": self.scope.program.field(self.template, output.name), "valueFrom": source}
        if output.global_name:
            found["globalName"] = self.scope.program.published_name(output.global_name)
        return found

    def _artifact(self, output: Any) -> JSON:
        found: JSON = {"name": self.scope.program.field(self.template, output.name)}
        if output.path:
            found["path"] = output.path
        if output.optional:
            found["optional"] = True
        if output.archive:
            found["archive"] = archive(output.archive)
        if output.storage is not None:
            found |= storage(self.emission, output.storage, self.render, *named(self.template))
        if output.global_name:
            found["globalName"] = self.scope.program.published_name(output.global_name)
        if output.storage is None:
            found |= cached_place(self.emission, self.template, self.scope, output.name)
        return found | keyed(self.emission, self.template, self.variant, output.name)

    # ---- bodies

    def body(self) -> JSON:
        body = self.template.body
        match body:
            case Container():
                return {"container": self._with_empty(container(body, self.render, self.command))}
            case Script():
                return {"script": self._with_empty(self._script(body))}
            case Function():
                return function_fields(self.emission, self.template, self.variant, self.render, self.command)
            case Resource():
                return {"resource": self._resource(body)}
            case Suspend():
                return {"suspend": {} if body.duration is None else {"duration": durations.written(body.duration)}}
            case Http():
                return {"http": self._http(body)}
            case Data():
                transformation = [{"expression": text} for text in body.transformation]
                return {"data": {"source": templated(body.source, self.render), "transformation": transformation}}
            case ContainerSet():
                return {"containerSet": self._container_set(body)}
            case Plugin():
                return {"plugin": templated(body.value, self.render)}
            case _:
                self.emission.unsupported("distributed_job", *named(self.template))
                name = self.emission.program.template_name(self.template.name)
                return refusing(name, "a distributed job has to be lowered to a Kubernetes resource first")

    def _with_empty(self, found: JSON) -> JSON:
        if needs_empty(found):
            found["env"] = [{"name": EMPTY, "value": ""}, *found.get("env", [])]
        return found

    def _script(self, body: Script) -> JSON:
        found: JSON = {"image": self.render(body.image), "command": [self.command(part) for part in body.command]}
        if body.working_dir:
            found["workingDir"] = self.render(body.working_dir)
        return found | container_fields(body, self.render, self.command) | {"source": self.render(body.source)}

    def _resource(self, body: Resource) -> JSON:
        found: JSON = {"action": body.action, "manifest": manifest(self, body.manifest)}
        for name, text in (
            ("successCondition", body.success_condition),
            ("failureCondition", body.failure_condition),
            ("mergeStrategy", body.merge_strategy),
        ):
            if text:
                found[name] = self.render(text)
        if body.set_owner_reference:
            found["setOwnerReference"] = True
        if body.flags:
            found["flags"] = [self.render(flag) for flag in body.flags]
        return found

    def _http(self, body: Http) -> JSON:
        found: JSON = {"url": self.render(body.url), "method": body.method}
        if body.headers:
            found["headers"] = [
                {"name": name, "valueFrom": {"secretKeyRef": secret_key(value)}}
                if isinstance(value, SecretRef)
                else {"name": name, "value": self.render(value)}
                for name, value in body.headers
            ]
        if body.body:
            found["body"] = self.render(body.body)
        if body.timeout is not None:
            found["timeoutSeconds"] = seconds(body.timeout)
        if body.success_condition:
            found["successCondition"] = body.success_condition
        if body.insecure:
            found["insecureSkipVerify"] = True
        return found

    def _container_set(self, body: ContainerSet) -> JSON:
        waits = dict(body.dependencies)
        containers = []
        for each in body.containers:
            entry = self._with_empty(container(each, self.render, self.command))
            if waits.get(each.name):
                entry["dependencies"] = list(waits[each.name])
            containers.append(entry)
        found: JSON = {"containers": containers}
        if body.mounts:
            found["volumeMounts"] = mounts(body.mounts, self.render)
        if body.retry:
            found["retryStrategy"] = {"retries": body.retry}
        return found


def seconds(duration: float) -> int:
    """Whole seconds, rounded up: Argo and Kubernetes count no fractions there, and 0 would mean none at all."""
    return max(1, -int(-duration // 1))
