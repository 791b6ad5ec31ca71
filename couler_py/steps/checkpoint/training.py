"""A model and its optimizer as tensors and facts: names that no layout changes, with torch's own state dictionaries."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import torch
from torch.distributed.checkpoint.state_dict import (
    StateDictOptions,
    get_model_state_dict,
    get_optimizer_state_dict,
    set_model_state_dict,
    set_optimizer_state_dict,
)

from couler_py.steps.checkpoint.manifest import CheckpointError
from couler_py.steps.checkpoint.saving import Loaded, Saved, load, save
from couler_py.steps.checkpoint.tensors import MODEL, OPTIMIZER, Shard

if TYPE_CHECKING:
    from torch import Tensor, nn

SETTINGS = "settings/"


def state_of(model: nn.Module, optimizer: torch.optim.Optimizer | None = None) -> tuple[dict[str, Any], dict[str, Any]]:
    """The tensors of a training, with those of its optimizer under the names of its parameters, and its settings.

    Parameters that fully_shard or tensor parallelism have made DTensors stay what they are: each rank has its part. An
    optimizer that hasn't stepped yet gets its state (zeros) first.
    """
    tensors: dict[str, Tensor | Shard] = {MODEL + name: each for name, each in get_model_state_dict(model).items()}
    facts: dict[str, Any] = {}
    if optimizer is not None:
        options = StateDictOptions(flatten_optimizer_state_dict=True)
        for name, value in get_optimizer_state_dict(model, optimizer, options=options).items():
            if isinstance(value, torch.Tensor):
                tensors[OPTIMIZER + name] = value
            else:
                facts[SETTINGS + name] = value
    return tensors, facts


def save_training(
    where: str | os.PathLike[str],
    step: int,
    model: nn.Module,
    optimizer: torch.optim.Optimizer | None = None,
    facts: Mapping[str, Any] | None = None,
    *,
    more: Mapping[str, Tensor | Shard] | None = None,
    **options: Any,
) -> Saved:
    """`saving.save` of a model, its optimizer and `more` tensors; all ranks call it. Options are those of `save`."""
    tensors, settings = state_of(model, optimizer)
    return save(where, step, {**tensors, **(more or {})}, {**settings, **(facts or {})}, **options)


def load_training(
    where: str | os.PathLike[str],
    model: nn.Module,
    optimizer: torch.optim.Optimizer | None = None,
    *,
    more: Mapping[str, Tensor | Shard] | None = None,
    step: int | None = None,
    group: Any = None,
) -> Loaded:
    """`saving.load` into a model, its optimizer and `more` tensors, whatever layout they have; all ranks call it.

    The facts that come back are those that were given; settings of the optimizer, such as its learning rate, go into
    it. Raises `CheckpointError` as `load` does, and for an optimizer of another kind.
    """
    tensors, settings = state_of(model, optimizer)
    loaded = load(where, {**tensors, **(more or {})}, step=step, group=group)
    facts = dict(loaded.facts)
    kept = {name: facts.pop(name) for name in list(facts) if name.startswith(SETTINGS)}
    if missing := sorted(settings.keys() - kept.keys()):
        raise CheckpointError(
            f"the optimizer that was saved has no {missing[0].removeprefix(SETTINGS)!r}: is it another?"
        )
    restore(model, optimizer, tensors, {name: kept[name] for name in settings})
    return Loaded(loaded.step, facts, loaded.size, loaded.unused)


def restore(
    model: nn.Module, optimizer: torch.optim.Optimizer | None, tensors: Mapping[str, Any], settings: Mapping[str, Any]
) -> None:
    """Give a model and its optimizer what tensors and settings of `state_of` were filled with."""
    set_model_state_dict(model, _under(MODEL, tensors))
    if optimizer is not None:
        plain = {name.removeprefix(SETTINGS): _plain(value) for name, value in settings.items()}
        options = StateDictOptions(flatten_optimizer_state_dict=True)
        set_optimizer_state_dict(model, optimizer, _under(OPTIMIZER, tensors) | plain, options=options)


def _under(start: str, tensors: Mapping[str, Any]) -> dict[str, Any]:
    return {name.removeprefix(start): each for name, each in tensors.items() if name.startswith(start)}


def _plain(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value  # betas, which JSON has as a list
