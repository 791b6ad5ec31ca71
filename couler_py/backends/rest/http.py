"""Plain JSON over the connections of the generated clients (`kubernetes`, `argo-workflows`, `apache-airflow-client`).

Their own models refuse valid documents and change others, so only what is below them is used: TLS, proxies, and the
token, which a kubeconfig may renew while we work.
"""

from __future__ import annotations

import email.utils
import time
from collections.abc import Callable, Iterator
from typing import Any, TypeVar

import msgspec
import urllib3

from couler_py.backends.rest.failures import (
    ApiError,
    BrokenError,
    BusyError,
    CutOffError,
    NoAnswerError,
    NotUnderstoodError,
    UnauthorizedError,
    UnclearError,
    UntrustedError,
    Words,
    failure,
    read,
)
from couler_py.backends.rest.pacing import Pacing
from couler_py.backends.rest.request import HIDDEN, JSON, Request

CONNECT, ANSWER = 10.0, 60.0
"""Seconds to wait for a connection, and for the next bytes of an answer."""

PLAIN = ("WRONG_VERSION_NUMBER", "RECORD_LAYER_FAILURE")
"""What OpenSSL, by its version, calls an answer in plain text where TLS was asked for."""

Answer = TypeVar("Answer")

TRIES_TO_CONNECT = 3
"""Where nobody listens, waiting long helps nobody."""


class Http:
    """Calls of one server.

    `api` is an `ApiClient` of a generated library, `name` how the server is called in errors, `words` what helps where
    it refuses. With `rehearse`, calls that change something are only noted in `planned`, and sent as the server's own
    dry run where it has one. `renew` is called once where a token isn't accepted, and says whether there is another.
    """

    def __init__(
        self,
        api: Any,
        name: str,
        words: Words = Words(),
        *,
        pacing: Pacing | None = None,
        rehearse: bool = False,
        answer: float = ANSWER,
        renew: Callable[[], bool] | None = None,
    ):
        self._api = api
        self._words = words
        self._renew = renew
        self.url = str(api.configuration.host).rstrip("/")
        self.name = f"{name} at {self.url}"
        self.pacing = pacing or Pacing()
        self.rehearse = rehearse
        self.planned: list[Request] = []
        self._answer = answer
        self._tokens: set[str] = set()

    def __repr__(self) -> str:
        return f"Http({self.name!r})"

    # ---- calling

    def call(self, request: Request) -> JSON:
        """The JSON that a call is answered with; what is safe to repeat is, a bounded number of times.

        Raises an `ApiError`.
        """
        if self.rehearse and request.changes:
            self.planned.append(request)
            if request.rehearsal is None:
                return {}
            request = request.rehearsal
        try:
            return self._tried(request, lambda: self._once(request))
        except ApiError as error:
            raise self._final(request, error) from None

    def _tried(self, request: Request, once: Callable[[], Answer]) -> Answer:
        """What a call gives, tried again while that is safe and may help."""
        renew, attempt = self._renew, 1
        while True:
            try:
                return once()
            except UnauthorizedError:  # so nothing was done
                if renew is None or not renew():
                    raise
                renew = None
            except ApiError as error:
                if attempt >= self.pacing.attempts or not _may_repeat(request, error, attempt, self._words.final):
                    raise
                self.pacing.pause(attempt, error.after)
                attempt += 1

    def _once(self, request: Request) -> JSON:
        response = self._open(request, self._answer)
        try:
            body = self._rest(response, request)
        finally:
            response.release_conn()
        if request.changes and body in (b"", b"null"):  # it is done, and there is nothing to say
            return {}
        try:
            found = msgspec.json.decode(body)
        except (msgspec.DecodeError, UnicodeDecodeError):
            found = None
        if not isinstance(found, dict):
            start = repr(self.hide(body[:80].decode("utf-8", "replace"))) if body else "empty"
            raise NotUnderstoodError(
                f"{self._said(request)}: the answer isn't JSON but {start}; is this the URL of the right server?",
                status=response.status,
            )
        return found

    def lines(self, request: Request, silence: float = ANSWER) -> Iterator[bytes]:
        """The lines of an answer as they come, with their ends; only the last may have none.

        `silence` is how long, in seconds, none may come.

        Raises `CutOffError` where it ends otherwise than a server ends an answer. The opening call is repeated as by
        `call`, the answer never: whoever reads knows where to go on.
        """
        response = self._opened(request, silence)
        held = b""
        try:
            for chunk in self._chunks(response, request):
                *whole, held = (held + chunk).split(b"\n")
                yield from (line + b"\n" for line in whole)
            if held:
                yield held
        finally:
            response.close()

    def content(self, request: Request) -> Iterator[bytes]:
        """The bytes of an answer as they come. Raises as `lines` does."""
        response = self._opened(request, ANSWER)
        try:
            yield from self._chunks(response, request)
        finally:
            response.close()

    def _opened(self, request: Request, silence: float) -> Any:
        return self._tried(request, lambda: self._open(request, silence))

    def _open(self, request: Request, silence: float) -> Any:
        """The response to a call, its body not read yet. Raises the error of a status that is none of success."""
        headers = {"Accept": "application/json"}
        body = None
        if request.body is not None:
            headers["Content-Type"] = request.content
            body = msgspec.json.encode(request.body)
        if token := self._authorization():
            headers["Authorization"] = token
        said = self._said(request)
        try:
            response = self._api.rest_client.pool_manager.request(
                request.method,
                self.url + request.target,
                body=body,
                headers=headers,
                preload_content=False,
                redirect=False,
                retries=False,
                timeout=urllib3.Timeout(connect=CONNECT, read=silence),
            )
        except urllib3.exceptions.SSLError as error:
            if any(each in str(error) for each in PLAIN):
                raise NotUnderstoodError(f"{said}: no TLS is spoken there; write http:// if that is meant") from None
            raise UntrustedError(
                f"{said}: no trusted connection: {self.hide(str(error))}; --certificate-authority FILE names whom to "
                "trust"
            ) from None
        except (urllib3.exceptions.NewConnectionError, urllib3.exceptions.ConnectTimeoutError) as error:
            raise NoAnswerError(f"{said}: nobody answers: {self.hide(_why(error))}") from None
        except urllib3.exceptions.ReadTimeoutError:
            raise CutOffError(f"{said}: no answer within {silence:g} s") from None
        except (urllib3.exceptions.HTTPError, OSError) as error:
            raise CutOffError(f"{said}: the connection broke: {self.hide(_why(error))}") from None
        if 200 <= response.status < 300:
            return response
        try:
            words = read(self.hide(self._rest(response, request).decode("utf-8", "replace")).encode())
        finally:
            response.release_conn()
        raise failure(response.status, words, said, self._words, after=_after(response.headers.get("Retry-After")))

    def _rest(self, response: Any, request: Request) -> bytes:
        try:
            found: bytes = response.read()
        except (urllib3.exceptions.HTTPError, OSError) as error:
            raise CutOffError(f"{self._said(request)}: the answer broke off: {self.hide(_why(error))}") from None
        return found

    def _chunks(self, response: Any, request: Request) -> Iterator[bytes]:
        try:
            while chunk := response.read1(65536):
                yield chunk
        except (urllib3.exceptions.HTTPError, OSError) as error:
            raise CutOffError(f"{self._said(request)}: the answer broke off: {self.hide(_why(error))}") from None

    # ---- words

    def _said(self, request: Request) -> str:
        return f"{request.what} ({request.method} {request.path}, {self.name})"

    def _final(self, request: Request, error: ApiError) -> ApiError:
        unclear = isinstance(error, CutOffError) or (isinstance(error, BrokenError) and error.status in (502, 504))
        if request.changes and unclear and not request.again:
            return UnclearError(
                f"{error}; whether it was done isn't known, and doing it twice isn't the same as once: look first "
                f"(`couler runs --engine {self._words.engine}`)",
                status=error.status,
                said=error.said,
            )
        return error

    def _authorization(self) -> str:
        known = self._api.configuration.auth_settings()
        setting = known.get("BearerToken") or known.get("HTTPBearer")
        whole = str(setting["value"] or "") if setting else ""
        if token := whole.rpartition(" ")[2]:
            self._tokens.add(token)
        return whole

    def hide(self, text: str) -> str:
        """A text without any token that we sent, whoever put it there."""
        for token in self._tokens:
            text = text.replace(token, HIDDEN)
        return text


def _may_repeat(request: Request, error: ApiError, attempt: int, final: tuple[int, ...]) -> bool:
    if isinstance(error, BusyError):  # it wasn't taken at all
        return True
    if isinstance(error, CutOffError) or (isinstance(error, NotUnderstoodError) and error.status < 300):
        return request.again or not request.changes
    if isinstance(error, NoAnswerError):
        return attempt < TRIES_TO_CONNECT
    if isinstance(error, BrokenError):
        return not request.changes or (request.again and error.status not in final)
    return False


def _why(error: Exception) -> str:
    # "HTTPSConnectionPool(host=…): …" and "<urllib3… object at 0x…>: …" say nothing to a person.
    text = str(error)
    return text.rpartition(": ")[2] or text


def _after(text: str | None) -> float | None:
    """The seconds of a header `Retry-After`: a number, or a date."""
    if not text:
        return None
    try:
        return max(0.0, float(text))
    except ValueError:
        pass
    try:
        return max(0.0, email.utils.parsedate_to_datetime(text).timestamp() - time.time())
    except ValueError:
        return None
