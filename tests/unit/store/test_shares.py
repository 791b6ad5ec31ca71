"""Who gets a free slot of a machine that several runs share."""

from __future__ import annotations

import heapq
from itertools import count

import pytest
from hypothesis import given
from hypothesis import strategies as st

from couler_py.store.shares import PASSES, PATIENCE, Hold, Seats, Share, Table, Want

ONE = Share(1.0, 0.0, 0)


def table(cpus: float, *names: str, gpus: tuple[str, ...] = ()) -> Table:
    """A machine of so many processors, with runs that hold nothing."""
    made = Table({}, 0.0)
    for name in names:
        made.join(name, Share(cpus, 100.0, len(gpus)), gpus, {})
    return made


def at(before: Table, now: float) -> Table:
    """The same seats, later."""
    return Table(before.seats, now)


def ask(made: Table, name: str, share: Share = ONE, slot: int = 0) -> None:
    made.seats[name].want = Want(slot, share, made.now)


def take(made: Table, name: str, share: Share = ONE, slot: int = 0) -> None:
    ask(made, name, share, slot)
    assert made.grant() == [name]


def test_a_free_slot_goes_to_the_run_that_holds_the_smallest_share() -> None:
    made = table(3, "a", "b", "c")
    take(made, "a", slot=0)
    take(made, "a", slot=1)
    take(made, "b", slot=0)
    for name in ("a", "b", "c"):
        ask(made, name, slot=2)
    made.give_back("a", 0)
    assert made.grant() == ["c"]


def test_the_share_of_a_run_is_its_largest_part_of_any_one_resource() -> None:
    made = table(10, "much memory", "some processors")
    take(made, "much memory", Share(1, 60, 0))
    take(made, "some processors", Share(5, 0, 0))
    ask(made, "much memory", Share(4, 0, 0), 1)
    ask(made, "some processors", Share(4, 0, 0), 1)
    assert made.grant() == ["some processors"]


def test_among_equals_the_one_that_has_used_less_goes_first_and_then_the_one_that_has_waited_longer() -> None:
    made = table(1, "a", "b", "c")
    take(made, "a")
    later = at(made, 5.0)
    later.give_back("a", 0)
    ask(later, "a")
    ask(later, "b")
    latest = at(later, 6.0)
    ask(latest, "c")
    assert latest.grant() == ["b"]
    for name, use in (("b", 0.1), ("c", 0.1)):
        end = at(latest, latest.now + use)
        end.give_back(name, 0)
        latest = end
        ask(latest, name)
        assert latest.grant() == (["c"] if name == "b" else ["b"])


def test_who_joins_starts_with_what_the_others_have_used_least() -> None:
    made = table(2, "a", "b")
    take(made, "a")
    later = at(made, 1000.0)
    take(later, "b")
    latest = at(later, 1010.0)
    assert latest.join("new", Share(2, 0, 0), (), {}).used == pytest.approx(5.0)
    assert latest.seats["a"].used == pytest.approx(505.0)


@pytest.mark.parametrize("cpus", [1, 2, 4])
@pytest.mark.parametrize("lengths", [(1.0, 1.0, 1.0), (0.3, 1.0, 7.0), (2.0, 3.0, 5.0)])
def test_three_runs_that_always_want_more_get_a_third_each(cpus: int, lengths: tuple[float, ...]) -> None:
    """Simulated to the event: each run always has a step that waits, whose length is the run's own."""
    names = ("a", "b", "c")
    made = table(cpus, *names)
    slots = count()
    ends: list[tuple[float, str, int]] = []
    asked: dict[str, int] = {}
    while made.now < 1000.0:
        while True:
            for name in names:
                if made.seats[name].want is None:
                    asked[name] = next(slots)
                    ask(made, name, slot=asked[name])
            granted = made.grant()
            if not granted:
                break
            for name in granted:
                heapq.heappush(ends, (made.now + lengths[names.index(name)], name, asked[name]))
        now, name, slot = heapq.heappop(ends)
        made = at(made, now)
        made.give_back(name, slot)
    assert list(made.usage().values()) == pytest.approx([made.now / 3] * 3, rel=0.2)


def test_what_fits_goes_before_a_large_request_but_not_for_ever() -> None:
    made = table(4, "large", "small")
    for slot in range(3):
        take(made, "small", slot=slot)
    ask(made, "large", Share(4, 0, 0))
    take(made, "small", slot=3)
    soon = at(made, PATIENCE - 1)
    soon.give_back("small", 0)
    take(soon, "small", slot=4)
    late = at(soon, PATIENCE)
    for slot in (1, 2, 3):
        late.give_back("small", slot)
        ask(late, "small", slot=5)
        assert late.grant() == []
    late.give_back("small", 4)
    assert late.grant() == ["large"]


def test_what_a_large_request_does_not_need_is_not_kept_free_for_it() -> None:
    made = table(4, "large", "small", gpus=("0", "1"))
    take(made, "small", Share(1, 0, 1))
    ask(made, "large", Share(1, 0, 2))
    late = at(made, PATIENCE)
    ask(late, "small", Share(1, 0, 0), 1)
    assert late.grant() == ["small"]
    ask(late, "small", Share(1, 0, 1), 2)
    assert late.grant() == []


def test_who_was_passed_over_often_enough_goes_first() -> None:
    made = table(4, "a", "b")
    take(made, "a", Share(3, 0, 0))
    ask(made, "a", slot=1)
    for _ in range(PASSES):
        take(made, "b")
        made.give_back("b", 0)
    ask(made, "b")
    assert made.grant() == ["a"]


def test_gpus_are_held_by_their_ids() -> None:
    made = table(8, "a", "b", gpus=("0", "1", "2"))
    take(made, "a", Share(1, 0, 2))
    ask(made, "b", Share(1, 0, 2))
    assert made.grant() == []
    take(made, "a", Share(1, 0, 0), 1)
    made.give_back("a", 0)
    assert made.grant() == ["b"]
    assert made.seats["b"].holds[0].gpus == ("0", "1")


def test_runs_that_see_other_gpus_get_those_that_they_see() -> None:
    made = table(8)
    made.join("a", Share(8, 0, 2), ("0", "1"), {})
    made.join("b", Share(8, 0, 2), ("1", "2"), {})
    take(made, "a", Share(1, 0, 2))
    take(made, "b", Share(1, 0, 1))
    assert made.seats["b"].holds[0].gpus == ("2",)
    ask(made, "b", Share(1, 0, 1), 1)
    assert made.grant() == []


def test_a_run_that_may_use_less_of_the_machine_uses_less() -> None:
    made = table(8, "a")
    made.join("bounded", Share(2, 100, 0), (), {})
    take(made, "bounded", slot=0)
    take(made, "bounded", slot=1)
    ask(made, "bounded", slot=2)
    assert made.grant() == []
    take(made, "a", Share(6, 0, 0))


def test_a_share_larger_than_the_machine_is_all_of_it() -> None:
    made = table(2, "a")
    take(made, "a", Share(64, 1e15, 0))
    assert made.seats["a"].holds[0] == Hold(2, 100)


def test_steps_and_daemons_never_wait_for_each_other() -> None:
    made = table(2, "a", "b")
    for name in ("a", "b"):
        take(made, name)
        made.stay(name, 0, ONE)
    take(made, "a", Share(2, 0, 0), 1)
    take(made, "b", ONE, 1)
    assert made.seats["a"].holds == {0: Hold(1, 0, (), True), 1: Hold(0, 0)}


def test_a_daemon_that_asked_for_nothing_takes_nothing_once_it_serves() -> None:
    made = table(1, "a", gpus=("0",))
    take(made, "a", Share(1, 50, 1))
    made.stay("a", 0, Share(0, 50, 1))
    assert made.seats["a"].holds[0] == Hold(0, 50, ("0",), True)
    take(made, "a", Share(1, 50, 0), 1)


_cpus, _memories = st.sampled_from([0.0, 0.1, 0.5, 1.0, 3.0]), st.sampled_from([0.0, 30.0, 200.0])
_shares = st.builds(Share, _cpus, _memories, st.integers(0, 2))
_moves = st.lists(st.tuples(st.sampled_from("abc"), st.booleans(), _shares, st.floats(0, 20)), max_size=60)


@given(_moves)
def test_nothing_is_handed_out_twice_and_everybody_gets_theirs_in_the_end(
    moves: list[tuple[str, bool, Share, float]],
) -> None:
    made = table(2, "a", "b", "c", gpus=("0", "1"))
    slots = count()
    for name, ends, share, pause in moves:
        made = at(made, made.now + pause)
        holds = made.seats[name].holds
        if ends and holds:
            made.give_back(name, next(iter(holds)))
        elif made.seats[name].want is None:
            ask(made, name, share, next(slots))
        made.grant()
        check(made.seats)
    while any(seat.holds or seat.want for seat in made.seats.values()):
        running = [(name, slot) for name, seat in made.seats.items() for slot in seat.holds]
        assert running, "somebody waits, and nothing runs"
        made.give_back(*running[0])
        made.grant()
        check(made.seats)


def check(seats: Seats) -> None:
    holds = [hold for seat in seats.values() for hold in seat.holds.values()]
    gpus = [gpu for hold in holds for gpu in hold.gpus]
    assert sum(hold.cpu for hold in holds) <= 2 + 1e-6
    assert sum(hold.memory for hold in holds) <= 100
    assert len(gpus) == len(set(gpus))
