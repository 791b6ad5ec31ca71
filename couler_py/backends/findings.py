"""What is found wrong while a workflow becomes an engine's documents: all of it is shown at once."""

from __future__ import annotations

from couler_py.ir.diagnostics import Diagnostic, Severity
from couler_py.ir.model import Source


class Findings:
    """Collects findings, each once. An engine's emission is one."""

    def __init__(self) -> None:
        self._found: dict[Diagnostic, None] = {}

    @property
    def diagnostics(self) -> list[Diagnostic]:
        """What was found, in its order, each once."""
        return list(self._found)

    def problem(
        self,
        code: str,
        message: str,
        *,
        severity: Severity = "error",
        step: str = "",
        source: Source | None = None,
        why: str = "",
        help: str = "",  # noqa: A002 - the word that diagnostics use
    ) -> None:
        """Note a finding; all of them are shown at once when emission has ended."""
        self._found[Diagnostic(code, severity, message, source=source, step=step, why=why, help=help)] = None
