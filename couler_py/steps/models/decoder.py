"""The decoder itself, small enough to read in one sitting; parallelism is applied from outside.

Modules have the names of Hugging Face's Llama, so that weights go both ways and tools that look for `q_proj` find it.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import torch
from torch import nn
from torch.nn import functional

from couler_py.steps.models.config import DecoderConfig

if TYPE_CHECKING:
    from torch import Tensor

IGNORED = -100
"""The target of a position that has none, as in torch's cross entropy."""

Turns = tuple["Tensor", "Tensor"]
"""Cosines and sines of rotary positions, each of shape (batch or 1, 1, sequence, head)."""
Cache = Callable[["Tensor", "Tensor"], tuple["Tensor", "Tensor"]]
"""Takes the keys and values of some positions, and gives those of all that they may look at, theirs last."""


class RMSNorm(nn.Module):
    """x / sqrt(mean(x²) + eps) · weight, over the last dimension, in float32 or float64."""

    def __init__(self, width: int, eps: float):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(width))
        self.eps = eps

    def forward(self, x: Tensor) -> Tensor:
        """Of shape (…, width), as x."""
        wide = widened(x)
        return (wide * torch.rsqrt(wide.square().mean(-1, keepdim=True) + self.eps)).to(x.dtype) * self.weight


class Attention(nn.Module):
    """Causal attention of grouped queries with rotary positions."""

    def __init__(self, config: DecoderConfig):
        super().__init__()
        self.heads, self.kv_heads, self.head = config.heads, config.kv_heads, config.head
        self.q_proj = nn.Linear(config.hidden, config.heads * config.head, bias=False)
        self.k_proj = nn.Linear(config.hidden, config.kv_heads * config.head, bias=False)
        self.v_proj = nn.Linear(config.hidden, config.kv_heads * config.head, bias=False)
        self.o_proj = nn.Linear(config.heads * config.head, config.hidden, bias=False)

    def forward(self, x: Tensor, turns: Turns, mask: Tensor | None, cache: Cache | None = None) -> Tensor:
        """Of shape (batch, sequence, hidden). `mask`, where there is one, is True at what may be looked at.

        Where x is a slice of a sequence, `cache` adds the keys and values of the slices before, and `mask` is as wide.
        """
        batch, sequence, _ = x.shape
        q = turned(self.q_proj(x).view(batch, sequence, -1, self.head).transpose(1, 2), turns)
        k = turned(self.k_proj(x).view(batch, sequence, -1, self.head).transpose(1, 2), turns)
        v = self.v_proj(x).view(batch, sequence, -1, self.head).transpose(1, 2)
        if cache is not None:
            k, v = cache(k, v)
        mixed = functional.scaled_dot_product_attention(
            q, k, v, attn_mask=mask, is_causal=mask is None, enable_gqa=True
        )
        return self.o_proj(mixed.transpose(1, 2).reshape(batch, sequence, -1))


class FeedForward(nn.Module):
    """SwiGLU: down(silu(gate(x)) · up(x))."""

    def __init__(self, config: DecoderConfig):
        super().__init__()
        self.gate_proj = nn.Linear(config.hidden, config.feed_forward, bias=False)
        self.up_proj = nn.Linear(config.hidden, config.feed_forward, bias=False)
        self.down_proj = nn.Linear(config.feed_forward, config.hidden, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        """Of shape (batch, sequence, hidden)."""
        return self.down_proj(functional.silu(self.gate_proj(x)) * self.up_proj(x))


class Layer(nn.Module):
    """Attention and a feed-forward part, each behind a norm and beside a way around."""

    def __init__(self, config: DecoderConfig):
        super().__init__()
        self.input_layernorm = RMSNorm(config.hidden, config.norm_eps)
        self.self_attn = Attention(config)
        self.post_attention_layernorm = RMSNorm(config.hidden, config.norm_eps)
        self.mlp = FeedForward(config)

    def forward(self, x: Tensor, turns: Turns, mask: Tensor | None = None, cache: Cache | None = None) -> Tensor:
        """Of shape (batch, sequence, hidden)."""
        x = x + self.self_attn(self.input_layernorm(x), turns, mask, cache)
        return x + self.mlp(self.post_attention_layernorm(x))


class Decoder(nn.Module):
    """Tokens in, logits of the next token out."""

    def __init__(self, config: DecoderConfig):
        super().__init__()
        self.config = config
        # Not drawn here: normal numbers on the device `meta` make torch import its compiler, for seconds.
        table = torch.empty(config.vocabulary, config.hidden)
        self.embed_tokens = nn.Embedding.from_pretrained(table, freeze=False)
        self.layers = nn.ModuleList(Layer(config) for _ in range(config.layers))
        self.norm = RMSNorm(config.hidden, config.norm_eps)
        self.lm_head = nn.Linear(config.hidden, config.vocabulary, bias=False)
        if config.tied:
            self.lm_head.weight = self.embed_tokens.weight

    def forward(self, tokens: Tensor, positions: Tensor | None = None, documents: Tensor | None = None) -> Tensor:
        """Logits of shape (batch, sequence, vocabulary) for tokens of shape (batch, sequence).

        `positions` (1 or batch, sequence) are 0, 1, 2, … unless given. `documents`, of the tokens' shape, numbers the
        texts that are packed into a row: none looks into another. Raises `ValueError` for rows longer than the context.
        """
        length = tokens.shape[1]
        if length > self.config.context:
            raise ValueError(f"a row of {length} tokens: this decoder's context holds {self.config.context}")
        if positions is None:
            positions = torch.arange(length, device=tokens.device)[None]
        mask = None if documents is None else within_documents(documents)
        x = self.embed_tokens(tokens)
        turns = rotary(positions, self.config.head, self.config.rope_theta, x.dtype)
        for layer in self.layers:
            x = layer(x, turns, mask)
        return self.lm_head(self.norm(x))


def rotary(positions: Tensor, head: int, theta: float, dtype: torch.dtype) -> Turns:
    """What positions of shape (batch or 1, sequence) turn pairs of a head's numbers by."""
    speeds = theta ** (-torch.arange(0, head, 2, device=positions.device, dtype=torch.float32) / head)
    angles = positions[:, None, :, None].float() * speeds
    both = torch.cat((angles, angles), dim=-1)
    return both.cos().to(dtype), both.sin().to(dtype)


def turned(x: Tensor, turns: Turns) -> Tensor:
    """Queries or keys of shape (batch, heads, sequence, head), turned: number i with number i + head/2."""
    cosines, sines = turns
    first, second = x.chunk(2, dim=-1)
    return x * cosines + torch.cat((-second, first), dim=-1) * sines


def widened(x: Tensor) -> Tensor:
    """In float32 where it is of a smaller type."""
    return x.to(torch.promote_types(x.dtype, torch.float32))


def within_documents(documents: Tensor) -> Tensor:
    """A mask (batch, 1, sequence, sequence): each token sees itself and what comes before it in its own document."""
    length = documents.shape[1]
    same = documents[:, :, None] == documents[:, None, :]
    before = torch.ones(length, length, dtype=torch.bool, device=documents.device).tril()
    return (same & before)[:, None]


def next_token_loss(logits: Tensor, targets: Tensor, reduction: str = "mean") -> Tensor:
    """Cross entropy of logits (batch, sequence, vocabulary) against targets (batch, sequence), in float32 or float64.

    Positions whose target is `IGNORED` don't count.
    """
    return functional.cross_entropy(
        widened(logits).flatten(0, 1), targets.flatten(), ignore_index=IGNORED, reduction=reduction
    )


def build(
    config: DecoderConfig,
    seed: int = 0,
    *,
    device: torch.device | str = "cpu",
    dtype: torch.dtype = torch.float32,
) -> Decoder:
    """A decoder with the weights that a seed gives it, the same on every machine and whatever was drawn before."""
    with torch.device("meta"):
        model = Decoder(config)
    model = model.to_empty(device=device).to(dtype)
    if config.tied:
        model.lm_head.weight = model.embed_tokens.weight
    initialise(model, seed)
    return model


@torch.no_grad()
def initialise(model: nn.Module, seed: int, std: float = 0.02) -> None:
    """Give all parameters of a model their `first_value`."""
    layers = sum(isinstance(module, Layer) for module in model.modules())
    for name, parameter in model.named_parameters():
        parameter.copy_(first_value(name, parameter.shape, seed, layers, std))


def first_value(name: str, shape: Sequence[int], seed: int, layers: int, std: float = 0.02) -> Tensor:
    """What a parameter of a decoder of so many layers begins with, in float32.

    Norms are 1, the others normal numbers, those that end a way around smaller. Each parameter draws from a stream of
    its own, made of the seed and its name, so that parts of a model have the same values wherever they are made.
    Radford et al., "Language Models are Unsupervised Multitask Learners" (GPT-2), 2.3.
    """
    if len(shape) < 2:
        return torch.ones(tuple(shape))
    draws = torch.Generator().manual_seed(stream(seed, name))
    shrunk = math.sqrt(2 * layers) if name.endswith(("o_proj.weight", "down_proj.weight")) else 1.0
    return torch.empty(tuple(shape), dtype=torch.float32, device="cpu").normal_(0.0, std / shrunk, generator=draws)


def stream(seed: int, name: str) -> int:
    """The seed of a stream of random numbers that belongs to a name: equal everywhere, and apart from all others."""
    digest = hashlib.blake2b(f"{seed}/{name}".encode(), digest_size=8).digest()
    return int.from_bytes(digest, "big") >> 1
