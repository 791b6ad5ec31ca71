"""What a model is asked to fill in: a plan of steps first, then the details of each, then a score.

The parts are those of `couler_py.nl.outline` and bounded like these; `merging` makes an outline of them.
"""

from __future__ import annotations

import json
import re
from typing import Annotated, Any, Literal, TypeAlias, TypeVar

import msgspec
from msgspec import Meta

from couler_py.nl import outline as o

Few: TypeAlias = Annotated[tuple[o.Name, ...], Meta(max_length=12)]
Said: TypeAlias = Annotated[str, Meta(max_length=200)]
Texts: TypeAlias = Annotated[tuple[Said, ...], Meta(max_length=6)]
Seconds: TypeAlias = Annotated[float, Meta(ge=0, le=31_536_000)] | None
Shape = TypeVar("Shape")


class _Part(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    pass


class Module(_Part, frozen=True):
    """One step of a plan: what it does, whose results it takes, what it only waits for, the block it stands in."""

    name: o.Name
    role: o.Ref = ""
    does: Said = ""
    takes: Few = ()
    after: Few = ()
    inside: o.Ref = ""


class Plan(_Part, frozen=True):
    """A description as steps and the flow of data between them, with what is open, assumed and refused."""

    name: o.Name
    steps: Annotated[tuple[Module, ...], Meta(min_length=1, max_length=30)]
    blocks: Annotated[tuple[o.Block, ...], Meta(max_length=6)] = ()
    parameters: Annotated[tuple[o.Parameter, ...], Meta(max_length=12)] = ()
    schedule: o.Schedule | None = None
    notices: Annotated[tuple[o.Notice, ...], Meta(max_length=4)] = ()
    engine: Literal["", "local", "argo", "airflow"] = ""
    parallelism: Annotated[int, Meta(ge=1, le=1000)] | None = None
    deadline: Seconds = None
    retries: Annotated[int, Meta(ge=0, le=100)] = 0
    questions: Texts = ()
    assumptions: Texts = ()
    impossible: Texts = ()
    refused: Texts = ()


class Detail(_Part, frozen=True):
    """What a plan's step of this name is, beyond its place. `uses` names a known step."""

    name: o.Name
    kind: o.Kind = "python"
    uses: Annotated[str, Meta(max_length=100)] = ""
    gives: o.Gives = "value"
    fields: Few = ()
    arguments: Annotated[tuple[o.Argument, ...], Meta(max_length=12)] = ()
    when: o.Conditions = ()
    on_failure: Few = ()
    always: Few = ()
    command: o.Long = ""
    image: o.Short = ""
    url: o.Short = ""
    method: Literal["GET", "POST", "PUT", "DELETE"] = "GET"
    seconds: Seconds = None
    packages: Annotated[tuple[o.Short, ...], Meta(max_length=8)] = ()
    retry: o.Retry = o.Retry()
    timeout: Seconds = None
    cache: bool = False
    resources: o.Resources = o.Resources()


class Details(_Part, frozen=True):
    """The details of some steps."""

    steps: Annotated[tuple[Detail, ...], Meta(min_length=1, max_length=10)]


class Score(_Part, frozen=True):
    """How well a workflow is what was asked for, 0 to 1, and what is wrong with it."""

    score: Annotated[float, Meta(ge=0, le=1)]
    wrong: Texts = ()


class Sentences(_Part, frozen=True):
    """A wish in the words of the grammar without a model, a sentence each."""

    sentences: Annotated[tuple[Said, ...], Meta(min_length=1, max_length=12)]


class ReplyError(ValueError):
    """A reply that isn't what was asked for; the text says where and why, for the model."""


_DROPPED = frozenset(
    {"title", "description", "default", "pattern", "minLength", "minimum", "maximum", "exclusiveMinimum"}
)
"""What `read` holds replies to anyway, and a schema is longer and slower to follow with."""

_LONGEST, _MOST = 160, 12
"""Characters of a text and elements of a list in a schema: a small model writes until it has to stop."""


def schema(shape: Any) -> dict[str, Any]:
    """The JSON schema that replies of a shape are held to while they are written: every text and list in it is bounded.

    >>> sorted(schema(Score)["$defs"]["Score"]["properties"])
    ['score', 'wrong']
    """
    found: dict[str, Any] = _pruned(msgspec.json.schema(shape))
    return found


def _pruned(value: Any, *, named: bool = False) -> Any:
    if isinstance(value, list):
        return [_pruned(each) for each in value]
    if not isinstance(value, dict):
        return value
    found = {
        key: _pruned(each, named=key in ("properties", "$defs"))
        for key, each in value.items()
        if named or key not in _DROPPED
    }
    for key, bound in () if named else (("maxLength", _LONGEST), ("maxItems", _MOST)):
        if key in found:
            found[key] = min(found[key], bound)
    return found


def read(text: str, shape: type[Shape], *, cut: bool = False) -> Shape:
    """A reply as data. Words and fences around the JSON object are passed over; anything else is a `ReplyError`.

    >>> read('Sure!\\n```json\\n{"score": 1}\\n```', Score).score
    1.0
    """
    if not text.strip():
        raise ReplyError("the reply was empty: answer with one JSON object")
    found = _object(text)
    if found is None:
        open_ended = text.count("{") > text.count("}")
        ended = "it was cut off: answer shorter" if cut or open_ended else "there is none in the reply"
        raise ReplyError(f"one JSON object was asked for, and {ended}")
    try:
        return msgspec.convert(found, shape, strict=True)
    except msgspec.ValidationError as error:
        raise ReplyError(f"the JSON is not as asked: {error}") from error


def _object(text: str) -> Any:
    """The first JSON object in a text that is whole. A part of one that was cut off is none."""
    if text.count("{") > text.count("}"):
        return None
    decoder = json.JSONDecoder(parse_constant=_no_constant)
    tried = 0
    for match in re.finditer(r"\{", text):
        tried += 1
        if tried > 20:
            return None
        try:
            return decoder.raw_decode(text, match.start())[0]
        except (ValueError, RecursionError):
            continue
    return None


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is no JSON")
