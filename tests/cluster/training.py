"""A job of two nodes that train the built-in model with torch; whoever runs it may have a rank killed on the way."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal, TypeAlias

import couler_py as couler
from tests.cluster.containers import CHECKOUT

LOST = "lost"
"""The file, in the folder of a training, by which a rank says that it was killed: it is killed once."""
# The corpus is of Python's own library: rank 0 makes it, and rank 1 where it doesn't find that. Where nodes share the
# folder checkpoints go there, and rank 1, where it is told to, is killed once in the middle.
TRAINS = """
import os, pathlib, signal, sys
from torch import distributed
from couler_py.steps.corpus import files, tokens
from couler_py.steps.corpus.tokenizers import ByteTokenizer
from couler_py.steps.edit.settings import preset
from couler_py.steps.edit.task import Task
from couler_py.steps.edit.training import train
from couler_py.steps.models.config import PRESETS
from couler_py.steps.processes import begin

folder, how = pathlib.Path(sys.argv[1]), sys.argv[2]
begin()
rank = distributed.get_rank()
for turn in (0, 1):
    if rank == turn and not (folder / "corpus" / tokens.INDEX).exists():
        tokens.write(files.texts([], most=100_000), ByteTokenizer(), folder / "corpus")
    distributed.barrier()

def pause(replica, step):
    if how == "killed" and rank == 1 and step == 8 and not (folder / "lost").exists():
        (folder / "lost").touch()
        os.kill(os.getpid(), signal.SIGKILL)

task = Task(preset("ddp"), PRESETS["tiny"], replicas=2, steps=12, save_every=None if how == "apart" else 3)
checkpoints = None if how == "apart" else folder / "checkpoints"
model, told = train(task, folder / "corpus", checkpoints=checkpoints, pause=pause)
if rank == 0:
    out = pathlib.Path("/tmp/couler/outputs")
    (out / "tokens").write_text(str(told.tokens))
    (out / "loss").write_text(str(told.seen[-1].loss))
distributed.destroy_process_group()
"""
TOKENS = 2 * 12 * 8 * 64
"""What two replicas learn of in 12 steps of 8 rows of 64 tokens, each token once."""


How: TypeAlias = Literal["killed", "undisturbed", "apart"]
"""With a rank killed on the way, without, or by nodes that share nothing, and so keep no checkpoints."""


def training(launcher: str, image: str, folder: Path, how: How) -> Any:
    """A workflow of such a job; it gives the loss on held-out rows, and of how many tokens was learned.

    Nodes share the folder, which is one of this machine, as is the checkout whose package they use: the cluster has
    to be on this machine. Those that are apart have a folder of that name each, and the package of the image.
    """
    given: dict[str, Any] = {"env": {"OMP_NUM_THREADS": "1"}}
    if how != "apart":
        folder.mkdir(parents=True)
        places = {"training": str(folder), "checkout": str(CHECKOUT)}
        given["volumes"] = {place: couler.host_path(name, place) for name, place in places.items()}
        given["env"]["PYTHONPATH"] = str(CHECKOUT)
    train = couler.distributed_job(
        image,
        ["python", "-c", TRAINS, str(folder), couler.argument("how")],
        name=f"{how}-{launcher}",
        nodes=2,
        launcher=launcher,
        max_restarts=2,
        image_pull_policy="Never",
        inputs={"how": str},
        outputs={"loss": float, "tokens": int},
        **given,
    )

    @couler.workflow
    def main():
        trained = train(how)
        return {"loss": trained.loss, "tokens": trained.tokens}

    return main
