"""The pods of a job: the container, and the shell that starts a node's processes and reports what they left.

The command of the job is given to the shell as its arguments, so that no value becomes program text. When all went
well, each file in /tmp/couler/outputs is printed in one line, from which the step reads its outputs.
"""

from __future__ import annotations

from typing import Any

from couler_py.ir.model import JobRole
from couler_py.kubernetes.containers import container
from couler_py.kubernetes.jobs.launcher import HEALTH_TIMEOUT, LABEL, Plan

PORT = 29400
MARK = "couler-output"

_REPORT = f"""\
trap 'kill -TERM $child 2>/dev/null' TERM INT
wait $child; code=$?
while kill -0 $child 2>/dev/null; do wait $child; code=$?; done
if [ $code = 0 ]; then
  for file in /tmp/couler/outputs/*; do
    [ -f "$file" ] && printf '\\n{MARK} %s %s\\n' "${{file##*/}}" "$(base64 -w0 <"$file")"
  done
fi
exit $code
"""
_TORCH = (
    """\
mkdir -p /tmp/couler/outputs
host=0; [ "$COULER_NODE" = 0 ] && host=1
python=python3; case "$1" in *python*) python="$1";; esac
"$python" -m torch.distributed.run --nnodes="$COULER_NNODES" --nproc-per-node="$COULER_PROCESSES" \\
  --max-restarts="$COULER_RESTARTS" --rdzv-backend=c10d --rdzv-id=job --rdzv-endpoint="$COULER_MASTER:$COULER_PORT" \\
  --rdzv-conf="is_host=$host,$COULER_RDZV" --no-python "$@" &
child=$!
"""
    + _REPORT
)
_RANKS = (
    """\
mkdir -p /tmp/couler/outputs
export MASTER_ADDR="$COULER_MASTER" MASTER_PORT="$COULER_PORT" LOCAL_WORLD_SIZE="$COULER_PROCESSES"
export WORLD_SIZE=$COULER_PLANNED_WORLD GROUP_RANK=$COULER_NODE
(
  trap 'kill $all 2>/dev/null; exit 1' USR1
  trap 'kill $all 2>/dev/null; exit 143' TERM INT
  self=$(exec sh -c 'echo $PPID'); all=; i=0
  while [ $i -lt "$COULER_PROCESSES" ]; do
    rank=$((COULER_NODE * COULER_PROCESSES + i))
    (RANK=$rank LOCAL_RANK=$i "$@" || { echo "couler: rank $rank failed" >&2; kill -USR1 $self; }) &
    all="$all $!"; i=$((i + 1))
  done
  wait
) &
child=$!
"""
    + _REPORT
)
_TENSORFLOW = (
    """\
i=0; cluster=; task=
for each in $COULER_ROLES; do
  role=${each%:*}; count=${each#*:}; j=0; places=
  while [ $j -lt "$count" ]; do
    places="$places${places:+,}\\"$COULER_PEER$i.$COULER_DOMAIN:$COULER_PORT\\""
    [ $i = "$COULER_NODE" ] && task="{\\"type\\":\\"$role\\",\\"index\\":$j}"
    i=$((i + 1)); j=$((j + 1))
  done
  [ "$role" = evaluator ] || cluster="$cluster${cluster:+,}\\"$role\\":[$places]"
done
export TF_CONFIG="{\\"cluster\\":{$cluster},\\"task\\":$task}"
"""
    + _RANKS
)
SHELLS = {"torch": _TORCH, "generic": _RANKS, "tensorflow": _TENSORFLOW}


def wrapped(plan: Plan, peer: str) -> dict[str, Any]:
    """The container of a node whose processes we start ourselves; `peer` is a node's host name without its number."""
    job = plan.job
    found = container(job.container, plan.render)
    words = [*found.pop("command", []), *found.pop("args", [])]
    beat = max(1, round((job.health_timeout or HEALTH_TIMEOUT) / 3))
    told = {
        "COULER_ROLES": " ".join(f"{each.name}:{each.nodes}" for each in job.roles) or f"worker:{job.nodes}",
        "COULER_NNODES": f"{plan.least}:{job.nodes}",
        "COULER_PROCESSES": str(job.processes_per_node),
        "COULER_PLANNED_WORLD": str(job.nodes * job.processes_per_node),
        "COULER_RESTARTS": str(job.max_restarts),
        "COULER_MASTER": f"{peer}0.{plan.name}",
        "COULER_PEER": peer,
        "COULER_DOMAIN": plan.name,
        "COULER_PORT": str(PORT),
        "COULER_RDZV": f"keep_alive_interval={beat},keep_alive_max_attempt=3,last_call_timeout={beat},join_timeout=600",
        # See couler_py.runner.launch.agents: those that count restarts differently would not meet in a shared store.
        "TORCH_DISABLE_SHARE_RDZV_TCP_STORE": "1",
    }
    node = {"name": "COULER_NODE", "valueFrom": {"fieldRef": {"fieldPath": INDEX}}}
    env = [node, *({"name": name, "value": value} for name, value in told.items()), *found.pop("env", [])]
    command = ["sh", "-c", SHELLS[job.framework], "couler", *words]
    return {"name": "main", **found, "command": command, "env": env}


INDEX = "metadata.annotations['batch.kubernetes.io/job-completion-index']"


def plain(plan: Plan, name: str, role: JobRole | None = None) -> dict[str, Any]:
    """The container of the job or a role, for operators that start processes themselves and know theirs by its name."""
    planned = str(plan.job.nodes * plan.job.processes_per_node)
    found = container((role.container if role else None) or plan.job.container, plan.render)
    env = [{"name": "COULER_PLANNED_WORLD", "value": planned}, *found.pop("env", [])]
    return {**found, "name": name, "env": env}


def reporting(main: dict[str, Any], *before: str) -> dict[str, Any]:
    """A container whose command stands behind some words, and which prints the outputs."""
    words = [*before, *main.pop("command", []), *main.pop("args", [])]
    shell = 'mkdir -p /tmp/couler/outputs\n"$@" &\nchild=$!\n' + _REPORT
    return {**main, "command": ["sh", "-c", shell, "couler", *words]}


def template(plan: Plan, main: dict[str, Any], **more: Any) -> dict[str, Any]:
    """A pod template around a container."""
    metadata: dict[str, Any] = {"labels": {**plan.labels, LABEL: plan.name, f"{LABEL}-of": plan.of}}
    if plan.annotations:
        metadata["annotations"] = dict(plan.annotations)
    return {"metadata": metadata, "spec": {**plan.pod, **more, "containers": [main]}}
