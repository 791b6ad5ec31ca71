"""A DAG file as data: the few kinds of statement that it is made of."""

from __future__ import annotations

from typing import TypeAlias

import msgspec

from couler_py.printer.layout import Doc


class Assign(msgspec.Struct, frozen=True):
    """`name = value`; without a name, the value alone."""

    name: str
    value: Doc


class Within(msgspec.Struct, frozen=True):
    """A task group and what is made inside it."""

    group_id: str
    body: tuple[Statement, ...]


class Edges(msgspec.Struct, frozen=True):
    """Tasks that wait for others, by the expressions that name them."""

    before: tuple[str, ...]
    after: str


class Rows(msgspec.Struct, frozen=True):
    """Many tasks alike: a table with a row for each, and the loop that makes them.

    `table` names the list, `columns` the variables of the loop, and `body` is made for each row.
    """

    table: Doc
    columns: tuple[str, ...]
    body: tuple[Statement, ...]


class Return(msgspec.Struct, frozen=True):
    """What a function gives."""

    value: Doc


Statement: TypeAlias = Assign | Within | Edges | Rows | Return


class Definition(msgspec.Struct, frozen=True):
    """A function that makes the tasks of a graph: it is called for every use of it."""

    name: str
    parameters: tuple[str, ...]
    about: str
    body: tuple[Statement, ...]


class DagFile(msgspec.Struct, frozen=True):
    """A file: `about` is its docstring, `dag` the decorator of the function `name`, whose body makes the tasks."""

    about: str
    name: str
    constants: tuple[Assign, ...]
    definitions: tuple[Definition, ...]
    dag: Doc
    body: tuple[Statement, ...]
    operators: str
    settings: dict[str, Doc] = {}
