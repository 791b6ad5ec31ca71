"""Runs what a page of the documentation shows: the programs it has a reader write, and the commands it has them type.

A fenced block of Python with `title="flow.py"`, or that begins with `# flow.py`, is written to that file; one with
`>>>` is a doctest; any other is executed, one after the other as one program. In a `console` block every `$ couler …`
and `$ python …` is executed, and what stands below it is what it prints: `...` stands for anything, times, dates,
sizes and the letters of a run's name are whatever they are, and whether a step was seen running is chance. A run's
name that is typed, or `RUN`, is that of the run before. Commands of other programs are not run.

A comment above a block says what else is so: `<!-- exit 2 -->`, `<!-- not run: why -->`, `<!-- slow -->` for what
only the long cases run, or `<!-- torch -->` for what runs where torch is (`make test-training`).
"""

from __future__ import annotations

import contextlib
import doctest
import importlib.util
import io
import linecache
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

ROOT = Path(__file__).resolve().parent.parent
FENCE = re.compile(
    r"(?:<!-- (?P<note>[^\n]*) -->\n+)?(?P<fence>```+|~~~+) ?(?P<info>[^\n]*)\n(?P<text>.*?)^(?P=fence) *$",
    re.DOTALL | re.MULTILINE,
)
SNIPPET = re.compile(r'^--8<-- "([^"]+)"$', re.MULTILINE)
RUN_NAME = re.compile(r"\b([a-z][a-z0-9-]*?)-([bcdfghjklmnpqrstvwxz2456789]{5})\b")
RUNNING = re.compile(r"^\d\d:\d\d:\d\d +Running .*\n", re.MULTILINE)
VARIABLE = (
    (re.compile(r"\b\d{4}-\d\d-\d\d\b"), "DATE"),
    (re.compile(r"\b\d\d:\d\d:\d\d\b"), "TIME"),
    (re.compile(r"\b\d+(\.\d+)? ?(ms|s)\b"), "SECONDS"),
    (re.compile(r'("seconds": )[\d.]+'), r"\1SECONDS"),
    (re.compile(r"\b\d+(\.\d+)? (KiB|MiB|B|bytes)\b"), "SIZE"),
    (re.compile(r" +"), " "),
)


class Block(msgspec.Struct, frozen=True):
    """A fenced block: its language, the file it is, what the comment above says, its text, its line in the page."""

    language: str
    title: str
    note: str
    text: str
    line: int


def blocks(page: Path) -> Iterator[Block]:
    """The fenced blocks of a page, in order."""
    whole = page.read_text(encoding="utf-8")
    for found in FENCE.finditer(whole):
        info = found["info"].strip()
        title = re.search(r'title="([^"]+)"', info) or re.match(r"# (\w+\.py)\n", found["text"])
        text = SNIPPET.sub(lambda each: (ROOT / each[1]).read_text(encoding="utf-8").rstrip(), found["text"])
        line = whole.count("\n", 0, found.start("text")) + 1
        yield Block(info.split(" ")[0], title[1] if title else "", found["note"] or "", text, line)


class Reader:
    """Somebody who goes through a page in an empty folder, and does what it says."""

    def __init__(self, page: Path, folder: Path, *, slow: bool = False):
        self.page = page
        self.folder = folder
        self.slow = slow
        self.names: dict[str, Any] = {"__name__": "page"}
        self.runs: dict[str, str] = {}
        self.wrong: list[str] = []

    def read(self) -> None:
        """Do everything. Raises `AssertionError` with each line of the page where it isn't as it says."""
        for block in blocks(self.page):
            if block.note.startswith("not run") or (block.note == "slow" and not self.slow):
                continue
            if block.note == "torch" and importlib.util.find_spec("torch") is None:
                continue
            if block.language == "python":
                self._python(block)
            elif block.language == "console":
                self._console(block)
            elif block.title:
                self._write(block)
        assert not self.wrong, "\n\n".join(self.wrong)

    def _write(self, block: Block) -> None:
        path = self.folder / block.title
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(block.text, encoding="utf-8")

    def _python(self, block: Block) -> None:
        if block.title:
            self._write(block)
        elif ">>>" in block.text:
            self._doctest(block)
        else:
            path = self.folder / f"{self.page.stem}_{block.line}.py"
            path.write_text(block.text, encoding="utf-8")
            linecache.checkcache(str(path))
            exec(compile(block.text, str(path), "exec"), self.names)

    def _doctest(self, block: Block) -> None:
        test = doctest.DocTestParser().get_doctest(block.text, self.names, self.page.name, str(self.page), block.line)
        said = io.StringIO()
        runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS)
        runner.run(test, out=said.write, clear_globs=False)
        assert not runner.failures, said.getvalue()
        self.names.update(test.globs)

    def _console(self, block: Block) -> None:
        expected_code = int(block.note.removeprefix("exit ")) if block.note.startswith("exit ") else 0
        for part in re.split(r"^\$ ", block.text, flags=re.MULTILINE)[1:]:
            line, _, expected = part.partition("\n")
            command = shlex.split(self._with_real_runs(line), comments=True)
            if not command or command[0] not in ("couler", "python"):
                continue
            code, printed = couler(command[1:]) if command[0] == "couler" else python(command[1:])
            place = f"{self.page.relative_to(ROOT)}:{block.line}: $ {line}"
            if code != expected_code:
                self.wrong.append(f"{place}\nended with {code}, not {expected_code}:\n{printed}")
            for name, letters in RUN_NAME.findall(printed):
                self.runs[name] = self.runs["RUN"] = f"{name}-{letters}"
            if expected.strip() and not alike(expected, printed):
                self.wrong.append(f"{place}\nprinted:\n{printed}\nnot:\n{expected}")

    def _with_real_runs(self, line: str) -> str:
        line = RUN_NAME.sub(lambda found: self.runs.get(found[1], found[0]), line)
        return re.sub(r"\bRUN\b", lambda found: self.runs.get("RUN", found[0]), line)


def alike(expected: str, printed: str) -> bool:
    """Whether a program printed what a page shows, apart from what is different each time."""
    checker = doctest.OutputChecker()
    return checker.check_output(_settled(expected), _settled(printed), doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE)


def _settled(text: str) -> str:
    text = RUNNING.sub("", RUN_NAME.sub(r"\1-RUN", text))
    for pattern, word in VARIABLE:
        text = pattern.sub(word, text)
    return "\n".join(line.rstrip() for line in text.strip().splitlines()) + "\n"


def couler(arguments: list[str]) -> tuple[int, str]:
    """The exit code of the command line, called in this process, and what it printed."""
    from couler_py.cli.app import group

    printed = io.StringIO()
    with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(printed):
        try:
            group().main(arguments, prog_name="couler")
        except SystemExit as ended:
            return (ended.code if isinstance(ended.code, int) else 0), printed.getvalue()
    return 0, printed.getvalue()


def python(arguments: list[str]) -> tuple[int, str]:
    """The exit code of Python, and what it printed."""
    done = subprocess.run(
        [sys.executable, *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )
    return done.returncode, done.stdout
