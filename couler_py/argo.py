"""Couler's own import line: `import couler_py.argo as couler`.

A program written for Couler 0.1 runs as it is, on this machine or on Argo; where a function
differs, `docs/couler.md` says how. What can't be honoured raises where it is written.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from couler_py import api
from couler_py.dsl.problems import fail
from couler_py.dsl.verbs.artifacts import (
    Artifact,
    ArtifactType,
    create_azure_artifact,
    create_gcs_artifact,
    create_git_artifact,
    create_hdfs_artifact,
    create_http_artifact,
    create_local_artifact,
    create_oss_artifact,
    create_parameter_artifact,
    create_path_artifact,
    create_raw_artifact,
    create_s3_artifact,
)
from couler_py.dsl.verbs.canned import run_canned_step
from couler_py.dsl.verbs.config import config_defaults, config_workflow
from couler_py.dsl.verbs.containers import run_container
from couler_py.dsl.verbs.exits import WFStatus, set_exit_handler
from couler_py.dsl.verbs.explicit import dag, set_dependencies
from couler_py.dsl.verbs.flow import concurrent, exec_while, map, when  # noqa: A004  Couler's names
from couler_py.dsl.verbs.jobs import run_job
from couler_py.dsl.verbs.outputs import (
    Output,
    OutputArtifact,
    OutputEmpty,
    OutputJob,
    OutputParameter,
    OutputScript,
)
from couler_py.dsl.verbs.pods import (
    DnsConfig,
    DnsConfigOption,
    ImagePullPolicy,
    Toleration,
    Volume,
    VolumeClaimTemplate,
    VolumeMount,
    add_image_pull_secret,
    add_toleration,
    add_volume,
    create_workflow_volume,
    set_dns,
)
from couler_py.dsl.verbs.predicates import bigger, bigger_equal, equal, not_equal, smaller, smaller_equal
from couler_py.dsl.verbs.scripts import run_script
from couler_py.dsl.verbs.secrets import Secret, create_secret, obtain_secret
from couler_py.dsl.verbs.settings import Cache
from couler_py.dsl.verbs.state import reset


class ArgoSubmitter:
    """Hands workflows to Argo, in a namespace of a cluster.

    `config_file` and `context` choose the cluster as kubectl does; without, it is the one that kubectl uses,
    or the one that the program runs in. Nothing is asked of the cluster before a workflow is submitted, and
    nothing is ever written to the configuration, whatever `persist_config` says.
    """

    def __init__(
        self,
        namespace: str = "default",
        config_file: str | None = None,
        context: str | None = None,
        client_configuration: Any = None,
        persist_config: bool = True,
        **options: Any,
    ):
        if client_configuration is not None:
            fail("CLR185", "client_configuration is not used", help="give config_file= or context=")
        self.namespace = namespace
        self.config_file = config_file
        self.context = context
        self.options = options

    def client(self) -> Any:
        """The connection to the cluster, as `run` asks for it."""
        from couler_py.backends.base import backend

        given = {"kubeconfig": self.config_file, "context": self.context}
        chosen = {name: value for name, value in given.items() if value is not None}
        return backend("argo").client(namespace=self.namespace, **chosen, **self.options)

    def __repr__(self) -> str:
        return f"<ArgoSubmitter to {self.namespace}>"


class DockerSubmitter:
    """A stub in Couler, and refused here: workflows run on this machine without a submitter."""

    def __init__(self, *args: Any, **kwargs: Any):
        fail(
            "CLR185",
            "there is no DockerSubmitter",
            why="in Couler it ran one container, and no workflow",
            help='call couler.run(); with the runtime "container" of the local engine, steps run in their images',
        )


def run(submitter: Any = None, *, parameters: Mapping[str, Any] | None = None, **options: Any) -> api.Run:
    """Run what was recorded, and begin a new workflow.

    `submitter` is an `ArgoSubmitter` (or the class), whatever else `couler_py.run` takes, or None: what
    `set_default_submitter` says, else this machine. While the `couler` command loads a file, nothing is
    started: the command runs the workflow itself.

    Raises `DiagnosticError` for what is wrong with the workflow.

    >>> couler.run(submitter=couler.ArgoSubmitter(namespace="team-a"))  # doctest: +SKIP
    """
    try:
        return api.run(api.build(None), submitter=_instance(submitter), parameters=parameters, **options)
    finally:
        reset()


def set_default_submitter(submitter: Any) -> None:
    """What `run` hands workflows to when it isn't told; None is this machine.

    >>> couler.set_default_submitter(couler.ArgoSubmitter(namespace="team-a"))  # doctest: +SKIP
    """
    api.set_default_submitter(_instance(submitter))


def delete(
    name: str,
    namespace: str = "default",
    config_file: str | None = None,
    context: str | None = None,
    client_configuration: Any = None,
    persist_config: bool = True,
    grace_period_seconds: int = 5,
    propagation_policy: str = "Background",
) -> None:
    """Delete a workflow of a cluster. Raises `RunNotFoundError` where there is none of the name.

    >>> couler.delete("nightly-x7d2p", namespace="team-a")  # doctest: +SKIP
    """
    if grace_period_seconds != 5 or propagation_policy != "Background":
        fail("CLR185", "how a workflow is deleted can't be chosen", help="use `kubectl delete workflow` for that")
    submitter = ArgoSubmitter(namespace, config_file, context, client_configuration, persist_config)
    submitter.client().delete(f"argo:{namespace}/{name}")


def workflow_yaml(**options: Any) -> dict[str, Any]:
    """What was recorded so far as Argo's document. `options` are those of the Argo engine, as `crds="minimal"`.

    >>> couler.workflow_yaml(crds="minimal")["kind"]  # doctest: +SKIP
    """
    document: dict[str, Any] = api.compile(None, to="argo", **options).documents[0]
    return document


def init_yaml_dump() -> None:
    """Nothing: Couler changed how PyYAML writes text, for the whole program; here each text is written right.

    >>> couler.init_yaml_dump()  # doctest: +SKIP
    """


def _instance(submitter: Any) -> Any:
    return submitter() if isinstance(submitter, type) else submitter


_cleanup = reset
"""Couler's name for it."""

__all__ = [
    "ArgoSubmitter",
    "Artifact",
    "ArtifactType",
    "Cache",
    "DnsConfig",
    "DnsConfigOption",
    "DockerSubmitter",
    "ImagePullPolicy",
    "Output",
    "OutputArtifact",
    "OutputEmpty",
    "OutputJob",
    "OutputParameter",
    "OutputScript",
    "Secret",
    "Toleration",
    "Volume",
    "VolumeClaimTemplate",
    "VolumeMount",
    "WFStatus",
    "add_image_pull_secret",
    "add_toleration",
    "add_volume",
    "bigger",
    "bigger_equal",
    "concurrent",
    "config_defaults",
    "config_workflow",
    "create_azure_artifact",
    "create_gcs_artifact",
    "create_git_artifact",
    "create_hdfs_artifact",
    "create_http_artifact",
    "create_local_artifact",
    "create_oss_artifact",
    "create_parameter_artifact",
    "create_path_artifact",
    "create_raw_artifact",
    "create_s3_artifact",
    "create_secret",
    "create_workflow_volume",
    "dag",
    "delete",
    "equal",
    "exec_while",
    "init_yaml_dump",
    "map",
    "not_equal",
    "obtain_secret",
    "reset",
    "run",
    "run_canned_step",
    "run_container",
    "run_job",
    "run_script",
    "set_default_submitter",
    "set_dependencies",
    "set_dns",
    "set_exit_handler",
    "smaller",
    "smaller_equal",
    "when",
    "workflow_yaml",
]
