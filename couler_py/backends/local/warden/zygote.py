"""The process that Python steps are forked from, so that no step waits for an interpreter to start. Stdlib only.

`python -P bare.py zygote DESCRIPTOR RUNNER MODULE…` loads the runner, once, and nothing of the user's but the modules
that steps name in `preload=`. For each step it forks a child, which becomes that step and no other. What a step is
given, its environment and its inputs, comes in a file without a name that the child alone reads, after the fork: this
process never holds it, so no other step can find it in its memory.
"""

from __future__ import annotations

import os
import sys
from typing import NoReturn

from couler_py.backends.local.warden.becoming import Program


def main(arguments: list[str]) -> NoReturn:
    """Fork steps until the warden is gone."""
    handle, runner, *preload = arguments
    ours = {name: module for name, module in sys.modules.items() if name.partition(".")[0] == "couler_py"}
    for name in ours:
        del sys.modules[name]
    program = Program(runner, preload)
    # Loaded after what steps find loaded, so that it can be told apart from that and be taken away again.
    sys.modules.update(ours)
    from couler_py.backends.local.warden.forking import Born, Forker

    kept = dict(sys.modules)  # freeing them would touch memory that children share
    program.alone()
    forker = Forker(int(handle))
    try:
        forker.serve()
    except Born as born:
        payload = born.payload
    else:
        os._exit(len(kept) and 0)
    program.run(payload)
