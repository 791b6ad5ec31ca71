"""Recommenders over dense features and pooled embeddings: DLRM, DCNv2, Wide & Deep, xDeepFM, and one without tables.

Naumov et al., "Deep Learning Recommendation Model for Personalization and Recommendation Systems" (arXiv 1906.00091) ·
Wang et al., "DCN V2" (arXiv 2008.13535), low-rank layers before the top · Cheng et al., "Wide & Deep Learning for
Recommender Systems" (arXiv 1606.07792) · Lian et al., "xDeepFM" (arXiv 1803.05170), equations 6 to 8.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import TYPE_CHECKING

import torch
from torch import Tensor, nn

from couler_py.steps.dlrm.shapes import LINEAR

if TYPE_CHECKING:
    from couler_py.steps.dlrm.shapes import Shape


def build(shape: Shape, dense: int, features: int, seed: int = 0, dtype: torch.dtype = torch.float32) -> Recommender:
    """A model with `dense` and `features` columns of each kind; the seed alone says what it begins with.

    Weights and biases are uniform in ±1/sqrt(numbers that go in), as torch's linear layers have them.
    """
    model = Recommender(shape, dense, features)
    stream = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for module in model.modules():
            own = list(module.parameters(recurse=False))
            for parameter in own:
                into = own[0] if parameter.dim() == 1 else parameter
                parameter.uniform_(-1, 1, generator=stream).mul_(into[0].numel() ** -0.5)
    return model.to(dtype)


class Recommender(nn.Module):
    """Log-odds [samples] of dense features [samples, dense] and embeddings [samples, features, `shape.table_width`].

    Dense features are what they are: whoever prepares data takes logarithms.
    """

    def __init__(self, shape: Shape, dense: int, features: int):
        super().__init__()
        self.shape, self.dense, self.features = shape, dense, features
        width = shape.width
        met = shape.kind in ("dlrm", "dcn_v2")
        self.bottom = layers((dense, *shape.bottom, width), last=True) if met else nn.Identity()
        everything = width * (features + 1) if met else dense + width * features
        if shape.kind == "dlrm":
            into = width + (features + 1) * features // 2
        else:
            into = dense if shape.kind == "dense" else everything
        self.cross = nn.ModuleList(
            Cross(everything, shape.cross_rank) for _ in range(shape.cross_layers if shape.kind == "dcn_v2" else 0)
        )
        self.interaction = Compressed(features, shape.feature_maps) if shape.kind == "xdeepfm" else None
        self.wide = nn.Linear(dense, 1) if shape.kind in LINEAR else None
        self.top = layers((into, *shape.top, 1))

    def forward(self, dense: Tensor, embedded: Tensor) -> Tensor:
        """The log-odds."""
        kind, width = self.shape.kind, self.shape.width
        if kind == "dense":
            return self.top(dense)[:, 0]
        vectors = embedded[:, :, :width]
        if kind == "dlrm":
            below = self.bottom(dense)
            together = torch.cat([below[:, None], vectors], 1)
            dots = torch.bmm(together, together.transpose(1, 2))
            row, column = torch.tril_indices(self.features + 1, self.features + 1, -1, device=dots.device)
            return self.top(torch.cat([below, dots[:, row, column]], 1))[:, 0]
        first = self.bottom(dense)
        x = together = torch.cat([first, vectors.flatten(1)], 1)
        for layer in self.cross:
            x = layer(together, x)
        logits = self.top(x)[:, 0]
        if self.wide is not None:
            logits = logits + self.wide(dense)[:, 0] + embedded[:, :, width].sum(1)
        if self.interaction is not None:
            logits = logits + self.interaction(vectors)
        return logits


class Cross(nn.Module):
    """x0 ∘ (W(Vx) + b) + x: equation 2 of DCN V2, with its matrix of low rank."""

    def __init__(self, width: int, rank: int):
        super().__init__()
        self.down = nn.Linear(width, rank, bias=False)
        self.up = nn.Linear(rank, width)

    def forward(self, first: Tensor, x: Tensor) -> Tensor:
        """One more degree of crosses."""
        return first * self.up(self.down(x)) + x


class Compressed(nn.Module):
    """The compressed interaction network: each layer crosses the one before with the embeddings, number by number."""

    def __init__(self, features: int, maps: Sequence[int]):
        super().__init__()
        sizes = (features, *maps)
        self.weights = nn.ParameterList(
            nn.Parameter(torch.empty(new, old, features)) for old, new in itertools.pairwise(sizes)
        )
        self.out = nn.Linear(sum(maps), 1)

    def forward(self, vectors: Tensor) -> Tensor:
        """What crosses add to the log-odds."""
        x, pooled = vectors, []
        for weight in self.weights:
            x = torch.einsum("nid,njd,hij->nhd", x, vectors, weight)
            pooled.append(x.sum(2))
        return self.out(torch.cat(pooled, 1))[:, 0]


def layers(sizes: Sequence[int], *, last: bool = False) -> nn.Sequential:
    """Linear layers with ReLU between them, and behind the last where it is said."""
    found: list[nn.Module] = []
    for number, (before, after) in enumerate(itertools.pairwise(sizes)):
        found.append(nn.Linear(before, after))
        if last or number < len(sizes) - 2:
            found.append(nn.ReLU())
    return nn.Sequential(*found)
