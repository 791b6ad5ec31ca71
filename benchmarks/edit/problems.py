"""What experiments train: the built-in decoder on a real text, and a small chain of symbols that is known exactly."""

from __future__ import annotations

from pathlib import Path
from typing import Protocol

import torch
from torch import Tensor, nn
from torch.nn import functional

from couler_py.steps.corpus import files, tokens
from couler_py.steps.corpus.order import Order
from couler_py.steps.corpus.tokenizers import ByteTokenizer
from couler_py.steps.corpus.tokens import INDEX, Rows
from couler_py.steps.models.config import DecoderConfig
from couler_py.steps.models.decoder import build, next_token_loss

REPLICAS = 4


class Problem(Protocol):
    """Something to learn from rows of symbols below `symbols`."""

    symbols: int

    def model(self, seed: int) -> nn.Module:
        """A new model."""
        ...

    def parts(self, model: nn.Module) -> list[nn.Module] | None:
        """The modules that agree one after the other; None: those that `LocalSGD` finds."""
        ...

    def rows(self, seed: int, number: int) -> Tensor:
        """A batch, by its number: no two are the same."""
        ...

    def held(self, seed: int) -> Tensor:
        """Rows that nobody trains on."""
        ...

    def loss(self, logits_of: nn.Module, rows: Tensor) -> Tensor:
        """The mean cross entropy of the next symbol."""
        ...


class Text:
    """Python's own library, byte by byte, and the built-in decoder: one layer of width 16."""

    symbols = 256
    config = DecoderConfig(vocabulary=259, layers=1, hidden=16, heads=2, kv_heads=1, feed_forward=44, context=32)
    batch, length, held_out = 4, 32, 256

    def __init__(self, folder: Path):
        if not (folder / INDEX).exists():
            tokens.write(files.texts(most=4_000_000), ByteTokenizer(), folder)
        self._rows = Rows(folder, self.length)

    def model(self, seed: int) -> nn.Module:
        return build(self.config, seed)

    def parts(self, model: nn.Module) -> list[nn.Module] | None:
        return None

    def rows(self, seed: int, number: int) -> Tensor:
        order = Order(len(self._rows) - self.held_out, seed)
        return torch.from_numpy(self._rows.take(order.batch(number * self.batch, self.batch)))

    def held(self, seed: int) -> Tensor:
        return torch.from_numpy(self._rows.take(range(len(self._rows) - self.held_out, len(self._rows))))

    def loss(self, logits_of: nn.Module, rows: Tensor) -> Tensor:
        return next_token_loss(logits_of(rows[:, :-1]), rows[:, 1:])


class Chain:
    """A chain of second order over 64 symbols, and a net of four modules that sees two symbols.

    The next symbol's logits are a normal number of its own for each symbol before it, plus one for the symbol before
    that, times 2.5: the net can learn all of it, and each seed is another chain.
    """

    symbols = 64
    batch, length, held_out, batches = 16, 18, 512, 3200

    def __init__(self) -> None:
        self._drawn: dict[int, Tensor] = {}

    def model(self, seed: int) -> nn.Module:
        with torch.random.fork_rng():
            torch.manual_seed(seed)
            return Net(self.symbols)

    def parts(self, model: nn.Module) -> list[nn.Module] | None:
        return [each for each in model.modules() if isinstance(each, nn.Embedding | nn.Linear)]

    def rows(self, seed: int, number: int) -> Tensor:
        begin = number % self.batches * self.batch
        return self._all(seed)[self.held_out + begin : self.held_out + begin + self.batch]

    def held(self, seed: int) -> Tensor:
        return self._all(seed)[: self.held_out]

    def loss(self, logits_of: nn.Module, rows: Tensor) -> Tensor:
        pairs = torch.stack((rows[:, :-2], rows[:, 1:-1]), dim=-1)
        return functional.cross_entropy(logits_of(pairs).flatten(0, 1), rows[:, 2:].flatten())

    def _all(self, seed: int) -> Tensor:
        if seed not in self._drawn:
            stream = torch.Generator().manual_seed(seed)
            first, second = 2.5 * torch.randn(2, self.symbols, self.symbols, generator=stream)
            rows = torch.empty(self.held_out + self.batches * self.batch, self.length, dtype=torch.int64)
            rows[:, :2] = torch.randint(0, self.symbols, (len(rows), 2), generator=stream)
            for place in range(2, self.length):
                odds = (first[rows[:, place - 2]] + second[rows[:, place - 1]]).softmax(-1)
                rows[:, place] = torch.multinomial(odds, 1, generator=stream)[:, 0]
            self._drawn[seed] = rows
        return self._drawn[seed]


class Net(nn.Module):
    """Two symbols in, logits of the next out: an embedding, two layers and a head."""

    def __init__(self, symbols: int, width: int = 32, inner: int = 64):
        super().__init__()
        self.embedding = nn.Embedding(symbols, width)
        self.layers = nn.ModuleList([nn.Linear(2 * width, inner), nn.Linear(inner, inner)])
        self.head = nn.Linear(inner, symbols)

    def forward(self, pairs: Tensor) -> Tensor:
        x = self.embedding(pairs).flatten(-2)
        for layer in self.layers:
            x = torch.relu(layer(x))
        return self.head(x)
