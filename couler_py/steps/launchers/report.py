"""What a person is told of a job on a cluster: the outputs of rank 0, or the last lines of the pods that failed.

It runs in a pod of its own behind the job, as text, with the standard library and the account of the pod.
"""

from __future__ import annotations

import base64
import json
import os
import ssl
import sys
import urllib.error
import urllib.parse
import urllib.request
from pathlib import Path
from typing import Any

MARK = "couler-output"
TAIL, LAST = 30, 5000  # lines that are shown of a pod that failed; lines in which outputs are looked for
ACCOUNT = Path("/var/run/secrets/kubernetes.io/serviceaccount")
OUTPUTS = Path("/tmp/couler/outputs")  # noqa: S108


def asked(path: str, **query: object) -> bytes:
    """An answer of the API server, of this namespace."""
    host, port = os.environ["KUBERNETES_SERVICE_HOST"], os.environ["KUBERNETES_SERVICE_PORT"]
    name = (ACCOUNT / "namespace").read_text()
    place = f"[{host}]" if ":" in host else host
    url = f"https://{place}:{port}/api/v1/namespaces/{name}/{path}"
    headers = {"Authorization": f"Bearer {(ACCOUNT / 'token').read_text()}"}
    request = urllib.request.Request(f"{url}?{urllib.parse.urlencode(query)}", headers=headers)
    context = ssl.create_default_context(cafile=str(ACCOUNT / "ca.crt"))
    with urllib.request.urlopen(request, context=context, timeout=60) as answer:
        found: bytes = answer.read()
    return found


def pods(selector: str) -> list[dict[str, Any]]:
    """The pods of the job, the oldest first."""
    found = json.loads(asked("pods", labelSelector=selector))["items"]
    return sorted(found, key=lambda pod: (pod["metadata"]["creationTimestamp"], pod["metadata"]["name"]))


def log(pod: dict[str, Any], container: str, lines: int, previous: bool) -> list[str]:
    """The last lines of a container; none where there are no longer any."""
    path = f"pods/{pod['metadata']['name']}/log"
    query: dict[str, Any] = {"container": container, "tailLines": lines, **({"previous": "true"} if previous else {})}
    try:
        return asked(path, **query).decode("utf-8", "replace").splitlines()
    except urllib.error.HTTPError as problem:
        return [f"(its log can't be read: {problem.read().decode('utf-8', 'replace')[:300]})"]


def ends(pod: dict[str, Any]) -> list[tuple[str, str, int, bool]]:
    """When, and with which exit code, the containers of a pod have failed: of each the last time."""
    found = []
    for status in pod.get("status", {}).get("containerStatuses", ()):
        for field, previous in (("state", False), ("lastState", True)):
            ended = (status.get(field) or {}).get("terminated")
            if ended and ended.get("exitCode"):
                found.append((ended.get("finishedAt") or "", status["name"], ended["exitCode"], previous))
                break
    return found


def tell_failures(of_job: list[dict[str, Any]]) -> None:
    """Show who failed, the first last: that is what a person reads first."""
    failed = sorted((*end, number) for number, pod in enumerate(of_job) for end in ends(pod))[:4]
    for when, container, code, previous, number in reversed(failed):
        name = of_job[number]["metadata"]["name"]
        print(f"--- {name} failed at {when} with exit code {code}; its last lines:")
        print("\n".join(log(of_job[number], container, TAIL, previous)), flush=True)
    waiting = [pod["metadata"]["name"] for pod in of_job if pod.get("status", {}).get("phase") == "Pending"]
    if waiting:
        print(f"pods that never began: {', '.join(waiting)}")
    if not of_job:
        print("it had no pods: look at the object's own events (kubectl describe)")


def keep_outputs(of_job: list[dict[str, Any]], wanted: list[str]) -> list[str]:
    """Write the outputs that pods have printed to their files; gives the names that none has."""
    found: dict[str, str] = {}
    for pod in of_job:
        for container in pod["spec"]["containers"]:
            for line in log(pod, container["name"], LAST, False):
                words = line.split(" ")
                if words[0] == MARK and len(words) == 3:
                    found[words[1]] = words[2]
    OUTPUTS.mkdir(parents=True, exist_ok=True)
    for name in wanted:
        if name in found:
            (OUTPUTS / name).write_bytes(base64.b64decode(found[name]))
    return [name for name in wanted if name not in found]


def main() -> int:
    """What the job left, or why it failed."""
    name, state, label = os.environ["COULER_JOB"], os.environ["COULER_STATE"], os.environ["COULER_LABEL"]
    if not name:
        print("its service could not be made, so there is no job", file=sys.stderr)
        return 1
    of_job = pods(f"{label}={name}")
    if state != "Succeeded":
        tell_failures(of_job)
        print(f"the job {name} failed", file=sys.stderr)
        return 1
    missing = keep_outputs(of_job, json.loads(os.environ["COULER_WANTED"]))
    if missing:
        print(f"no process of {name} left {', '.join(missing)} in {OUTPUTS}", file=sys.stderr)
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main())
