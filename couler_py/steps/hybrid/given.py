"""What steps are given as JSON, as the objects that planners take. Errors name the place.

JSON has no infinity: the rate of a rank that is gone is `null`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

import msgspec

from couler_py.steps.checkpoint.surviving import Move, Rescue
from couler_py.steps.hybrid.plan import Hardware, MemoryModel, Plan, violations
from couler_py.steps.hybrid.schemes import Scheme

T = TypeVar("T")


def read(kind: type[T], value: Any, name: str) -> T:
    """A JSON value as an object. Raises `ValueError` that names the place: "plan.pipelines[0].micros: Expected ..."."""
    try:
        return msgspec.convert(value, kind, str_keys=True)
    except msgspec.ValidationError as error:
        what, _, where = str(error).partition(" - at `")
        inside = where.rstrip("`").removeprefix("key` in `").removeprefix("$")
        raise ValueError(f"{name}{inside}: {what}") from None


def plain(value: Any) -> Any:
    """An object as the JSON value that it is read from."""
    return msgspec.json.decode(msgspec.json.encode(value))


def whole(value: int, name: str, least: int = 1) -> int:
    """A whole number. Raises `ValueError` below the least."""
    number = read(int, value, name)
    if number < least:
        raise ValueError(f"{name}: {number}, and it is a whole number of at least {least}")
    return number


def positive(value: float, name: str, *, zero: bool = False) -> float:
    """A finite number above 0, or 0 where that is allowed. Raises `ValueError` for others."""
    number = read(float, value, name)
    if not math.isfinite(number) or number < 0 or (number == 0 and not zero):
        raise ValueError(f"{name}: {number:g}, and it is a number {'of at least' if zero else 'above'} 0")
    return number


def rates(values: Sequence[float | None], name: str) -> tuple[float, ...]:
    """Rates of ranks, infinite where they are `null`. Raises `ValueError` for those that aren't above 0."""
    if not values:
        raise ValueError(f"{name}: there are none, and each rank has one")
    return tuple(math.inf if each is None else positive(each, f"{name}[{at}]") for at, each in enumerate(values))


def told(values: Sequence[float]) -> list[float | None]:
    """Rates as JSON."""
    return [None if math.isinf(each) else each for each in values]


def ranks(values: Sequence[int], count: int, name: str) -> list[int]:
    """Ranks of so many. Raises `ValueError` for one that there isn't."""
    for at, each in enumerate(values):
        if whole(each, f"{name}[{at}]", 0) >= count:
            raise ValueError(f"{name}[{at}]: there is no rank {each} among {count}")
    return list(values)


def hardware(
    values: Sequence[float | None], node: int, tensor: int, alpha: Mapping[Any, float] | None = None
) -> Hardware:
    """Ranks and what is known of groups of them. Raises `ValueError` for what makes no sense."""
    if whole(tensor, "tensor") & (tensor - 1):
        raise ValueError(f"tensor: {tensor}, and groups have a power of two ranks")
    known = read(dict[int, float], alpha or {}, "alpha")
    for shrunk, times in known.items():
        positive(times, f"alpha[{whole(shrunk, 'alpha')}]")
    return Hardware(rates(values, "rates"), whole(node, "node"), tensor, known)


def memory_of(value: Mapping[str, Any] | None) -> MemoryModel | None:
    """A table of memory. Raises `ValueError` for one that has no layer, or a number that makes no sense."""
    if value is None:
        return None
    found = read(MemoryModel, value, "memory")
    if not found.layer:
        raise ValueError("memory.layer: there are none, and the last stage's comes last")
    for at, each in enumerate(found.layer):
        positive(each, f"memory.layer[{at}]")
    positive(found.capacity, "memory.capacity")
    for name in ("embedding", "extra", "gap"):
        positive(getattr(found, name), f"memory.{name}", zero=True)
    return found


def plan_of(value: Any, known: Hardware, name: str) -> Plan:
    """A plan for so many ranks, whatever their rates. Raises `ValueError` with all that is wrong with it."""
    found = msgspec.structs.replace(read(Plan, value, name), certificate=None)
    healthy = msgspec.structs.replace(known, rates=(1.0,) * len(known.rates))
    wrong = violations(found, healthy)
    if wrong:
        raise ValueError(f"{name}: {'; '.join(wrong)}")
    return found


def sizes_of(values: Sequence[int], layers: int) -> list[int]:
    """The bytes of each layer. Raises `ValueError` for another number of them."""
    if len(values) != layers:
        raise ValueError(f"sizes: there are {len(values)}, and the plan has {layers} layers")
    return [whole(each, f"sizes[{at}]", 0) for at, each in enumerate(values)]


def moved(found: Rescue) -> list[dict[str, Any]]:
    """What each rank sends to each other, one message a pair; its `size` is what goes over that link."""
    return [
        {"source": source, "target": target, "size": sum(each.size for each in row), "parts": [_part(e) for e in row]}
        for (source, target), row in found.messages().items()
    ]


def kept(found: Rescue) -> list[dict[str, Any]]:
    """What each rank keeps."""
    rows: dict[int, list[Move]] = {}
    for move in found.moves:
        if move.source == move.target:
            rows.setdefault(move.target, []).append(move)
    return [
        {"rank": rank, "size": sum(each.size for each in row), "parts": [_part(each) for each in row]}
        for rank, row in sorted(rows.items())
    ]


def missing(found: Rescue) -> dict[str, list[list[int]]]:
    """What nobody has any more and a checkpoint must give: of each layer, the first byte and the one after the last."""
    return {
        name: [[box.offset[0], box.offset[0] + box.shape[0]] for box in boxes] for name, boxes in found.lost().items()
    }


def _part(move: Move) -> dict[str, Any]:
    first = move.box.offset[0]
    return {"tensor": move.tensor, "bytes": [first, first + move.box.shape[0]]}


def schemes_of(value: Any, name: str) -> list[Scheme]:
    """Kinds of pipelines. Raises `ValueError` for none, and for numbers that make no sense."""
    found = read(list[Scheme], value, name)
    if not found:
        raise ValueError(f"{name}: there are none")
    for at, each in enumerate(found):
        whole(each.tensor, f"{name}[{at}].tensor")
        whole(each.stages, f"{name}[{at}].stages")
        whole(each.longest, f"{name}[{at}].longest", 0)
        whole(each.useful, f"{name}[{at}].useful", 0)
        for constant in ("square", "linear", "fixed"):
            positive(getattr(each, constant), f"{name}[{at}].{constant}", zero=True)
    return found
