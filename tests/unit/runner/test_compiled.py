"""The script of a step as code: what is in it, and when there is none."""

from __future__ import annotations

import importlib.util
import marshal
import warnings
from types import CodeType

import pytest

from couler_py.ir.model import Function, Piece, Template
from couler_py.runner import parts
from couler_py.runner.compiled import compiled

MAGIC = importlib.util.MAGIC_NUMBER


def step(*texts: str, future: tuple[str, ...] = ()) -> Template:
    pieces = tuple(Piece(text, f"/here/{number}.py", 7) for number, text in enumerate(texts))
    return Template("step", Function("step", pieces, future=future))


def test_each_piece_is_code_of_the_file_and_line_where_it_was_written() -> None:
    template = step("x: int | None = 1", "def step():\n    pass", future=("annotations",))
    code = compiled(template, "/programs/it.py")
    assert code.startswith(MAGIC)
    first, spec, pieces = marshal.loads(code[len(MAGIC) :])
    assert spec == parts(template)[0]
    assert [(piece.co_filename, piece.co_firstlineno) for piece in pieces] == [("/here/0.py", 1), ("/here/1.py", 1)]
    space: dict[str, object] = {}
    for piece in pieces:
        exec(piece, space)
    function = space["step"]
    assert callable(function)
    assert space["__annotations__"] == {"x": "int | None"}
    assert function.__code__.co_firstlineno == 7
    assert isinstance(first, CodeType)


@pytest.mark.parametrize("text", ["def step(:", "'\0'", "def step():\n    return '\\d'"], ids=["odd", "nul", "warned"])
def test_what_python_has_to_say_about_a_source_the_step_says(text: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert compiled(step(text), "/programs/it.py") == b""
