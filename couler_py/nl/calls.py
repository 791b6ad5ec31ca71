"""One question to a model: streamed, bounded in time and size, tried again where that helps, and counted."""

from __future__ import annotations

import queue
import random
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from typing import Any

import msgspec

from couler_py.nl.cost import Account, estimate
from couler_py.nl.models import Model, ModelError
from couler_py.nl.privacy import clean
from couler_py.nl.replies import Replies, key_of

AGAIN = frozenset({408, 409, 425, 429})
"""HTTP statuses below 500 that another attempt may not meet: time-outs, conflicts, too many requests."""

LONGEST_REASON = 300
"""Signs of what a server says is wrong, once its secrets are out of it."""


class Limits(msgspec.Struct, frozen=True):
    """What a draft may take.

    `silence` is how long a server may send nothing, `call` how long one reply may take, `total` all calls together,
    all in seconds. `attempts` are those of one question; the pause before the second is `backoff` seconds, doubled
    each time, and what the server asks for (Retry-After) up to `longest_pause`. `characters` and `tokens` bound a
    reply.
    """

    silence: float = 60.0
    call: float = 120.0
    total: float = 300.0
    attempts: int = 4
    backoff: float = 1.0
    longest_pause: float = 30.0
    characters: int = 60_000
    tokens: int = 3_000


class Reply(msgspec.Struct, frozen=True):
    """What a model said. `cut`: it was stopped by a limit, the server's or ours, before it had ended."""

    text: str
    cut: bool = False
    cached: bool = False
    key: str = ""


class Calls:
    """All questions of one draft. `said` hears of pauses and of each reply's length as it grows."""

    def __init__(
        self,
        model: Model,
        limits: Limits = Limits(),
        replies: Replies | None = None,
        said: Callable[[str], None] = lambda text: None,
    ):
        self.model = model
        self.limits = limits
        self.account = Account()
        self._replies = replies or Replies()
        self._said = said
        self._constrained = model.constrained
        self._end = time.monotonic() + limits.total

    def ask(self, system: str, prompt: str, schema: dict[str, Any], *, name: str, temperature: float = 0.0) -> Reply:
        """The reply to a question, held to a JSON schema where the server can.

        Raises `ModelError` when the server can't be reached, refuses, or the time is over.
        """
        key = key_of(
            model=self.model.name,
            place=self.model.place,
            system=system,
            prompt=prompt,
            schema=schema,
            temperature=temperature,
        )
        found = self._replies.find(key)
        if found is not None:
            return Reply(found, cached=True, key=key)
        messages = [("system", system), ("human", prompt)]
        attempt = 0
        while True:
            attempt += 1
            options = self._options(schema, name, temperature)
            try:
                return msgspec.structs.replace(self._once(messages, options), key=key)
            except ModelError:
                raise
            except Exception as error:  # each library of models has exceptions of its own
                if self._constrained and _refuses_schema(error):
                    self._constrained = False
                    attempt -= 1
                    continue
                self._pause(error, attempt)

    def keep(self, reply: Reply) -> None:
        """Keep a reply that could be read, for the next time that the same is asked."""
        if not reply.cached:
            self._replies.keep(reply.key, reply.text)

    def _options(self, schema: dict[str, Any], name: str, temperature: float) -> dict[str, Any]:
        if not self.model.constrained:
            return {}
        found: dict[str, Any] = {"max_tokens": self.limits.tokens}
        if not self.model.name.startswith(("o1", "o3", "o4", "gpt-5")):  # these reason, and take no temperature
            found["temperature"] = temperature
        if self._constrained:
            asked = {"type": "json_schema", "json_schema": {"name": name, "schema": schema}}
            # In the body: as an option the library would wait for the whole reply and read it itself.
            found["extra_body"] = {"response_format": asked}
        return found

    def _once(self, messages: list[tuple[str, str]], options: dict[str, Any]) -> Reply:
        began = time.monotonic()
        end = min(self._end, began + self.limits.call)
        parts: list[str] = []
        usage: dict[str, int] = {}
        length, reason = 0, ""
        try:
            for chunk in _chunks(self.model.chat, messages, options, end):
                text = _text(chunk.content)
                parts.append(text)
                length += len(text)
                self._said(f"{length} characters")
                for part, count in (getattr(chunk, "usage_metadata", None) or {}).items():
                    if isinstance(count, int):
                        usage[part] = max(count, usage.get(part, 0))
                metadata = getattr(chunk, "response_metadata", None) or {}
                reason = str(metadata.get("finish_reason") or metadata.get("stop_reason") or reason)
                if length > self.limits.characters:
                    reason = "length"
                    break
        finally:
            sent = usage.get("input_tokens") or sum(estimate(text) for _, text in messages)
            got = usage.get("output_tokens") or estimate("".join(parts))
            self.account.add(sent, got, time.monotonic() - began)
        # A server may say back the key that it was given: no draft and no kept reply has it.
        text = self.model.hide("".join(parts))[: self.limits.characters]
        return Reply(text, cut=reason in ("length", "max_tokens"))

    def _pause(self, error: Exception, attempt: int) -> None:
        """Wait before the next attempt. Raises `ModelError` where there is none."""
        reason = clean(self.model.hide(_reason(error))).text[:LONGEST_REASON]
        if not _passes(error):
            raise ModelError(f"{self.model.name} refuses: {reason}") from error
        if attempt >= self.limits.attempts:
            raise ModelError(f"{self.model.name} doesn't answer, asked {attempt} times: {reason}") from error
        pause = self.limits.backoff * 2 ** (attempt - 1) * random.uniform(0.8, 1.2)  # noqa: S311 - spreads clients
        asked = _asked_pause(error)
        if asked is not None:
            pause = max(pause, asked) if asked else pause
        if pause > self.limits.longest_pause:
            raise ModelError(f"{self.model.name} asks to wait {pause:.0f} s, which is too long: {reason}") from error
        if time.monotonic() + pause > self._end:
            raise ModelError(
                f"{self.model.name} gave no whole reply within the {self.limits.total:g} s of a draft: {reason}"
            ) from error
        self._said(f"again in {pause:.0f} s: {reason}")
        time.sleep(pause)


def _chunks(chat: Any, messages: list[tuple[str, str]], options: dict[str, Any], end: float) -> Iterator[Any]:
    """The parts of a reply as they come, until it ends or `end` (of `time.monotonic`) has passed.

    Another thread reads: a server that keeps a connection alive without saying anything holds up only that.
    """
    found: queue.Queue[tuple[str, Any]] = queue.Queue()
    given_up = threading.Event()

    def read() -> None:
        try:
            with _untraced():
                for chunk in chat.stream(messages, **options):
                    if given_up.is_set():
                        return
                    found.put(("part", chunk))
            found.put(("end", None))
        except BaseException as error:  # handed to whoever waits
            found.put(("error", error))

    threading.Thread(target=read, name="couler-model", daemon=True).start()
    try:
        while True:
            left = end - time.monotonic()
            try:
                kind, value = found.get(timeout=max(left, 0.0))
            except queue.Empty:
                raise TimeoutError("the reply takes too long") from None
            if kind == "error":
                raise value
            if kind == "end":
                return
            yield value
    finally:
        given_up.set()


def _untraced() -> Any:
    # Nothing but what was shown leaves the machine: tracing would send prompts to another server.
    try:
        from langsmith import tracing_context
    except ImportError:
        return nullcontext()
    return tracing_context(enabled=False)


def _text(content: Any) -> str:
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else []
    return "".join(part if isinstance(part, str) else str(part.get("text", "")) for part in parts)


def _status(error: BaseException) -> int | None:
    found = getattr(error, "status_code", None)
    return found if isinstance(found, int) else None


def _passes(error: Exception) -> bool:
    if getattr(error, "code", None) == "insufficient_quota":
        return False
    status = _status(error)
    if status is not None:
        return status in AGAIN or status >= 500
    if isinstance(error, ConnectionError | TimeoutError):
        return True
    names = {each.__name__ for each in type(error).__mro__}
    return bool(names & {"APIConnectionError", "TransportError", "TimeoutException", "RemoteProtocolError", "APIError"})


def _refuses_schema(error: Exception) -> bool:
    return _status(error) in (400, 404, 415, 422, 501) and any(
        word in str(error).lower() for word in ("response_format", "schema", "grammar", "json")
    )


def _asked_pause(error: Exception) -> float | None:
    headers = getattr(getattr(error, "response", None), "headers", None)
    if headers is None:
        return None
    try:
        return max(0.0, float(headers.get("retry-after", "")))
    except (TypeError, ValueError):
        return None


def _reason(error: BaseException) -> str:
    return " ".join(str(error).split()) or type(error).__name__
