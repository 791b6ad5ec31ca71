"""Spark: `submit` an application, as a SparkApplication of the Spark operator that is watched until it ends.

Kind and fields: kubeflow.github.io/spark-operator/docs/api-docs (`v1beta2`). The object's name is completed by the
cluster, so runs never meet, and on Argo it belongs to the workflow: who deletes that deletes it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Unpack

from couler_py import resource
from couler_py.ir.storage import SecretRef
from couler_py.steps.jobs import JobError, Sharing


def submit(
    image: str,
    application: Any,
    arguments: Sequence[Any] = (),
    *,
    main_class: str = "",
    executors: int = 2,
    executor_cores: int = 1,
    executor_memory: str = "1g",
    driver_cores: int = 1,
    driver_memory: str = "1g",
    conf: Mapping[str, str] | None = None,
    spark_version: str = "3.5.3",
    **sharing: Unpack[Sharing],
) -> Any:
    """Run an application of Spark as a SparkApplication: a Python file, or a jar with its `main_class`.

    `application` is a place that the image or the cluster's stores have ("local:///opt/app/main.py", "s3a://…"), and
    memories are written as Spark has it ("4g"). `service_account` is the driver's, which makes executors.

    Raises `JobError` for a job without executors.

    >>> spark.submit("spark:3.5.3", "local:///opt/app/etl.py", ["--day", day], executors=4)  # doctest: +SKIP
    """
    if executors < 1:
        raise JobError("an application of Spark has at least one executor")
    both: dict[str, Any] = {"env": variables} if (variables := _variables(sharing)) else {}
    claims = sharing.get("claims", {})
    names = {claim: f"claim-{number}" for number, claim in enumerate(dict.fromkeys(claims.values()))}
    if claims:
        both["volumeMounts"] = [{"name": names[claim], "mountPath": path} for path, claim in claims.items()]
    both |= {"nodeSelector": dict(sharing["node_selector"])} if "node_selector" in sharing else {}
    account = {"serviceAccount": sharing["service_account"]} if "service_account" in sharing else {}
    labels = {"labels": dict(sharing["labels"])} if "labels" in sharing else {}
    spec: dict[str, Any] = {
        "type": "Scala" if main_class else "Python",
        "mode": "cluster",
        "image": image,
        "sparkVersion": spark_version,
        "mainApplicationFile": application,
        "arguments": [each if not isinstance(each, int | float) else str(each) for each in arguments],
        "restartPolicy": {"type": "Never"},
        "driver": {"cores": driver_cores, "memory": driver_memory, **account, **labels, **both},
        "executor": {"instances": executors, "cores": executor_cores, "memory": executor_memory, **labels, **both},
    }
    spec |= {"pythonVersion": "3"} if not main_class else {"mainClass": main_class}
    spec |= {"sparkConf": dict(conf)} if conf else {}
    if claims:
        volumes = [{"name": name, "persistentVolumeClaim": {"claimName": claim}} for claim, name in names.items()]
        spec["volumes"] = volumes
    manifest = {
        "apiVersion": "sparkoperator.k8s.io/v1beta2",
        "kind": "SparkApplication",
        "metadata": {"generateName": "spark-", **labels},
        "spec": spec,
    }
    options: dict[str, Any] = {key: sharing[key] for key in ("retries", "timeout", "deadline") if key in sharing}  # type: ignore[literal-required]
    made = resource(
        manifest,
        success_condition="status.applicationState.state == COMPLETED",
        failure_condition="status.applicationState.state in (FAILED, SUBMISSION_FAILED)",
        set_owner_reference=True,
        outputs={"job_name": "{.metadata.name}"},
        name=sharing.get("name", "spark"),
        **options,
    )
    return made()


def _variables(sharing: Sharing) -> list[dict[str, Any]]:
    given = {secret.key: secret for secret in sharing.get("secrets", ())} | dict(sharing.get("env", {}))
    return [
        {"name": name, "valueFrom": {"secretKeyRef": {"name": value.name, "key": value.key}}}
        if isinstance(value, SecretRef)
        else {"name": name, "value": str(value) if isinstance(value, int | float) else value}
        for name, value in given.items()
    ]


__all__ = ["submit"]
