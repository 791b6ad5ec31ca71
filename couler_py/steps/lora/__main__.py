"""What each stage of `lora.pipeline` runs: `torchrun … -m couler_py.steps.lora QUEUE --base FOLDER --out FOLDER`."""

from __future__ import annotations

import argparse

from couler_py.steps.lora.jobs import Queue
from couler_py.steps.processes import begin, task_of


def main() -> None:
    """Read the queue, a JSON text or the path of one, train, and write adapters and results.json."""
    parser = argparse.ArgumentParser(prog="python -m couler_py.steps.lora", description=main.__doc__)
    parser.add_argument("queue")
    parser.add_argument("--base", required=True, help="a folder of the built-in decoder")
    parser.add_argument("--out", required=True, help="a folder for adapters/ and results.json")
    parser.add_argument("--data", help="the folder that relative paths of data lie in")
    parser.add_argument("--tokenizer", help="a file of a tokenizer (default: bytes, or what the base has)")
    parser.add_argument("--checkpoints", default="", help="a folder or URL of checkpoints, to save to and go on from")
    parser.add_argument("--inbox", default="", help="a folder into which jobs are put while it runs")
    parser.add_argument("--in-flight", type=int, help="micro-batches that the first stage may keep activations of")
    given = parser.parse_args()
    queue = task_of(given.queue, Queue)

    from torch import distributed

    from couler_py.steps.lora.stages import run

    device = begin()
    run(
        queue,
        given.base,
        given.out,
        data=given.data,
        tokenizer=given.tokenizer,
        checkpoints=given.checkpoints,
        inbox=given.inbox,
        in_flight=given.in_flight,
        device=device,
    )
    distributed.destroy_process_group()


if __name__ == "__main__":
    main()
