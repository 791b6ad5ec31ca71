"""A whole Airflow, as people run it: an api-server, a scheduler and a dag-processor, with a home of their own."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

import msgspec

USER, PASSWORD = "admin", "canary-9f1c27d0"
SECRET = "a secret of this Airflow alone, longer than the 64 bytes that its algorithm wants"
PARTS = (("api-server",), ("scheduler", "--skip-serve-logs"), ("dag-processor",))
SECONDS_TO_START, SECONDS_TO_END = 300.0, 5.0


class Server(msgspec.Struct, frozen=True):
    """Where it is, and what lets us in. `dags` is its folder of DAGs."""

    url: str
    home: Path

    @property
    def dags(self) -> Path:
        return self.home / "dags"

    @property
    def environment(self) -> dict[str, str]:
        """What couler is told of it."""
        return {
            "COULER_AIRFLOW_SERVER": self.url,
            "COULER_AIRFLOW_USERNAME": USER,
            "COULER_AIRFLOW_PASSWORD": PASSWORD,
            "COULER_AIRFLOW_DAGS_FOLDER": str(self.dags),
        }


@contextmanager
def running(home: Path) -> Iterator[Server]:
    """Start all parts, wait until they work, and end their process groups afterwards. Takes 11 to 21 s."""
    (home / "dags").mkdir(parents=True)
    (home / "passwords.json").write_text(json.dumps({USER: PASSWORD}))
    airflow = str(Path(sys.executable).with_name("airflow"))
    parts: list[subprocess.Popen[bytes]] = []
    with (home / "log").open("wb") as log:
        environment = os.environ | configuration(Server("http://127.0.0.1", home), 0)
        subprocess.run([airflow, "db", "migrate"], check=True, env=environment, stdout=log, stderr=log)
        port = free_port()  # as late as can be: another program may take it
        server = Server(f"http://127.0.0.1:{port}", home)
        environment = os.environ | configuration(server, port)
        try:
            for words in PARTS:
                part = subprocess.Popen(
                    [airflow, *words], env=environment, stdout=log, stderr=log, cwd=home, start_new_session=True
                )
                parts.append(part)
            wait(server, parts)
            yield server
        finally:
            end(parts)


def configuration(server: Server, port: int) -> dict[str, str]:
    """Airflow's settings, as variables."""
    sections: dict[str, dict[str, object]] = {
        "CORE": {
            "DAGS_FOLDER": server.dags,
            "LOAD_EXAMPLES": False,
            "UNIT_TEST_MODE": False,
            "PARALLELISM": 8,
            "EXECUTION_API_SERVER_URL": f"{server.url}/execution/",
            "SIMPLE_AUTH_MANAGER_USERS": f"{USER}:admin",
            "SIMPLE_AUTH_MANAGER_PASSWORDS_FILE": server.home / "passwords.json",
        },
        "API": {"HOST": "127.0.0.1", "PORT": port, "BASE_URL": server.url, "WORKERS": 1, "SECRET_KEY": SECRET},
        "API_AUTH": {"JWT_SECRET": SECRET},
        "DATABASE": {"SQL_ALCHEMY_CONN": f"sqlite:///{server.home}/airflow.db?timeout=60"},
        "DAG_PROCESSOR": {"REFRESH_INTERVAL": 2, "MIN_FILE_PROCESS_INTERVAL": 2, "DAG_FILE_PROCESSOR_TIMEOUT": 120},
        # A scheduler that stood still for 30 s counts as dead, and starts what runs once more: here there is only one.
        "SCHEDULER": {
            "SCHEDULER_IDLE_SLEEP_TIME": 0.2,
            "USE_JOB_SCHEDULE": True,
            "SCHEDULER_HEALTH_CHECK_THRESHOLD": 3600,
            "TASK_INSTANCE_HEARTBEAT_TIMEOUT": 3600,
        },
        "LOGGING": {"LOGGING_LEVEL": "INFO", "BASE_LOG_FOLDER": server.home / "logs"},
    }
    found = {f"AIRFLOW__{name}__{key}": str(value) for name, keys in sections.items() for key, value in keys.items()}
    return found | {"AIRFLOW_HOME": str(server.home)}


def wait(server: Server, parts: Sequence[subprocess.Popen[bytes]]) -> None:
    """Until all parts say that they are well. Raises `TimeoutError` with what they wrote, also where one has ended."""
    until = time.monotonic() + SECONDS_TO_START
    while time.monotonic() < until and all(part.poll() is None for part in parts):
        try:
            with urllib.request.urlopen(f"{server.url}/api/v2/monitor/health", timeout=5) as answer:
                health = json.load(answer)
        except OSError:
            health = {}
        if all(health.get(part, {}).get("status") == "healthy" for part in ("scheduler", "dag_processor")):
            return
        time.sleep(0.5)
    raise TimeoutError((server.home / "log").read_text(errors="replace")[-4000:])


def end(parts: list[subprocess.Popen[bytes]]) -> None:
    """End the parts with all that they started: what doesn't go by itself is killed."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        for part in parts:
            with suppress(ProcessLookupError):
                os.killpg(part.pid, number)
        until = time.monotonic() + SECONDS_TO_END
        for part in parts:
            with suppress(subprocess.TimeoutExpired):
                part.wait(max(0.1, until - time.monotonic()))


def free_port() -> int:
    """A port of this machine that nobody listens on."""
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])
