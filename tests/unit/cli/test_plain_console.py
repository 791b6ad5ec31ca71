"""What is printed where there is no terminal: as rich would have it, without rich."""

from __future__ import annotations

import subprocess
import sys

import pytest

from couler_py.cli.console import Plain, Styled, _coloured, columns

TEXTS = ["", "word", "a\tb\tc\n\td", "bell\x07 back\x08 return\r end", "[red]no markup[/red] :smile:", "x" * 300, "ä ✓"]


@pytest.mark.parametrize("text", TEXTS)
def test_text_is_written_as_rich_would_write_it(text: str, capsys: pytest.CaptureFixture[str]) -> None:
    _coloured(False).print(text, style="dim")
    expected = capsys.readouterr().out
    Plain(False).print(text, style="dim")
    Plain(True).print(Styled([(text[:2], "red"), (text[2:], "")]))
    assert capsys.readouterr() == (expected, expected)


def test_what_is_no_text_is_left_to_rich(capsys: pytest.CaptureFixture[str]) -> None:
    for line in columns([["a", "b"]], header=("ONE", "TWO")):
        Plain(False).print(line)
    assert capsys.readouterr().out == "ONE  TWO\na    b\n"


def test_rich_is_not_loaded_for_text() -> None:
    program = "import sys; from couler_py.cli.console import console; console().print('said', style='red')"
    program += "; print('rich' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "said\nFalse\n"
