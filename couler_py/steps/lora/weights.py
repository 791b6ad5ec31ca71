"""The parameters of an adapter: how each method begins, and what it gives to a layer."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping
from typing import TYPE_CHECKING

import torch
from torch import nn

from couler_py.steps.lora.operator import Factors, row_norms
from couler_py.steps.models.decoder import stream

if TYPE_CHECKING:
    from torch import Tensor

    from couler_py.steps.lora.jobs import Adapter, Optimizer


class Weights:
    """An adapter beside some linear layers of a base.

    `trained` are the parameters by the names that peft gives them, such as `…q_proj.lora_A.weight`; `frozen` are VeRA's
    two matrices, which all layers share: each takes as many columns and rows as it is wide.
    """

    def __init__(self, adapter: Adapter, layers: Mapping[str, nn.Linear], seed: int):
        self.adapter, self.layers, self.seed = adapter, dict(layers), seed
        self.trained: dict[str, nn.Parameter] = {}
        self.frozen: dict[str, Tensor] = {}
        make = self._vera if adapter.method == "vera" else self._lora
        if self.layers:
            with torch.no_grad():
                make()

    @property
    def parameters(self) -> list[nn.Parameter]:
        """What is trained, in the order of names."""
        return list(self.trained.values())

    @property
    def size(self) -> int:
        """Bytes of all parameters."""
        return sum(each.numel() * each.element_size() for each in (*self.trained.values(), *self.frozen.values()))

    def factors(self, layer: str) -> Factors:
        """What stands beside a layer; VeRA's vectors are multiplied into its matrices, B = b·B', A = d·A'.

        VeRA so becomes what every operator knows, and autograd leads gradients of A and B to its vectors.
        """
        if self.adapter.method == "vera":
            linear = self.layers[layer]
            a = self.trained[f"{layer}.vera_lambda_d"][:, None] * self.frozen["vera_A"][:, : linear.in_features]
            b = self.trained[f"{layer}.vera_lambda_b"][:, None] * self.frozen["vera_B"][: linear.out_features]
            return Factors(a, b)
        a, b = self.trained[f"{layer}.lora_A.weight"], self.trained[f"{layer}.lora_B.weight"]
        return Factors(a, b, self.trained.get(f"{layer}.lora_magnitude_vector"))

    def groups(self, optimizer: Optimizer) -> list[dict[str, object]]:
        """Parameters for an optimizer; LoRA+ gives those of B a rate of their own, in `times` of the others'."""
        fast = [each for name, each in self.trained.items() if ".lora_B." in name and self.adapter.method == "lora+"]
        slow = [each for each in self.parameters if all(each is not other for other in fast)]
        made: list[dict[str, object]] = [{"params": slow, "times": 1.0, "lr": optimizer.lr}]
        return made + ([{"params": fast, "times": self.adapter.ratio, "lr": optimizer.lr}] if fast else [])

    def merged(self, layer: str) -> Tensor:
        """The layer's matrix with the adapter in it, for a plain model."""
        weight = self.layers[layer].weight.detach()
        factors = self.factors(layer)
        whole = weight.to(factors.a.dtype) + self.adapter.scale * (factors.b.detach() @ factors.a.detach())
        if factors.magnitude is not None:
            norms = row_norms(weight, factors, self.adapter.scale)
            whole = (factors.magnitude.detach() / norms)[:, None] * whole
        return whole.to(weight.dtype)

    def _lora(self) -> None:
        """A uniform within 1/√in, as peft has it (Kaiming with a = √5), B zero; magnitudes the norms of W's rows."""
        rank = self.adapter.rank
        for name, linear in self.layers.items():
            like = linear.weight
            a = self._drawn(f"{name}.lora_A", (rank, linear.in_features), 1 / math.sqrt(linear.in_features), like)
            b = torch.zeros(linear.out_features, rank, dtype=a.dtype, device=a.device)
            self.trained[f"{name}.lora_A.weight"] = nn.Parameter(a)
            self.trained[f"{name}.lora_B.weight"] = nn.Parameter(b)
            if self.adapter.method == "dora":
                norms = row_norms(like, Factors(a, b), self.adapter.scale)
                self.trained[f"{name}.lora_magnitude_vector"] = nn.Parameter(norms)

    def _vera(self) -> None:
        """Both matrices Kaiming-uniform, as peft has them: within √(6/fan-in); d the same everywhere, b zero."""
        rank, like = self.adapter.rank, next(iter(self.layers.values())).weight
        wide = max(linear.in_features for linear in self.layers.values())
        tall = max(linear.out_features for linear in self.layers.values())
        self.frozen["vera_A"] = self._drawn("vera_A", (rank, wide), math.sqrt(6 / wide), like)
        self.frozen["vera_B"] = self._drawn("vera_B", (tall, rank), math.sqrt(6 / rank), like)
        for name, linear in self.layers.items():
            d = torch.full((rank,), self.adapter.d_initial, dtype=_precise(like.dtype), device=like.device)
            b = torch.zeros(linear.out_features, dtype=d.dtype, device=d.device)
            self.trained[f"{name}.vera_lambda_b"] = nn.Parameter(b)
            self.trained[f"{name}.vera_lambda_d"] = nn.Parameter(d)

    def _drawn(self, name: str, shape: tuple[int, ...], bound: float, like: Tensor) -> Tensor:
        """Uniform numbers from the stream of a name, the same on every machine and whatever else is drawn."""
        draws = torch.Generator().manual_seed(stream(self.seed, name))
        numbers = torch.rand(shape, generator=draws, dtype=torch.float32)
        return ((2 * numbers - 1) * bound).to(device=like.device, dtype=_precise(like.dtype))


def digest_of(tensors: Mapping[str, Tensor]) -> str:
    """A digest of tensors and their names, which stays what it was where they do."""
    digest = hashlib.blake2b(digest_size=16)
    for name, tensor in sorted(tensors.items()):
        digest.update(name.encode())
        digest.update(tensor.detach().cpu().contiguous().flatten().view(torch.uint8).numpy().tobytes())
    return digest.hexdigest()


def _precise(dtype: torch.dtype) -> torch.dtype:
    """Adapters are kept in float32 however narrow the base is, and in float64 beside one of float64."""
    return torch.float64 if dtype == torch.float64 else torch.float32
