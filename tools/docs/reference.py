"""The reference: every public name of `couler_py` and of Couler's verbs, by subject, from its docstring."""

from __future__ import annotations

import importlib
from typing import Any, TypeAlias

import couler_py
import couler_py.argo
import couler_py.argo_native

Page: TypeAlias = tuple[str, str, str]
"""The title of a page, a sentence about it, and the names that it explains."""

PAGES: dict[str, Page] = {
    "writing": (
        "Steps and workflows",
        "What a workflow is written with. All names are those of the package: `import couler_py as couler`.",
        (
            "step couler_py.dsl.options.StepOptions couler_py.dsl.options.PodOptions StepFunction workflow "
            "WorkflowOptions WorkflowFunction Workflow run_info log_metric included spill unspill"
        ),
    ),
    "flow": (
        "Control flow",
        "Who runs when, how often, and what becomes of values that aren't there.",
        (
            "map sequence inputs when first or_else loop exec_while concurrent after always on_failure on_success "
            "on_exit publish published status sweep space "
            "predict_trials katib_experiment"
        ),
    ),
    "values": (
        "Values and expressions",
        "Inside a workflow, values are placeholders: they are known when it runs.",
        "Placeholder all_of any_of not_ contains length format",
    ),
    "containers": (
        "Containers and other steps",
        "Steps that aren't Python functions.",
        "container script http resource distributed_job suspend template argument value_at file_at stdout Container",
    ),
    "policies": (
        "Policies",
        "Retries, cache, locks, schedules, and how long things are kept.",
        "retry last_attempt RetryPolicy Backoff cache Cache Mutex Semaphore Schedule Ttl",
    ),
    "pods": (
        "Pods: resources, placement, volumes",
        "Where and with what a step runs on a cluster.",
        (
            "Resources Toleration Dns DnsOption EnvFrom ConfigMapRef FieldRef Volume VolumeClaim VolumeMount empty_dir "
            "existing_claim config_map_volume secret_volume host_path"
        ),
    ),
    "storage": (
        "Secrets and stores of files",
        "References to secrets, and files in a store that is named rather than the engine's own.",
        "secret create_secret obtain_secret SecretRef S3 GCS OSS Azure HDFS Git HTTPLocation RawData LocalPath",
    ),
    "running": (
        "Compiling and running",
        "What the command line is made of.",
        "run Run compile Bundle build check set_default_submitter Diagnostic",
    ),
    "errors": (
        "Errors",
        "Every error that this package raises on purpose is a `CoulerError`.",
        (
            "CoulerError DiagnosticError DefinitionError AnnotationError CallError RecordingError PlaceholderError "
            "MissingMemberError RunFailedError NoRunError"
        ),
    ),
}
OBJECTS = frozenset({"item", "null", "step", "words", "workflow"})
"""Names of `couler_py.argo_native` that are neither functions nor classes of their own."""

ENGINES = """# For engines and tools

What a package that adds an engine is written against: see [Adding an engine](../guides/engines.md).

::: couler_py.backends.base
    options:
      members: [Backend, Support, Bundle, Client, RunStatus, TaskStatus, LogLine, UnknownEngineError, NotOffered]
      show_root_heading: false
      heading_level: 2

## The IR as JSON

::: couler_py.ir.codec
    options:
      members: [to_json, from_json, json_schema, IRError]
      show_root_heading: false
      heading_level: 3
"""


def public() -> list[str]:
    """The public names of `couler_py`."""
    return [name for name in dir(couler_py) if not name.startswith("_")]


def navigation() -> list[Any]:
    """The pages for the navigation."""
    return [
        *({title: f"reference/{page}.md"} for page, (title, _, _) in PAGES.items()),
        {"Couler's verbs": "reference/verbs.md"},
        {"Argo's own words": "reference/argo-native.md"},
        {"For engines and tools": "reference/engines.md"},
    ]


def files() -> dict[str, str]:
    """The pages by their path below docs/."""
    found = {
        f"reference/{page}.md": _page(title, about, names.split()) for page, (title, about, names) in PAGES.items()
    }
    found["reference/verbs.md"] = _page(
        "Couler's verbs",
        "The names of `import couler_py.argo as couler`. [What differs from Couler](../couler.md).",
        couler_py.argo.__all__,
        couler_py.argo,
    )
    found["reference/argo-native.md"] = _page(
        "Argo's own words",
        "The names of `from couler_py import argo_native as argo`: see [Writing Argo's own documents]"
        "(../guides/argo-native.md), and [every field](../argo-fields.md). `argo.item` and `argo.workflow` stand for "
        "the item of a loop and the run, `argo.null` for a field without a value, `argo.words` holds the types of "
        "Argo's objects, and `argo.step` is `argo.task`.",
        [name for name in couler_py.argo_native.__all__ if name not in OBJECTS],
        couler_py.argo_native,
    )
    found["reference/engines.md"] = ENGINES
    return found


def explained() -> set[str]:
    """The names that have an entry of their own. `RunInfo` has that of its one object."""
    return (
        {name for _, _, names in PAGES.values() for name in names.split()} | set(couler_py.argo.__all__) | {"RunInfo"}
    )


def _page(title: str, about: str, names: Any, module: Any = couler_py) -> str:
    return "\n".join([f"# {title}", "", about, "", *(_entry(name, module) for name in names)])


def _entry(path: str, module: Any) -> str:
    name = path.rpartition(".")[2]
    return "\n".join(
        [
            f"::: {path if '.' in path else home(getattr(module, name))}",
            "    options:",
            f"      heading: {name}",
            f"      toc_label: {name}",
            "      heading_level: 2",
            "",
        ]
    )


def home(value: Any) -> str:
    """Where a public thing is defined; of a single object (`run_info`), where its class is."""
    where = value if hasattr(value, "__qualname__") else type(value)
    found = f"{where.__module__}.{where.__qualname__}"
    module = importlib.import_module(where.__module__)
    assert getattr(module, where.__qualname__) is where, f"{found} isn't where it says"
    return found
