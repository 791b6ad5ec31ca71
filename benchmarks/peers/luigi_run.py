"""Run a graph with Luigi: its own scheduler in the same process, no logging. Arguments: see `runs`.

One worker runs one task after the other in its own process. With several, Luigi forks a process for each task, which
is many times slower here ("workers 2" after the arguments shows it), so one it is.
"""

from __future__ import annotations

import logging
import subprocess
import sys
from pathlib import Path
from typing import ClassVar

sys.path.insert(0, str(Path(__file__).parents[1]))

import luigi
import runs

WORKERS = int(sys.argv[sys.argv.index("workers") + 1]) if "workers" in sys.argv else 1


class Nothing(luigi.Task):
    """A task that leaves an empty file, by which Luigi knows that it has run."""

    number = luigi.IntParameter()
    waits: ClassVar[list[list[int]]]
    commands: ClassVar[bool]
    folder: ClassVar[Path]

    def requires(self):
        return [Nothing(number=each) for each in self.waits[self.number]]

    def output(self):
        return luigi.LocalTarget(str(self.folder / str(self.number)))

    def run(self):
        if self.commands:
            subprocess.run(["true"], check=True)
        (self.folder / str(self.number)).touch()


def run(waits: list[list[int]], commands: bool, folder: Path) -> int:
    logging.disable(logging.CRITICAL)
    Nothing.waits, Nothing.commands, Nothing.folder = waits, commands, folder
    Nothing.clear_instance_cache()
    # Asked only for what nobody waits for: Luigi finds the others from there, anew for each that it is asked for.
    ends = set(range(len(waits))) - {producer for producers in waits for producer in producers}
    asked = [Nothing(number=number) for number in sorted(ends)]
    luigi.build(asked, local_scheduler=True, workers=WORKERS, log_level="CRITICAL")
    return len(list(folder.iterdir()))


if __name__ == "__main__":
    runs.main(run)
