"""Tests on a real Airflow, in its own environment (`make test-airflow`); elsewhere this folder isn't looked into."""

from __future__ import annotations

import atexit
import importlib.util
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Generator, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from airflow.sdk import DAG

    from tests.airflow.live import Live

HERE = Path(__file__).resolve().parent
INSTALLED = importlib.util.find_spec("airflow") is not None
LINES_SHOWN = 150
collect_ignore_glob = [] if INSTALLED else ["test_*.py"]

if INSTALLED:  # Airflow reads these when it is imported
    home = Path(tempfile.mkdtemp(prefix="couler-airflow-"))
    atexit.register(shutil.rmtree, home, ignore_errors=True)
    os.environ |= {
        "AIRFLOW_HOME": str(home),
        "AIRFLOW__CORE__DAGS_FOLDER": str(home / "dags"),
        "AIRFLOW__CORE__LOAD_EXAMPLES": "False",
        "AIRFLOW__CORE__UNIT_TEST_MODE": "False",
        # The first file imports providers, which on a busy machine takes longer than the 30 s that files have.
        "AIRFLOW__CORE__DAGBAG_IMPORT_TIMEOUT": "300",
        "AIRFLOW__LOGGING__LOGGING_LEVEL": "WARNING",
    }


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if HERE in item.path.parents:
            item.add_marker(pytest.mark.airflow)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """What the running Airflow wrote last is shown with a test of it that failed."""
    report = yield
    found: Live | None = getattr(item, "funcargs", {}).get("live")
    if report.failed and found is not None:
        lines = (found.server.home / "log").read_text(errors="replace").splitlines()
        report.sections.append(("what Airflow wrote last", "\n".join(lines[-LINES_SHOWN:])))
    return report


@pytest.fixture(scope="session")
def airflow_home() -> Path:
    """The home of an Airflow with an empty database of its own, its DAG folder `dags` in it."""
    (home / "dags").mkdir()
    subprocess.run([Path(sys.executable).with_name("airflow"), "db", "migrate"], check=True, stdout=subprocess.DEVNULL)
    return home


@pytest.fixture(scope="session")
def live(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Live]:
    """A whole Airflow that runs, with the workflows of `flows.py` in it. Its tests stand in one group of xdist."""
    from tests.airflow.live import started

    with started(tmp_path_factory.mktemp("airflow")) as found:
        yield found


@pytest.fixture
def load_dags(airflow_home: Path) -> Iterator[Callable[[str], dict[str, DAG]]]:
    """A function that takes the text of one DAG file, registers all of its DAGs, and returns them by id.

    A file that doesn't import fails the test with Airflow's words. Put many DAGs into one text: each call reads the
    whole folder once.
    """

    def load(text: str) -> dict[str, DAG]:
        from airflow.dag_processing.bundles.manager import DagBundlesManager
        from airflow.dag_processing.dagbag import BundleDagBag, sync_bag_to_db

        folder = airflow_home / "dags"
        for old in (*folder.glob("*.py"), folder / ".airflowignore"):
            old.unlink(missing_ok=True)
        (folder / "tested.py").write_text(text)
        DagBundlesManager().sync_bundles_to_db()
        bag = BundleDagBag(dag_folder=folder, bundle_path=folder, bundle_name="dags-folder")
        if bag.import_errors:
            pytest.fail("\n".join(bag.import_errors.values()), pytrace=False)
        sync_bag_to_db(bag, "dags-folder", bundle_version=None)
        return dict(bag.dags)

    yield load
    (airflow_home / "dags" / "tested.py").unlink(missing_ok=True)
