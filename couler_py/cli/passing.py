"""The options about passes, which every command that compiles takes: `--no-NAME`, and what passes are asked for."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterator
from typing import Annotated, Any, get_type_hints

import msgspec
import typer

from couler_py.passes.pipeline import PASSES, Asked, options_of


class Passes(msgspec.Struct, frozen=True):
    """What was typed of it: the passes to leave out, and the options that passes take."""

    without: tuple[str, ...] = ()
    options: dict[str, Any] = {}


def passing(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command these options; what was typed comes as its argument `passes`."""
    hints = get_type_hints(command, include_extras=True)
    own = [each for name, each in inspect.signature(command).parameters.items() if name != "passes"]

    @functools.wraps(command)
    def with_options(**given: Any) -> None:
        without = tuple(each.name for each in PASSES if given.pop(_off(each.name)))
        options = {each.name: value for each in options_of() if (value := given.pop(each.name)) not in (None, False)}
        command(**given, passes=Passes(without, options))

    whole = inspect.Signature([each.replace(annotation=hints[each.name]) for each in own] + list(_added()))
    with_options.__signature__ = whole  # type: ignore[attr-defined]
    with_options.__annotations__ = {each.name: each.annotation for each in whole.parameters.values()}
    del with_options.__wrapped__
    return with_options


def _added() -> Iterator[inspect.Parameter]:
    for asked in options_of():
        yield _parameter(asked.name, None if asked.metavar else False, _type(asked))
    for each in PASSES:
        option = typer.Option(f"--no-{_dashed(each.name)}", help=f"Leave out the pass {each.name}: {each.summary}.")
        yield _parameter(_off(each.name), False, Annotated[bool, option])


def _type(asked: Asked) -> Any:
    flag = f"--{_dashed(asked.name)}"
    if asked.metavar:
        return Annotated[str | None, typer.Option(flag, metavar=asked.metavar, help=asked.help)]
    return Annotated[bool, typer.Option(flag, help=asked.help)]


def _parameter(name: str, default: Any, annotation: Any) -> inspect.Parameter:
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation)


def _off(name: str) -> str:
    return f"no_{name.replace('-', '_')}"


def _dashed(name: str) -> str:
    return name.replace("_", "-")
