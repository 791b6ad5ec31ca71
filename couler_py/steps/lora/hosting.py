"""A frozen base that many adapters share: each batch says which rows are whose."""

from __future__ import annotations

import functools
import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import torch
from torch import nn

from couler_py.steps.lora.operator import Dropout, Factors, Segment, batch_lora
from couler_py.steps.lora.weights import digest_of
from couler_py.steps.models.config import DecoderConfig
from couler_py.steps.models.decoder import stream
from couler_py.steps.models.folders import CONFIG, causal_model, config_of, load

if TYPE_CHECKING:
    from torch import Tensor

    from couler_py.steps.lora.weights import Weights


class Part(NamedTuple):
    """The rows of a batch that belong to one adapter."""

    begin: int
    end: int
    weights: Weights
    seed: int | None = None
    """Of this pass's dropout; None leaves nothing out."""


class Host:
    """A base whose linear layers ask, in each forward, whose rows they see. Its own weights never change.

    The built-in decoder or a section of it, or a causal model of Hugging Face with plain linear layers (Llama, Qwen,
    Mistral, …). Layers have the names that Hugging Face gives them.
    """

    def __init__(self, model: nn.Module):
        self.model = model.eval().requires_grad_(False)
        self.ours = isinstance(getattr(model, "config", None), DecoderConfig)
        outer = "model." if self.ours else ""
        head = getattr(model, "lm_head", None) if self.ours else _head(model)
        self.linears: dict[str, nn.Linear] = {
            f"{outer}{name}": module
            for name, module in model.named_modules()
            if isinstance(module, nn.Linear) and module is not head
        }
        self._now: tuple[tuple[Part, Tensor], ...] = ()
        for name, linear in self.linears.items():
            linear.forward = functools.partial(self._forward, name, linear)

    @property
    def vocabulary(self) -> int:
        """How many tokens there are."""
        return int(self.model.config.vocabulary if self.ours else self.model.config.vocab_size)

    @property
    def context(self) -> int:
        """The most tokens of a row."""
        config = self.model.config
        return int(config.context if self.ours else config.max_position_embeddings)

    @property
    def device(self) -> torch.device:
        """Where the base lies."""
        return next(self.model.parameters()).device

    @property
    def size(self) -> int:
        """Bytes of the base."""
        return sum(each.numel() * each.element_size() for each in self.model.parameters())

    def targets(self, names: Sequence[str]) -> dict[str, nn.Linear]:
        """The layers of some names, or last parts of names. Raises `ValueError` for a name that no layer has."""
        found: dict[str, nn.Linear] = {}
        for wanted in names:
            here = {name: each for name, each in self.linears.items() if name == wanted or name.endswith(f".{wanted}")}
            if not here:
                known = sorted({name.rpartition(".")[2] for name in self.linears})
                raise ValueError(f"the base has no linear layer {wanted!r}: there are {', '.join(known)}")
            found |= here
        return {name: found[name] for name in self.linears if name in found}

    def logits(self, tokens: Tensor, valid: Tensor, parts: Sequence[Part] = ()) -> Tensor:
        """Logits (rows, sequence, vocabulary) of tokens (rows, sequence) that are padded at their right.

        Attention is causal, so no token sees the padding behind it, and no mask is needed. `valid` is True at tokens,
        False at padding.
        """
        with self.running(valid, parts):
            if self.ours:
                return self.model(tokens)
            return self.model(input_ids=tokens, use_cache=False).logits

    def fingerprint(self) -> str:
        """A digest of all weights and buffers, which stays what it was."""
        return digest_of(self.model.state_dict())

    @contextmanager
    def running(self, valid: Tensor, parts: Sequence[Part]) -> Iterator[None]:
        """Around a forward of the model: whose rows its layers see, and which of their places hold tokens."""
        self._now = tuple((part, valid[part.begin : part.end]) for part in parts)
        try:
            yield
        finally:
            self._now = ()

    def _forward(self, name: str, linear: nn.Linear, x: Tensor) -> Tensor:
        parts: list[tuple[Segment, Factors]] = []
        for part, tokens in self._now:
            if name not in part.weights.layers:
                continue
            adapter = part.weights.adapter
            dropout = None
            if adapter.dropout and part.seed is not None:
                dropout = Dropout(adapter.dropout, stream(part.seed, name), tokens)
            segment = Segment(part.begin, part.end, adapter.scale, dropout)
            parts.append((segment, part.weights.factors(name)))
        if not parts:
            return nn.functional.linear(x, linear.weight, linear.bias)
        return batch_lora(x, linear.weight, linear.bias, parts)


def open_base(folder: str | Path, *, device: torch.device | str = "cpu") -> Host:
    """The model of a folder: the built-in decoder where it is one that this reads, else any of Hugging Face.

    Raises `ValueError` where the folder has no model, `ImportError` where transformers is missing and needed.
    """
    source = Path(folder)
    if not (source / CONFIG).is_file():
        raise ValueError(f"{source} is no folder of a model: it has no {CONFIG}")
    model = load(source) if _ours(source) else causal_model(source)
    return Host(model.to(device))


def _ours(source: Path) -> bool:
    """Whether the built-in decoder has all that a config.json asks for."""
    try:
        config_of(json.loads((source / CONFIG).read_text(encoding="utf-8")), source)
    except ValueError:
        return False
    return True


def _head(model: Any) -> Any:
    if not hasattr(model, "get_output_embeddings"):
        raise ValueError(f"a {type(model).__name__} is neither the built-in decoder nor a causal model of Hugging Face")
    return model.get_output_embeddings()
