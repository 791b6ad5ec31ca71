"""Steps that aren't Python functions, as calls of `couler.container` and its like."""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from couler_py.ir.model import (
    DistributedJob,
    Http,
    InputArtifact,
    JobRole,
    OutputArtifact,
    OutputParameter,
    Parameter,
    Resource,
    Script,
    Suspend,
    Template,
)
from couler_py.ir.pod import Container
from couler_py.ir.storage import SecretRef
from couler_py.ir.types import STR
from couler_py.printer import options
from couler_py.printer.annotations import Annotations
from couler_py.printer.layout import Doc, Group, Named, call, items
from couler_py.printer.literal import literal, quoted
from couler_py.printer.options import UnsayableError
from couler_py.printer.structs import construct

INPUTS, OUTPUTS = "/tmp/couler/inputs", "/tmp/couler/outputs"  # noqa: S108  where the DSL's containers have their files


def leaf(
    template: Template, types: Annotations, volumes: frozenset[str], hoist: Callable[[str, str], Doc]
) -> Doc | None:
    """The definition of a step; None for one that these verbs can't say.

    `hoist` takes a name and a long text, and gives what stands for it.
    """
    try:
        return _Leaf(template, types, volumes, hoist).definition()
    except UnsayableError:
        return None


class _Leaf:
    def __init__(
        self, template: Template, types: Annotations, volumes: frozenset[str], hoist: Callable[[str, str], Doc]
    ):
        self.template = template
        self.types = types
        self.volumes = volumes
        self.hoist = hoist

    def definition(self) -> Doc:
        body = self.template.body
        if self.template.display or (self.template.daemon and not isinstance(body, Container)):
            raise UnsayableError("settings of a template")
        match body:
            case Container():
                return self._container(body)
            case DistributedJob():
                return self._job(body)
            case Script():
                return self._script(body)
            case Resource():
                return self._resource(body)
            case Suspend():
                return self._suspend(body)
            case Http():
                return self._http(body)
            case _:
                raise UnsayableError("a body without a verb")

    def _container(self, body: Container) -> Doc:
        if body.name or not isinstance(body.working_dir, str):
            raise UnsayableError("fields of a container")
        given: list[Doc] = [options.text(body.image)]
        if body.command or body.args:
            given.append(_words(body.command))
        if body.args:
            given.append(_words(body.args))
        named = self._signature()
        if body.working_dir:
            named["working_dir"] = quoted(body.working_dir)
        if self.template.daemon:
            named["daemon"] = "True"
        return self._call("couler.container", given, named, body)

    def _job(self, body: DistributedJob) -> Doc:
        inner = body.container
        if inner.name or not inner.command or not isinstance(inner.working_dir, str) or self.template.daemon:
            raise UnsayableError("fields of a job")
        given: list[Doc] = [options.text(inner.image), _words(inner.command)]
        if inner.args:
            given.append(_words(inner.args))
        named: dict[str, Doc] = {}
        if body.framework != "torch":
            named["framework"] = quoted(body.framework)
        for name, value, default in (
            ("nodes", body.nodes, 1),
            ("processes", body.processes_per_node, 1),
            ("max_restarts", body.max_restarts, 0),
            ("launcher", body.launcher, ""),
            ("queue", body.queue, ""),
            ("clean_pods", body.clean_pods, ""),
        ):
            if value != default and not (name == "nodes" and body.roles):
                named[name] = literal(value)
        if body.elastic is not None:
            named["elastic"] = Group("(", tuple(literal(each) for each in body.elastic), ")")
        if body.roles:
            named["roles"] = _dict({role.name: _role(role, inner) for role in body.roles})
        if body.health_timeout is not None:
            named["health_timeout"] = options.duration(body.health_timeout)
        named |= self._signature()
        if inner.working_dir:
            named["working_dir"] = quoted(inner.working_dir)
        return self._call("couler.distributed_job", given, named, inner)

    def _script(self, body: Script) -> Doc:
        if not isinstance(body.source, str) or not isinstance(body.working_dir, str):
            raise UnsayableError("values in a script")
        handed = tuple(parameter.name for parameter in self.template.inputs.parameters)
        # The verb hands over each input by an environment variable of its name, behind those that are given.
        count = len(body.env) - len(handed)
        if tuple(variable.name for variable in body.env[max(count, 0) :]) != handed:
            raise UnsayableError("inputs that aren't in the environment")
        own = msgspec.structs.replace(body, env=body.env[:count])
        given: list[Doc] = [options.text(body.image), self.hoist(f"{self.template.name}-source", body.source)]
        if body.command != ("sh",):
            given.append(_words(body.command))
        named = self._signature()
        if body.working_dir:
            named["working_dir"] = quoted(body.working_dir)
        return self._call("couler.script", given, named, own)

    def _resource(self, body: Resource) -> Doc:
        named: dict[str, Doc] = {}
        if body.action != "create":
            named["action"] = quoted(body.action)
        for name in ("success_condition", "failure_condition", "merge_strategy"):
            if value := getattr(body, name):
                named[name] = quoted(value)
        if body.set_owner_reference:
            named["set_owner_reference"] = "True"
        if body.flags:
            named["flags"] = _words(body.flags)
        if self.template.inputs.parameters or self.template.inputs.artifacts:
            named["inputs"] = self._inputs()
        if self.template.outputs.artifacts:
            raise UnsayableError("files of a resource")
        if self.template.outputs.parameters:
            named["outputs"] = _dict({one.name: self._json_path(one) for one in self.template.outputs.parameters})
        return self._call("couler.resource", [options.manifest(body.manifest)], named, body)

    def _json_path(self, output: OutputParameter) -> Doc:
        if output != OutputParameter(output.name, output.type, json_path=output.json_path):
            raise UnsayableError("an output of a resource")
        if output.type == STR:
            return quoted(output.json_path)
        return Group("(", (quoted(output.json_path), self.types.of(output.type)), ")")

    def _suspend(self, body: Suspend) -> Doc:
        if self.template.inputs.parameters or self.template.inputs.artifacts or self.template.outputs.artifacts:
            raise UnsayableError("inputs of a pause")
        named: dict[str, Doc] = {}
        found: dict[str, Doc] = {}
        for output in self.template.outputs.parameters:
            if output != OutputParameter(output.name, output.type, supplied=True, default=output.default):
                raise UnsayableError("an output of a pause")
            annotation = self.types.of(output.type)
            if output.default is msgspec.UNSET:
                found[output.name] = annotation
            else:
                found[output.name] = Group("(", (annotation, literal(output.default)), ")")
        if found:
            named["outputs"] = _dict(found)
        given = [] if body.duration is None else [options.duration(body.duration)]
        return self._call("couler.suspend", given, named, body)

    def _http(self, body: Http) -> Doc:
        if self.template.outputs.parameters != (OutputParameter("result", STR),) or self.template.outputs.artifacts:
            raise UnsayableError("outputs of a request")
        given: list[Doc] = [options.text(body.url)]
        if body.method != "GET":
            given.append(quoted(body.method))
        named: dict[str, Doc] = {}
        if body.headers:
            if len(dict(body.headers)) < len(body.headers):
                raise UnsayableError("a header that comes twice")
            named["headers"] = _dict(
                {
                    name: construct(value) if isinstance(value, SecretRef) else options.text(value)
                    for name, value in body.headers
                }
            )
        if body.body:
            named["body"] = options.text(body.body)
        if body.timeout is not None:
            named["request_timeout"] = options.duration(body.timeout)
        if body.success_condition:
            named["success_condition"] = quoted(body.success_condition)
        if body.insecure:
            named["insecure"] = "True"
        if self.template.inputs.parameters or self.template.inputs.artifacts:
            named["inputs"] = self._inputs()
        return self._call("couler.http", given, named, body)

    def _call(self, verb: str, given: list[Doc], named: dict[str, Doc], body: object) -> Doc:
        found = options.of_template(options.replaced(self.template, body=body), self.volumes)
        if self.template.description:
            found["description"] = quoted(self.template.description)
        return call(verb, *given, name=quoted(self.template.name), **named, **found)

    # ---- inputs and outputs

    def _signature(self) -> dict[str, Doc]:
        found: dict[str, Doc] = {}
        if self.template.inputs.parameters or self.template.inputs.artifacts:
            found["inputs"] = self._inputs()
        outputs = self.template.outputs
        if outputs.parameters or outputs.artifacts:
            given = {one.name: self._output(one) for one in outputs.parameters}
            given |= {one.name: self._file(one) for one in outputs.artifacts}
            if len(given) < len(outputs.parameters) + len(outputs.artifacts):
                raise UnsayableError("a name that comes twice")
            found["outputs"] = _dict(given)
        return found

    def _inputs(self) -> Doc:
        inputs = self.template.inputs
        given = {one.name: self._parameter(one) for one in inputs.parameters}
        given |= {one.name: self._artifact(one) for one in inputs.artifacts}
        if len(given) < len(inputs.parameters) + len(inputs.artifacts):
            raise UnsayableError("a name that comes twice")
        return _dict(given)

    def _parameter(self, one: Parameter) -> Doc:
        if one != Parameter(one.name, one.type, one.default):
            return construct(one)
        annotation = self.types.of(one.type)
        if one.default is msgspec.UNSET:
            return annotation
        return Group("(", (annotation, literal(one.default)), ")")

    def _artifact(self, one: InputArtifact) -> Doc:
        if one == InputArtifact(one.name, f"{INPUTS}/{one.name}", optional=one.optional):
            return self.types.file(one.optional)
        return construct(one)

    def _output(self, one: OutputParameter) -> Doc:
        plain = OutputParameter(one.name, one.type)
        annotation = [] if one.type == STR else [self.types.of(one.type)]
        if one == msgspec.structs.replace(plain, path=f"{OUTPUTS}/{one.name}"):
            return self.types.of(one.type)
        if one == msgspec.structs.replace(plain, path=one.path) and one.path:
            return call("couler.value_at", quoted(one.path), *annotation)
        if one == msgspec.structs.replace(plain, stdout=True):
            return call("couler.stdout", *annotation)
        return construct(one)

    def _file(self, one: OutputArtifact) -> Doc:
        if one == OutputArtifact(one.name, f"{OUTPUTS}/{one.name}", optional=one.optional):
            return self.types.file(one.optional)
        if not one.path or one != OutputArtifact(one.name, one.path, storage=one.storage, optional=one.optional):
            return construct(one)
        named: dict[str, Doc] = {}
        if one.storage is not None:
            named["storage"] = construct(one.storage)
        if one.optional:
            named["optional"] = "True"
        return call("couler.file_at", quoted(one.path), **named)


def _role(role: JobRole, job: Container) -> Doc:
    """The nodes of a role, and what isn't the job's."""
    found: dict[str, Doc] = {"nodes": literal(role.nodes)} if role.nodes != 1 else {}
    own = role.container or job
    if own.image != job.image:
        found["image"] = options.text(own.image)
    if own.command != job.command:
        found["command"] = _words(own.command)
    if own.resources != job.resources:
        found |= options.resources(own.resources)
    if role.restart:
        found["restart"] = quoted(role.restart)
    return _dict(found)


def _words(given: tuple[object, ...]) -> Doc:
    return items(options.text(word) for word in given)  # type: ignore[arg-type]


def _dict(given: dict[str, Doc]) -> Doc:
    return Group("{", tuple(Named((quoted(name), ": "), value) for name, value in given.items()), "}")
