"""Several processes as one step on one machine: started, watched, restarted and ended together.

The files of this folder travel as one text, and need only the standard library; agents of torchrun are started where
the framework is torch. `python -c TEXT SPEC WORD...` runs the command that the words are; SPEC is JSON: `framework`,
`nodes`, `processes` of a node, `least` nodes that it goes on with, `restarts`, `health`, the seconds after which a node
that isn't heard of is lost, `patience`, those after which a job that does nothing hangs (0: it is never said to), and
`roles`: `name`, `nodes` and, where it has one of its own, `command`.

Nodes of torch are agents here, each with its processes. One that dies is lost: the others meet again, without it where
they are `least` or more, and it comes back later. The meeting is torch's c10d rendezvous over a file, so no agent is
special.
"""

from __future__ import annotations

import functools

from couler_py.runner import joined

FILES = ("watching.py", "members.py", "agents.py", "ranks.py", "start.py")


@functools.cache
def program() -> str:
    """The text of the launcher."""
    return joined(("couler_py.runner.launch", name) for name in FILES)
