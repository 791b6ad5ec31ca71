"""Diagnostic codes of the check: schedules, policies, pods."""

from __future__ import annotations

from couler_py.ir.diagnostics import Code

CODES: tuple[Code, ...] = (
    Code(
        "CLR229",
        "A NUL in the command of a container",
        "Operating systems end arguments and variables at a NUL character: no program can be started with one inside. "
        "As a value of a Python step it travels well.",
        example='Container("alpine", ("echo", "a\\0b"))',
        instead='Container("alpine", ("printf", "a\\\\0b"))',
    ),
    Code(
        "CLR255",
        "A time of a schedule that can't be read",
        "Five fields: minute, hour, day of the month, month, day of the week; or @hourly, @daily, @weekly, @monthly, "
        "@yearly, @every with a duration.",
        example='schedule="0 25 * * *"',
        instead='schedule="0 3 * * *"',
    ),
    Code(
        "CLR256",
        "An unknown time zone",
        "Zones are those of the tz database.",
        example='Schedule(("0 3 * * *",), timezone="Berlin")',
        instead='Schedule(("0 3 * * *",), timezone="Europe/Berlin")',
    ),
    Code(
        "CLR257",
        "A scheduled workflow with a required parameter",
        "Nobody is asked when it starts by itself: every parameter needs a default.",
        example='@couler.workflow(schedule="0 3 * * *")\ndef nightly(seed: int): ...',
        instead='@couler.workflow(schedule="0 3 * * *")\ndef nightly(seed: int = 0): ...',
    ),
    Code(
        "CLR280",
        "A negative number of attempts",
        "Retries count the attempts after the first.",
        example="@couler.step(retries=-1)",
        instead="@couler.step(retries=0)",
    ),
    Code(
        "CLR281",
        "A time that makes no sense",
        "Time-outs, deadlines and ages are more than 0 seconds; waits are not negative.",
        example="@couler.step(timeout=0)",
        instead="@couler.step(timeout=60)",
    ),
    Code(
        "CLR282",
        "A retry of a whole graph",
        "All its steps run again, also those that succeeded. Only Argo and the local engine can do it; a retry on the "
        "steps inside works everywhere.",
    ),
    Code(
        "CLR283",
        "A time-out on a wait",
        "A step that only waits ends by its own duration, or by a person. Argo refuses a time-out on it.",
        example='Template("approve", Suspend(), timeout=60)',
        instead='Template("approve", Suspend(duration=60))',
    ),
    Code(
        "CLR285",
        "A bound that makes no sense",
        "Parallelism, the limit of a semaphore, and the nodes of a job are at least 1. Only a graph can bound how many "
        "of its steps run at once. Jobs of TensorFlow and of MPI keep the number of nodes that they began with.",
        example="Semaphore('licences', limit=0)",
        instead="Semaphore('licences', limit=1)",
    ),
    Code(
        "CLR286",
        "A job of several nodes that its launcher can't run",
        "On a cluster a distributed job becomes objects of Kubernetes, and each launcher can do some of what jobs may "
        "ask for. Files don't go to the pods of a job, and the outputs are values that rank 0 leaves.",
        example='couler.distributed_job("i:1", ["train"], framework="mpi", launcher="pytorchjob")',
        instead='couler.distributed_job("i:1", ["train"], framework="mpi", launcher="mpijob")',
    ),
    Code(
        "CLR290",
        "A module that the image doesn't have",
        "The step imports a module that is neither Python's nor the project's own, and runs in the default image, "
        "which has Python and nothing else. On this machine it may be installed by chance; elsewhere the step would "
        "fail. What packages= names is installed before the step begins, with all that it needs.",
        example="@couler.step\ndef train():\n    import sklearn",
        instead='@couler.step(packages=["scikit-learn"])\ndef train():\n    import sklearn',
    ),
    Code(
        "CLR291",
        "A volume is mounted that isn't there",
        "What a container mounts is declared on the workflow or on the step.",
        example='VolumeMount("dta", "/data") with Volume("data", ...)',
        instead='VolumeMount("data", "/data") with Volume("data", ...)',
    ),
    Code(
        "CLR292",
        "Two things at one path",
        "Input files, mounts and outputs each have a path of their own; the second would hide the first.",
        example='VolumeMount("a", "/data"), VolumeMount("b", "/data")',
        instead='VolumeMount("a", "/data/a"), VolumeMount("b", "/data/b")',
    ),
    Code(
        "CLR293",
        "An environment variable set twice",
        "One of the values would be lost.",
        example='EnvVar("MODE", "a"), EnvVar("MODE", "b")',
        instead='EnvVar("MODE", "b")',
    ),
    Code(
        "CLR294",
        "A secret in the open",
        "The name of the environment variable sounds like a secret, and its value is written in the workflow, from "
        "where it gets into YAML, logs and version control. A secret is made once and referred to.",
        example='EnvVar("API_TOKEN", "abc123")',
        instead='EnvVar("API_TOKEN", SecretRef("api", "token"))',
    ),
    Code(
        "CLR295",
        "A container without image",
        "Every container names the image that it runs.",
        example='Container(image="")',
        instead='Container(image="python:3.11")',
    ),
    Code(
        "CLR296",
        "A missing or partial path",
        "Files of a container stand at a path of it, and volumes are mounted at a full path.",
        example='InputArtifact("data")',
        instead='InputArtifact("data", path="/tmp/data")',
    ),
    Code(
        "CLR297",
        "An output stored where nothing can be written",
        "Git and raw content are sources of input files only.",
        example='OutputArtifact("model", "/tmp/m", storage=Git("https://..."))',
        instead='OutputArtifact("model", "/tmp/m", storage=S3("models/m"))',
    ),
    Code(
        "CLR298",
        "Code is included that the workflow doesn't have",
        "A step names the archives of the user's files that it imports; the workflow lists them.",
        example='Function(..., include=("sha256...",)) and no Workflow.includes',
        instead='Workflow(..., includes=(IncludeArchive("sha256..."),))',
    ),
    Code(
        "CLR299",
        "A quantity that can't be read",
        "Kubernetes' quantities: a number with m, k, M, G, T, P, E, or Ki, Mi, Gi, Ti, Pi, Ei behind it.",
        example='@couler.step(memory="1 GB")',
        instead='@couler.step(memory="1G")',
    ),
)
