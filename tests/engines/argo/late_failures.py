"""Mistakes that both servers let through and no run survives: for each kind a workflow that the controller fails on.

Where one can, a workflow has no pods: a `steps` template whose one step is skipped (`nothing`) runs in an instant. What
would wait for ever (`FOR_EVER`) isn't ended by its deadline either.
"""

from __future__ import annotations

from typing import Any

JSON = dict[str, Any]

NOTHING: JSON = {"name": "nothing", "steps": [[{"name": "no", "template": "nothing", "when": "false"}]]}
TAKES: JSON = {**NOTHING, "name": "takes", "inputs": {"parameters": [{"name": "x"}]}}
FAILS: JSON = {"name": "fails", "steps": [[{"name": "no", "template": "nothing", "when": "{{= fromJSON('x') }}"}]]}
POD: JSON = {"image": "busybox", "command": ["true"]}


def _workflow(main: JSON, *templates: JSON, seconds: int = 60, **spec: Any) -> JSON:
    return {
        "apiVersion": "argoproj.io/v1alpha1",
        "kind": "Workflow",
        "metadata": {"generateName": "late-"},
        "spec": {
            "entrypoint": "main",
            "activeDeadlineSeconds": seconds,
            "templates": [{"name": "main", **main}, NOTHING, TAKES, FAILS, *templates],
            **spec,
        },
    }


def _step(**step: Any) -> JSON:
    return {"steps": [[{"name": "a", "template": "nothing", **step}]]}


def _given(value: str) -> JSON:
    return {"parameters": [{"name": "x", "value": value}]}


def _task(**task: Any) -> JSON:
    return {"dag": {"tasks": [{"name": "a", "template": "nothing"}, {"name": "b", "template": "nothing", **task}]}}


def _output(expression: str) -> JSON:
    outputs = {"parameters": [{"name": "o", "valueFrom": {"expression": expression}}]}
    return {**_step(), "outputs": outputs}


def _retried(**strategy: Any) -> JSON:
    return {"steps": FAILS["steps"], "retryStrategy": {"limit": 3, "retryPolicy": "Always", **strategy}}


INLINE: JSON = {
    "inputs": {"parameters": [{"name": "x"}]},
    "steps": [[{"name": "i", "template": "takes", "arguments": _given("{{inputs.parameters.x}}")}]],
}

LATE: dict[str, JSON] = {
    "age_of_a_cache_in_days": _workflow(
        {"container": POD, "memoize": {"key": "a", "maxAge": "2d", "cache": {"configMap": {"name": "late-cache"}}}}
    ),
    "backoff_in_days": _workflow(_retried(backoff={"duration": "2d"})),
    "backoff_without_a_duration": _workflow(_retried(backoff={"factor": 2})),
    "broken_condition_of_a_resource": _workflow(
        {
            "resource": {
                "action": "create",
                "successCondition": "data.a is b",
                "manifest": "apiVersion: v1\nkind: ConfigMap\nmetadata: {generateName: late-}\ndata: {a: b}\n",
            }
        }
    ),
    "condition_with_a_lone_sign": _workflow(_step(when="{{workflow.name}} ==")),
    "condition_with_an_unknown_name": _workflow(_step(when="{{= inputs.parameters.nobody == '1' }}")),
    "condition_with_an_open_quote": _workflow(_step(when="'a == {{workflow.name}}")),
    "depends_without_an_operator": _workflow(_task(depends="(a")),
    "duration_with_an_unknown_unit": _workflow({"suspend": {"duration": "2 days"}}, seconds=15),
    "expression_without_an_operand": _workflow(_step(template="takes", arguments=_given("{{= workflow.name + }}"))),
    "hook_of_a_loop_that_reads_it": _workflow(
        _step(withItems=["1"], hooks={"exit": {"template": "takes", "arguments": _given("{{steps.a.status}}")}})
    ),
    "inline_template_of_a_loop_with_inputs": _workflow(
        {"steps": [[{"name": "a", "withItems": ["1"], "arguments": _given("{{item}}"), "inline": INLINE}]]}
    ),
    "input_that_a_hook_forgets": _workflow(_step(hooks={"exit": {"template": "takes"}})),
    "item_without_a_key": _workflow(
        _step(template="takes", arguments=_given("{{item.k}}"), withItems=[{"k": "1"}, {"other": "2"}])
    ),
    "items_that_are_no_json": _workflow(_step(withParam="a, b")),
    "items_that_are_no_list": _workflow(_step(withParam='{"a": 1}')),
    "key_of_a_cache_with_signs": _workflow(
        {"container": POD, "memoize": {"key": "a/b", "maxAge": "1h", "cache": {"configMap": {"name": "late-cache"}}}}
    ),
    "limit_in_words": _workflow(_retried(limit="twice")),
    "name_with_a_hyphen_behind_a_dot": _workflow(
        _task(template="takes", depends="a", arguments=_given("{{= tasks.some-task.id }}"))
    ),
    "output_by_a_broken_expression": _workflow(_output("1 +")),
    "output_by_an_unknown_name": _workflow(_output("steps['nobody-knows'].outputs.result")),
    "reserved_name_of_a_task": _workflow(
        {
            "dag": {
                "tasks": [
                    {"name": "matches", "template": "nothing"},
                    {"name": "b", "template": "nothing", "dependencies": ["matches"]},
                ]
            }
        }
    ),
    "semaphore_without_a_place": _workflow({**_step(), "synchronization": {"semaphores": [{"namespace": "n"}]}}),
    "sequence_of_words": _workflow(_step(withSequence={"count": "ten"})),
    "sequence_without_an_end": _workflow(_step(withSequence={"start": "1"})),
    "sidecar_with_a_name_of_argo": _workflow({"container": POD, "sidecars": [{"name": "wait", "image": "busybox"}]}),
    "step_that_reads_one_beside_it": _workflow(
        {
            "steps": [
                [
                    {"name": "a", "template": "nothing"},
                    {"name": "b", "template": "takes", "arguments": _given("{{steps.a.id}}")},
                ]
            ]
        }
    ),
    "task_that_reads_one_beside_it": _workflow(_task(template="takes", arguments=_given("id {{tasks.a.id}}"))),
    "text_for_an_artifact": _workflow(
        {
            "dag": {
                "tasks": [
                    {"name": "a", "template": "nothing"},
                    {
                        "name": "b",
                        "template": "reads",
                        "depends": "a",
                        "arguments": {"artifacts": [{"name": "f", "from": "{{tasks.a.id}}"}]},
                    },
                ]
            }
        },
        {"name": "reads", "inputs": {"artifacts": [{"name": "f", "path": "/f"}]}, "container": POD},
    ),
    "timeout_in_days": _workflow({"container": POD, "timeout": "1d"}),
    "undeclared_volume": _workflow({"container": {**POD, "volumeMounts": [{"name": "v", "mountPath": "/v"}]}}),
    "undefined_template_of_a_hook": _workflow(_step(), hooks={"exit": {"template": "nowhere-at-all"}}),
    "unknown_function": _workflow(_output("capitalize('a')")),
    "unknown_name_in_a_retry": _workflow(_retried(expression="lastTry.exitCode == '1'")),
    "unknown_task_behind_a_default": _workflow(
        _task(template="takes", depends="a", arguments=_given("{{= tasks['nobody'].outputs.parameters.x ?? 'd' }}"))
    ),
    "unknown_tag_in_a_loop": _workflow(
        _step(template="takes", arguments=_given("{{nobody-knows}}"), withItems=["a", "b"])
    ),
}

FOR_EVER = ("name_with_a_hyphen_behind_a_dot", "step_that_reads_one_beside_it", "task_that_reads_one_beside_it")
"""Those that the controller neither ends nor goes on with: it waits for a value that never comes."""
