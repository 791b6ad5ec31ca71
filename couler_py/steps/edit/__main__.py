"""What each rank of a training runs: `torchrun … -m couler_py.steps.edit TASK --data PLACE --out PLACE`."""

from __future__ import annotations

import argparse
import os
import signal
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from couler_py.steps.corpus.tokens import INDEX, TOKENS
from couler_py.steps.edit import sharing
from couler_py.steps.edit.task import Task
from couler_py.steps.edit.tracing import Span, Tracer, timeline
from couler_py.steps.processes import begin, task_of

if TYPE_CHECKING:
    from couler_py.steps.edit.members import Members

TRACED = 3
"""So many rounds are in the trace, with all steps up to the last of them."""


def main() -> None:
    """Read the task, a JSON text or the path of one, train, and write the model and what the training was like."""
    parser = argparse.ArgumentParser(prog="python -m couler_py.steps.edit", description=main.__doc__)
    parser.add_argument("task")
    parser.add_argument("--data", required=True, help="a folder of tokens, as couler_py.steps.corpus.tokens writes it")
    parser.add_argument("--out", required=True, help="a folder for model/, metrics.json and report.html")
    parser.add_argument("--checkpoints", help="where checkpoints lie, and a training that was ended goes on from")
    parser.add_argument("--meet", help="HOST:PORT of couler_py.steps.edit.meeting: this is one replica of several")
    parser.add_argument("--elastic", action="store_true", help="as many replicas as there are ranks for")
    given = parser.parse_args()
    task = task_of(given.task, Task)

    from torch import distributed

    begin()
    if given.elastic:
        task = task.with_ranks(distributed.get_world_size())
    members = joining(given.meet, task.replicas) if given.meet else None
    with tempfile.TemporaryDirectory() as scratch:
        run(task, given.data, given.out, given.checkpoints or None, Path(scratch), members)
    distributed.destroy_process_group()


def joining(meeting: str, first: int) -> Members:
    """This replica's way into a training. Told to end (SIGTERM), it leaves where the next round ends."""
    from couler_py.steps.edit.members import Members, store

    host, _, port = meeting.rpartition(":")
    members = Members(store(host, int(port)), first=first)
    signal.signal(signal.SIGTERM, lambda *_: members.leave())
    return members


def run(task: Task, data: str, out: str, checkpoints: str | None, scratch: Path, members: Members | None) -> None:
    """Train, with what lies in an object store copied to `scratch`, a folder of this rank's own, first."""
    from torch import distributed

    from couler_py.steps.edit.reporting import write
    from couler_py.steps.edit.training import save_model, train

    corpus = sharing.at_hand(data)
    if corpus is None:
        corpus = _of_this_node(data, scratch / "corpus")
    elif not (corpus / INDEX).exists():
        raise FileNotFoundError(f"no corpus in {data}: {sharing.REACH}")
    tracer = Tracer(TRACED)
    model, told = train(task, corpus, checkpoints=checkpoints, members=members, tracer=tracer)
    spans: list[tuple[float, list[Span]]] = [(0.0, [])] * distributed.get_world_size()
    distributed.all_gather_object(spans, (tracer.met, tracer.spans))
    target = sharing.at_hand(out)
    folder = scratch / "out" if target is None else target
    save_model(model, folder / sharing.MODEL)
    if distributed.get_rank() == 0:
        write(task, told, folder)
        timeline(spans, task.shards).write(folder / sharing.TRACE)
        if target is None:
            sharing.deliver(folder, out)
        _say(out)
        loss = f"loss {told.seen[-1].loss:.4f} on held-out rows"
        sys.stdout.write(f"{loss} after {told.tokens} tokens in {told.seconds:.1f} s\n")
    distributed.barrier()  # whose scratch folder others read


def _of_this_node(where: str, folder: Path) -> Path:
    """A copy of a corpus in an object store, made by one rank of each node."""
    from torch import distributed

    if os.environ["LOCAL_RANK"] == "0":
        sharing.fetch(where, folder, (TOKENS, INDEX))
    told: list[tuple[str, str, Path]] = [("", "", folder)] * distributed.get_world_size()
    distributed.all_gather_object(told, (os.environ["GROUP_RANK"], os.environ["LOCAL_RANK"], folder))
    return next(path for node, rank, path in told if node == os.environ["GROUP_RANK"] and rank == "0")


def _say(where: str) -> None:
    """Leave, as the output of a job, where its results lie: files themselves don't leave its pods."""
    outputs = Path(os.environ.get("COULER_OUTPUTS", "/tmp/couler/outputs"))  # noqa: S108
    if "COULER_PLANNED_WORLD" in os.environ:
        outputs.mkdir(parents=True, exist_ok=True)
        (outputs / "results").write_text(where, encoding="utf-8")


if __name__ == "__main__":
    main()
