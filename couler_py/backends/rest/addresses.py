"""URLs of engines' servers, as people type them."""

from __future__ import annotations

from urllib.parse import SplitResult, urlsplit

from couler_py.backends.base import OptionError


def parts_of(url: str, engine: str, instead: str) -> SplitResult:
    """The parts of a server's URL. `instead` says where a password belongs, that a URL never has.

    Raises `OptionError`, in the engine's name, for what is no URL, and for one with a password, which isn't shown.

    >>> parts_of("http://localhost:2746/base", "argo", "").hostname
    'localhost'
    """
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        server = f"{parts.scheme}://{parts.hostname or ''}"
        raise OptionError(f"{engine}: {server} is no URL of an {engine.capitalize()} server")
    if parts.username or parts.password:
        raise OptionError(f"{engine}: {instead}")
    return parts
