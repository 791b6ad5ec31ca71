"""What Kubernetes does to the strings of a container before it starts: `$(NAME)` and `$$`."""

from __future__ import annotations

import re
from collections.abc import Mapping

_REFERENCE = re.compile(r"\$(?:(\$)|\(([^)]*)\))")


def expanded(text: str, variables: Mapping[str, str]) -> str:
    """A text with the references to variables of the container filled in; unknown ones stay, `$$` is one dollar.

    (Facts: third_party/forked/golang/expansion of Kubernetes 1.34.)

    >>> expanded("$(A) $(B) $$(A) $", {"A": "x"})
    'x $(B) $(A) $'
    """

    def filled(found: re.Match[str]) -> str:
        if found[1]:
            return "$"
        return variables.get(found[2], found[0])

    return _REFERENCE.sub(filled, text)
