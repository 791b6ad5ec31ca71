"""Tokens in files, which whoever renews them writes anew."""

from __future__ import annotations

from pathlib import Path

from couler_py.backends.base import OptionError


def token_in(file: str, engine: str) -> str:
    """What a file of a token holds. Raises `OptionError` for one that can't be read, without what is in it."""
    try:
        return Path(file).expanduser().read_text(encoding="ascii")
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) else "it isn't text of a token"
        raise OptionError(f"{engine}: the token file {file} can't be read: {why}") from None
