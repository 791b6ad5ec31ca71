"""What can't be said here."""

from __future__ import annotations


class UnsayableError(Exception):
    """Something of a DAG that has no word here. `help` is the way out."""

    def __init__(self, message: str, help: str = ""):  # noqa: A002 - the word that diagnostics use
        super().__init__(message)
        self.help = help
