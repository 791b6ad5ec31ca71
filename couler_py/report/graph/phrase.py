"""Expressions as short Python-like text for pictures and tables. Only for people: never parsed again."""

from __future__ import annotations

import json

from couler_py.ir import expr as e


def phrase(expr: e.Expr | str) -> str:
    """An expression in few words.

    >>> phrase(e.Compare(">", e.TaskOutput("train", "score"), e.Literal(0.9)))
    'train.score > 0.9'
    """
    match expr:
        case str():
            return expr
        case e.Literal(value=value):
            return json.dumps(value, ensure_ascii=False)
        case e.NonFinite(name=name) | e.Input(name=name) | e.InputArtifact(name=name):
            return name
        case e.WorkflowParameter(name=name) | e.Own(name=name):
            return name
        case e.TaskOutput(task=task, name=name) | e.TaskArtifact(task=task, name=name):
            return task if name == "result" else f"{task}.{name}"
        case e.TaskStatus(task=task):
            return f"{task}.status"
        case e.TaskItems(task=task):
            return f"{task}.inputs"
        case e.Item():
            return "item"
        case e.Run(field=field) | e.LastRetry(field=field):
            return f"{'run' if isinstance(expr, e.Run) else 'last'}.{field}"
        case e.Raw(text=text):
            return text
        case _:
            return _compound(expr)


def _compound(expr: e.Expr) -> str:
    match expr:
        case e.OrElse(value=value, default=default):
            return f"{_inner(value)} or else {_inner(default)}"
        case e.First(options=options):
            return f"first({', '.join(map(phrase, options))})"
        case e.Compare(op=op, left=left, right=right) | e.Compute(op=op, left=left, right=right):
            return f"{_inner(left)} {op} {_inner(right)}"
        case e.AllOf(operands=operands):
            return " and ".join(map(_inner, operands))
        case e.AnyOf(operands=operands):
            return " or ".join(map(_inner, operands))
        case e.Not(operand=operand):
            return f"not {_inner(operand)}"
        case e.Access(value=value, key=key):
            return f"{_inner(value)}[{phrase(key)}]"
        case e.Length(value=value):
            return f"len({phrase(value)})"
        case e.Contains(container=container, member=member):
            return f"{_inner(member)} in {_inner(container)}"
        case e.Record(keys=keys, values=values, form="object"):
            return "{" + ", ".join(f"{key}: {phrase(value)}" for key, value in zip(keys, values, strict=True)) + "}"
        case e.Record(values=values) | e.Zip(lists=values):
            return f"{'zip' if isinstance(expr, e.Zip) else ''}[{', '.join(map(phrase, values))}]"
        case e.Text(parts=parts):
            return "".join(part if isinstance(part, str) else f"{{{phrase(part)}}}" for part in parts)
        case e.FromJson(text=text):
            return phrase(text)
        case e.Condition(text=text):
            return text if isinstance(text, str) else phrase(text)
        case _:
            raise TypeError(f"no phrase for {type(expr).__name__}")


def _inner(expr: e.Expr) -> str:
    infix = isinstance(expr, e.OrElse | e.Compare | e.Compute | e.AllOf | e.AnyOf | e.Not | e.Contains)
    return f"({phrase(expr)})" if infix else phrase(expr)
