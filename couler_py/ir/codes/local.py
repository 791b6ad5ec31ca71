"""Diagnostic codes of the area: local."""

from __future__ import annotations

from couler_py.ir.diagnostics import Code

CODES: tuple[Code, ...] = (
    Code(
        "CLR600",
        "a step that can't run on this machine",
        "Kubernetes resources, distributed jobs, plugins, Argo's data templates and templates that are installed on a "
        "cluster need that cluster. Container sets, init containers and sidecars need containers. All such steps of a "
        "run are named before anything starts.",
        instead="compile the workflow for Argo; or, where it is containers that are missing, --runtime podman",
    ),
    Code(
        "CLR601",
        "an expression of another engine",
        "The workflow was imported, and an expression in it is kept in its engine's own language because it could not "
        "be translated. The local engine evaluates couler's own expressions only.",
        example='when: "{{=sprig.trim(tasks.a.outputs.result)}} == x"',
        instead="couler.when(a.result == 'x', ...)",
    ),
    Code(
        "CLR602",
        "a container without a command",
        "Without --runtime podman or docker steps run as processes of this machine, with its programs. A container "
        "that leaves its command to the image has none there, because the image is not used.",
        example='couler.run_container(image="busybox", args=["echo", "hi"])',
        instead='couler.run_container(image="busybox", command=["echo"], args=["hi"])',
    ),
    Code(
        "CLR603",
        "a field of a pod",
        "The downward API gives a container fields of its own pod. A process has no pod.",
        example="env: valueFrom: fieldRef: status.hostIP",
        instead="couler.run_info.id, .name, .scheduled_time",
    ),
    Code(
        "CLR604",
        "a secret that this machine doesn't have",
        "A step refers to a secret by name and key. Its value is read from this machine's own store when the step "
        "starts, and the store has none of that name.",
        instead='couler.create_secret({"token": value}, name="api")',
    ),
    Code(
        "CLR605",
        "a ConfigMap that this machine doesn't have",
        "What a ConfigMap holds on a cluster is read here from `config.toml` in COULER_HOME, or from "
        "`[tool.couler.local.config_maps]` of the project's pyproject.toml.",
        instead='[local.config_maps.settings]\nregion = "eu"',
    ),
    Code(
        "CLR606",
        "a volume that can't be a folder",
        "Volumes are folders of COULER_HOME here, mounted into containers; for a process, a link stands at the path "
        "where it expects them. That works for emptyDir, claims, secrets and ConfigMaps.",
    ),
    Code(
        "CLR607",
        "a step that asks for more than there is",
        "More processors or memory than this machine has are a warning: the step runs alone, with what there is. More "
        "GPUs are an error.",
        example="@couler.step(gpu=8)",
        instead="@couler.step(gpu=1)",
    ),
    Code(
        "CLR608",
        "images that are not used",
        "Container and script steps of a workflow that was written in Python run as processes here unless told "
        "otherwise: their commands are this machine's programs. The note names the images that would be used.",
        instead="couler run flow.py --runtime podman",
    ),
    Code(
        "CLR609",
        "a declared path that must not be replaced",
        "A process shares the machine's files. A path that a step declares is cleared before the step and taken away "
        "after it, which for a folder at the root would be a disaster.",
        example='OutputArtifact("out", path="/home")',
        instead='OutputArtifact("out", path="/tmp/out")',
    ),
    Code(
        "CLR610",
        "settings without a meaning on one machine",
        "Node selectors, tolerations, priorities, DNS and service accounts choose and equip a pod. They are kept for "
        "the engines that have pods, and not used here.",
    ),
    Code(
        "CLR611",
        "a store on a network file system",
        "SQLite's write-ahead log needs memory that processes share, which network file systems don't offer. The store "
        "uses a rollback journal there, which is slower. Set COULER_HOME to a folder on a local disk.",
    ),
    Code(
        "CLR612",
        "a run that goes on with changed code",
        "`couler retry RUN --with FILE` puts the workflow of the file in the place of the run's own. Steps that have "
        "changed run again with all that follows them, and what failed; everything else stays as it is. The note "
        "names the steps.",
    ),
    Code(
        "CLR613",
        "modules to preload that are none",
        "`preload` is a list of modules, by the names that `import` takes. They are loaded once, before Python steps "
        "are forked.",
        example='engines={"local": {"preload": "numpy"}}',
        instead='preload=["numpy"]',
    ),
)
