"""The source of steps of the lake in a draft: where the model named one for a step, the step calls it.

The step keeps the inputs and outputs that it was checked with; inside it calls the function of the lake, whose source
stands before it. Only source that was shared with the lake is used, and only of the entries that the prompts showed.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence

import msgspec

from couler_py.ir.diagnostics import CoulerError
from couler_py.ir.model import Function, Piece, Template, Workflow
from couler_py.nl.draft import Draft
from couler_py.nl.lake.entries import Entry, Found
from couler_py.nl.offering import offer_workflow
from couler_py.nl.outline import Outline
from couler_py.nl.pipeline.shapes import Detail


def by_name(lake: Sequence[Found]) -> dict[str, Entry]:
    """The entries by what a model may call them; of two of a name the nearer one."""
    return {each.entry.name: each.entry for each in reversed(lake)} | {each.entry.key: each.entry for each in lake}


def reused(draft: Draft, outline: Outline, details: Mapping[str, Detail], named: Mapping[str, Entry]) -> Draft:
    """A draft whose steps call those of the lake that the details name; as it was where that isn't valid."""
    chosen = {
        name: named[detail.uses]
        for name, detail in details.items()
        if detail.kind == "python" and detail.uses in named and named[detail.uses].pieces
    }
    if not chosen or draft.workflow is None:
        return draft
    workflow, used = _replaced(draft.workflow, chosen)
    if not used:
        return draft
    try:
        offered = offer_workflow(workflow, draft, engine=outline.engine)
    except CoulerError:
        return draft  # it was valid without
    said = tuple(f"{name} is {entry.key} of the lake" for name, entry in used.items())
    return msgspec.structs.replace(offered, assumptions=(*draft.assumptions, *said))


def _replaced(workflow: Workflow, chosen: Mapping[str, Entry]) -> tuple[Workflow, dict[str, Entry]]:
    used: dict[str, Entry] = {}
    templates = []
    for template in workflow.templates:
        entry = chosen.get(template.name)
        made = None if entry is None else _calling(template, entry)
        if entry is not None and made is not None:
            used[template.name] = entry
        templates.append(made or template)
    return msgspec.structs.replace(workflow, templates=tuple(templates)), used


def _calling(template: Template, entry: Entry) -> Template | None:
    """The template with a body that calls a function of the lake; None where their inputs can't be brought together."""
    body = template.body
    if not isinstance(body, Function) or body.returns == "fields":
        return None
    own = ast.parse(body.pieces[-1].text).body[-1]
    theirs = ast.parse(entry.pieces[-1]).body[-1]
    if not isinstance(own, ast.FunctionDef) or not isinstance(theirs, ast.FunctionDef):
        return None
    given = _bound({each.arg: _written(each.annotation) for each in own.args.args}, theirs)
    if given is None or (_written(own.returns) == "Path") != (_written(theirs.returns) == "Path"):
        return None
    name = f"{entry.name}_of_lake" if entry.name == body.name else entry.name
    theirs.name = name
    call = ast.unparse(
        ast.Call(ast.Name(name), [], [ast.keyword(parameter, ast.Name(argument)) for parameter, argument in given])
    )
    head = body.pieces[-1].text.split("    raise NotImplementedError")[0].rstrip()
    returned = f"    return {call}" if body.returns == "one" else f"    {call}"
    texts = [
        *(piece.text for piece in body.pieces[:-1]),
        *entry.pieces[:-1],
        ast.unparse(theirs),
        f"{head}\n{returned}",
    ]
    changed = msgspec.structs.replace(
        body,
        pieces=tuple(Piece(text) for text in dict.fromkeys(texts)),
        packages=tuple(dict.fromkeys((*body.packages, *entry.packages))),
    )
    return msgspec.structs.replace(template, body=changed)


def _bound(own: dict[str, str], theirs: ast.FunctionDef) -> list[tuple[str, str]] | None:
    """Which of our inputs each of their parameters gets: the one of its name, else the next of its sort that is left.

    Files go to files and values to values. None where something is left over or missing.
    """
    arguments = theirs.args
    if arguments.vararg or arguments.kwarg or arguments.posonlyargs:
        return None
    all_ = [*arguments.args, *arguments.kwonlyargs]
    files = {each.arg: _written(each.annotation) == "Path" for each in all_}
    optional = {each.arg for each in arguments.args[len(arguments.args) - len(arguments.defaults) :]} | {
        each.arg for each, value in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True) if value is not None
    }
    found = [(name, name) for name in files if name in own and files[name] == (own[name] == "Path")]
    named = {name for name, _ in found}
    left = [name for name in own if name not in named]
    for name in files:
        if name in named:
            continue
        fitting = next((each for each in left if files[name] == (own[each] == "Path")), None)
        if fitting is not None and name not in optional:
            left.remove(fitting)
            found.append((name, fitting))
        elif name not in optional:
            return None
    return None if left else found


def _written(annotation: ast.expr | None) -> str:
    return "" if annotation is None else ast.unparse(annotation)
