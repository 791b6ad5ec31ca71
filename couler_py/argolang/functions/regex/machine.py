"""Patterns as programs: all ways through a pattern are followed at once, in their order."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from couler_py.argolang.functions.regex.classes import Set
from couler_py.argolang.functions.regex.nodes import Capture, Either, Joined, One, Place, Repeated, Tree
from couler_py.argolang.functions.regex.problems import RegexProblem

SIZE, WORK = 20_000, 2_000_000
_WORD = Set(("09", "AZ", "az", "__"))

Saved = tuple[int, ...]


class Found(msgspec.Struct, frozen=True):
    """A match: the text, and begin and end of the whole and of each group (-1 for one that takes no part)."""

    text: str
    saved: tuple[int, ...]

    @property
    def start(self) -> int:
        """Where the match begins."""
        return self.saved[0]

    @property
    def end(self) -> int:
        """Where it ends."""
        return self.saved[1]

    def has(self, number: int) -> bool:
        """Whether there is a group with this number and it takes part."""
        return 2 * number + 1 < len(self.saved) and self.saved[2 * number] >= 0

    def group(self, number: int = 0) -> str:
        """The text of a group, "" where it takes no part or there is none."""
        if not self.has(number):
            return ""
        return self.text[self.saved[2 * number] : self.saved[2 * number + 1]]


class Machine:
    """A pattern that can search."""

    def __init__(self, tree: Tree, names: dict[str, list[int]]) -> None:
        self.names = names
        self.code: list[tuple[str, object, int]] = []
        self.groups = 0
        self._emit(Capture(0, tree))
        self._put("done", None)

    def search(self, text: str, start: int = 0) -> Found | None:
        """The first match from `start` on. Raises RegexProblem where pattern and text are too large together."""
        if len(self.code) * (len(text) + 1) > WORK:
            raise RegexProblem("a text that is too long for its pattern", late=True)
        empty = (-1,) * (2 * self.groups + 2)
        now: list[tuple[int, Saved]] = []
        best: Saved | None = None
        for position in range(start, len(text) + 1):
            if best is None:
                self._follow(now, {at for at, _ in now}, 0, empty, text, position)
            if not now:
                if best is not None:
                    break
                continue
            then: list[tuple[int, Saved]] = []
            seen: set[int] = set()
            for at, saved in now:
                kind, what, _ = self.code[at]
                if kind == "done":
                    best = saved
                    break
                if position < len(text) and isinstance(what, Set) and what.has(text[position]):
                    self._follow(then, seen, at + 1, saved, text, position + 1)
            now = then
        return None if best is None else Found(text, best)

    def all(self, text: str, count: int = -1) -> Iterator[Found]:
        """The matches one after the other, at most `count`; an empty one right after another counts for nothing."""
        position, before, given = 0, -1, 0
        while position <= len(text) and given != count:
            found = self.search(text, position)
            if found is None:
                return
            if found.end > found.start or found.start != before:
                given += 1
                yield found
            before = found.end
            position = found.end if found.end > found.start else found.end + 1
            if found.end > found.start:
                position = found.end

    def _follow(
        self, threads: list[tuple[int, Saved]], seen: set[int], at: int, saved: Saved, text: str, position: int
    ) -> None:
        """Add the ways on from an instruction that wait for a character, the preferred first."""
        waiting = [(at, saved)]
        while waiting:
            at, saved = waiting.pop()
            if at in seen:
                continue
            seen.add(at)
            kind, what, other = self.code[at]
            if kind == "jump":
                waiting.append((other, saved))
            elif kind == "split":
                first, second = (other, at + 1) if what else (at + 1, other)
                waiting += [(second, saved), (first, saved)]
            elif kind == "save":
                waiting.append((at + 1, (*saved[:other], position, *saved[other + 1 :])))
            elif kind == "place":
                if _holds(str(what), text, position):
                    waiting.append((at + 1, saved))
            else:
                threads.append((at, saved))

    # ---- the program

    def _put(self, kind: str, what: object, other: int = 0) -> int:
        if len(self.code) >= SIZE:
            raise RegexProblem("a pattern with too many repetitions", late=True)
        self.code.append((kind, what, other))
        return len(self.code) - 1

    def _patch(self, at: int, other: int) -> None:
        kind, what, _ = self.code[at]
        self.code[at] = (kind, what, other)

    def _emit(self, tree: Tree) -> None:
        match tree:
            case One():
                self._put("one", tree.of)
            case Place():
                self._put("place", tree.kind)
            case Capture():
                self.groups = max(self.groups, tree.number)
                self._put("save", None, 2 * tree.number)
                self._emit(tree.body)
                self._put("save", None, 2 * tree.number + 1)
            case Joined():
                for item in tree.items:
                    self._emit(item)
            case Either():
                self._either(tree)
            case Repeated():
                self._repeated(tree)

    def _either(self, tree: Either) -> None:
        ends = []
        for item in tree.items[:-1]:
            split = self._put("split", False)
            self._emit(item)
            ends.append(self._put("jump", None))
            self._patch(split, len(self.code))
        self._emit(tree.items[-1])
        for end in ends:
            self._patch(end, len(self.code))

    def _repeated(self, tree: Repeated) -> None:
        if tree.most is None and (tree.least or _may_be_empty(tree.body)):
            self._at_least_once(tree)
            return
        for _ in range(tree.least):
            self._emit(tree.body)
        if tree.most is None:
            split = self._put("split", tree.lazy)
            self._emit(tree.body)
            self._put("jump", None, split)
            self._patch(split, len(self.code))
            return
        splits = []
        for _ in range(tree.most - tree.least):
            splits.append(self._put("split", tree.lazy))
            self._emit(tree.body)
        for split in splits:
            self._patch(split, len(self.code))

    def _at_least_once(self, tree: Repeated) -> None:
        """The last of the times again and again; what may be empty is tried once even where it needn't be there."""
        for _ in range(tree.least - 1):
            self._emit(tree.body)
        skip = None if tree.least else self._put("split", tree.lazy)
        start = len(self.code)
        self._emit(tree.body)
        self._put("split", not tree.lazy, start)
        if skip is not None:
            self._patch(skip, len(self.code))


def _may_be_empty(tree: Tree) -> bool:
    match tree:
        case One():
            return False
        case Place():
            return True
        case Capture():
            return _may_be_empty(tree.body)
        case Joined():
            return all(map(_may_be_empty, tree.items))
        case Either():
            return any(map(_may_be_empty, tree.items))
        case Repeated():
            return tree.least == 0 or _may_be_empty(tree.body)


def _holds(kind: str, text: str, position: int) -> bool:
    if kind == "begin":
        return position == 0
    if kind == "end":
        return position == len(text)
    if kind == "line begin":
        return position == 0 or text[position - 1] == "\n"
    if kind == "line end":
        return position == len(text) or text[position] == "\n"
    before = position > 0 and _WORD.has(text[position - 1])
    after = position < len(text) and _WORD.has(text[position])
    return (before != after) == (kind == "boundary")
