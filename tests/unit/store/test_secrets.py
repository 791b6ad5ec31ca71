"""Secrets are found where people keep them, and shown nowhere."""

from __future__ import annotations

import multiprocessing
import os
import stat
from collections.abc import Iterator
from pathlib import Path

import keyring
import keyring.backend
import keyring.errors
import pytest
from hypothesis import given
from hypothesis import strategies as st

from couler_py.store import keyrings, secrets
from couler_py.store.home import Home, open_home
from couler_py.store.secrets import Kept, SecretError, SecretNotFoundError, read_key, read_secret, set_key


class Memory(keyring.backend.KeyringBackend):
    """A keyring that lives as long as the test."""

    priority = 1.0

    def __init__(self) -> None:
        super().__init__()
        self.entries: dict[tuple[str, str], str] = {}

    def get_password(self, service: str, username: str) -> str | None:
        return self.entries.get((service, username))

    def set_password(self, service: str, username: str, password: str) -> None:
        self.entries[service, username] = password

    def delete_password(self, service: str, username: str) -> None:
        del self.entries[service, username]


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Home:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    for name in [each for each in os.environ if each.startswith("COULER_SECRET")]:
        monkeypatch.delenv(name)
    return open_home(tmp_path / "home")


@pytest.fixture
def desktop(monkeypatch: pytest.MonkeyPatch) -> Iterator[Memory]:
    before = keyring.get_keyring()
    made = Memory()
    keyring.set_keyring(made)
    monkeypatch.setenv("COULER_SECRETS_KEYRING", "true")
    yield made
    keyring.set_keyring(before)


@pytest.fixture
def mounted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "mounted"
    folder.mkdir()
    monkeypatch.setenv("COULER_SECRETS_MOUNTED", str(folder))
    return folder


def test_the_first_place_that_has_a_value_gives_it(
    home: Home, mounted: Path, desktop: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    set_key(home, "api", "token", "of a file")
    assert read_key(home, "api", "token") == "of a file"
    keyrings.set_("api", "token", "of the keyring")
    assert read_key(home, "api", "token") == "of the keyring"
    (mounted / "api").mkdir()
    (mounted / "api" / "token").write_text("mounted\n")
    assert read_key(home, "api", "token") == "mounted\n"
    monkeypatch.setenv("COULER_SECRET_API_TOKEN", "of the environment")
    assert read_key(home, "api", "token") == "of the environment"
    monkeypatch.setenv("COULER_SECRET_API_TOKEN", "")
    assert read_key(home, "api", "token") == "mounted\n"


def test_a_whole_secret_joins_its_keys_from_all_places(
    home: Home, mounted: Path, desktop: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    set_key(home, "db", "user", "file")
    set_key(home, "db", "password", "file")
    keyrings.set_("db", "host", "keyring")
    (mounted / "db").mkdir()
    (mounted / "db" / "port").write_text("1")
    monkeypatch.setenv("COULER_SECRET_DB_PASSWORD", "environment")
    assert read_secret(home, "db") == {"user": "file", "password": "environment", "host": "keyring", "port": "1"}


def test_a_secret_of_the_environment_alone_has_the_keys_of_its_variables(
    home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COULER_SECRET_MY_API_TOKEN", "x")
    assert read_secret(home, "my-api") == {"TOKEN": "x"}
    assert read_key(home, "my-api", "token") == "x"


def test_folders_that_kubernetes_mounts_are_read(home: Home, mounted: Path) -> None:
    real = mounted / "api" / "..2026_01_01"
    real.mkdir(parents=True)
    (real / "token").write_text("x")
    (mounted / "api" / "..data").symlink_to("..2026_01_01")
    (mounted / "api" / "token").symlink_to("..data/token")
    assert read_secret(home, "api") == {"token": "x"}
    assert secrets.listed(home) == [Kept("api", ("token",), str(mounted))]


@given(st.text(alphabet="./\\\0a", max_size=6), st.text(alphabet="./\\\0a", max_size=6))
def test_no_name_leads_out_of_a_mounted_folder(name: str, key: str) -> None:
    inside = secrets._component(name) and secrets._component(key)
    assert not inside or os.path.normpath(f"/m/{name}/{key}") == f"/m/{name}/{key}"


def test_a_missing_secret_says_where_it_can_be_set(home: Home) -> None:
    with pytest.raises(SecretNotFoundError) as missing:
        read_key(home, "s3-store", "secret.key")
    assert str(missing.value) == (
        f"there is no secret 's3-store': `couler secrets set s3-store secret.key` keeps it in {home.path}, "
        "or set COULER_SECRET_S3_STORE_SECRET_KEY"
    )
    set_key(home, "s3-store", "id", "x")
    with pytest.raises(
        SecretNotFoundError, match=r"the secret 's3-store' has no key 'secret\.key'; it has id: `couler sec"
    ):
        read_key(home, "s3-store", "secret.key")


def test_a_file_that_others_may_read_is_refused(home: Home) -> None:
    set_key(home, "api", "token", "x")
    [path] = (home.path / "secrets").iterdir()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    path.chmod(0o640)
    with pytest.raises(SecretError, match="others may read it"):
        read_key(home, "api", "token")


def test_a_link_in_the_place_of_a_secret_is_not_followed(home: Home, tmp_path: Path) -> None:
    (tmp_path / "other.json").write_text('{"token": "x"}')
    (home.path / "secrets").mkdir()
    (home.path / "secrets" / "api.json").symlink_to(tmp_path / "other.json")
    with pytest.raises(SecretError, match="can't be read"):
        read_key(home, "api", "token")


def test_keys_are_forgotten_one_by_one(home: Home) -> None:
    set_key(home, "api", "a", "1")
    set_key(home, "api", "b", "2")
    secrets.delete(home, "api", "a")
    assert read_secret(home, "api") == {"b": "2"}
    secrets.delete(home, "api", "b")
    assert secrets.listed(home) == []
    with pytest.raises(SecretNotFoundError, match="the secret 'api' is not in"):
        secrets.delete(home, "api")


def _set(home: Home, number: int) -> None:
    set_key(home, "shared", str(number), "x")


def test_processes_that_set_keys_at_once_lose_none(home: Home) -> None:
    context = multiprocessing.get_context("fork")
    workers = [context.Process(target=_set, args=(home, number)) for number in range(8)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert sorted(read_secret(home, "shared")) == [str(number) for number in range(8)]


def test_the_keyring_knows_what_it_has(home: Home, desktop: Memory) -> None:
    keyrings.set_("api/x", "a", "1")
    keyrings.set_("api/x", "b", "2")
    assert secrets.listed(home) == [Kept("api/x", ("a", "b"), "keyring")]
    assert keyrings.delete("api/x", "a") == ("a",)
    assert keyrings.delete("api/x") == ("b",)
    assert list(desktop.entries) == [("couler", "index")]
    assert secrets.listed(home) == []


def test_a_keyring_that_refuses_is_an_error(home: Home, desktop: Memory) -> None:
    from keyring.backends.fail import Keyring

    keyring.set_keyring(Keyring())
    with pytest.raises(keyrings.KeyringError, match="the keyring doesn't give or take secrets: "):
        read_key(home, "api", "token")
