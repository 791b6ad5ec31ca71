"""`couler metrics RUN`: the numbers of a run as Prometheus reads them."""

from __future__ import annotations

from couler_py.backends.local.api import load
from couler_py.backends.local.runs import naming
from couler_py.cli.options import RunName
from couler_py.events import metrics
from couler_py.store import runs
from couler_py.store.database import connect
from couler_py.store.home import open_home


def command(run: RunName) -> None:
    """Print the numbers of a run for Prometheus."""
    home = open_home()
    run = naming.find(home, run)
    record = load(run)
    connection = connect(home)
    try:
        attempts = [attempt for _, attempt in runs.load_attempts(connection, run)]
    finally:
        connection.close()
    print(metrics.text(record, attempts), end="")
