"""What Argo can do with each feature of the IR, and how. The docs' engine matrix is made from this table."""

from __future__ import annotations

from couler_py.backends.base import Support
from couler_py.backends.features import FEATURES

LOWERED: dict[str, str] = {
    "function": "a script template whose source is the step's own, run by the runner in an environment variable",
    "loop": "a template that calls itself",
    "edge_value": "`depends`, and `when` over the producer's status where that can be skipped",
    "edge_on_failure": "`depends` on every end, and `when` over the producer's status",
    "edge_always": "`depends` on every end, and an `outcome` task that inherits the failure",
    "edge_first": "`depends` on all, and `when` one of them succeeded",
    "or_else": "an expression over the producer's status",
    "each_literal": "a dag template of its own",
    "each_dynamic": "a dag template of its own",
    "each_sequence": "a dag template of its own",
    "each_parallel": "`parallelism` of the fan-out's template",
    "each_tolerate": "a task behind the map, and a count around it",
    "fan_in": "a list output with the default []",
    "cache": "`memoize` with a hash over content and inputs",
    "handler": "one exit handler with all of them side by side",
    "distributed_job": "a resource for a service, one for the job, and a step that tells what came of it",
    "include": "ConfigMaps, or artifacts where they are large",
}
NEVER: dict[str, str] = {
    "artifact_local": "the cluster doesn't see this machine's files",
}

TABLE: tuple[Support, ...] = tuple(
    Support(feature, "lowered", LOWERED[feature])
    if feature in LOWERED
    else Support(feature, "never", NEVER[feature])
    if feature in NEVER
    else Support(feature, "native")
    for feature in FEATURES
)
