"""What passes take of memory, measured as they are made, and how much there is."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import torch

from couler_py.steps.lora.memory import MOST, MemoryModel, Sample, fit, prior
from couler_py.steps.models.config import DecoderConfig

if TYPE_CHECKING:
    from torch import Tensor

    from couler_py.steps.lora.hosting import Host
    from couler_py.steps.lora.passes import Piece


class Meter:
    """Learns from passes how many bytes one takes. On a GPU that is the allocator's peak above what was there before.

    The allocator of the host's memory tells no peak: there it is what autograd keeps for the backward, counted once for
    each shape of a pass.
    """

    def __init__(self, host: Host, memory: int | None = None):
        self.host = host
        self.on_gpu = host.device.type == "cuda"
        self.model: MemoryModel = prior(shape_of(host), next(host.model.parameters()).element_size())
        self.samples: list[Sample] = []
        self.peak = 0
        """Bytes of the largest pass that was measured."""
        self.most: int | None = None
        """Rows times length that were too much once: passes of several jobs stay below."""
        self.budget = self._budget(memory)
        """Bytes for all adapters at work and one pass; None is no limit."""
        self._seen: set[tuple[int, int]] = set()

    @contextmanager
    def measured(self, pieces: Sequence[Piece]) -> Iterator[None]:
        """Around a pass: how much it takes, where its shape is new."""
        rows = sum(len(piece.rows) for piece in pieces)
        length = min(self.host.context, max(piece.length for piece in pieces))
        if (rows, length) in self._seen or len(self._seen) >= MOST:
            yield
            return
        taken = Counted(self.host, pieces)
        before = torch.cuda.memory_allocated(self.host.device) if self.on_gpu else 0
        if self.on_gpu:
            torch.cuda.reset_peak_memory_stats(self.host.device)
            yield
            size = torch.cuda.max_memory_allocated(self.host.device) - before
        else:
            with torch.autograd.graph.saved_tensors_hooks(taken.keep, lambda tensor: tensor):
                yield
            size = taken.size
        self._seen.add((rows, length))
        self.samples.append(Sample(rows, length, max(1, size)))
        self.peak = max(self.peak, size)
        self.model = fit(self.samples, self.model)

    def full(self, pieces: Sequence[Piece]) -> None:
        """A pass ended for want of memory: none of several jobs is as large again."""
        rows = sum(len(piece.rows) for piece in pieces)
        size = rows * min(self.host.context, max(piece.length for piece in pieces))
        self.most = size if self.most is None else min(size, self.most)
        if self.on_gpu:
            torch.cuda.empty_cache()

    def _budget(self, memory: int | None) -> float | None:
        if memory is not None:
            return float(memory - self.host.size)
        return float(torch.cuda.mem_get_info(self.host.device)[0]) if self.on_gpu else None


class Counted:
    """Bytes that autograd keeps, each piece of memory once; what is there anyway, base and adapters, doesn't count."""

    def __init__(self, host: Host, pieces: Sequence[Piece]):
        there = [*host.model.parameters(), *(each for piece in pieces for each in piece.weights.parameters)]
        self._known = {tensor.untyped_storage().data_ptr() for tensor in there}
        self.size = 0

    def keep(self, tensor: Tensor) -> Tensor:
        """Count a tensor, and leave it as it is."""
        storage = tensor.untyped_storage()
        if storage.data_ptr() not in self._known:
            self._known.add(storage.data_ptr())
            self.size += storage.nbytes()
        return tensor


def shape_of(host: Host) -> DecoderConfig:
    """The shape of a base, for what is known of its memory before anything is measured."""
    config: Any = host.model.config
    if host.ours:
        return config
    return DecoderConfig(
        vocabulary=config.vocab_size,
        layers=config.num_hidden_layers,
        hidden=config.hidden_size,
        heads=config.num_attention_heads,
        kv_heads=getattr(config, "num_key_value_heads", None) or config.num_attention_heads,
        feed_forward=config.intermediate_size,
        context=config.max_position_embeddings,
    )


def out_of_memory(problem: BaseException) -> bool:
    """Whether this is torch, or Python, saying that memory has ended."""
    if isinstance(problem, torch.OutOfMemoryError | MemoryError):
        return True
    # The allocator of the host's memory has no error of its own: c10/core/impl/alloc_cpu.cpp.
    return isinstance(problem, RuntimeError) and "DefaultCPUAllocator" in str(problem)


def within_memory(work: Callable[[], str | None], where: str) -> str:
    """What a piece of work says is wrong, or that memory ended in it; nothing where it went well."""
    try:
        return work() or ""
    except (RuntimeError, MemoryError) as problem:
        if not out_of_memory(problem):
            raise
        return f"memory ends {where} ({problem})"
