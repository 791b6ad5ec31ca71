"""A program as a job of Ray, through its job API."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

from couler_py import step


class Submitted(NamedTuple):
    """The id of the job, and all that it printed."""

    job: str
    log: Path


@step(name="ray-submit", packages=["ray[default]>=2.40"])
def submit(
    entrypoint: str,
    address: str = "",
    working_dir: Path | None = None,
    packages: list[str] | None = None,
    variables: dict[str, str] | None = None,
    cpus: float = 0.0,
    gpus: float = 0.0,
    poll: float = 2.0,
) -> Submitted:
    """Submit a program to a cluster of Ray (`address`, as "http://head:8265"), and wait until it has ended.

    Without an address a cluster is started on the step's own machine, and stopped after it. The `entrypoint` is a
    command line, run in `working_dir`, with `packages` and `variables`; `cpus` and `gpus` are what the program itself
    takes, beside its tasks. A step that is stopped stops its job. `poll` is in seconds.

    Raises `RuntimeError`, with the end of the log, where the program fails, and `ConnectionError` where nothing
    answers.

    >>> done = ray.submit("python train.py", "http://ray-head:8265", working_dir=code)  # doctest: +SKIP
    """
    import os
    import signal
    import sys
    import time

    from ray.job_submission import JobStatus, JobSubmissionClient

    started: Any = None
    known = dict(variables or {})
    if not address:
        import ray

        started = ray.init(include_dashboard=True, log_to_driver=False, dashboard_port=0)
        address = f"http://{started.dashboard_url}"
        known.setdefault(
            "PATH", os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", os.defpath)])
        )
    environment: dict[str, Any] = {"env_vars": known}
    if working_dir is not None:
        environment["working_dir"] = str(working_dir.resolve())
    if packages:
        environment["pip"] = packages

    def stopped(number: int, frame: Any) -> None:
        raise SystemExit(128 + number)

    before = signal.signal(signal.SIGTERM, stopped)
    try:
        client = JobSubmissionClient(address)
        job = client.submit_job(
            entrypoint=entrypoint, runtime_env=environment, entrypoint_num_cpus=cpus, entrypoint_num_gpus=gpus
        )
        status = client.get_job_status(job)
        try:
            while not status.is_terminal():
                time.sleep(poll)
                status = client.get_job_status(job)
        except BaseException:
            client.stop_job(job)
            raise
        log = Path("job.log")
        text = client.get_job_logs(job)
        log.write_text(text, encoding="utf-8")
        if status != JobStatus.SUCCEEDED:
            why = client.get_job_info(job).message or ""
            raise RuntimeError(f"the job {job} on {address} ended as {status}: {why}\n{text[-2000:]}")
        return Submitted(job, log)
    finally:
        signal.signal(signal.SIGTERM, before)
        if started is not None:
            ray.shutdown()
