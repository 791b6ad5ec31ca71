"""How people write workflows: steps, workflows, placeholders, control flow.

The names below are the public ones; each is loaded when it is first used.
"""

from __future__ import annotations

import importlib
import sys
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from couler_py.dsl.branches import always, concurrent, when
    from couler_py.dsl.builder import Workflow
    from couler_py.dsl.building import build
    from couler_py.dsl.choice import first, or_else
    from couler_py.dsl.compute import all_of, any_of, contains, format, length, not_  # noqa: A004  the verbs' names
    from couler_py.dsl.containers import container, http, resource, script, suspend
    from couler_py.dsl.errors import AnnotationError, CallError, DefinitionError
    from couler_py.dsl.fanout import map, sequence  # noqa: A004
    from couler_py.dsl.flow import WorkflowFunction, workflow
    from couler_py.dsl.handlers import on_exit, on_failure, on_success, publish, published
    from couler_py.dsl.jobs import distributed_job
    from couler_py.dsl.loops import exec_while, loop
    from couler_py.dsl.options import cache, retry
    from couler_py.dsl.ordering import after
    from couler_py.dsl.placeholder import Placeholder, inputs, status
    from couler_py.dsl.problems import MissingMemberError, PlaceholderError, RecordingError
    from couler_py.dsl.retrying import last_attempt
    from couler_py.dsl.runinfo import NoRunError, RunInfo, log_metric, run_info
    from couler_py.dsl.secrets import create_secret, obtain_secret, secret
    from couler_py.dsl.step import StepFunction, step
    from couler_py.dsl.sweeps.guided import predict_trials
    from couler_py.dsl.sweeps.recording import sweep
    from couler_py.dsl.sweeps.space import space
    from couler_py.dsl.templates import argument, file_at, stdout, template, value_at
    from couler_py.dsl.verbs.artifacts import (
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
    from couler_py.dsl.verbs.jobs import run_job
    from couler_py.dsl.verbs.pods import (
        add_image_pull_secret,
        add_toleration,
        add_volume,
        create_workflow_volume,
        set_dns,
    )
    from couler_py.dsl.verbs.predicates import bigger, bigger_equal, equal, not_equal, smaller, smaller_equal
    from couler_py.dsl.verbs.scripts import run_script
    from couler_py.dsl.volumes import config_map_volume, empty_dir, existing_claim, host_path, secret_volume
    from couler_py.dsl.workflow_options import WorkflowOptions
    from couler_py.ir.model import Backoff, Cache, Mutex, RetryPolicy, Schedule, Semaphore, Ttl
    from couler_py.ir.pod import (
        ConfigMapRef,
        Container,
        Dns,
        DnsOption,
        EnvFrom,
        FieldRef,
        Resources,
        Toleration,
        Volume,
        VolumeClaim,
        VolumeMount,
    )
    from couler_py.ir.storage import (
        GCS,
        HDFS,
        OSS,
        S3,
        Azure,
        Git,
        HTTPLocation,
        LocalPath,
        RawData,
        SecretRef,
    )

_HOMES: dict[str, tuple[str, ...]] = {
    "dsl.branches": ("always", "concurrent", "when"),
    "dsl.builder": ("Workflow",),
    "dsl.building": ("build",),
    "dsl.choice": ("first", "or_else"),
    "dsl.compute": ("all_of", "any_of", "contains", "format", "length", "not_"),
    "dsl.containers": ("container", "http", "resource", "script", "suspend"),
    "dsl.errors": ("AnnotationError", "CallError", "DefinitionError"),
    "dsl.fanout": ("map", "sequence"),
    "dsl.flow": ("WorkflowFunction", "workflow"),
    "dsl.handlers": ("on_exit", "on_failure", "on_success", "publish", "published"),
    "dsl.jobs": ("distributed_job",),
    "dsl.loops": ("exec_while", "loop"),
    "dsl.options": ("cache", "retry"),
    "dsl.ordering": ("after",),
    "dsl.placeholder": ("Placeholder", "inputs", "status"),
    "dsl.problems": ("MissingMemberError", "PlaceholderError", "RecordingError"),
    "dsl.retrying": ("last_attempt",),
    "dsl.runinfo": ("NoRunError", "RunInfo", "log_metric", "run_info"),
    "dsl.secrets": ("create_secret", "obtain_secret", "secret"),
    "dsl.step": ("StepFunction", "step"),
    "dsl.sweeps.guided": ("predict_trials",),
    "dsl.sweeps.recording": ("sweep",),
    "dsl.sweeps.space": ("space",),
    "dsl.templates": ("argument", "file_at", "stdout", "template", "value_at"),
    "dsl.verbs.artifacts": (
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
    ),
    "dsl.verbs.canned": ("run_canned_step",),
    "dsl.verbs.config": ("config_defaults", "config_workflow"),
    "dsl.verbs.containers": ("run_container",),
    "dsl.verbs.exits": ("WFStatus", "set_exit_handler"),
    "dsl.verbs.explicit": ("dag", "set_dependencies"),
    "dsl.verbs.jobs": ("run_job",),
    "dsl.verbs.pods": ("add_image_pull_secret", "add_toleration", "add_volume", "create_workflow_volume", "set_dns"),
    "dsl.verbs.predicates": ("bigger", "bigger_equal", "equal", "not_equal", "smaller", "smaller_equal"),
    "dsl.verbs.scripts": ("run_script",),
    "dsl.volumes": ("config_map_volume", "empty_dir", "existing_claim", "host_path", "secret_volume"),
    "dsl.workflow_options": ("WorkflowOptions",),
    "ir.model": ("Backoff", "Cache", "Mutex", "RetryPolicy", "Schedule", "Semaphore", "Ttl"),
    "ir.pod": (
        "ConfigMapRef",
        "Container",
        "Dns",
        "DnsOption",
        "EnvFrom",
        "FieldRef",
        "Resources",
        "Toleration",
        "Volume",
        "VolumeClaim",
        "VolumeMount",
    ),
    "ir.storage": (
        "GCS",
        "HDFS",
        "OSS",
        "S3",
        "Azure",
        "Git",
        "HTTPLocation",
        "LocalPath",
        "RawData",
        "SecretRef",
    ),
}
_HOME = {name: f"couler_py.{module}" for module, names in _HOMES.items() for name in names}


class _Package(ModuleType):
    """This package: `step` is the decorator, also once the module of that name is imported."""

    def __setattr__(self, name: str, value: Any) -> None:
        if not (name in _HOME and isinstance(value, ModuleType)):
            super().__setattr__(name, value)


sys.modules[__name__].__class__ = _Package


def __getattr__(name: str) -> Any:
    home = _HOME.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found = globals()[name] = getattr(importlib.import_module(home), name)
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOME})


__all__ = [
    "GCS",
    "HDFS",
    "OSS",
    "S3",
    "AnnotationError",
    "Azure",
    "Backoff",
    "Cache",
    "CallError",
    "ConfigMapRef",
    "Container",
    "DefinitionError",
    "Dns",
    "DnsOption",
    "EnvFrom",
    "FieldRef",
    "Git",
    "HTTPLocation",
    "LocalPath",
    "MissingMemberError",
    "Mutex",
    "NoRunError",
    "Placeholder",
    "PlaceholderError",
    "RawData",
    "RecordingError",
    "Resources",
    "RetryPolicy",
    "RunInfo",
    "Schedule",
    "SecretRef",
    "Semaphore",
    "StepFunction",
    "Toleration",
    "Ttl",
    "Volume",
    "VolumeClaim",
    "VolumeMount",
    "WFStatus",
    "Workflow",
    "WorkflowFunction",
    "WorkflowOptions",
    "add_image_pull_secret",
    "add_toleration",
    "add_volume",
    "after",
    "all_of",
    "always",
    "any_of",
    "argument",
    "bigger",
    "bigger_equal",
    "build",
    "cache",
    "concurrent",
    "config_defaults",
    "config_map_volume",
    "config_workflow",
    "container",
    "contains",
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
    "distributed_job",
    "empty_dir",
    "equal",
    "exec_while",
    "existing_claim",
    "file_at",
    "first",
    "format",
    "host_path",
    "http",
    "inputs",
    "last_attempt",
    "length",
    "log_metric",
    "loop",
    "map",
    "not_",
    "not_equal",
    "obtain_secret",
    "on_exit",
    "on_failure",
    "on_success",
    "or_else",
    "predict_trials",
    "publish",
    "published",
    "resource",
    "retry",
    "run_canned_step",
    "run_container",
    "run_info",
    "run_job",
    "run_script",
    "script",
    "secret",
    "secret_volume",
    "sequence",
    "set_dependencies",
    "set_dns",
    "set_exit_handler",
    "smaller",
    "smaller_equal",
    "space",
    "status",
    "stdout",
    "step",
    "suspend",
    "sweep",
    "template",
    "value_at",
    "when",
    "workflow",
]
