"""`run_job`: a Kubernetes object, made and watched until it is done."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import Any, get_args, get_type_hints

from couler_py.dsl.placeholder import Placeholder
from couler_py.dsl.problems import fail, problem
from couler_py.dsl.verbs import settings
from couler_py.dsl.verbs.calls import declared, name_of, record
from couler_py.dsl.verbs.inputs import CallInputs
from couler_py.dsl.verbs.outputs import are_outputs
from couler_py.ir import model
from couler_py.ir.expr import Text
from couler_py.ir.pod import EnvVar, FieldRef, Substitution, Templated
from couler_py.ir.storage import SecretRef

ACTIONS: tuple[str, ...] = get_args(get_type_hints(model.Resource)["action"])


def run_job(
    manifest: Any,
    success_condition: str,
    failure_condition: str,
    timeout: Any = None,
    retry: Any = None,
    step_name: str | None = None,
    pool: Any = None,
    env: Any = None,
    action: str = "create",
    set_owner_reference: bool = True,
    cache: Any = None,
) -> list[Any]:
    """Make a Kubernetes object and wait until a condition holds. Its output has `job_name`, `job_id`, `job_obj`.

    `manifest` is a dict, or YAML of one document. Values of the workflow stand in the dict, at any string
    leaf; they become arguments of the task and are never pasted into YAML. `env` is added to every
    container of the object. The conditions are Argo's, as "status.succeeded > 0".

    Raises `RecordingError` for a manifest that isn't one object, and for an unknown action.

    >>> couler.run_job(manifest, "status.succeeded > 0", "status.failed > 3")  # doctest: +SKIP
    """
    settings.refuse(pool=pool)
    if action not in ACTIONS:
        fail("CLR181", f"there is no action {action!r}", help=f"use one of {', '.join(ACTIONS)}")
    name = name_of(step_name, "job")
    inputs = CallInputs("run_job")
    document = _document(manifest)
    if env is not None:
        _add_environment(document, settings.environment(inputs, env, None))
    texts: list[Substitution] = []
    value = _templated(inputs, document, "", texts)
    body = model.Resource(
        action,  # type: ignore[arg-type]
        Templated(value, tuple(texts)),
        success_condition=success_condition or "",
        failure_condition=failure_condition or "",
        set_owner_reference=bool(set_owner_reference),
    )
    policies = settings.policies(inputs, retry=retry, timeout=timeout, cache=cache)
    outputs = declared(None, job=action != "delete")
    return record(name, body, inputs, outputs, retry=policies.retry, timeout=policies.timeout, cache=policies.cache)


def _document(manifest: Any) -> dict[str, Any]:
    if isinstance(manifest, str):
        import yaml

        try:
            found = list(yaml.load_all(manifest, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader)))
        except yaml.YAMLError as wrong:
            fail("CLR181", f"the manifest is not YAML: {wrong}")
        if len(found) != 1:
            fail("CLR181", f"the manifest holds {len(found)} documents", help="give one object to each run_job")
        manifest = found[0]
    if not isinstance(manifest, Mapping) or not {"apiVersion", "kind"} <= manifest.keys():
        fail("CLR181", "the manifest is no Kubernetes object", help="it needs apiVersion, kind and metadata")
    return {str(key): _copied(value) for key, value in manifest.items()}


def _copied(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {str(key): _copied(item) for key, item in value.items()}
    if isinstance(value, list | tuple) and not (len(value) == 1 and are_outputs(value)):
        return [_copied(item) for item in value]
    return value if isinstance(value, Placeholder | list | tuple) else copy.deepcopy(value)


def _templated(inputs: CallInputs, value: Any, pointer: str, texts: list[Substitution]) -> Any:
    """The JSON of a manifest, its values of the workflow taken out into texts."""
    if isinstance(value, dict):
        return {
            key: _templated(inputs, item, f"{pointer}/{key.replace('~', '~0').replace('/', '~1')}", texts)
            for key, item in value.items()
        }
    if isinstance(value, list) and not (len(value) == 1 and are_outputs(value)):
        return [_templated(inputs, item, f"{pointer}/{index}", texts) for index, item in enumerate(value)]
    if isinstance(value, Text):
        texts.append(Substitution(pointer, value))
        return ""
    if isinstance(value, Placeholder | list | tuple):
        name = pointer.rsplit("/", 1)[-1]
        text = inputs.text(value, name if not name.isdigit() else "value")
        assert isinstance(text, Text)
        texts.append(Substitution(pointer, text))
        return ""
    if value is None or isinstance(value, str | int | float | bool):
        return value
    if hasattr(value, "isoformat"):  # YAML reads some texts as dates
        return value.isoformat()
    raise problem("CLR181", f"the manifest holds a {type(value).__name__} at {pointer}")


def _add_environment(document: dict[str, Any], variables: tuple[EnvVar, ...]) -> None:
    lists = [found for found in _containers(document.get("spec")) if found]
    if not lists:
        fail("CLR181", "the manifest has no containers that env could be for", help="write it into the manifest")
    entries = [_entry(variable) for variable in variables]
    for containers in lists:
        for container in containers:
            names = {entry["name"] for entry in entries}
            kept = [entry for entry in container.get("env") or [] if entry.get("name") not in names]
            container["env"] = [*kept, *entries]


def _containers(value: Any) -> list[list[dict[str, Any]]]:
    """Every list of containers in a manifest: of a pod, and of the pod templates of jobs of several roles."""
    if isinstance(value, dict):
        found = [value["containers"]] if isinstance(value.get("containers"), list) else []
        return [*found, *(inner for item in value.values() for inner in _containers(item))]
    if isinstance(value, list):
        return [inner for item in value for inner in _containers(item)]
    return []


def _entry(variable: EnvVar) -> dict[str, Any]:
    value = variable.value
    if isinstance(value, str | Text):
        return {"name": variable.name, "value": value}
    if isinstance(value, FieldRef):
        return {"name": variable.name, "valueFrom": {"fieldRef": {"fieldPath": value.path}}}
    place: dict[str, Any] = {"name": value.name, "key": value.key}
    if value.optional:
        place["optional"] = True
    kind = "secretKeyRef" if isinstance(value, SecretRef) else "configMapKeyRef"
    return {"name": variable.name, "valueFrom": {kind: place}}
