"""Adapters in folders as peft has them: adapter_config.json and adapter_model.safetensors, which its tools load."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch

from couler_py.steps.lora.jobs import Adapter, Method
from couler_py.steps.lora.weights import Weights

if TYPE_CHECKING:
    from torch import Tensor

    from couler_py.steps.lora.hosting import Host

CONFIG, WEIGHTS = "adapter_config.json", "adapter_model.safetensors"
OUTER = "base_model.model."
"""What peft puts before the names of a base's parameters."""
BEYOND = ("rank_pattern", "alpha_pattern", "modules_to_save", "layers_to_transform")
"""Settings of peft that make layers differ."""


def write(weights: Weights, folder: str | Path, base: str = "") -> Path:
    """Write an adapter; `base` is where peft will look for its base. The weights come last: they make it whole."""
    from safetensors.torch import save_file

    target = Path(folder)
    target.mkdir(parents=True, exist_ok=True)
    (target / WEIGHTS).unlink(missing_ok=True)
    config = _config(weights.adapter) | {"base_model_name_or_path": base or None}
    (target / CONFIG).write_text(json.dumps(config, indent=2, sort_keys=True) + "\n", encoding="utf-8")
    tensors = {OUTER + name: each.detach().cpu().contiguous() for name, each in weights.trained.items()}
    tensors |= {f"base_model.{name}": each.cpu().contiguous() for name, each in weights.frozen.items()}
    save_file(tensors, target / WEIGHTS, metadata={"format": "pt"})
    return target


def read(folder: str | Path, host: Host, wanted: Adapter | None = None) -> Weights:
    """An adapter for a base from a folder that `write`, or peft, has written.

    `wanted` is what it is trained as from now on: dropout, and LoRA+ beside LoRA, are free to differ. Raises
    `ValueError` where there is no adapter of a kind that is known here, or one of another shape than wanted.
    """
    source = Path(folder)
    if not (source / CONFIG).is_file() or not (source / WEIGHTS).is_file():
        raise ValueError(f"{source} is no folder of an adapter: it has no {CONFIG} with {WEIGHTS}")
    from safetensors import SafetensorError
    from safetensors.torch import load_file

    stored = _adapter(json.loads((source / CONFIG).read_text(encoding="utf-8")), source)
    if wanted is not None:
        _same(stored, wanted, source)
        stored = wanted
    weights = Weights(stored, host.targets(stored.targets), seed=0)
    try:
        tensors: dict[str, Tensor] = load_file(source / WEIGHTS)
    except SafetensorError as problem:
        raise ValueError(f"{source / WEIGHTS} is damaged: {problem}") from problem
    places: dict[str, Tensor] = {OUTER + name: each.data for name, each in weights.trained.items()}
    places |= {f"base_model.{name}": each for name, each in weights.frozen.items()}
    if tensors.keys() != places.keys():
        missing, unknown = sorted(places.keys() - tensors.keys()), sorted(tensors.keys() - places.keys())
        raise ValueError(f"the weights in {source} don't fit this base: missing {missing[:3]}, unknown {unknown[:3]}")
    with torch.no_grad():
        for name, place in places.items():
            if place.shape != tensors[name].shape:
                shapes = f"{tuple(tensors[name].shape)}, not {tuple(place.shape)}"
                raise ValueError(f"{name} in {source} is of shape {shapes}: it is of another base")
            place.copy_(tensors[name])
    return weights


def _config(adapter: Adapter) -> dict[str, Any]:
    shared = {"task_type": "CAUSAL_LM", "r": adapter.rank, "target_modules": list(adapter.targets), "bias": "none"}
    shared |= {"inference_mode": True, "fan_in_fan_out": False}
    if adapter.method == "vera":
        vera = {"vera_dropout": adapter.dropout, "d_initial": adapter.d_initial, "save_projection": True}
        return shared | vera | {"peft_type": "VERA", "projection_prng_key": 0}
    return shared | {
        "peft_type": "LORA",
        "lora_alpha": adapter.alpha,
        "lora_dropout": adapter.dropout,
        "use_rslora": adapter.method == "rslora",
        "use_dora": adapter.method == "dora",
    }


def _adapter(told: dict[str, Any], source: Path) -> Adapter:
    kind, targets = told.get("peft_type"), told.get("target_modules")
    unknown = [name for name in BEYOND if told.get(name)]
    if kind not in ("LORA", "VERA") or not isinstance(targets, list) or unknown or told.get("bias", "none") != "none":
        odd = f"{', '.join(unknown)}" if unknown else f"peft_type {kind!r}, bias {told.get('bias')!r}"
        raise ValueError(f"{source / CONFIG}: this kind of adapter is not known here: {odd}")
    if missing := {"r", *(["lora_alpha"] if kind == "LORA" else [])} - told.keys():
        raise ValueError(f"{source / CONFIG} doesn't say {min(missing)!r}")
    if kind == "VERA":
        vera = {"d_initial": told.get("d_initial", 0.1), "dropout": told.get("vera_dropout", 0.0)}
        return Adapter("vera", told["r"], targets=tuple(sorted(targets)), **vera)
    method: Method = "dora" if told.get("use_dora") else "rslora" if told.get("use_rslora") else "lora"
    dropout = told.get("lora_dropout", 0.0)
    return Adapter(method, told["r"], float(told["lora_alpha"]), dropout, tuple(sorted(targets)))


def _same(stored: Adapter, wanted: Adapter, source: Path) -> None:
    def shape(adapter: Adapter) -> dict[str, Any]:
        method = "lora" if adapter.method == "lora+" else adapter.method
        alpha = None if method == "vera" else adapter.alpha
        return {"method": method, "rank": adapter.rank, "alpha": alpha, "targets": sorted(adapter.targets)}

    here, there = shape(wanted), shape(stored)
    for name, value in here.items():
        if value != there[name]:
            raise ValueError(f"the adapter in {source} has {name} {there[name]}, and the job wants {value}")
