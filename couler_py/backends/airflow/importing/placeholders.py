"""Steps in place of what has no word here: each fails, and says what it stands for."""

from __future__ import annotations

from couler_py.backends.airflow.importing.made import Made
from couler_py.ir.model import Function, Piece
from couler_py.printer import signatures
from couler_py.printer.names import identifier

ANY_IMPORT = Piece("from typing import Any")
DATES = Piece(
    '''\
def run_dates(at: datetime) -> dict[str, str]:
    """The date of the run, as Airflow's templates have it."""
    return {
        "ds": f"{at:%Y-%m-%d}",
        "ds_nodash": f"{at:%Y%m%d}",
        "ts": at.isoformat(),
        "ts_nodash": f"{at:%Y%m%dT%H%M%S}",
    }'''
)
DATETIME = Piece("from datetime import datetime")


def placeholder(label: str, message: str, gives: bool, file: str, line: int) -> Made:
    """A step that fails with a message."""
    name = identifier(label)
    returns = " -> Any" if gives else ""
    own = Piece(f"def {name}(){returns}:\n    raise NotImplementedError({_quoted(message)})", file, line)
    return _made(name, (ANY_IMPORT, own) if gives else (own,))


def run_dates() -> Made:
    """The step that says a run's date in Airflow's forms."""
    return _made("run_dates", (DATETIME, DATES))


def _made(name: str, pieces: tuple[Piece, ...]) -> Made:
    body = Function(name, pieces)
    source = signatures.read(body)
    assert source is not None
    body = Function(name, pieces, returns=source.returns)  # type: ignore[arg-type]
    return Made(body, source.inputs, source.outputs, name=name, description=source.description)


def _quoted(text: str) -> str:
    from couler_py.printer.literal import quoted

    return str(quoted(text))
