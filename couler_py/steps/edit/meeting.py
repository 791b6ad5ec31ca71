"""The store that replicas of one training meet at, as a program: `python -m couler_py.steps.edit.meeting PORT`.

It outlives each of them. Replicas then run `torchrun … -m couler_py.steps.edit TASK … --meet HOST:PORT`.
"""

from __future__ import annotations

import argparse
import sys
import time

from couler_py.steps.edit.members import OVER, server


def main() -> None:
    """Serve until the training is over."""
    parser = argparse.ArgumentParser(prog="python -m couler_py.steps.edit.meeting", description=main.__doc__)
    parser.add_argument("port", type=int, help="0 takes a free one, which is printed")
    parser.add_argument("--linger", type=float, default=60.0, help="seconds to answer after the end")
    given = parser.parse_args()
    store = server(given.port)
    sys.stdout.write(f"{store.port}\n")
    sys.stdout.flush()
    while not store.check([OVER]):
        time.sleep(0.5)
    time.sleep(given.linger)


if __name__ == "__main__":
    main()
