"""Diagnostic codes of the area: airflow."""

from __future__ import annotations

from couler_py.ir.diagnostics import Code

CODES: tuple[Code, ...] = (
    Code(
        "CLR501",
        "Airflow can't do this",
        "The workflow uses something that Apache Airflow has no word for, or that the chosen operators can't do: a "
        "process of the worker (`operators=local`) has no pod, and so no sidecars. The table of engines in the "
        'documentation says what each can do. `on_unsupported="warn"` compiles the rest; the step in question then '
        "fails when it is run.",
    ),
    Code(
        "CLR502",
        "an expression without a meaning on Airflow",
        "Expressions become Python in the DAG file, with the meaning that they have everywhere. Only those in another "
        "engine's own language, and references to what isn't there, can't be written.",
    ),
    Code(
        "CLR503",
        "a fan-out inside a fan-out over a list that only the run knows",
        "Airflow maps tasks and groups over lists, but refuses to map inside a mapped group. Where the outer list is "
        "known when the file is written, its groups are written out one by one. Otherwise let one step make the list "
        "of all pairs and fan out over that, or do the inner part in one step.",
        example="couler.map(lambda n: couler.map(double, numbers(n)), numbers(3))",
        instead="couler.map(double, all_numbers(numbers(3)))",
    ),
    Code(
        "CLR504",
        "a loop over a graph with too many turns",
        "A loop whose body is one step repeats inside one task, as often as it likes. One over a graph is written out: "
        "each turn is a group of tasks, skipped once the loop has ended. Give it a lower `max_iterations`.",
    ),
    Code(
        "CLR505",
        "the id of a task is too long for Airflow",
        "The id of a task holds the names of all groups around it, and may have 240 characters: Airflow names the "
        "folders of its logs by it. Give the workflows and steps on the way shorter names.",
    ),
    Code(
        "CLR506",
        "a bound on items at once that holds for each task",
        "`parallel=k` of a fan-out over a graph becomes `max_active_tis_per_dagrun` of each task in it: at most k "
        "items are in the same task at once, and others may be in the next. A fan-out over one step is bounded as "
        "written.",
    ),
    Code(
        "CLR507",
        "a fan-out over a graph with more items than Airflow maps",
        "Airflow maps over at most 1,024 items (`max_map_length`). A fan-out over one step runs more in batches, "
        "several items to a task. One over a graph can't: give it `max_items=1000` or fewer, or make the graph one "
        "step.",
    ),
    Code(
        "CLR508",
        "locks that Airflow's pools can't say",
        "A lock becomes a pool, and a task has one pool. A step with two locks, a lock on a graph or on the whole "
        "workflow, and a lock whose name or size only the run knows can't be said. Use one lock on each step.",
    ),
    Code(
        "CLR509",
        "a deadline over several attempts",
        "Airflow limits each attempt (`execution_timeout`) and the run (`dagrun_timeout`), and nothing between. Give "
        "the step a `timeout`, and the workflow a deadline.",
    ),
    Code(
        "CLR510",
        "files of the user's own that are too large for a DAG file",
        "What `include=` packs travels in the DAG file itself, up to 256 KiB. Build an image with the modules, or "
        "include less.",
    ),
    Code(
        "CLR511",
        "a schedule that replaces the run before",
        "Airflow starts the next run beside the last one, or lets it wait (`max_active_runs=1`). It ends none for it.",
    ),
    Code(
        "CLR512",
        "files between pods without a place",
        "A pod's files are gone with it. Steps that hand on files need a place: `-O artifacts=s3://bucket/path` "
        "(any URI that fsspec knows), or a volume that all pods and the workers can mount, `-O claim=NAME` and "
        "`-O artifacts=/path`. Containers of Docker share a folder or a volume with the worker; a URI is no place for "
        "them, though the worker brings and puts files of named stores.",
    ),
    Code(
        "CLR513",
        "a setting that Airflow keeps elsewhere",
        "How long runs and pods are kept, and how late a run may start, are settings of an installation of Airflow, "
        "not of a DAG. The DAG file leaves them out; nothing else changes.",
    ),
    Code(
        "CLR514",
        "a named store that can't be reached from a DAG",
        "Files in stores are moved by fsspec: S3, GCS, OSS and Azure by bucket and key, and HTTP addresses as input. "
        "Settings of a store beyond endpoint, region and keys have no word there. Keys are secrets of the "
        "cluster: only pods can have them. Where the worker moves files (Docker, processes) or looks into them "
        "(a cached step), its own environment has the keys.",
    ),
    Code(
        "CLR515",
        "a Kubernetes object as a step, with more than Airflow's operator does",
        "Conditions are requirements of a label selector over the object's fields (`status.succeeded > 0`), outputs "
        "are paths of fields (`{.status.phase}`). Flags of kubectl, and jq filters that compute, need a step of "
        "their own.",
    ),
    Code(
        "CLR516",
        "a patch of a pod that can't be applied when the file is written",
        "`pod_patch` is merged into the pod of the step when the DAG file is written, so it must be JSON or YAML "
        "without values of the run. The typed settings of pods may hold values.",
    ),
    Code(
        "CLR517",
        "a tag that Airflow would not take",
        "A tag of a DAG has at most 100 characters. Labels of the workflow become tags; a longer one is left out.",
    ),
)
