"""Which variables an expression reads: `tasks['a-b'].outputs.parameters.x` is the chain tasks, a-b, outputs, ..."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

import msgspec

from couler_py.argolang.escapes import quoted
from couler_py.argolang.nodes import Call, Chain, Identifier, Let, Member, Node, String, children
from couler_py.argolang.parser import parse
from couler_py.argolang.tokens import is_name

Path = tuple[str, ...]


class Reference(msgspec.Struct, frozen=True):
    """A variable and the names that are taken from it, as far as the text says them.

    `places` has the start and end of each name in the text: of the word after a dot, and of what stands between
    brackets. `dynamic` says that something computed follows (`tasks[x]`, `list[0]`, a slice); `called`, that the chain
    is the function of a call; `optional` has the numbers of the names that stand behind a `?.`, and `guarded` says
    that absence is provided for: a `??` behind the chain, or one of its `?.`.
    """

    path: Path
    start: int
    end: int
    places: tuple[tuple[int, int], ...]
    optional: tuple[int, ...] = ()
    dynamic: bool = False
    called: bool = False
    guarded: bool = False

    @property
    def name(self) -> str:
        """The chain with dots between its names, as Argo spells it in a tag."""
        return ".".join(self.path)


class Hyphenated(msgspec.Struct, frozen=True):
    """A name with a hyphen after a dot, which the language reads as a subtraction: `tasks.my-task`.

    `path` is the chain before the name, `name` what was probably meant, `written` how to write the whole instead, and
    `start` and `end` the place of the chain with the name.
    """

    path: Path
    name: str
    start: int
    end: int
    written: str


def references(expression: str | Node) -> tuple[Reference, ...]:
    """The variables that an expression reads, in the order of the text; local ones of `let` and `#` aren't among them.

    Raises SyntaxProblem for a text that is no expression.

    >>> [each.name for each in references("tasks['a-b'].outputs?.result ?? inputs.parameters.x")]
    ['tasks.a-b.outputs.result', 'inputs.parameters.x']
    """
    return tuple(_found(parse(expression) if isinstance(expression, str) else expression, frozenset(), False))


def replaced(text: str, change: Callable[[Reference], Path | None]) -> str:
    """The expression with other chains: `change` gives the names to write instead of a reference's, or None.

    What isn't changed stays as it is written, spaces, quotes and comments included. Raises SyntaxProblem.

    >>> replaced("tasks.a.status == 'x'", lambda each: ("tasks", "new-name", *each.path[2:]))
    "tasks['new-name'].status == 'x'"
    """
    edits: list[tuple[int, int, str]] = []
    for reference in references(text):
        path = change(reference)
        if path is not None and path != reference.path:
            edits.extend(_edits(text, reference, path))
    for start, end, written in sorted(edits, reverse=True):
        text = text[:start] + written + text[end:]
    return text


def chain(path: Path, optional: int | None = None) -> str:
    """A chain as text, with brackets where a name can't follow a dot, and `?.` from the name numbered `optional` on.

    >>> chain(("tasks", "a-b", "status")), chain(("tasks", "a-b", "status"), 1)
    ("tasks['a-b'].status", "tasks?.['a-b']?.status")
    """
    parts = [path[0]]
    for number, name in enumerate(path[1:], 1):
        may_be_absent = optional is not None and number >= optional
        if is_name(name):
            parts.append(f"?.{name}" if may_be_absent else f".{name}")
        else:
            parts.append(f"?.[{quoted(name)}]" if may_be_absent else f"[{quoted(name)}]")
    return "".join(parts)


def _found(node: Node, local: frozenset[str], guarded: bool) -> Iterator[Reference]:
    """The references of a tree, without recursion along the left side, which may be long."""
    waiting: list[tuple[Node, frozenset[str], bool]] = [(node, local, guarded)]
    while waiting:
        here, names, guard = waiting.pop()
        below: list[tuple[Node, frozenset[str], bool]] = []
        if isinstance(here, Chain):
            waiting.append((here.body, names, True))
            continue
        if isinstance(here, Call):
            reference, inner = _chain_of(here.callee, names, guard)
            below = [(each, names, False) for each in (*inner, *here.arguments)]
            if reference is not None:
                yield msgspec.structs.replace(reference, called=True)
        elif isinstance(here, Identifier | Member):
            reference, inner = _chain_of(here, names, guard)
            below = [(each, names, False) for each in inner]
            if reference is not None:
                yield reference
        elif isinstance(here, Let):
            below = [(here.value, names, False), (here.body, names | {here.name}, guard)]
        else:
            left_of_coalesce = getattr(here, "operator", "") == "??"
            below = [(each, names, left_of_coalesce and number == 0) for number, each in enumerate(children(here))]
        waiting.extend(reversed(below))


def _chain_of(node: Node, local: frozenset[str], guarded: bool) -> tuple[Reference | None, list[Node]]:
    """The chain whose last link a node is, and what else is read within it."""
    links: list[Member] = []
    while isinstance(node, Member | Chain):
        if isinstance(node, Member):
            links.insert(0, node)
            node = node.base
        else:
            guarded, node = True, node.body
    inner: list[Node] = []
    if not isinstance(node, Identifier) or node.name in local:
        inner = [] if isinstance(node, Identifier) else [node]
        return None, [*inner, *(link.property for link in links if not isinstance(link.property, String))]
    path, places, optional, dynamic = [node.name], [(node.start, node.end)], list[int](), False
    start, end = node.start, node.end
    for link in links:
        if not isinstance(link.property, String):
            dynamic = True
            inner.append(link.property)
        elif not dynamic:
            if link.optional:
                optional.append(len(path))
            path.append(link.property.value)
            places.append((link.property.start, link.property.end))
            start, end = link.start, link.end
    return (
        Reference(tuple(path), start, end, tuple(places), tuple(optional), dynamic, guarded=guarded),
        inner,
    )


def _edits(text: str, reference: Reference, path: Path) -> Iterator[tuple[int, int, str]]:
    if len(path) != len(reference.path) or path[0] != reference.path[0]:
        yield reference.start, reference.end, chain(path, min(reference.optional, default=None))
        return
    for (start, end), old, new in zip(reference.places[1:], reference.path[1:], path[1:], strict=True):
        if old == new:
            continue
        if text[start] in "'\"`":
            written = quoted(new)
            as_it_was = text[start] == '"' and written == f"'{new}'" and '"' not in new
            yield start, end, f'"{new}"' if as_it_was else written
        elif is_name(new):
            yield start, end, new
        else:
            dot = text.rindex(".", 0, start)
            optional = text[dot - 1 : dot] == "?"
            yield (dot + 1 if optional else dot), end, f"[{quoted(new)}]"


# A text or comment that isn't closed is passed over as well, lest each quote in it be looked at again.
_MISREAD = re.compile(
    r"""
    '(?:[^'\\\n]|\\.)*+'? | "(?:[^"\\\n]|\\.)*+"? | `[^`]*+`? | /\*.*?(?:\*/|\Z) | //[^\n]*
  | (?<![\w$.\#?-])(?P<root>tasks|steps|inputs|outputs|workflow|item|node|pod|lastRetry)
    (?P<path>(?:\??\.[^\W\d]\w*|\??\.?\[\s*(?:'[^'\\\n]*'|"[^"\\\n]*")\s*\])*)
    \??\.(?P<name>[^\W\d]\w*(?:-\w+)+)
    (?P<rest>(?:\??\.[^\W\d]\w*)*)
    """,
    re.VERBOSE | re.DOTALL,
)
_LINK = re.compile(r"\??\.([^\W\d]\w*)|\[\s*(?:'([^']*)'|\"([^\"]*)\")\s*\]")
_ROOTS = frozenset(["tasks", "steps", "inputs", "outputs", "workflow", "item", "node", "pod", "lastRetry"])


def hyphenated(text: str) -> tuple[Hyphenated, ...]:
    """Names with hyphens that stand behind a dot and are therefore read as subtractions.

    The text needn't be an expression: a name such as `step-1` makes it none.

    >>> [(each.name, each.written) for each in hyphenated("tasks.my-task.status == 'Failed'")]
    [('my-task', "tasks['my-task'].status")]
    """
    found: list[Hyphenated] = []
    for match in _MISREAD.finditer(text):
        if match["root"] is None or _ROOTS.intersection(match["name"].split("-")[1:]):
            continue
        path = (match["root"], *("".join(link.groups("")) for link in _LINK.finditer(match["path"])))
        rest = tuple(link.group(1) for link in _LINK.finditer(match["rest"]))
        written = chain((*path, match["name"], *rest))
        found.append(Hyphenated(path, match["name"], match.start(), match.end("name"), written))
    return tuple(found)
