"""What can be set at all: every key is documented, and none of them names something to run."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from msgspec import inspect

from couler_py.settings.environment import variable_of, variables
from couler_py.settings.model import File, Keys

RUNS = (
    "command",
    "cmd",
    "exec",
    "execute",
    "shell",
    "script",
    "program",
    "plugin",
    "hook",
    "module",
    "entry",
    "import",
)
RUNS += ("python", "code", "eval", "callable", "function", "class", "loader", "preload", "path", "library")
"""Words of keys that would name something to run, or where to find it."""

DATA = {"include", "runtime", "engine", "keyring"}
"""Keys that choose among what is installed, or name files that travel; none is run for being named."""


def keys(info: inspect.Type, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], inspect.Type]]:
    """Every key at any depth, with its type."""
    if isinstance(info, inspect.UnionType):
        for each in info.types:
            yield from keys(each, path)
    elif isinstance(info, inspect.StructType):
        for field in info.fields:
            here = (*path, field.encode_name)
            yield here, field.type
            if field.encode_name != "profiles":
                yield from keys(field.type, here)
    elif isinstance(info, inspect.VarTupleType):
        yield from keys(info.item_type, path)
    elif isinstance(info, inspect.DictType):
        yield from keys(info.value_type, (*path, "NAME"))


def test_no_key_names_something_to_run() -> None:
    found = [".".join(path) for path, _ in keys(inspect.type_info(File)) if path[-1] not in DATA]
    assert len(found) > 60
    assert [each for each in found if any(word in each.rpartition(".")[2].split("_") for word in RUNS)] == []


def test_no_value_is_of_a_free_type() -> None:
    free = [".".join(path) for path, type_ in keys(inspect.type_info(File)) if isinstance(type_, inspect.AnyType)]
    assert free == []


def test_the_page_names_every_key(checkout: Path) -> None:
    page = (checkout / "docs" / "guides" / "configuration.md").read_text()
    missing = [name for name in Keys.__struct_fields__ if f"`{name}`" not in page and f"[{name}" not in page]
    assert missing == []


def test_every_key_but_include_has_a_variable_of_its_own() -> None:
    leaves = {".".join(path) for path in variables().values()}
    assert "include" not in leaves
    assert {"namespace", "resources.cpu", "events.openlineage.url", "secrets.mounted", "logs.limit"} <= leaves
    assert all(variable_of(".".join(path)) == name for name, path in variables().items())


def test_no_variable_is_one_that_steps_are_given() -> None:
    given = {"COULER_INCLUDE", "COULER_INCLUDE_ROOT", "COULER_INPUTS", "COULER_OUTPUTS", "COULER_RUNNER", "COULER_HOME"}
    assert not given & set(variables())
    assert not [name for name in variables() if name.startswith(("COULER_RUN_", "COULER_INPUT_", "COULER_SECRET_"))]
