"""Which Airflow is meant, and what lets us in: from what is typed, the settings, and Airflow's own configuration.

What is typed wins, then `[airflow]` of the settings (COULER_AIRFLOW_SERVER and the like), then Airflow's own: the
variables AIRFLOW__… and `airflow.cfg` in AIRFLOW_HOME. Passwords and tokens come from the environment and files alone.
"""

from __future__ import annotations

import configparser
import ipaddress
import os
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import urlsplit

import msgspec

from couler_py.backends.base import EngineUnreachableError, OptionError
from couler_py.backends.rest.addresses import parts_of
from couler_py.settings.model import AirflowSettings

PASSWORDS = "simple_auth_manager_passwords.json.generated"
"""Where `airflow standalone` writes the passwords that it makes, in AIRFLOW_HOME."""


class NoServerError(EngineUnreachableError):
    """No Airflow is named anywhere."""


class Address(msgspec.Struct, frozen=True):
    """Where the server is and who calls. `token` and `password` are never printed.

    `token_file` is read whenever a token is needed, as tokens are renewed. `authority` is a file of certificates to
    trust; `insecure` trusts everybody, and lets a password travel over plain http.
    """

    server: str
    username: str = ""
    password: str = ""
    token: str = ""
    token_file: str = ""
    authority: str = ""
    insecure: bool = False

    def __repr__(self) -> str:
        shown = {each: getattr(self, each) for each in self.__struct_fields__ if each not in ("token", "password")}
        return f"Address({', '.join(f'{name}={value!r}' for name, value in shown.items() if value)})"


def find(
    settings: AirflowSettings,
    environment: Mapping[str, str] = os.environ,
    *,
    server: str = "",
    token: str = "",
    token_file: str = "",
    authority: str = "",
    insecure: bool = False,
) -> Address:
    """The address that is meant.

    Raises `NoServerError` where none is named, `OptionError` for what is no URL, or isn't safe.
    """
    url = server or settings.server or configured("api", "base_url", environment)
    if not url:
        raise NoServerError(
            'no Airflow is named: --server URL, COULER_AIRFLOW_SERVER, or server = "…" in [airflow] of couler.toml'
        )
    url = checked(url, insecure=insecure)
    # A token or password that is typed for one server isn't another's.
    username = settings.username
    password = environment.get("COULER_AIRFLOW_PASSWORD", "")
    if not (token or token_file):
        token = environment.get("COULER_AIRFLOW_TOKEN", "")
        token_file = "" if token else environment.get("COULER_AIRFLOW_TOKEN_FILE", "")
    if not (token or token_file or password) and is_local(url):
        username, password = _standalone(username, environment)
    return Address(
        url,
        username or ("admin" if password else ""),
        password,
        token,
        token_file,
        authority or settings.certificate_authority or environment.get("SSL_CERT_FILE", ""),
        insecure,
    )


def checked(url: str, *, insecure: bool = False) -> str:
    """A URL without its last slash. Raises `OptionError` for what is none, and for plain http to another machine.

    >>> checked("http://localhost:8080/")
    'http://localhost:8080'
    """
    if "://" not in url:
        url = f"{'http' if is_local(f'http://{url}') else 'https'}://{url}"
    parts = parts_of(url, "airflow", "the URL has a password in it: COULER_AIRFLOW_PASSWORD is the place for it")
    if parts.scheme == "http" and not is_local(url) and not insecure:
        raise OptionError(
            f"airflow: over {parts.scheme}://{parts.hostname} whoever listens in between reads the password and the "
            "token: write https://, reach it through a tunnel (`kubectl port-forward`, `ssh -L`), or say "
            "--insecure-skip-tls-verify"
        )
    return url.rstrip("/").removesuffix("/api/v2")


def is_local(url: str) -> bool:
    """Whether a URL leads to this machine.

    >>> is_local("http://127.0.0.1:8080"), is_local("http://airflow.example.com")
    (True, False)
    """
    host = urlsplit(url).hostname or ""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")


def configured(section: str, key: str, environment: Mapping[str, str]) -> str:
    """A key of Airflow's own configuration, "" where it says nothing."""
    if found := environment.get(f"AIRFLOW__{section}__{key}".upper()):
        return found
    parser = configparser.ConfigParser(interpolation=None, strict=False)
    try:
        parser.read(_home(environment) / "airflow.cfg", encoding="utf-8")
    except (configparser.Error, UnicodeDecodeError) as error:
        raise OptionError(f"airflow: {_home(environment) / 'airflow.cfg'} can't be read: {error}") from None
    return parser.get(section, key, fallback="")


def _home(environment: Mapping[str, str]) -> Path:
    return Path(environment.get("AIRFLOW_HOME") or "~/airflow").expanduser()


def _standalone(username: str, environment: Mapping[str, str]) -> tuple[str, str]:
    """The user and password that `airflow standalone` made up on this machine.

    Raises `OptionError` for a file that is there and can't be read.
    """
    named = configured("core", "simple_auth_manager_passwords_file", environment)
    path = Path(named).expanduser() if named else _home(environment) / PASSWORDS
    try:
        found = msgspec.json.decode(path.read_bytes(), type=dict[str, str])
    except FileNotFoundError:
        return username, ""
    except (OSError, msgspec.DecodeError) as error:
        raise OptionError(
            f"airflow: the passwords of `airflow standalone` can't be read from {path}: "
            f"{error.strerror if isinstance(error, OSError) else error}; COULER_AIRFLOW_PASSWORD or a token lets in "
            "without them"
        ) from None
    username = username or next(iter(found), "")
    return username, found.get(username, "")
