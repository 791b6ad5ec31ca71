"""In which order a run's tasks are marked when it is stopped."""

from __future__ import annotations

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from couler_py.backends.airflow.client.steering import _levels


def tasks(edges: dict[str, list[str]]) -> list[dict[str, Any]]:
    return [{"task_id": name, "downstream_task_ids": behind} for name, behind in edges.items()]


def test_each_level_is_behind_all_that_it_waits_for() -> None:
    diamond = tasks({"end": [], "left": ["end"], "start": ["left", "right"], "right": ["end"]})
    assert _levels(diamond, {"start", "left", "right", "end"}) == [{"start"}, {"left", "right"}, {"end"}]
    assert _levels(diamond, {"start", "end"}) == [{"start"}, {"end"}]
    assert _levels(diamond, {"right", "left"}) == [{"left", "right"}]
    assert _levels(diamond, set()) == []


@settings(max_examples=50)
@given(st.data())
def test_every_chosen_task_is_in_one_level_and_waits_for_earlier_ones_only(data: st.DataObject) -> None:
    names = [f"t{number}" for number in range(data.draw(st.integers(1, 8)))]
    edges = {
        name: data.draw(st.lists(st.sampled_from(names[place + 1 :]), unique=True)) if place + 1 < len(names) else []
        for place, name in enumerate(names)
    }
    chosen = set(data.draw(st.lists(st.sampled_from(names))))
    levels = _levels(tasks(edges), chosen)
    assert sorted(name for level in levels for name in level) == sorted(chosen)
    place = {name: number for number, level in enumerate(levels) for name in level}

    def behind(name: str) -> set[str]:
        return {each for after in edges[name] for each in {after, *behind(after)}}

    assert all(place[name] < place[each] for name in chosen for each in behind(name) & chosen)
