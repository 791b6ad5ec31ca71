"""Jobs of other frameworks on one machine: the processes themselves, or mpirun, which starts them."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator

from couler_py.runner.launch.agents import devices_of
from couler_py.runner.launch.members import Job, Member, free_port, how, say

LED = ("chief", "master")
"""Roles whose end is the job's: where a job has none of them its workers decide."""


def cluster(job: Job) -> dict[str, list[str]]:
    """Where the nodes of each role listen; evaluators are in no cluster (tensorflow.org/guide/distributed_training)."""
    found: dict[str, list[str]] = {}
    for role, _ in job.roles:
        if role != "evaluator":
            found.setdefault(role, []).extend(f"127.0.0.1:{free_port()}" for _ in range(job.processes))
    return found


def ranks(job: Job) -> Iterator[tuple[int, dict[str, str]]]:
    """What each process is told, as torch, Horovod's users and most programs know it; for tensorflow also TF_CONFIG."""
    port = str(free_port())
    places = cluster(job) if job.spec["framework"] == "tensorflow" else {}
    for rank in range(job.world):
        node, local = divmod(rank, job.processes)
        role, index = job.roles[node]
        told = {
            "RANK": str(rank),
            "WORLD_SIZE": str(job.world),
            "LOCAL_RANK": str(local),
            "LOCAL_WORLD_SIZE": str(job.processes),
            "GROUP_RANK": str(node),
            "MASTER_ADDR": "127.0.0.1",
            "MASTER_PORT": port,
        }
        if places:
            task = {"type": role, "index": index * job.processes + local}
            told["TF_CONFIG"] = json.dumps({"cluster": places, "task": task})
        yield rank, {**told, **devices_of(node, job.nodes)}


def processes(job: Job) -> int:
    """Run the processes until those that decide have ended well; one that fails ends the others."""
    for rank, told in ranks(job):
        more = {**told, "COULER_RESTART": str(job.losses)}
        command = job.commands[rank // job.processes]
        job.start(rank, f"rank {rank}", command, more, f"[rank {rank}] " if job.world > 1 else "")
    names = {role for role, _ in job.roles}
    decide = next(({name} for name in LED if name in names), {"worker"} & names or names)
    members = list(job.members.values())
    waited = [each for rank, each in job.members.items() if job.roles[rank // job.processes][0] in decide]
    bad: Member | None = None
    while bad is None and any(each.process.poll() is None for each in waited):
        job.look()
        bad = next((each for each in members if each.process.poll() not in (None, 0)), None)
    bad = bad or next((each for each in members if each.process.poll()), None)
    job.end_all()
    if bad is None:
        return 0
    code = bad.process.returncode
    say(f"{bad.name} failed ({how(code)})")
    if job.losses == job.spec["restarts"]:
        bad.tell()
    return code if code > 0 else 1


def mpi(job: Job) -> int:
    """Run the command under mpirun, which does the rest."""
    if shutil.which("mpirun") is None:
        job.losses = job.spec["restarts"]  # it would not be there the next time either
        say("this machine has no mpirun: install Open MPI or MPICH")
        return 127
    allowed = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    command = ["mpirun", "-n", str(job.world), *job.commands[0]]
    job.start(0, "mpirun", command, {**allowed, "OMPI_MCA_rmaps_base_oversubscribe": "1"})
    member = job.members[0]
    while member.process.poll() is None:
        job.look()
    code = member.process.returncode
    job.end_all()
    if code:
        say(f"mpirun failed ({how(code)})")
    return code if code >= 0 else 1
