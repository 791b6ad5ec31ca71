"""Diagnostic codes of the area: policy."""

from __future__ import annotations

from couler_py.ir.diagnostics import Code

CODES: tuple[Code, ...] = (
    Code(
        "CLR900",
        "an image that the policy doesn't allow",
        "A policy says which images steps, sidecars and init containers may use (`allow_images`), and may ask for "
        "images by their digest (`require_digest`), whose content can't change. An image that is only known when the "
        "step runs is allowed where whatever it turns out to be fits a pattern.",
        example='@couler.step(image="someone/tool:latest")',
        instead='@couler.step(image="registry.example.com/tool@sha256:…")',
    ),
    Code(
        "CLR901",
        "a label or annotation that the policy asks for",
        "Labels say whose a run is and who pays for it. A policy may ask for some on every workflow, and for what "
        "their values look like (`require_labels`, `require_annotations`).",
        example="@couler.workflow()",
        instead='@couler.workflow(labels={"team": "search"})',
    ),
    Code(
        "CLR902",
        "a step without limits",
        "A container without a limit of processors or memory can take all that its machine has. A policy may ask for "
        "limits of every container (`require_limits`); `[resources]` in couler.toml gives them to steps that say "
        "nothing.",
        example="@couler.step()",
        instead='@couler.step(cpu=1, memory="2Gi")',
    ),
    Code(
        "CLR903",
        "more than the policy allows",
        "A policy bounds what one step may ask for (`max_per_step`), what all tasks that can run at one time may "
        "(`max_per_workflow`), and how many tasks a workflow has (`max_tasks`). Tasks of one level of a graph can run "
        "at one time; a fan-out over a list that is only known when it runs counts with its `max_items` or its "
        "`parallel`.",
        example="couler.map(train, items)",
        instead="couler.map(train, items, parallel=4)",
    ),
    Code(
        "CLR904",
        "something that the policy forbids",
        "A policy may forbid what reaches out of a pod: paths, network, namespaces, ports and rights of the machine, "
        "capabilities, root, and what can't be looked into beforehand: images by the tag latest, patches of pods, "
        "plugins, requests, Kubernetes objects (`forbid`).",
        example="volumes: [{name: host, hostPath: {path: /}}]",
        instead="volumes: [{name: work, emptyDir: {}}]",
    ),
    Code(
        "CLR905",
        "a namespace or service account that the policy doesn't allow",
        "A policy says where runs may be and as whom their pods may act (`allow_namespaces`, "
        "`allow_service_accounts`). Where it bounds namespaces, one has to be named: otherwise it would be whichever "
        "the kubeconfig says.",
        example="couler submit flow.py --to argo",
        instead="couler submit flow.py --to argo -n team-a",
    ),
    Code(
        "CLR906",
        "a place of artifacts that the policy doesn't allow",
        "A policy says where steps may read artifacts from and write them to (`allow_artifacts`), as addresses: "
        "s3://BUCKET/KEY (s3://ENDPOINT/BUCKET/KEY where an endpoint is named), gs://, oss://, az://, hdfs://, "
        "git+URL, http(s)://. Artifacts in the cluster's own store are always allowed.",
        example='couler.S3("data.csv", bucket="elsewhere")',
        instead='couler.S3("data.csv", bucket="team-a")',
    ),
    Code(
        "CLR907",
        "a Kubernetes object that the policy doesn't allow",
        "A policy says which kinds of objects steps may make, change or delete (`allow_resource_kinds`), by kind (Job) "
        "or with the version (batch/v1/Job). One that is only known when the step runs is not allowed.",
        example="kind: ClusterRoleBinding",
        instead="kind: Job",
    ),
)
