"""Programs of every kind of control flow, run by the reference engine: they give what the plain functions would."""

import pytest

import couler_py as couler
from tests.unit.dsl.recorded import add, increase, number, say, total


@couler.workflow
def twice(x: int) -> int:
    return increase(increase(x))


@couler.workflow
def countdown(x: int) -> int:
    less = add(x, -1)
    return couler.when(less > 0, lambda: countdown(less), otherwise=lambda: add(less, 100))


@couler.workflow
def everything(seed: int = 1):
    start = twice(seed)
    rows = couler.map(lambda x: couler.when(x > 1, lambda: increase(add(x, start))), [1, 2, 3])
    most = couler.when(start > 2, lambda: increase(increase(start)), otherwise=lambda: increase(0))
    couler.on_exit(lambda: say(couler.format("{}", couler.published("most").or_else(0))))
    couler.publish("most", add(most, 0))
    return {
        "rows": rows,
        "total": total(rows),
        "items": total(couler.inputs(rows)),
        "loop": couler.loop(lambda x: increase(x), until=lambda x: x >= 6, initial=start),
        "countdown": countdown(2),
        "most": most,
        "skipped": couler.when(start > 99, lambda: number(5)).or_else(-1),
        "least": couler.when(start > 2, lambda: couler.when(start > 99, lambda: number(5)).or_else(7)).or_else(-1),
    }


@pytest.fixture
def home(tmp_path, monkeypatch):
    monkeypatch.setenv("COULER_HOME", str(tmp_path / "home"))


@pytest.mark.usefixtures("home")
def test_values_reach_where_they_are_read():
    assert everything.run().outputs == {
        "rows": [6, 7],
        "total": 13,
        "items": 5,
        "loop": 6,
        "countdown": 100,
        "most": 5,
        "skipped": -1,
        "least": 7,
    }
