"""What Airflow says of tasks that it lost."""

from __future__ import annotations

from couler_py.passes.retry.pattern import Pattern

_ISSUES = "https://github.com/apache/airflow/issues"
_DOCS = "https://airflow.apache.org/docs/apache-airflow/stable"
_PODS = "https://airflow.apache.org/docs/apache-airflow-providers-cncf-kubernetes/stable/operators.html"

ROWS = (
    Pattern(
        "airflow-timeout",
        "Airflow",
        "it ran into its time limit",
        "no",
        "give it more time (`timeout=`)",
        f"{_DOCS}/core-concepts/tasks.html#timeouts",
        r"\bAirflowTaskTimeout\b",
        ("AirflowTaskTimeout",),
    ),
    Pattern(
        "airflow-sigterm",
        "Airflow",
        "its worker was stopped, or its state was changed from outside",
        "again",
        "nothing, where workers come and go",
        f"{_ISSUES}/18041",
        r"Task received SIGTERM signal|Received SIGTERM\. Terminating subprocesses|"
        r"Server indicated the task shouldn't be running anymore",
        ("Task received SIGTERM signal",),
    ),
    Pattern(
        "airflow-heartbeat",
        "Airflow",
        "its worker no longer gave a sign of life",
        "again",
        "where it happens often, the worker is short of memory or processors",
        f"{_ISSUES}/29455",
        r"Detected (?:a )?zombie job|jobs? without heartbeat|Task did not emit heartbeat within time limit",
        ("zombie job", "without heartbeat", "did not emit heartbeat"),
    ),
    Pattern(
        "airflow-queue",
        "Airflow",
        "it never left the queue, or the executor and Airflow didn't agree on how it ended",
        "later",
        "look whether there are workers, and at the executor's log",
        f"{_ISSUES}/39717",
        r"[Ee]xecutor .*reported that the task instance .* finished with state \w+, but|"
        r"Executor reports task instance .* finished \(\w+\) although the task says|"
        r"Task requeue attempts exceeded max|stuck in queued",
        (
            "finished with state failed, but",
            "finished with state success, but",
            "requeue attempts exceeded",
            "stuck in queued",
        ),
    ),
    Pattern(
        "airflow-pod-start",
        "Airflow",
        "its pod took too long to start",
        "later",
        "look whether the cluster has room, and give it longer (startup_timeout_seconds)",
        _PODS,
        r"\bPodLaunch(?:Timeout|Failed)Exception\b|Pod took (?:too long|longer than \d+ seconds) to start",
        ("Pod took too long to start", "Pod took longer than"),
        begun=False,
    ),
    Pattern(
        "airflow-pod-lost",
        "Airflow",
        "its pod is gone",
        "again",
        "nothing, where nodes come and go",
        _PODS,
        r"\bPodNotFoundException\b|kubernetes\.client\.exceptions\.ApiException: \(404\).*pods? ",
        ("PodNotFoundException",),
    ),
    Pattern(
        "airflow-database",
        "Airflow",
        "Airflow's own database didn't answer",
        "again",
        "where it stays so, look at the database and its pool of connections",
        f"{_DOCS}/howto/set-up-database.html",
        r"(?:psycopg2?|sqlalchemy\.exc|asyncpg)\.\w*(?:OperationalError|InterfaceError)\W.*"
        r"(?:server closed the connection unexpectedly|could not connect to server|"
        r"SSL SYSCALL error|remaining connection slots|connection is closed)",
        ("server closed the connection unexpectedly",),
    ),
    Pattern(
        "airflow-api",
        "Airflow",
        "Airflow's API server didn't answer its worker",
        "again",
        "where it stays so, look at the API server",
        f"{_DOCS}/public-airflow-interface.html",
        r"airflow\.sdk\.\S*(?:ServerResponseError|ApiServerError)|Unable to reach .*execution API",
    ),
)
