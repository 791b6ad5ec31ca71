"""Which Airflow is meant, and who calls."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from couler_py.backends.airflow.client.address import Address, NoServerError, checked, find
from couler_py.backends.base import OptionError
from couler_py.settings.model import AirflowSettings


def found(home: Path, settings: AirflowSettings = AirflowSettings(), /, **given: Any) -> Address:
    environment = {"AIRFLOW_HOME": str(home)} | given.pop("environment", {})
    return find(settings, environment, **given)


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("https://airflow.example.com/", "https://airflow.example.com"),
        ("https://airflow.example.com/team/api/v2", "https://airflow.example.com/team"),
        ("airflow.example.com", "https://airflow.example.com"),
        ("localhost:8080", "http://localhost:8080"),
        ("http://127.0.0.1:8080", "http://127.0.0.1:8080"),
        ("http://[::1]:8080", "http://[::1]:8080"),
    ],
)
def test_a_url_is_read_as_people_write_it(typed: str, meant: str) -> None:
    assert checked(typed) == meant


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        ("http://airflow.example.com", "whoever listens in between reads the password"),
        ("http://10.0.0.7:8080", "whoever listens in between"),
        ("http://localhost.example.com", "whoever listens in between"),
        ("https://admin:pass@airflow.example.com", "has a password in it: COULER_AIRFLOW_PASSWORD"),
        ("ftp://airflow.example.com", "is no URL of an Airflow server"),
        ("https://", "is no URL of an Airflow server"),
    ],
)
def test_what_is_no_url_or_is_not_safe_is_refused(typed: str, said: str) -> None:
    with pytest.raises(OptionError, match=said) as error:
        checked(typed)
    assert "pass@" not in str(error.value)


def test_plain_http_to_another_machine_has_to_be_asked_for() -> None:
    assert checked("http://10.0.0.7:8080", insecure=True) == "http://10.0.0.7:8080"


def test_the_server_that_is_typed_wins_over_settings_and_airflows_own(tmp_path: Path) -> None:
    with pytest.raises(NoServerError, match="no Airflow is named: --server URL, COULER_AIRFLOW_SERVER"):
        found(tmp_path)
    (tmp_path / "airflow.cfg").write_text("[api]\nbase_url = https://file\n[core]\nx = %(y)s\n")
    assert found(tmp_path).server == "https://file"
    of_variable = {"environment": {"AIRFLOW__API__BASE_URL": "https://variable"}}
    assert found(tmp_path, **of_variable).server == "https://variable"
    settings = AirflowSettings(server="https://settings")
    assert found(tmp_path, settings, **of_variable).server == "https://settings"
    assert found(tmp_path, settings, server="https://typed", **of_variable).server == "https://typed"


def test_a_token_that_is_typed_wins_over_the_environments(tmp_path: Path) -> None:
    environment = {"COULER_AIRFLOW_TOKEN": "theirs", "COULER_AIRFLOW_TOKEN_FILE": "theirs.txt"}
    assert found(tmp_path, server="https://a", environment=environment).token == "theirs"
    assert found(tmp_path, server="https://a", environment=environment).token_file == ""
    typed = found(tmp_path, server="https://a", token_file="ours.txt", environment=environment)
    assert (typed.token, typed.token_file) == ("", "ours.txt")


def test_what_standalone_made_up_is_found_for_this_machine_alone(tmp_path: Path) -> None:
    passwords = tmp_path / "simple_auth_manager_passwords.json.generated"
    passwords.write_text('{"admin": "canary"}')
    assert (found(tmp_path, server="http://localhost:8080").username, passwords.name) == ("admin", passwords.name)
    assert found(tmp_path, server="http://localhost:8080").password == "canary"
    assert found(tmp_path, server="https://airflow.example.com").password == ""
    assert found(tmp_path, AirflowSettings(username="other"), server="http://localhost:8080").password == ""
    own = found(tmp_path, server="http://localhost:8080", environment={"COULER_AIRFLOW_PASSWORD": "mine"})
    assert (own.username, own.password) == ("admin", "mine")


def test_an_address_shows_neither_password_nor_token() -> None:
    shown = repr(Address("https://a", "ada", "canary-1", "canary-2", authority="ca.pem"))
    assert shown == "Address(server='https://a', username='ada', authority='ca.pem')"


@pytest.mark.parametrize("content", [b"not json", b'["admin"]', b'{"admin": 1}', b"\xff"])
def test_passwords_that_cannot_be_read_are_not_taken_for_none(content: bytes, tmp_path: Path) -> None:
    (tmp_path / "simple_auth_manager_passwords.json.generated").write_bytes(content)
    with pytest.raises(OptionError, match=r"can't be read from .*\.generated: .*COULER_AIRFLOW_PASSWORD"):
        found(tmp_path, server="http://localhost:8080")
    assert found(tmp_path, server="http://localhost:8080", token="mine").token == "mine"


def test_a_folder_in_the_place_of_the_passwords_is_said(tmp_path: Path) -> None:
    (tmp_path / "simple_auth_manager_passwords.json.generated").mkdir()
    with pytest.raises(OptionError, match="Is a directory"):
        found(tmp_path, server="http://localhost:8080")
