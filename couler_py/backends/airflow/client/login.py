"""A token for the API: given, or fetched for a user and password, and fetched anew when it has run out."""

from __future__ import annotations

from typing import Any

from couler_py.backends.airflow.client.address import Address
from couler_py.backends.airflow.client.words import LETS_IN, WORDS
from couler_py.backends.base import EngineUnreachableError, OptionError
from couler_py.backends.rest.failures import ForbiddenError, MissingError, UnauthorizedError
from couler_py.backends.rest.http import Http
from couler_py.backends.rest.pacing import Pacing
from couler_py.backends.rest.request import Request
from couler_py.backends.rest.tokens import token_in


class Login:
    """Who calls. `api` is the generated client, whose configuration gets the token."""

    def __init__(self, api: Any, address: Address, pacing: Pacing | None = None):
        self._api = api
        self._address = address
        self._http = Http(api, "Airflow", WORDS, pacing=pacing)
        self._fetched = False

    def begin(self) -> None:
        """Take the token that is given; without one, fetch one. Raises as `renew` does."""
        given = self._given()
        if given:
            self._api.configuration.access_token = given
        else:
            self._fetch()

    def renew(self) -> bool:
        """Fetch a token where one isn't accepted any longer; whether there is another one now.

        Raises `UnauthorizedError` for a wrong user or password.
        """
        before = self._api.configuration.access_token
        given = self._given()
        if given and given != before and not self._fetched:
            self._api.configuration.access_token = given
        elif self._address.password:
            self._fetch()
        return bool(self._api.configuration.access_token != before)

    def _given(self) -> str:
        file = self._address.token_file
        token = token_in(file, "airflow") if file else self._address.token
        token = token.strip().removeprefix("Bearer ").strip()
        if any(sign in token for sign in "\r\n\0 "):
            raise OptionError("airflow: the token has blanks or line breaks in it")
        return token

    def _fetch(self) -> None:
        self._api.configuration.access_token = None
        self._fetched = True
        if self._address.password:
            body = {"username": self._address.username, "password": self._address.password}
            request = Request("POST", "/auth/token", f"log in as {self._address.username}", (), body, again=True)
        else:  # a server for one user alone gives one to everybody (simple_auth_manager_all_admins)
            request = Request("GET", "/auth/token", "log in")
        try:
            answer = self._http.call(request)
        except (UnauthorizedError, ForbiddenError, MissingError) as error:
            raise self._refused(error) from None
        self._api.configuration.access_token = str(answer.get("access_token", ""))

    def _refused(self, error: UnauthorizedError | ForbiddenError | MissingError) -> EngineUnreachableError:
        if not self._address.password:
            return UnauthorizedError(f"{self._http.name} wants to know who calls: {LETS_IN}", status=error.status)
        if isinstance(error, MissingError):
            return UnauthorizedError(
                f"{self._http.name} gives no tokens for passwords (its auth manager has no /auth/token): get one as "
                "its users do, and say it by COULER_AIRFLOW_TOKEN or --token-file",
                status=error.status,
            )
        said = f": {error.said}" if error.said else ""
        return UnauthorizedError(
            f"log in as {self._address.username} (POST /auth/token, {self._http.name}): the user or the password is "
            f"wrong{said}; COULER_AIRFLOW_USERNAME and COULER_AIRFLOW_PASSWORD say them",
            status=error.status,
        )


def connect(address: Address, pacing: Pacing | None = None) -> Http:
    """Calls of the server at an address, with a token that renews itself.

    Raises `EngineUnreachableError` where the extra is missing, or where nobody lets us in.
    """
    from urllib.parse import urlsplit
    from urllib.request import getproxies, proxy_bypass

    try:
        from airflow_client.client import ApiClient, Configuration
    except ImportError:
        raise EngineUnreachableError("Airflow's API needs the extra: pip install 'couler-py[airflow]'") from None
    configuration = Configuration(host=address.server, ssl_ca_cert=address.authority or None)
    configuration.verify_ssl = not address.insecure
    parts = urlsplit(address.server)
    proxy = getproxies().get(parts.scheme)
    configuration.proxy = proxy if proxy and not proxy_bypass(parts.hostname or "") else None
    api = ApiClient(configuration)
    login = Login(api, address, pacing)
    login.begin()
    return Http(api, "Airflow", WORDS, pacing=pacing, renew=login.renew)
