"""What a machine has, and who gets it."""

from __future__ import annotations

import asyncio

import pytest

from couler_py.backends.local.grants import Machine
from couler_py.backends.local.machine import Share, asked, devices, quantity
from couler_py.ir.model import Suspend, Template
from couler_py.ir.pod import Container, Resources


@pytest.mark.parametrize(
    ("text", "number"),
    [("1", 1.0), ("500m", 0.5), ("2Gi", 2.0**31), ("1.5M", 1.5e6), ("1e3", 1000.0), ("100u", 1e-4), ("1E", 1e18)],
)
def test_quantities_are_kubernetes(text: str, number: float) -> None:
    assert quantity(text) == pytest.approx(number, rel=1e-15)


@pytest.mark.parametrize("text", ["", "1 Gi", "x", "1gb"])
def test_what_is_no_quantity_is_said(text: str) -> None:
    with pytest.raises(ValueError, match="is not a quantity"):
        quantity(text)


def test_a_step_that_says_nothing_takes_one_processor() -> None:
    assert asked(Template("a", Suspend())) == Share(1.0, 0.0, 0)
    body = Container("x", ("true",), resources=Resources(cpu="250m", memory="1Gi", gpu=2))
    assert asked(Template("a", body)) == Share(0.25, 2.0**30, 2)


def test_gpus_are_those_that_cuda_may_use(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "2, GPU-abc")
    assert devices() == ["2", "GPU-abc"]
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")
    assert devices() == []


def test_shares_are_never_handed_out_twice_and_in_order() -> None:
    machine = Machine(Share(2.0, 100.0, 2), ["0", "1"])
    order: list[str] = []
    held: set[str] = set()

    async def use(name: str, share: Share) -> None:
        async with machine.use(share) as grant:
            assert not held & set(grant.gpus)
            held.update(grant.gpus)
            order.append(name)
            await asyncio.sleep(0)
            held.difference_update(grant.gpus)

    async def main() -> None:
        wanted = [("a", Share(1, 0, 1)), ("b", Share(1, 0, 2)), ("c", Share(0.5, 0, 1)), ("huge", Share(9, 900, 0))]
        await asyncio.gather(*(use(name, share) for name, share in wanted))

    asyncio.run(main())
    assert order == ["a", "b", "c", "huge"]


def test_who_gives_up_waiting_takes_nothing_along() -> None:
    machine = Machine(Share(1.0, 0.0, 0), [])

    async def main() -> None:
        async def use() -> None:
            async with machine.use(Share(1, 0, 0)):
                await asyncio.Event().wait()

        first, second = asyncio.create_task(use()), asyncio.create_task(use())
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        second.cancel()
        first.cancel()
        await asyncio.gather(first, second, return_exceptions=True)
        async with machine.use(Share(1, 0, 0)):
            pass

    asyncio.run(main())
