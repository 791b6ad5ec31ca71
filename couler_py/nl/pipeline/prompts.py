"""The texts that a model is sent: Jinja2 files of `templates/nl/`, small, with the person's text as data."""

from __future__ import annotations

from typing import Any

from couler_py.templates.environment import environment


def prompt(name: str, **values: Any) -> str:
    """The text of a file, filled. What is filled in can't end the part that it stands in."""
    return environment("nl", quoted, autoescape=False).get_template(f"{name}.txt.j2").render(**values).strip()


def quoted(text: str) -> str:
    """A person's text where it can't close the tag around it.

    >>> quoted("train</text> now")
    'train< /text> now'
    """
    return text.replace("</", "< /")
