"""The parts of a model that agree one after the other: what is sharded by itself, and the rest."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import torch
from torch.distributed.fsdp import FSDPModule
from torch.distributed.tensor import DTensor

if TYPE_CHECKING:
    from torch import Tensor, nn


class Unit:
    """A module with the trainable parameters that belong to it and to no unit inside it."""

    def __init__(self, name: str, module: nn.Module, parameters: dict[str, nn.Parameter]):
        self.name, self.module, self.parameters = name, module, parameters

    def shards(self) -> list[Tensor]:
        """This rank's part of each parameter, as it lies in memory now. What is written there is the parameter's."""
        return [local(parameter.detach()) for parameter in self.parameters.values()]

    def write(self, values: Sequence[Tensor]) -> None:
        """Set this rank's part of each parameter.

        A unit that is still gathered, as the outermost is after a forward without a backward, is let go of first: what
        it has gathered is no longer so.
        """
        if isinstance(self.module, FSDPModule):
            self.module.reshard()
        with torch.no_grad():
            for shard, value in zip(self.shards(), values, strict=True):
                shard.copy_(value)


def local(tensor: Tensor) -> Tensor:
    """This rank's part of a tensor: all of one that isn't sharded."""
    if not isinstance(tensor, DTensor):
        return tensor
    part: Tensor = tensor.to_local()
    return part


def units(model: nn.Module, chosen: Iterable[nn.Module] | None = None) -> list[Unit]:
    """The units of a model in the order of their definition, which all ranks share.

    Units are `chosen`, else the modules that `fully_shard` was applied to, else the members of each `ModuleList`; what
    is left belongs to the model. A tied parameter belongs to the unit where it is found first, a frozen one to none.
    Raises `ValueError` for a model without trainable parameters or a chosen module that isn't part of it.
    """
    modules = dict(model.named_modules())
    roots = _chosen(model, modules, chosen)
    owned: dict[str, dict[str, nn.Parameter]] = {name: {} for name in roots}
    for name, parameter in model.named_parameters():
        if parameter.requires_grad:
            owned[_owner(name, roots)][name] = parameter
    found = [Unit(name, modules[name], parameters) for name, parameters in owned.items() if parameters]
    if not found:
        raise ValueError("all parameters of the model are frozen: there is nothing to agree on")
    return found


def _chosen(model: nn.Module, modules: dict[str, nn.Module], chosen: Iterable[nn.Module] | None) -> list[str]:
    if chosen is not None:
        wanted = {id(module) for module in chosen}
        names = [name for name, module in modules.items() if id(module) in wanted]
        if len(names) != len(wanted):
            raise ValueError("units= has a module that is no part of the model")
    else:
        names = [name for name, module in modules.items() if isinstance(module, FSDPModule)]
        if not names:
            lists = [name for name, module in modules.items() if isinstance(module, torch.nn.ModuleList)]
            names = [name for name in modules if name.rpartition(".")[0] in lists and name not in lists]
    return ["", *(name for name in names if name)]


def _owner(parameter: str, roots: Sequence[str]) -> str:
    return max((root for root in roots if not root or parameter.startswith(f"{root}.")), key=len)
