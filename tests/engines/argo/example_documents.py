"""The example documents of Argo Workflows that run on a cluster of tests and here, and why the others can't.

Images become the one that the cluster has; what an example leaves to chance or waits for is edited in its text.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

IMAGE = "debian:12"
SAY = (
    'case "$1" in echo) if [ $# -gt 2 ]; then mkdir -p "$(dirname "$3")"; printf %s "$2" > "$3"; else echo "$2"; fi;; '
    'cat) shift; cat "$@";; sleep) sleep "$2";; exit) exit "$2";; *) echo hello argo;; esac'
)
"""What the program of the image `argoproj/argosay` does."""

Edit = tuple[str, str]
HEADS: Edit = ("random.randint(0,1) == 0", "True")
LUCK: Edit = ("random.choice([0, 1, 1])", "0 if '{{retries}}' > '0' else 1")
RESULT: tuple[Edit, ...] = (
    ('open("result.txt"', 'open("/tmp/result.txt"'),
    ("path: /result.txt", "path: /tmp/result.txt"),
)
COW: Edit = ("cowsay", "echo")
NAP: Edit = ("sleep 10", "sleep 1")

RUN: dict[str, tuple[Edit, ...]] = {
    "archive-location.yaml": (),
    "arguments-parameters-from-configmap.yaml": (),
    "artifact-passing-subpath.yaml": (
        ("path: /tmp/\n", "path: /tmp/made\n"),
        ("sleep 1;", "mkdir /tmp/made;"),
        ("tee /tmp/", "tee /tmp/made/"),
    ),
    "artifact-passing.yaml": (),
    "artifact-path-placeholders.yaml": (),
    "coinflip-recursive.yaml": (HEADS,),
    "coinflip.yaml": (HEADS,),
    "conditional-artifacts.yaml": (HEADS, *RESULT),
    "conditional-parameters.yaml": (HEADS,),
    "conditionals.yaml": (COW,),
    "continue-on-fail.yaml": (),
    "custom-metrics.yaml": (("random.choice([0, 1, 1])", "0"), ("$((1 + RANDOM % 10))", "5")),
    "dag-coinflip.yaml": (HEADS,),
    "dag-conditional-artifacts.yaml": (HEADS, *RESULT),
    "dag-conditional-parameters.yaml": (HEADS,),
    "dag-continue-on-fail.yaml": (),
    "dag-diamond-steps.yaml": (),
    "dag-diamond.yaml": (),
    "dag-disable-failFast.yaml": (("sleep 30", "sleep 1"),),
    "dag-enhanced-depends.yaml": (),
    "dag-multiroot.yaml": (),
    "dns-config.yaml": (),
    "exit-handler-with-artifacts.yaml": RESULT,
    "expression-destructure-json.yaml": (),
    "expression-reusing-verbose-snippets.yaml": (),
    "gc-ttl.yaml": (),
    "global-outputs.yaml": (("/art", "/tmp/art"),),
    "global-parameters-from-configmap-referenced-as-local-variable.yaml": (),
    "global-parameters-from-configmap.yaml": (),
    "global-parameters.yaml": (),
    "handle-large-output-results.yaml": (("| jq '.[{{inputs.parameters.index}}]'", ""),),
    "hello-world.yaml": (),
    "input-artifact-raw.yaml": (),
    "key-only-artifact.yaml": (("/mnt/file", "/tmp/made"),),
    "life-cycle-hooks-tmpl-level.yaml": (
        ("http:\n        # url", "container: {image: any, command: [echo, hook]}\n#"),
        ("        url:", "#"),
    ),
    "loops-dag.yaml": (),
    "loops-param-argument.yaml": (),
    "loops-sequence.yaml": (),
    "map-reduce.yaml": (
        ('os.mkdir("/mnt/out")', 'os.makedirs("/mnt/out", exist_ok=True)'),
        ("/mnt/", "/tmp/mapped-"),
    ),
    "nested-workflow.yaml": (),
    "output-parameter.yaml": (),
    "parallelism-limit.yaml": (NAP,),
    "parameter-aggregation-dag.yaml": (),
    "parameter-aggregation.yaml": (),
    "pod-gc-strategy.yaml": (),
    "pod-metadata-wf-field.yaml": (),
    "recursive-for-loop.yaml": (),
    "resubmit.yaml": (("random.choice([0, 0, 1])", "0"),),
    "retry-backoff.yaml": (LUCK,),
    "retry-conditional.yaml": (("random.choice([1, 2])", "2 if '{{retries}}' == '0' else 1"),),
    "retry-container-to-completion.yaml": (),
    "retry-on-error.yaml": (("random.choice(range(0, 5))", "0 if '{{retries}}' > '0' else 3"),),
    "retry-script.yaml": (LUCK,),
    "retry-with-steps.yaml": (LUCK,),
    "scripts-bash.yaml": (("cat /dev/urandom |", "printf ab |"),),
    "scripts-python.yaml": (("random.randint(1, 100)", "42"),),
    "skipped-output-defaults/consumer-input-default.yaml": (),
    "skipped-output-defaults/expression-fallback.yaml": (),
    "skipped-output-defaults/producer-output-default.yaml": (),
    "status-reference.yaml": (),
    "steps-inline-workflow.yaml": (),
    "suspend-template.yaml": (("suspend: {}", "suspend: {duration: '1'}"), ('duration: "20"', 'duration: "1"')),
    "template-defaults.yaml": (("random.choice([0, 1, 1])", "0"),),
    "template-on-exit.yaml": (),
    "title-and-description-with-markdown.yaml": (),
}
"""By the name of an example, the edits of its text."""

RARELY = frozenset(
    {
        "archive-location.yaml",
        "coinflip-recursive.yaml",
        "dag-coinflip.yaml",
        "dag-conditional-artifacts.yaml",
        "dag-conditional-parameters.yaml",
        "dag-continue-on-fail.yaml",
        "dag-diamond-steps.yaml",
        "dag-disable-failFast.yaml",
        "global-parameters-from-configmap.yaml",
        "life-cycle-hooks-tmpl-level.yaml",
        "loops-dag.yaml",
        "map-reduce.yaml",
        "parallelism-limit.yaml",
        "parameter-aggregation-dag.yaml",
        "pod-metadata-wf-field.yaml",
        "recursive-for-loop.yaml",
        "retry-backoff.yaml",
        "retry-with-steps.yaml",
        "suspend-template.yaml",
    }
)
"""Those that start many pods, wait, or are close to another: they run where there is time for them."""


def prepared(folder: Path, name: str) -> dict[str, Any]:
    """An example, edited. Raises `ValueError` for an edit that finds nothing to change."""
    text = (folder / name).read_text(encoding="utf-8")
    for old, new in RUN[name]:
        if old not in text:
            raise ValueError(f"{name} has no {old!r} any more")
        text = text.replace(old, new)
    documents = [document for document in yaml.safe_load_all(text) if document]
    document: dict[str, Any] = next(each for each in documents if each["kind"] == "Workflow")
    for container in containers(document["spec"]):
        if "argosay" in container["image"]:
            container["command"] = ["sh", "-c", SAY, "argosay"]
        container["image"] = IMAGE
    document["metadata"].pop("name", None)
    document["metadata"]["generateName"] = "example-"
    return document


def containers(value: Any) -> Iterator[dict[str, Any]]:
    """Every object with an image in a document."""
    if isinstance(value, dict):
        if isinstance(value.get("image"), str):
            yield value
        for each in value.values():
            yield from containers(each)
    elif isinstance(value, list):
        for each in value:
            yield from containers(each)


_LEFT: dict[str, tuple[str, ...]] = {
    "no workflow: templates, volumes, settings, bindings of events": (
        "artifacts-workflowtemplate.yaml",
        "ci-workflowtemplate.yaml",
        "cluster-workflow-template/clustertemplates.yaml",
        "configmaps/simple-parameters-configmap.yaml",
        "dag-inline-clusterworkflowtemplate.yaml",
        "dag-inline-workflowtemplate.yaml",
        "testvolume.yaml",
        "workflow-event-binding/event-consumer-workfloweventbinding.yaml",
        "workflow-event-binding/github-path-filter-workflowtemplate.yaml",
        "workflow-template/templates.yaml",
    ),
    "it refers to templates that have to be installed first (tests/unit/passes/portable tries those by file)": (
        "cluster-workflow-template/cluster-wftmpl-dag.yaml",
        "cluster-workflow-template/mixed-cluster-namespaced-wftmpl-steps.yaml",
        "cluster-workflow-template/workflow-template-ref-with-entrypoint-arg-passing.yaml",
        "cluster-workflow-template/workflow-template-ref.yaml",
        "workflow-of-workflows.yaml",
        "workflow-template/dag.yaml",
        "workflow-template/input-artifacts.yaml",
        "workflow-template/steps.yaml",
        "workflow-template/workflow-archive-logs.yaml",
        "workflow-template/workflow-template-ref-with-entrypoint-arg-passing.yaml",
        "workflow-template/workflow-template-ref.yaml",
    ),
    "it starts by a schedule": (
        "cron-when.yaml",
        "cron-workflow-multiple-schedules.yaml",
        "cron-workflow.yaml",
        "dag-inline-cronworkflow.yaml",
    ),
    "it needs a store, or a service of the internet, that isn't there": (
        "artifact-gc-workflow.yaml",
        "artifact-repository-ref.yaml",
        "artifactory-artifact.yaml",
        "ci.yaml",
        "exit-handler-slack.yaml",
        "fun-with-gifs.yaml",
        "influxdb-ci.yaml",
        "input-artifact-gcs.yaml",
        "input-artifact-oss.yaml",
        "input-artifact-s3.yaml",
        "output-artifact-azure.yaml",
        "webhdfs-input-output-artifacts.yaml",
        "work-avoidance.yaml",
    ),
    "it makes or changes objects of Kubernetes, and there is none on one machine": (
        "k8s-jobs.yaml",
        "k8s-orchestration.yaml",
        "k8s-owner-reference.yaml",
        "k8s-patch-json-pod.yaml",
        "k8s-patch-merge-pod.yaml",
        "k8s-patch-pod.yaml",
        "k8s-resource-log-selector.yaml",
        "k8s-wait-wf.yaml",
        "resource-delete-with-flags.yaml",
        "resource-flags.yaml",
    ),
    "it is about what a pod is made of: several containers, its spec, nodes, devices": (
        "container-set-template/graph-workflow.yaml",
        "container-set-template/outputs-result-workflow.yaml",
        "container-set-template/workspace-workflow.yaml",
        "init-container.yaml",
        "node-selector.yaml",
        "pod-resources-template-override.yaml",
        "pod-spec-from-previous-step.yaml",
        "pod-spec-patch-wf-tmpl.yaml",
        "resource-claims-template-override.yaml",
        "sidecar-dind.yaml",
        "sidecar-nginx.yaml",
        "sidecar.yaml",
    ),
    "its daemons are programs of images (InfluxDB, nginx) that are not at hand": (
        "daemon-nginx.yaml",
        "daemon-step.yaml",
        "dag-daemon-task.yaml",
        "steps-daemon-retry-strategy.yaml",
    ),
    "it needs a plugin": (
        "artifact-passing-explicit-plugin.yaml",
        "workflow-level-executor-plugin.yaml",
    ),
    "it works on volumes of the cluster, or asks the kernel what is mounted": (
        "volumes-emptydir.yaml",
        "volumes-existing.yaml",
        "volumes-pvc.yaml",
    ),
    "a process would replace a folder of this machine": (
        "artifact-disable-archive.yaml",
        "data-transformations.yaml",
        "expression-tag-template-workflow.yaml",
    ),
    "it is about locks among workflows, and is still without them": (
        "synchronization-db-mutex-tmpl-level.yaml",
        "synchronization-db-tmpl-level.yaml",
        "synchronization-mutex-tmpl-level.yaml",
        "synchronization-mutex-wf-level.yaml",
        "synchronization-tmpl-level.yaml",
        "synchronization-wf-level.yaml",
    ),
    "it takes minutes, and says nothing that a shorter one doesn't": (
        "colored-logs.yaml",
        "dag-task-level-timeout.yaml",
        "parallelism-nested-dag.yaml",
        "parallelism-nested.yaml",
        "step-level-timeout.yaml",
        "timeouts-step.yaml",
    ),
    "the target of its dag is a tag, which only Argo reads": ("dag-targets.yaml",),
    "it needs Windows": ("hello-windows.yaml",),
    "a person gives it a value": ("suspend-template-outputs.yaml",),
    "its cache is a ConfigMap, which the account of the tests may not write": ("memoize-simple.yaml",),
    "it uses filters of JSONPath": ("expression-destructure-json-complex.yaml",),
    "it shows names that differ from run to run": (
        "label-value-from-workflow.yaml",
        "pod-gc-strategy-with-label-selector.yaml",
        "variables-showcase.yaml",
    ),
}
IMPOSSIBLE: dict[str, str] = {name: why for why, names in _LEFT.items() for name in names}
"""By the name of an example, why it can't run on both."""
