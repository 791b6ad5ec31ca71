"""The layers of one section on one rank: run forward on a slice of sequences, and backward."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import torch
import torch.fx.experimental.symbolic_shapes  # else the first backward pass does, for seconds in which ranks wait
from torch import nn

from couler_py.steps.hybrid.layout import EMBEDDING, HEAD, Section
from couler_py.steps.hybrid.runtime.later import Later, postpone
from couler_py.steps.hybrid.runtime.tensor import TensorGroup, share
from couler_py.steps.models.config import DecoderConfig
from couler_py.steps.models.decoder import Cache, Layer, RMSNorm, Turns

if TYPE_CHECKING:
    from torch import Tensor


class SectionModule(nn.Module):
    """A part of a decoder whose parameters are given, by the names that the whole decoder has for them.

    `group` are the ranks that share its layers, where there are several; with `later`, gradients of matrices are tasks.
    """

    def __init__(
        self,
        section: Section,
        config: DecoderConfig,
        parameters: Mapping[str, nn.Parameter],
        group: TensorGroup | None,
        later: Later | None,
    ):
        super().__init__()
        self.config = config
        low, high = section.layers
        with torch.device("meta"):
            self.layers = nn.ModuleDict({str(number): Layer(config) for number in range(low, high)})
            if section.is_last:
                self.norm = RMSNorm(config.hidden, config.norm_eps)
                self.lm_head = nn.Linear(config.hidden, config.vocabulary, bias=False)
        if section.is_first:
            self.embed_tokens = nn.Embedding.from_pretrained(parameters[EMBEDDING].detach())
        self.is_first, self.is_last = section.is_first, section.is_last
        for name, _ in list(self.named_parameters()):
            home, _, leaf = name.rpartition(".")
            held = EMBEDDING if name == HEAD and config.tied else name
            setattr(self.get_submodule(home), leaf, parameters[held])
        for layer in self.layers.values():
            if group is not None:
                share(layer, group)
            if later is not None:
                postpone(layer, later)

    def forward(self, x: Tensor, turns: Turns, mask: Tensor | None, caches: Iterable[Cache | None]) -> Tensor:
        """Logits on the last section, else of shape (samples, slice, hidden), for such x; tokens on the first."""
        if self.is_first:
            x = self.embed_tokens(x)
        for layer, cache in zip(self.layers.values(), caches, strict=True):
            x = layer(x, turns, mask, cache)
        return self.lm_head(self.norm(x)) if self.is_last else x


class LayerCache:
    """Keys and values of one layer for one micro-batch, slice by slice (MEPipe, EuroSys 2025).

    Later slices look at copies that collect gradients of their own (leaves), so that each slice goes backward alone.
    """

    def __init__(self) -> None:
        self._own: list[tuple[Tensor, Tensor]] = []
        self._leaves: list[tuple[Tensor, Tensor]] = []

    def __call__(self, k: Tensor, v: Tensor) -> tuple[Tensor, Tensor]:
        """Add a slice's, of shape (samples, heads, slice, head); gives all so far, along the sequence."""
        before = list(self._leaves)
        self._own.append((k, v))
        self._leaves.append((k.detach().requires_grad_(), v.detach().requires_grad_()))
        if not before:
            return k, v
        return torch.cat([each for each, _ in before] + [k], 2), torch.cat([each for _, each in before] + [v], 2)

    def take(self) -> tuple[list[Tensor], list[Tensor]]:
        """Keys and values of the last slice that is left, and what later slices have given them; it is let go."""
        pairs = zip(self._own.pop(), self._leaves.pop(), strict=True)
        found = [(own, leaf.grad) for own, leaf in pairs if leaf.grad is not None]
        return [own for own, _ in found], [grad for _, grad in found]


@dataclass
class Passing:
    """A slice that went forward through a section, until it goes backward."""

    entered: Tensor
    left: Tensor
    """Its output, or its part of the loss on the last section."""
    caches: list[LayerCache] = field(default_factory=list)

    def backward(self, grad: Tensor | None) -> Tensor | None:
        """Go backward with the gradient of the output (None: it is the loss); gives the input's, if it has one."""
        outputs, grads = [self.left], [grad]
        for cache in self.caches:
            more, theirs = cache.take()
            outputs += more
            grads += theirs
        torch.autograd.backward(outputs, grads)
        return self.entered.grad
