"""Which model writes drafts: a name of OpenAI's, the address of a server that speaks its protocol, or a chat model.

| spec | what answers | its key |
|---|---|---|
| `openai:NAME` | OpenAI, or what `OPENAI_BASE_URL` says | `OPENAI_API_KEY` |
| `http://HOST:PORT/v1` | the first model that this server lists: vLLM, Ollama, llama.cpp, … | `COULER_MODEL_KEY` |
| `NAME@http://HOST:PORT/v1` | that model there | `COULER_MODEL_KEY` |
| a chat model of langchain-core | that object (from Python) | its own |

OpenAI's key goes to no other server than the one that its own variables name.
"""

from __future__ import annotations

import json
import os
import re
import time
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import msgspec

from couler_py.ir.diagnostics import CoulerError

if TYPE_CHECKING:
    import httpx
    from langchain_core.language_models import BaseChatModel

OPENAI = "https://api.openai.com/v1"
LARGEST_LIST = 1_000_000  # bytes of a server's list of models
LONGEST_NAME = 200  # signs of a model's name


class ModelError(CoulerError):
    """A model that can't be used as asked: no such spec, no key, no library, no answer."""


class Model(msgspec.Struct, frozen=True):
    """A chat model, the `name` that prices and cached replies go by, and where it is.

    `constrained`: its server takes a JSON schema that replies must follow.
    """

    chat: Any
    name: str
    place: str = ""
    constrained: bool = False

    @property
    def here(self) -> bool:
        """Whether what is sent to it stays on this machine."""
        return urlsplit(self.place).hostname in ("127.0.0.1", "localhost", "::1")

    def hide(self, text: str) -> str:
        """A text without the model's keys: a server may say back what it was sent."""
        for value in vars(self.chat).values():
            key = value.get_secret_value() if hasattr(value, "get_secret_value") else ""
            if isinstance(key, str) and len(key) >= 4:
                text = text.replace(key, "***")
        return text


class Spec(msgspec.Struct, frozen=True):
    """A spec in parts: `name` may be empty where the server is asked for it."""

    name: str
    url: str
    key: str = ""
    openai: bool = False


def parse(spec: str, environment: Mapping[str, str] | None = None) -> Spec:
    """What a spec names. Raises `ModelError` for what is none, and where the key is missing.

    >>> parse("qwen3@http://localhost:11434/v1", {}).name
    'qwen3'
    >>> parse("openai:gpt-4.1-mini", {"OPENAI_API_KEY": "k"}).url
    'https://api.openai.com/v1'
    """
    found = os.environ if environment is None else environment
    if spec.startswith("openai:"):
        name = spec.removeprefix("openai:").strip()
        if not name:
            raise ModelError("openai: which model? Write openai:NAME, as openai:gpt-4.1-mini")
        key = found.get("OPENAI_API_KEY", "")
        if not key:
            raise ModelError(f"{spec} needs a key: set OPENAI_API_KEY, or take the model 'offline'")
        return Spec(name, _address(found.get("OPENAI_BASE_URL") or OPENAI), key, openai=True)
    match = re.fullmatch(r"(?:([^@/\s]+)@)?(https?://\S+)", spec.strip())
    if match is None:
        raise ModelError(
            f"{spec!r} names no model: write offline, openai:NAME, the URL of a server (http://localhost:11434/v1), "
            "or NAME@URL"
        )
    return Spec(match[1] or "", _address(match[2]), found.get("COULER_MODEL_KEY", ""))


def _address(url: str) -> str:
    parts = urlsplit(url)
    if parts.username or parts.password:
        raise ModelError("the address of a model holds no password: set COULER_MODEL_KEY")
    if not parts.hostname or parts.scheme not in ("http", "https"):
        raise ModelError(f"{url!r} is no address of a server: write it as http://localhost:11434/v1")
    return url.rstrip("/")


def model_of(asked: str | BaseChatModel, *, timeout: float = 60.0) -> Model:
    """The model that is meant. `timeout` is the seconds that its server may be silent.

    Raises `ModelError`: for a spec that names none, a missing key, a library that isn't installed, and a server that
    doesn't say which models it has.
    """
    if not isinstance(asked, str):
        return _given(asked)
    spec = parse(asked)
    try:
        from langchain_openai import ChatOpenAI
        from langchain_openai.chat_models.base import BaseChatOpenAI
        from pydantic import SecretStr
    except ImportError as error:
        raise ModelError(f"the model {asked} needs more packages: pip install 'couler-py[nl]' ({error})") from error
    name = spec.name or first_of(spec, timeout)
    # OpenAI's newer models know only max_completion_tokens, other servers often only max_tokens.
    make = ChatOpenAI if spec.openai else BaseChatOpenAI
    chat = make(
        model=name,
        base_url=spec.url,
        api_key=SecretStr(spec.key or "none"),
        timeout=timeout,
        max_retries=0,  # `calls` tries again, and counts
        stream_usage=True,
        use_responses_api=False,
        http_client=_client(timeout, os.environ.get("OPENAI_PROXY")),
        openai_proxy=None,
    )
    return Model(chat, name, spec.url, constrained=True)


def _given(chat: Any) -> Model:
    try:
        from langchain_core.language_models import BaseChatModel
    except ImportError as error:
        raise ModelError("models need more packages: pip install 'couler-py[nl]'") from error
    if not isinstance(chat, BaseChatModel):
        raise ModelError(f"{chat!r} is no model: give 'offline', openai:NAME, a URL, or a chat model of langchain-core")
    name = getattr(chat, "model_name", None) or getattr(chat, "model", None) or type(chat).__name__
    place = getattr(chat, "openai_api_base", None) or type(chat).__name__
    return Model(chat, str(name), str(place), constrained=hasattr(chat, "openai_api_base"))


def first_of(spec: Spec, timeout: float = 60.0) -> str:
    """The first model that a server lists (`GET /models`).

    Raises `ModelError` where it lists none, or hasn't said it all after `timeout` seconds.
    """
    import httpx

    headers = {"Accept-Encoding": "identity"} | ({"Authorization": f"Bearer {spec.key}"} if spec.key else {})
    end, body = time.monotonic() + timeout, b""
    try:
        with _client(timeout) as client, client.stream("GET", f"{spec.url}/models", headers=headers) as answer:
            if not answer.is_success:
                raise ModelError(f"{spec.url} answers {answer.status_code} to who asks for its models")
            for part in answer.iter_raw():
                body += part
                if len(body) > LARGEST_LIST or time.monotonic() > end:
                    break
        return _name(json.loads(body)["data"][0]["id"])
    except httpx.HTTPError as error:
        raise ModelError(f"{spec.url} doesn't answer: {str(error) or type(error).__name__}") from error
    except (ValueError, LookupError, TypeError, RecursionError) as error:
        raise ModelError(f"{spec.url} lists no models: name one, as NAME@{spec.url}") from error


def _name(found: object) -> str:
    if not isinstance(found, str) or not 0 < len(found) <= LONGEST_NAME or not found.isprintable():
        raise ValueError("no name of a model")
    return found


def _client(timeout: float, proxy: str | None = None) -> httpx.Client:
    """What speaks to servers. It follows no redirect: texts and keys go where it was said that they go."""
    import httpx

    return httpx.Client(follow_redirects=False, timeout=timeout, proxy=proxy or None)
