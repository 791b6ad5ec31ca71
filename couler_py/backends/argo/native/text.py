"""Text of several lines, indented with the program around it."""

from __future__ import annotations

import textwrap


def text(indented: str, /) -> str:
    """The lines of a triple-quoted string without the indentation that they share, from the line after the quotes on.

    >>> text('''
    ...     import sys
    ...     print(sys.version)
    ...     ''')
    'import sys\\nprint(sys.version)\\n'
    """
    return textwrap.dedent(indented.removeprefix("\n"))
