"""Pods, policies, resources and schedules."""

from __future__ import annotations

import pytest

from tests.unit.backends.argo.lint.rules.cases import Case, check

CASES = {
    "a timeout of a suspension": Case(
        "CLR474",
        "the template 'main' can't have a `timeout`",
        """
        templates:
        - {name: main, suspend: {}, ‸timeout: 1m}
        """,
    ),
    "parallelism of a container": Case(
        "CLR474",
        "the template 'main' has `parallelism`, and nothing inside it runs in parallel",
        """
        templates:
        - {name: main, ‸parallelism: 2, container: {image: a}}
        """,
    ),
    "a timeout without a unit": Case(
        "CLR475",
        "'30' is no duration",
        """
        templates:
        - {name: main, timeout: ‸'30', container: {image: a}}
        """,
    ),
    "days": Case(
        "CLR475",
        "'2d' is no duration",
        """
        templates:
        - {name: main, suspend: {duration: ‸2d}}
        """,
    ),
    "a deadline in words": Case(
        "CLR475",
        "the deadline of the template 'main' is 'soon'",
        """
        templates:
        - {name: main, activeDeadlineSeconds: ‸soon, container: {image: a}}
        """,
    ),
    "no time at all": Case(
        "CLR475",
        "the deadline of the template 'main' is over when it begins",
        """
        templates:
        - {name: main, activeDeadlineSeconds: ‸0, container: {image: a}}
        """,
        severity="warning",
    ),
    "a backoff without a duration": Case(
        "CLR476",
        "the backoff of the template 'main' has no duration",
        """
        templates:
        - {name: main, retryStrategy: {limit: 2, ‸backoff: {factor: 2}}, container: {image: a}}
        """,
    ),
    "a limit in words": Case(
        "CLR476",
        "the limit of attempts of the template 'main' is 'twice'",
        """
        templates:
        - {name: main, retryStrategy: {limit: ‸twice}, container: {image: a}}
        """,
    ),
    "the key of a cache": Case(
        "CLR477",
        "the key of the cache of the template 'main' can't be 'a/b'",
        """
        templates:
        - {name: main, memoize: {key: ‸a/b, maxAge: 1h, cache: {configMap: {name: a}}}, container: {image: a}}
        """,
    ),
    "a selector": Case(
        "CLR480",
        "pods can't be selected: there is no operator 'Is'; there are In, NotIn, Exists, DoesNotExist",
        """
        podGC: {strategy: OnPodSuccess, labelSelector: {matchExpressions: [{key: a, operator: ‸Is,
            values: [b]}]}}
        templates:
        - {name: main, container: {image: a}}
        """,
    ),
    "the condition of a resource": Case(
        "CLR480",
        "the successCondition of the template 'main' can't be read: 'is' stands where a comparison belongs",
        """
        templates:
        - {name: main, resource: {action: get, manifest: 'a: b', successCondition: ‸status.phase is Done}}
        """,
    ),
    "a manifest that is no YAML": Case(
        "CLR481",
        "the manifest of the template 'main' isn't YAML at its line 2: did not find expected ',' or ']'",
        """
        templates:
        - {name: main, resource: {action: create, manifest: ‸'a: [b'}}
        """,
    ),
    "no manifest": Case(
        "CLR481",
        "the template 'main' has no manifest",
        """
        templates:
        - {name: main, ‸resource: {action: create}}
        """,
    ),
    "a manifest from nowhere": Case(
        "CLR481",
        "the manifest of the template 'main' comes from the artifact 'm', which it doesn't take",
        """
        templates:
        - {name: main, resource: {action: create, manifestFrom: {‸artifact: {name: m}}}}
        """,
    ),
    "a container that waits for nobody": Case(
        "CLR482",
        "a container of the template 'main' waits for 'b', which isn't there",
        """
        templates:
        - {name: main, containerSet: {containers: [{name: a, image: a, dependencies: [‸b]}]}}
        """,
    ),
    "containers in a ring": Case(
        "CLR482",
        "containers of the template 'main' wait for each other in a ring: a -> b -> a",
        """
        templates:
        - {name: main, containerSet: {containers: [{name: a, image: a, ‸dependencies: [b]}, {name: b,
            image: a, dependencies: [a]}]}}
        """,
    ),
    "a set without main": Case(
        "CLR482",
        "the template 'main' has inputs or outputs, and no container called 'main'",
        """
        templates:
        - {name: main, containerSet: {‸containers: [{name: a, image: a}]}, outputs: {parameters: [{name: p,
            valueFrom: {path: /p}}]}}
        """,
    ),
    "no image": Case(
        "CLR483",
        "the template 'main' has no image",
        """
        templates:
        - {name: main, ‸container: {command: [a]}}
        """,
    ),
    "a name of Argo": Case(
        "CLR483",
        "the sidecar 'wait' of the template 'main' has a name that Argo needs itself",
        """
        templates:
        - {name: main, container: {image: a}, sidecars: [{name: ‸wait, image: a}]}
        """,
    ),
    "an empty script": Case(
        "CLR483",
        "the script of the template 'main' is empty",
        """
        templates:
        - {name: main, script: {image: a, command: [sh], source: ‸''}}
        """,
        severity="warning",
    ),
    "a volume that is not declared": Case(
        "CLR484",
        "the template 'main' mounts the volume 'date', which isn't declared",
        """
        volumes: [{name: data, emptyDir: {}}]
        templates:
        - {name: main, container: {image: a, volumeMounts: [{name: ‸date, mountPath: /a}]}}
        """,
    ),
    "a mutex without a name": Case(
        "CLR488",
        "a mutex of the workflow has no name",
        """
        synchronization: {mutexes: [‸{namespace: a}]}
        templates:
        - {name: main, container: {image: a}}
        """,
    ),
    "a semaphore without a place": Case(
        "CLR488",
        "a semaphore of the workflow says nowhere how many may hold it",
        """
        synchronization: {semaphores: [‸{namespace: a}]}
        templates:
        - {name: main, container: {image: a}}
        """,
    ),
    "a metric of no kind": Case(
        "CLR489",
        "the metric 'a' is of no kind",
        """
        metrics: {prometheus: [‸{name: a, help: b}]}
        templates:
        - {name: main, container: {image: a}}
        """,
        severity="warning",
    ),
    "a time zone": Case(
        "CLR478",
        "there is no time zone 'Europe/Olso'",
        """
        schedules: ['@daily']
        timezone: ‸Europe/Olso
        workflowSpec: {entrypoint: main, templates: [{name: main, container: {image: a}}]}
        """,
        kind="CronWorkflow",
    ),
    "an argument of a cron workflow": Case(
        "CLR450",
        "the parameter 'a' of the workflow has no value",
        """
        schedules: ['@daily']
        workflowSpec: {entrypoint: main, arguments: {parameters: [‸{name: a}]}, templates: [{name: main,
            container: {image: a}}]}
        """,
        kind="CronWorkflow",
    ),
    "a value in a program": Case(
        "CLR485",
        "workflow.parameters.a becomes part of the program of the template 'main'",
        """
        arguments: {parameters: [{name: a, value: b}]}
        templates:
        - {name: main, script: {image: a, command: [sh], source: 'echo ‸{{workflow.parameters.a}}'}}
        """,
        severity="warning",
    ),
    "a value in quotes": Case(
        "CLR485",
        "the manifest of the template 'main' has workflow.parameters.a inside quotes",
        """
        arguments: {parameters: [{name: a, value: b}]}
        templates:
        - {name: main, resource: {action: create, manifest: 'a: "‸{{workflow.parameters.a}}"'}}
        """,
        severity="warning",
    ),
    "an output that may be absent": Case(
        "CLR486",
        "the task 'b' reads tasks.a.outputs.parameters.p, which may never be there",
        """
        templates:
        - {name: main, dag: {tasks: [{name: a, template: give, when: 'false'}, {name: b, depends: a,
            template: echo, arguments: {parameters: [{name: x, value: ‸'{{tasks.a.outputs.parameters.p}}'}]}}]}}
        """,
        severity="warning",
    ),
    "an output of a graph that may be absent": Case(
        "CLR486",
        "the output 'o' of the template 'main' comes from steps.a.outputs.parameters.p, which may never be there",
        """
        templates:
        - {name: main, steps: [[{name: a, template: give, when: 'false'}]], outputs: {parameters: [{name: o,
            valueFrom: {parameter: ‸'{{steps.a.outputs.parameters.p}}'}}]}}
        """,
        severity="warning",
    ),
}


@pytest.mark.parametrize("case", CASES.values(), ids=CASES.keys())
def test_a_mistake_is_found_where_it_stands(case: Case) -> None:
    check(case)
