"""The command `couler`: one file a command in `commands/`, each imported only when it is used."""

from __future__ import annotations

import sys


def main() -> None:
    """Run the command line with the arguments of this process, and end the process with its exit code."""
    if sys.platform == "win32":
        sys.exit("couler runs on Linux and macOS; on Windows, install it inside WSL, the Windows Subsystem for Linux")
    from couler_py.cli.app import group

    group().main(prog_name="couler")
