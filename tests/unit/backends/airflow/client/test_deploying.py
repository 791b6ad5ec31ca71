"""A DAG file put into the folder of DAGs."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest

from couler_py.backends.airflow.client import write
from couler_py.backends.airflow.client.deploying import wait
from couler_py.backends.airflow.client.server import Server
from couler_py.backends.base import Bundle, OptionError
from couler_py.backends.rest.failures import UnauthorizedError
from tests.unit.backends.argo.client.server import Answer, scripted


def bundle(text: str) -> Bundle:
    return Bundle("airflow", {"flow.py": text})


def test_a_file_is_written_whole_and_readable_for_others(tmp_path: Path) -> None:
    done = write(bundle("new\n"), tmp_path)
    assert (done.dag, done.path, done.changed, done.old) == ("flow", tmp_path / "flow.py", True, None)
    assert stat.S_IMODE(done.path.stat().st_mode) & 0o444 == 0o444
    assert [each.name for each in tmp_path.iterdir()] == ["flow.py"]


def test_the_version_before_is_kept_under_a_name_that_airflow_does_not_read(tmp_path: Path) -> None:
    write(bundle("1\n"), tmp_path)
    write(bundle("2\n"), tmp_path)
    done = write(bundle("3\n"), tmp_path)
    assert done.old == tmp_path / "flow.py.old"
    assert {each.name: each.read_text() for each in tmp_path.iterdir()} == {"flow.py": "3\n", "flow.py.old": "2\n"}


def test_nothing_is_written_where_nothing_changed(tmp_path: Path) -> None:
    write(bundle("1\n"), tmp_path)
    before = (tmp_path / "flow.py").stat().st_mtime_ns
    assert write(bundle("1\n"), tmp_path).changed is False
    assert (tmp_path / "flow.py").stat().st_mtime_ns == before


def test_where_writing_fails_the_old_version_stays(tmp_path: Path) -> None:
    write(bundle("1\n"), tmp_path)
    (tmp_path / "flow.py.old").mkdir()
    with pytest.raises(OptionError, match=r"flow\.py\.old can't be written: Is a directory"):
        write(bundle("2\n"), tmp_path)
    assert (tmp_path / "flow.py").read_text() == "1\n"
    assert sorted(each.name for each in tmp_path.iterdir()) == ["flow.py", "flow.py.old"]


def test_a_folder_that_is_none_is_refused(tmp_path: Path) -> None:
    with pytest.raises(OptionError, match="is no folder: --dags-folder names the one"):
        write(bundle("1\n"), tmp_path / "missing")


DAG = Answer(body=b'{"dag_id": "flow", "file_token": "t", "is_stale": false}')


def waited(tmp_path: Path, *answers: Answer) -> str:
    """How a wait for a file ends, where Airflow answers so."""
    deployed = write(bundle("new"), tmp_path)
    with scripted(*answers) as (http, _):
        return wait(Server(http), deployed, "new", {}, 0).outcome


@pytest.mark.parametrize("status", [403, 404, 409])
def test_who_may_not_hurry_airflow_waits(status: int, tmp_path: Path) -> None:
    assert waited(tmp_path, DAG, Answer(status), Answer(body=b'{"content": "new"}'), DAG) == "read"


def test_a_token_that_is_not_accepted_is_said_at_once(tmp_path: Path) -> None:
    with pytest.raises(UnauthorizedError):
        waited(tmp_path, DAG, Answer(401), Answer(401))
