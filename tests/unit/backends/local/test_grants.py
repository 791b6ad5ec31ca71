"""Steps of several runs wait for their shares of one machine."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from couler_py.backends.local.machine import grants
from couler_py.backends.local.machine.grants import Machine
from couler_py.backends.local.scope import TaskFailure
from couler_py.store.ledger import Ledger, LedgerError
from couler_py.store.locks import release
from couler_py.store.shares import Share

ONE = Share(1.0, 0.0, 0)


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A ledger of the test's own."""
    monkeypatch.setenv("COULER_LEDGER", str(tmp_path / "ledger"))
    return tmp_path / "ledger"


def machine(cpus: float = 1.0, gpus: tuple[str, ...] = ()) -> Machine:
    return Machine(Share(cpus, 100.0, len(gpus)), list(gpus))


def play(*scene: Callable[[], Awaitable[None]]) -> None:
    """Run what a test does, with a bound on how long it may hang."""

    async def whole() -> None:
        async with asyncio.timeout(60):
            await asyncio.gather(*(each() for each in scene))

    asyncio.run(whole())


async def until(true: Callable[[], bool]) -> None:
    while not true():
        await asyncio.sleep(0)


def test_shares_are_never_handed_out_twice_and_in_order() -> None:
    one = machine(2.0, ("0", "1"))
    order: list[str] = []
    held: set[str] = set()

    async def use(name: str, share: Share) -> None:
        async with one.use(share) as grant:
            assert not held & set(grant.gpus)
            held.update(grant.gpus)
            order.append(name)
            await asyncio.sleep(0)
            held.difference_update(grant.gpus)

    async def main() -> None:
        wanted = [("a", Share(1, 0, 1)), ("b", Share(1, 0, 2)), ("c", Share(0.5, 0, 1)), ("huge", Share(9, 900, 0))]
        await asyncio.gather(*(use(name, share) for name, share in wanted))

    play(main)
    assert order == ["a", "b", "c", "huge"]


def test_who_gives_up_waiting_takes_nothing_along() -> None:
    one = machine()

    async def main() -> None:
        async def use() -> None:
            async with one.use(ONE):
                await asyncio.Event().wait()

        first, second = asyncio.create_task(use()), asyncio.create_task(use())
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        second.cancel()
        first.cancel()
        await asyncio.gather(first, second, return_exceptions=True)
        async with one.use(ONE):
            pass

    play(main)


def test_what_one_run_gives_back_another_gets_that_waits() -> None:
    order: list[str] = []
    first, second = machine(), machine()

    async def step(name: str, mine: Machine, go: asyncio.Event) -> None:
        async with mine.use(ONE):
            order.append(name)
            await go.wait()

    async def main() -> None:
        go = asyncio.Event()
        steps = [asyncio.create_task(step(f"first's {n}", first, go)) for n in (1, 2, 3)]
        steps += [asyncio.create_task(step("second's", second, go))]
        for _ in range(3):
            await asyncio.sleep(0)
        assert order == ["first's 1"]
        go.set()
        await asyncio.gather(*steps)

    play(main)
    assert order == ["first's 1", "second's", "first's 2", "first's 3"]


def test_a_gpu_has_one_holder_among_all_runs() -> None:
    first, second = machine(4.0, ("0", "1")), machine(4.0, ("0", "1"))

    async def main() -> None:
        async with first.use(Share(1, 0, 1)) as a, second.use(Share(1, 0, 1)) as b:
            assert {*a.gpus, *b.gpus} == {"0", "1"}
            third = asyncio.create_task(first.use(Share(1, 0, 1)).__aenter__())
            await asyncio.sleep(0)
            await asyncio.sleep(0)
            assert not third.done()
            holder = b.gpus
        assert (await third).gpus in (a.gpus, holder)

    play(main)


def test_who_gives_up_after_it_was_handed_a_share_hands_it_on() -> None:
    first, second = machine(), machine()

    async def main() -> None:
        async def hold(mine: Machine, go: asyncio.Event) -> None:
            async with mine.use(ONE):
                await go.wait()

        go, never = asyncio.Event(), asyncio.Event()
        holder = asyncio.create_task(hold(first, go))
        await asyncio.sleep(0)
        waiter = asyncio.create_task(hold(second, never))
        await asyncio.sleep(0)
        go.set()
        await holder  # gives it to the second run, which is woken later
        waiter.cancel()
        await asyncio.gather(waiter, return_exceptions=True)
        async with first.use(ONE):
            pass

    play(main)


def test_a_step_that_asks_for_nothing_waits_for_nobody(folder: Path) -> None:
    async def main() -> None:
        async with machine().use(Share(0, 0, 0)) as grant:
            assert grant.locks == ()

    play(main)
    assert not folder.exists()


def test_a_run_without_steps_tidies_up_after_others(folder: Path) -> None:
    ledger = Ledger(folder)
    folder.mkdir()
    release([ledger.take_seat("killed")])
    machine().close()
    assert [path.name for path in folder.iterdir()] == ["book"]


def test_daemons_keep_what_they_asked_for_and_steps_go_on() -> None:
    one = machine(2.0, ("0",))

    async def main() -> None:
        async with one.use(Share(2, 0, 1)) as daemon:
            one.stay(daemon, Share(1, 0, 1))
            async with one.use(Share(2, 0, 0)):  # cut to what can be free
                pass
            with pytest.raises(TaskFailure, match="it asks for 1 GPUs, and of 1 daemons keep 1"):
                async with one.use(Share(1, 0, 1)):
                    pass

    play(main)


def test_nothing_is_left_of_a_run_that_has_ended(folder: Path) -> None:
    first, second = machine(), machine()

    async def main() -> None:
        async with first.use(ONE):
            waiting = asyncio.create_task(second.use(ONE).__aenter__())
            await asyncio.sleep(0)
        grant = await waiting
        second._give_back(grant)
        first.close()
        second.close()

    before = len(list(Path("/dev/fd").iterdir()))
    play(main)
    assert len(list(Path("/dev/fd").iterdir())) == before
    assert [path.name for path in folder.iterdir()] == ["book"]
    with Ledger(folder).opened() as table:
        assert table.seats == {}


def test_a_folder_that_was_cleaned_up_is_filled_again(folder: Path) -> None:
    first, second = machine(2.0), machine(2.0)

    async def main() -> None:
        async with first.use(ONE):
            for path in folder.iterdir():
                path.unlink()
            async with first.use(ONE):
                waiting = asyncio.create_task(second.use(ONE).__aenter__())
                await asyncio.sleep(0)
                await asyncio.sleep(0)
                assert not waiting.done()
            await waiting
        with Ledger(folder).opened() as table:
            assert sum(len(seat.holds) for seat in table.seats.values()) == 1

    play(main)


def test_a_ledger_that_cannot_be_written_ends_the_wait_with_the_reason(folder: Path) -> None:
    first, second = machine(), machine()

    async def main() -> None:
        async with second.use(ONE):
            waiting = asyncio.create_task(first.use(ONE).__aenter__())
            await asyncio.sleep(0)
            book = folder / "book"
            book.write_bytes(book.read_bytes()[:16] + b"\xc1" * 1000)
            first._look()
            with pytest.raises(LedgerError, match="is damaged"):
                await waiting
            book.unlink()

    play(main)


ENGINE = """
import asyncio, subprocess, sys
from couler_py.backends.local.machine.grants import Machine
from couler_py.store.locks import release
from couler_py.store.shares import Share

async def main():
    async with Machine(Share(1.0, 100.0, 1), ["0"]).use(Share(1.0, 0.0, 1)) as grant:
        step = subprocess.Popen(["cat"], stdin=0, stdout=subprocess.DEVNULL, pass_fds=grant.locks)
        print(step.pid, flush=True)
        await asyncio.Event().wait()

asyncio.run(main())
"""


def test_what_a_killed_engine_held_is_free_when_its_step_has_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(grants, "POLL", 0.01)
    engine = subprocess.Popen([sys.executable, "-c", ENGINE], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert engine.stdout is not None
    assert engine.stdin is not None
    step = int(engine.stdout.readline())
    mine = machine(1.0, ("0",))

    async def main() -> None:
        waiting = asyncio.create_task(mine.use(Share(1, 0, 1)).__aenter__())
        await asyncio.sleep(0)
        engine.send_signal(signal.SIGKILL)
        engine.wait()
        for _ in range(5):
            mine._look()
        await asyncio.sleep(0)
        assert not waiting.done()
        os.kill(step, signal.SIGKILL)
        assert (await waiting).gpus == ("0",)
        mine.close()

    play(main)
    engine.stdout.close()
    engine.stdin.close()


def test_who_waits_is_told_which_runs_use_the_machine() -> None:
    first, second = (Machine(Share(1.0, 100.0, 0), [], run) for run in ("nightly-2.x", "other"))
    told: list[tuple[str, ...]] = []
    waits = asyncio.Event()

    async def hold() -> None:
        async with first.use(ONE):
            await waits.wait()
        first.close()

    async def wait() -> None:
        await asyncio.sleep(0)

        def tell(runs: tuple[str, ...]) -> None:
            told.append(runs)
            waits.set()

        async with second.use(ONE, tell):
            pass
        second.close()

    play(hold, wait)
    assert told == [("nightly-2.x",)]
