"""Steps that create, change or delete Kubernetes objects."""

import json
from functools import partial
from time import sleep

from airflow.providers.cncf.kubernetes.operators.resource import (
    KubernetesCreateResourceOperator,
)
from kubernetes.dynamic import DynamicClient

from couler_py.templates.airflow.steps import (
    StepFailed,
    Work,
    all_inputs,
    run_attempt,
    run_batch,
    value_of,
)
from couler_py.templates.airflow.values import evaluated, kept, proceed

PATCHES = {
    "": "application/strategic-merge-patch+json",
    "strategic": "application/strategic-merge-patch+json",
    "merge": "application/merge-patch+json",
    "json": "application/json-patch+json",
}


def resource(task_id, template, inputs=dict, when=None, again=None, **options):
    """A step that does something with a Kubernetes object. `inputs` as for `step`."""
    made = Resource(task_id=task_id, **template.get("options", {}), **options)
    made.work = Work(template, inputs, when, again)
    return made


def resource_of_each(template, inputs, again=None, batch=False, **options):
    """For `fan_out`: such a step for each item, or for each batch."""

    class Each(Resource):
        work = Work(template, inputs, None, again, None, batch)

    given = template.get("options", {}) | options
    return Each.partial(task_id="each", **given).expand_kwargs


class Resource(KubernetesCreateResourceOperator):
    """The operator of such a step: it reads the inputs when it starts."""

    template_fields = ()
    work = made = None

    def __init__(self, *, item=None, **options):
        super().__init__(**options)
        self.item = item

    def execute(self, context):
        proceed(self.work.when)
        if self.work.batch:
            return run_batch(self.run_once, self.item, 1 + self.retries)
        return kept(self.run_once(*(() if self.item is None else (self.item,))))

    def run_once(self, *item):
        given = all_inputs(self.work.template, evaluated(self.work.inputs, *item))
        act = partial(act_on, self, self.work.template)
        return run_attempt(act, given, self.work.again, None)

    def on_kill(self):
        if self.made is not None and self.work.template["action"] == "create":
            api, name, namespace = self.made
            policy = {"propagationPolicy": "Background"}
            api.delete(name=name, namespace=namespace, body=policy)


def act_on(operator, template, given):
    """Do what is asked, wait until a condition holds, and give the outputs."""
    body, action = evaluated(template["manifest"], given), template["action"]
    found = DynamicClient(operator.client).resources
    api = found.get(api_version=body["apiVersion"], kind=body["kind"])
    metadata = body.setdefault("metadata", {})
    namespace = metadata.get("namespace") or operator.get_namespace()
    place = {"namespace": namespace} if api.namespaced else {}
    name = metadata.get("name")
    if action == "create":
        name = api.create(body=body, **place).metadata.name
    elif action == "apply":
        api.server_side_apply(body=body, field_manager="couler", **place)
    elif action == "replace":
        current = api.get(name=name, **place).metadata.resourceVersion
        body["metadata"] = metadata | {"resourceVersion": current}
        api.replace(body=body, **place)
    elif action == "patch":
        kind = PATCHES[template.get("patch", "")]
        api.patch(body=body, name=name, content_type=kind, **place)
    elif action == "delete":
        policy = {"propagationPolicy": "Background"}
        api.delete(name=name, body=policy, **place)
        return {}
    operator.made = (api, name, place.get("namespace"))
    operator.log.info("%s %s: %s", body["kind"], name, action)
    return outputs_of_object(template, settled(operator, template, api, name, place))


def settled(operator, template, api, name, place):
    """The object, once its conditions say that it is done. Raises `StepFailed`."""
    succeeds, fails = template.get("succeeds", ()), template.get("fails", ())
    while True:
        found = api.get(name=name, **place).to_dict()
        for each in fails:
            if holds(found, *each):
                raise StepFailed(f"{name} failed: {each} holds")
        if all(holds(found, *each) for each in succeeds):
            return found
        operator.log.info("waiting for %s: %s", name, found.get("status"))
        sleep(5)


def holds(found, path, operator, values):
    """Whether a condition over a field holds: a requirement of a label selector."""
    value = field_of(found, path)
    there = value is not None
    text = value_text(value)
    if operator in ("exists", "!"):
        return there if operator == "exists" else not there
    if operator in ("in", "notin"):
        return (there and text in values) if operator == "in" else text not in values
    try:
        left, right = int(text), int(values[0])
    except ValueError:
        return False
    return left > right if operator == ">" else left < right


def field_of(found, path):
    """A field of an object by its path, None where it isn't there."""
    for step in path:
        if isinstance(found, list):
            found = (
                found[int(step)] if step.isdigit() and int(step) < len(found) else None
            )
        else:
            found = found.get(step) if isinstance(found, dict) else None
    return found


def value_text(value):
    """A field as text: a string as it is, everything else as JSON."""
    return value if isinstance(value, str) else json.dumps(value)


def outputs_of_object(template, found):
    """The outputs of the step: fields of the object."""
    made = {}
    for name, path in template.get("fields", {}).items():
        value = field_of(found, path)
        if value is None:
            raise StepFailed(f"the object has no field {'.'.join(path)}")
        form = template["outputs"][name]
        made[name] = value_of(name, form, value_text(value), False)
    return made
