"""Fan-outs: `withItems`, `withParam` and `withSequence`."""

from __future__ import annotations

from typing import Any

from couler_py.argolang.tags import OPEN
from couler_py.backends.argo.document.lens import JSON
from couler_py.backends.argo.document.templated import copied
from couler_py.backends.argo.document.texts import UNSAID, Root, value, word, written_value
from couler_py.ir.expr import Expr, FromJson, Literal, Record
from couler_py.ir.model import Each, Sequence


def items(rest: JSON, root: Root) -> Each | None:
    """The fan-out of a task, taken out of its remaining fields; None where it has none that the IR can say."""
    if isinstance(rest.get("withItems"), list):
        return Each(_list(rest.pop("withItems"), root))
    if type(rest.get("withParam")) is str:
        text = value(rest.pop("withParam"), root)
        return Each(FromJson(text))  # type: ignore[arg-type]
    if (found := _sequence(rest.get("withSequence"), root)) is not UNSAID:
        del rest["withSequence"]
        return Each(found)
    return None


def written_items(given: Each, root: Root) -> JSON:
    """The fan-out again."""
    match given.items:
        case FromJson(text):
            return {"withParam": written_value(text, root)}
        case Sequence() as sequence:
            found = {
                key: written_value(bound, root)
                for key, bound in (("start", sequence.start), ("end", sequence.end), ("count", sequence.count))
                if bound is not None
            }
            return {"withSequence": found | ({"format": sequence.form} if sequence.form else {})}
        case expression:
            return {"withItems": _json(expression, root)}


def _list(given: list[Any], root: Root) -> Expr:
    return _expression(given, root) if _has_tags(given) else Literal(copied(given))


def _has_tags(given: Any) -> bool:
    if isinstance(given, str):
        return OPEN in given
    if isinstance(given, dict):
        return any(_has_tags(each) for each in given.values())
    return isinstance(given, list) and any(_has_tags(each) for each in given)


def _expression(given: Any, root: Root) -> Expr:
    if isinstance(given, list):
        return Record((), tuple(_expression(each, root) for each in given), "list")
    if isinstance(given, dict):
        return Record(tuple(given), tuple(_expression(each, root) for each in given.values()))
    found = value(given, root)
    return Literal(given) if found is UNSAID else found  # type: ignore[return-value]


def _json(given: Expr, root: Root) -> Any:
    if isinstance(given, Record):
        values = [_json(each, root) for each in given.values]
        return values if given.form == "list" else dict(zip(given.keys, values, strict=True))
    return copied(given.value) if isinstance(given, Literal) else written_value(given, root)


def _sequence(given: Any, root: Root) -> Any:
    if not isinstance(given, dict) or given.keys() - {"start", "end", "count", "format"}:
        return UNSAID
    form = word(given.get("format", ""), root)
    bounds: JSON = {key: value(given[key], root) for key in ("start", "end", "count") if key in given}
    if not isinstance(form, str) or UNSAID in bounds.values():
        return UNSAID
    return Sequence(**bounds, form=form)
