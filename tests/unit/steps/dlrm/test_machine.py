"""What the master knows: no shard is ever lost or in two places, and nothing that the dead say counts."""

from __future__ import annotations

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from couler_py.steps.dlrm.sharding.machine import Machine
from couler_py.steps.dlrm.sharding.messages import (
    Advance,
    Ask,
    Beat,
    Command,
    Draw,
    Drawn,
    Fail,
    Fine,
    Join,
    Joined,
    Lease,
    Leave,
    Lost,
    Nothing,
    Piece,
    Refused,
    Reply,
    Request,
    Restore,
    Save,
    Saved,
    SetAside,
    Skip,
    Status,
    Take,
)
from couler_py.steps.dlrm.sharding.settings import Settings, shard_rows
from couler_py.steps.dlrm.sharding.state import State

PLAIN = Settings(rows=25, shard_rows=10, shuffled=False, retries=1, quarantine=9)


class Talk:
    """Workers who speak to a machine, each with its generation and a new number for each request."""

    def __init__(self, found: Machine):
        self.machine = found
        self.generations: dict[str, int] = {}
        self.sequence = 0

    def __call__(self, worker: str, command: Command) -> Reply:
        self.sequence += 1
        reply, _ = self.machine.apply(Request(worker, self.generations.get(worker, 0), self.sequence, command))
        if isinstance(reply, Joined):
            self.generations[worker] = reply.generation
        return reply


def talk(found: Settings = PLAIN, *workers: str) -> Talk:
    said = Talk(Machine(found))
    for worker in workers or ("a", "b"):
        said(worker, Join())
    return said


def status(said: Talk) -> tuple[int, int, int, int]:
    """Shards that wait, were given back, are held, are done."""
    found = said("anybody", Ask())
    assert isinstance(found, Status)
    return found.waiting, found.returned, found.held, found.done


def test_shards_are_handed_out_in_order_and_done_when_all_their_rows_are() -> None:
    said = talk()
    assert said("a", Take()) == Lease(1, 0, 0, 10)
    assert said("b", Take()) == Lease(2, 0, 10, 20)
    assert said("a", Advance(1, 4)) == Fine()
    assert said("a", Advance(1, 10)) == Fine()
    assert said("a", Take()) == Lease(3, 0, 20, 25)
    assert said("a", Take()) == Nothing(over=False)
    assert status(said) == (0, 0, 2, 1)
    said("a", Advance(3, 5))
    said("b", Advance(2, 10))
    assert said("a", Take()) == Nothing(over=True)
    assert said.machine.status().rows_done == 25


def test_what_a_lost_worker_held_is_handed_out_from_where_it_was() -> None:
    said = talk()
    said("a", Take())
    said("a", Advance(1, 7))
    said("a", Lost())
    assert said("b", Take()) == Lease(2, 0, 0, 10, cursor=7)
    assert said("a", Advance(1, 10)) == Refused(
        "a of generation 1 is taken for lost: nothing that it says counts; join again", stale=True
    )
    assert status(said) == (2, 0, 1, 0)


def test_a_new_process_of_a_name_fences_the_old_one() -> None:
    said = talk()
    said("a", Take())
    old = said.generations["a"]
    assert said("a", Join()) == Joined(3, 30.0)
    late = said.machine.apply(Request("a", old, 99, Advance(1, 10)))[0]
    assert isinstance(late, Refused)
    assert late.stale
    assert said("a", Take()) == Lease(2, 0, 0, 10)


def test_who_leaves_gives_back_without_a_mark() -> None:
    said = talk()
    for _ in range(5):
        lease = said("a", Take())
        said("a", Leave())
        said("a", Join())
    assert isinstance(lease, Lease)
    assert said.machine.status().set_aside == ()


def test_a_shard_that_fails_too_often_is_set_aside_with_its_reason_unless_it_got_further() -> None:
    said = talk()
    for number in (1, 2):
        assert said("a", Take()).start == 0  # type: ignore[union-attr]
        said("a", Fail(number, "a broken disk"))
    assert said.machine.status().set_aside == (SetAside(0, 0, 10, 0, "a broken disk"),)
    for number in range(3, 8):
        assert said("a", Take()).start == 10  # type: ignore[union-attr]
        said("a", Advance(number, number))
        said("a", Fail(number, "killed"))
    assert len(said.machine.status().set_aside) == 1


def test_one_shard_more_than_may_be_set_aside_fails_the_training() -> None:
    said = talk(msgspec.structs.replace(PLAIN, retries=0, quarantine=0))
    said("a", Take())
    said("a", Fail(1, "no such file"))
    assert said("b", Take()) == Refused(
        "the training has failed: rows 0 to 10 of epoch 0 could not be trained on (no such file), and no more than 0 "
        "shards may be set aside"
    )


def test_a_request_that_is_asked_again_is_done_once() -> None:
    said = talk()
    request = Request("a", said.generations["a"], 7, Take())
    first, changed = said.machine.apply(request)
    again, changed_again = said.machine.apply(request)
    assert first == again == Lease(1, 0, 0, 10)
    assert (changed, changed_again) == (True, False)


def test_a_cursor_never_goes_back_nor_too_far() -> None:
    said = talk()
    said("a", Take())
    said("a", Advance(1, 5))
    assert said("a", Advance(1, 4)) == Refused("lease 1 is at row 5 of 10: it can't be at 4")
    assert said("a", Advance(1, 11)) == Refused("lease 1 is at row 5 of 10: it can't be at 11")
    assert said("b", Advance(1, 6)) == Refused("b does not hold lease 1")


def test_the_order_depends_on_seed_and_epoch() -> None:
    def order(seed: int) -> list[tuple[int, int]]:
        found = Settings(rows=100, shard_rows=10, epochs=2, seed=seed)
        return [found.shard(place)[:2] for place in range(20)]

    assert order(1) == order(1) != order(2)
    first, second = order(1)[:10], order(1)[10:]
    assert [epoch for epoch, _ in order(1)] == [0] * 10 + [1] * 10
    assert sorted(start for _, start in first) == sorted(start for _, start in second) == list(range(0, 100, 10))
    assert [start for _, start in first] != [start for _, start in second]


ONCE = Settings(rows=25, shard_rows=10, shuffled=False, mode="exactly_once", quarantine=1)


def test_ranks_draw_the_rows_of_a_step_in_their_order() -> None:
    said = talk(ONCE)
    assert said("a", Draw(1, (3, 8))) == Drawn(
        1, ((Piece(0, 0, 10, 0, 3),), (Piece(0, 0, 10, 3, 10), Piece(0, 10, 20, 0, 1)))
    )
    assert said("a", Draw(3, (1,))) == Refused(
        "step 3 can't be drawn: 1 steps were, restore what was saved with the model"
    )
    said("a", Draw(2, (9, 0)))
    assert said("a", Draw(3, (4, 4))) == Drawn(3, ((Piece(0, 20, 25, 0, 4),), (Piece(0, 20, 25, 4, 5),)))
    assert said("a", Draw(4, (4, 4))) == Drawn(4, ((), ()))
    assert said.machine.status().rows_done == 25


def test_rows_are_the_same_however_many_ranks_draw_them() -> None:
    def rows(counts: list[tuple[int, ...]]) -> list[int]:
        said, found = talk(ONCE), []
        for step, each in enumerate(counts, 1):
            for pieces in said("a", Draw(step, each)).pieces:  # type: ignore[union-attr]
                for piece in pieces:
                    found += range(piece.start + piece.first, piece.start + piece.last)
        return found

    assert rows([(8,), (8,), (9,)]) == rows([(4, 4), (1, 7), (3, 3, 3)]) == list(range(25))


def test_a_training_goes_on_from_what_was_saved_with_its_model() -> None:
    said = talk(ONCE)
    said("a", Draw(1, (7,)))
    saved = said("a", Save())
    assert isinstance(saved, Saved)
    lost = said("a", Draw(2, (7,)))
    said("a", Restore(saved.text))
    assert isinstance(said("a", Draw(2, (7,))), Refused)  # of a life that is over
    said("a", Join())
    assert said("a", Draw(2, (7,))) == lost
    said("a", Restore(""))
    said("a", Join())
    assert said("a", Draw(1, (2,))) == Drawn(1, ((Piece(0, 0, 10, 0, 2),),))
    said("a", Join())
    assert said("a", Restore("no state")) == Refused(
        "this is no state of a training: JSON is malformed: invalid character (byte 4)"
    )


def test_what_can_not_be_read_is_skipped_and_reported() -> None:
    said = talk(ONCE)
    said("a", Draw(1, (3,)))
    said("a", Skip(2, "altered bytes"))
    assert said("a", Draw(2, (3,))) == Drawn(2, ((Piece(0, 10, 20, 0, 3),),))
    assert said.machine.status().set_aside == (SetAside(0, 0, 10, 3, "altered bytes"),)


def test_each_mode_has_its_own_requests() -> None:
    assert talk(ONCE)("a", Take()) == Refused("Take is for at_least_once, and this training is exactly_once")
    assert talk()("a", Draw(1, (3,))) == Refused("Draw is for exactly_once, and this training is at_least_once")


WORKERS = ("a", "b", "c")
ACTIONS = st.lists(
    st.tuples(
        st.sampled_from(["join", "leave", "lost", "take", "advance", "finish", "fail", "stale", "save", "restore"]),
        st.sampled_from(WORKERS),
        st.integers(0, 9),
    ),
    max_size=60,
)  # fmt: skip


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(ACTIONS, st.integers(0, 3))
def test_whatever_happens_every_shard_is_in_one_place(actions: list[tuple[str, str, int]], seed: int) -> None:
    found = Settings(rows=57, shard_rows=5, epochs=2, seed=seed, retries=1, quarantine=99)
    said = Talk(Machine(found))
    saved, journal = "", []
    original = said.machine.apply

    def noted(request: Request) -> tuple[Reply, bool]:
        reply, changed = original(request)
        if changed:
            journal.append(request)
        return reply, changed

    said.machine.apply = noted  # type: ignore[method-assign]
    finished: set[int] = set()
    for action, worker, number in actions:
        held = {lease: each for lease, each in said.machine.state.held.items() if each.worker == worker}
        lease = list(held)[number % len(held)] if held else 0
        size = sum((found.shard(held[lease].part.place)[2], -found.shard(held[lease].part.place)[1])) if held else 0
        match action:
            case "join":
                said(worker, Join())
            case "leave":
                said(worker, Leave())
            case "lost":
                said(worker, Lost())
            case "take":
                taken = said(worker, Take())
                if isinstance(taken, Lease):
                    assert said.machine.state.held[taken.number].part.place not in finished
            case "advance" if held:
                said(worker, Advance(lease, min(size, held[lease].part.cursor + number)))
            case "finish" if held:
                assert said(worker, Advance(lease, size)) == Fine()
                finished.add(held[lease].part.place)
            case "fail" if held:
                said(worker, Fail(lease, "a reason"))
            case "stale":
                before = msgspec.json.encode(said.machine.state)
                said.machine.apply(Request(worker, 10**6, number, Advance(lease or 1, size)))
                said.machine.apply(Request(worker, said.generations.get(worker, 0) - 1, number, Take()))
                assert msgspec.json.encode(said.machine.state) == before
            case "save":
                reply = said(worker, Save())
                if isinstance(reply, Saved):
                    saved = reply.text
            case "restore" if isinstance(said(worker, Beat()), Fine):
                said(worker, Restore(saved))
                finished = set()
        state = said.machine.state
        parts = [each.place for each in state.returned] + [each.part.place for each in state.held.values()]
        assert len(parts) == len(set(parts))
        aside = len(state.set_aside)
        assert state.place == len(parts) + state.done + aside  # waiting ones begin at `place`: all 24 are somewhere
    again = Machine(found)
    for request in journal:
        again.apply(request)
    assert msgspec.json.encode(again.state) == msgspec.json.encode(said.machine.state)
    assert msgspec.json.decode(msgspec.json.encode(again.state), type=State) == again.state


@pytest.mark.parametrize(
    ("problem", "wrong"),
    [
        ("rows is 0", {"rows": 0, "shard_rows": 1}),
        ("shard_rows is 0", {"rows": 1, "shard_rows": 0}),
        ("a lease of 0 s", {"rows": 1, "shard_rows": 1, "lease": 0}),
        ("retries and quarantine", {"rows": 1, "shard_rows": 1, "retries": -1}),
    ],
)
def test_settings_that_make_no_sense_are_refused(problem: str, wrong: dict) -> None:
    with pytest.raises(ValueError, match=problem):
        Settings(**wrong)


def test_a_shard_is_small_for_the_slowest_and_large_enough_to_ask_for() -> None:
    assert shard_rows(10_000_000, 128, 4) == 15_360  # 2 % of the rows · 0.25 / 3.25, in whole batches
    assert shard_rows(10_000, 128, 4) == 1280  # 10 batches
    assert shard_rows(4_000_000_000, 128, 1000) == 80_000  # 50,000 shards
    with pytest.raises(ValueError, match="slowest is above 0"):
        shard_rows(10, 1, 1, 0.0)
