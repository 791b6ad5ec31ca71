"""Run a graph with Snakemake's own command, in this process. Arguments: see `runs`; a fourth one, `tuned`.

One rule for all tasks, as `snakemake -c N` runs it. Tuned: the greedy scheduler (the default solves an integer
program), no lock, no records of how files were made, and only times of files to tell what is out of date. For a `run:`
block Snakemake starts itself again, so that a Python step is `python -c pass` here, which is many times faster.
"""

from __future__ import annotations

import contextlib
import json
import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

import runs
from programs import usable_processors
from snakemake.cli import main

SNAKEFILE = """
import json
waits = json.load(open("waits.json"))
rule all:
    input: [f"done/{i}" for i in range(len(waits))]
rule task:
    input: lambda wildcards: [f"done/{i}" for i in waits[int(wildcards.i)]]
    output: touch("done/{i}")
    shell: "COMMAND"
"""
QUIET = ["--quiet", "all"]
TUNED = ["--scheduler", "greedy", "--nolock", "--drop-metadata", "--rerun-triggers", "mtime"]


def run(waits: list[list[int]], commands: bool, folder: Path) -> int:
    (folder / "waits.json").write_text(json.dumps(waits))
    command = "true" if commands else f"{sys.executable} -c pass"
    (folder / "Snakefile").write_text(SNAKEFILE.replace("COMMAND", command))
    before = Path.cwd()
    with open(os.devnull, "w") as nothing, contextlib.redirect_stdout(nothing), contextlib.redirect_stderr(nothing):
        where = ["--snakefile", str(folder / "Snakefile"), "--directory", str(folder)]
        with contextlib.suppress(SystemExit):
            main([*where, "-c", str(usable_processors()), *QUIET, *(TUNED if "tuned" in sys.argv[4:] else [])])
    os.chdir(before)
    return len(list((folder / "done").iterdir()))


if __name__ == "__main__":
    runs.main(run)
