"""How Jinja2 files are rendered: whatever is filled in stays data."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from jinja2 import Environment


@functools.cache
def environment(folder: str, *filters: Callable[..., str], autoescape: bool) -> Environment:
    """The files of a folder of templates, with filters by their own names: sandboxed, and strict about names.

    `autoescape` is for HTML; what is filled into plain text is no markup.
    """
    from jinja2 import PackageLoader, StrictUndefined
    from jinja2.sandbox import ImmutableSandboxedEnvironment

    made = ImmutableSandboxedEnvironment(
        loader=PackageLoader("couler_py", f"templates/{folder}"),
        autoescape=autoescape,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters.update({each.__name__: each for each in filters})
    return made
