"""What Argo Workflows says of nodes that end without their program having failed."""

from __future__ import annotations

from couler_py.passes.retry.pattern import Pattern

_ISSUES = "https://github.com/argoproj/argo-workflows/issues"
_DOCS = "https://argo-workflows.readthedocs.io/en/latest"

ROWS = (
    Pattern(
        "argo-shutdown",
        "Argo",
        "somebody stopped the workflow",
        "no",
        "`couler retry` goes on with it",
        f"{_DOCS}/cli/argo_stop/",
        r"[Ww]orkflow shutdown with strategy|\bStopped with strategy '",
        ("shutdown with strategy",),
    ),
    Pattern(
        "argo-deadline",
        "Argo",
        "it ran into its own or the workflow's time limit",
        "no",
        "give it more time (`timeout=`, `deadline=`)",
        f"{_DOCS}/fields/#template",
        r"[Ss]tep exceeded its deadline|[Mm]ax duration limit exceeded",
        ("exceeded its deadline", "ax duration limit exceeded"),
    ),
    Pattern(
        "argo-output-missing",
        "Argo",
        "it ended without writing an output that it should leave",
        "no",
        "look at the path of the output in the step",
        f"{_DOCS}/walk-through/output-parameters/",
        r"(?:cannot save (?:parameter|artifact)|failed to save outputs: ).*"
        r"(?:does not exist|no such file or directory|[Pp]ath not exist)",
        own=True,
    ),
    Pattern(
        "argo-pod-deleted",
        "Argo",
        "its pod was deleted from outside",
        "again",
        "nothing, where nodes come and go; else look for who deletes pods",
        f"{_ISSUES}/893",
        r"^(?:Error: )?pod deleted(?: during operation)?\b",
        ("pod deleted",),
    ),
    Pattern(
        "argo-artifact-load",
        "Argo",
        "an input couldn't be fetched from its store in time",
        "again",
        "where it stays so, look whether pods reach the store",
        f"{_DOCS}/retries/",
        r"artifact \S+ failed to load: .*(?:timeout|EOF|connection|TLS|\b50[0-4]\b|SlowDown)|"
        r"failed to (?:get|download) .*i/o timeout",
        ("failed to load: timeout",),
        begun=False,
    ),
    Pattern(
        "argo-artifact-save",
        "Argo",
        "its outputs couldn't be kept in their store",
        "again",
        "where it stays so, look whether pods reach the store",
        f"{_ISSUES}/5669",
        r"failed to (?:save outputs|put file): .*"
        r"(?:timeout|EOF|connection reset|connection refused|TLS|\b50[0-4]\b|SlowDown)",
        ("failed to put file",),
    ),
    Pattern(
        "argo-executor",
        "Argo",
        "Argo's own container beside it ended too early",
        "again",
        "where it stays so, look at the log of the container wait of its pod",
        f"{_DOCS}/workflow-executors/",
        r"\bwait container (?:failed|was terminated)|workflow[- ]?task[- ]?result .*incomplete|"
        r"task-result\S* (?:is )?incomplete",
    ),
)
