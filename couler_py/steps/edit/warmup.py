"""Gradients averaged over replicas while they warm up, through hooks that torch has for it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from torch.distributed.fsdp import FSDPModule

from couler_py.steps.edit.units import local

if TYPE_CHECKING:
    from torch import Tensor, nn

    from couler_py.steps.edit.channel import Channel


def average_gradients(model: nn.Module, between: Channel, wanted: Callable[[], bool]) -> list[Any]:
    """Average each gradient over replicas in the backward where `wanted` says so; gives the handles of hooks.

    What `fully_shard` manages is averaged once its gradient is reduced within the replica, other parameters once theirs
    is accumulated. Several backwards for one step come to the same, as averages add up.
    """

    def sharded(gradient: Tensor) -> None:
        if wanted():
            between.average(gradient, "gradient")

    def plain(parameter: nn.Parameter) -> None:
        if wanted() and parameter.grad is not None:
            between.average(local(parameter.grad), "gradient")

    managed: set[int] = set()
    for module in model.modules():
        if isinstance(module, FSDPModule):
            managed |= {id(parameter) for parameter in module.parameters()}
            module.set_all_reduce_hook(sharded)
    return [
        parameter.register_post_accumulate_grad_hook(plain)
        for parameter in model.parameters()
        if parameter.requires_grad and id(parameter) not in managed
    ]
