"""Jobs of torch on one machine: an agent of torchrun for each node, and nodes that are lost and come back."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

from couler_py.runner.launch.members import TAIL, Job, how, say


def devices_of(number: int, nodes: int) -> dict[str, str]:
    """The part of the GPUs that this step has which a node gets; nothing where there are too few to share."""
    visible = [each for each in os.environ.get("CUDA_VISIBLE_DEVICES", "").split(",") if each]
    each = len(visible) // nodes
    return {"CUDA_VISIBLE_DEVICES": ",".join(visible[number * each : (number + 1) * each])} if each else {}


def agent(job: Job, number: int) -> None:
    """Start the agent of a node."""
    spec, words = job.spec, job.commands[number]
    python = words[0] if Path(words[0]).name.startswith("python") else sys.executable
    beat = max(1, round(spec["health"] / 3))
    # All that begin again after they have hung meet at a new place: at the old one, agents that are gone still count.
    settings = {
        "store_type": "file",
        "keep_alive_interval": beat,
        "keep_alive_max_attempt": 3,
        "last_call_timeout": max(1, round(spec["health"] / 2)),
        "join_timeout": 600,
    }
    command = [
        *(python, "-m", "torch.distributed.run", f"--nnodes={spec['least']}:{job.nodes}"),
        *(f"--nproc-per-node={job.processes}", f"--max-restarts={spec['restarts']}", "--monitor-interval=0.2"),
        *("--rdzv-backend=c10d", f"--rdzv-endpoint={job.folder}/rendezvous-{job.hangs}", "--rdzv-id=job"),
        f"--rdzv-conf={','.join(f'{name}={value}' for name, value in settings.items())}",
        *("--local-addr=127.0.0.1", f"--log-dir={job.folder}/node-{number}", "--tee=3", "--no-python", *words),
    ]
    more = {
        "TORCHELASTIC_LOG_LINE_PREFIX_TEMPLATE": "[rank ${rank}] ",
        # In the agents' own store, processes meet under the number of restarts, and that differs between an agent whose
        # process failed and one that only met again. So the process of rank 0 has a store of its own, new each time.
        "TORCH_DISABLE_SHARE_RDZV_TCP_STORE": "1",
        **devices_of(number, job.nodes),
    }
    job.start(number, f"node {number}", command, more)


def torch(job: Job) -> int:
    """Run the agents until all have done their work; gives the exit code."""
    spec = job.spec
    back: dict[int, float] = {}
    for number in range(job.nodes):
        agent(job, number)
    done = False
    while job.members:
        for number, member in list(job.members.items()):
            code = member.process.poll()
            if code is None:
                continue
            del job.members[number]
            if code == 0:
                done = True
                back.clear()
                continue
            member.left_behind()
            if code > 0 or done:
                return failed(job, number, code)
            job.losses += 1
            if job.losses > spec["restarts"]:
                say(f"node {number} is lost ({how(code)}), and {spec['restarts']} restarts were allowed")
                return failed(job, number, code)
            fewer = len(job.members) >= spec["least"]
            wait = 3 * spec["health"] if fewer else 0
            back[number] = time.monotonic() + wait
            going = f"{len(job.members)} go on, and it comes back" if fewer else "the others wait for it"
            say(f"node {number} is lost ({how(code)}): {going}")
        for number, moment in list(back.items()):
            if time.monotonic() >= moment:
                del back[number]
                say(f"node {number} comes back")
                agent(job, number)
        if job.members:
            job.look()
    return 0


def failed(job: Job, number: int, code: int) -> int:
    """End the rest, show the last lines of the ranks that wrote any, first of those that fell silent first."""
    job.end_all()
    say(f"node {number} failed ({how(code)})")
    logs = [path for path in Path(job.folder).glob("node-*/**/stderr.log") if path.stat().st_size]
    attempts = [path.parent.parent.name for path in logs]
    newest = max(map(attempt_number, attempts), default=-1)
    last = [path for path in logs if attempt_number(path.parent.parent.name) == newest]
    for path in reversed(sorted(last, key=lambda each: each.stat().st_mtime)[:2]):
        lines = path.read_text(errors="replace").splitlines()[-TAIL:]
        node = path.relative_to(job.folder).parts[0].replace("-", " ")
        say("\n".join([f"the last lines of {node}, process {path.parent.name}:", *lines]))
    return code if code > 0 else 1


def attempt_number(name: str) -> int:
    return int(name.rpartition("_")[2]) if name.rpartition("_")[2].isdigit() else -1
