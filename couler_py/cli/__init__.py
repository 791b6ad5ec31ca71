"""The command `couler`: one file a command in `commands/`, each imported only when it is used."""

from __future__ import annotations


def main() -> None:
    """Run the command line with the arguments of this process, and end the process with its exit code."""
    from couler_py.cli.app import group

    group().main(prog_name="couler")
