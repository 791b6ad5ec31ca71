"""The shapes of recommenders, and presets by the names of papers. No torch here."""

from __future__ import annotations

from typing import Literal

import msgspec

Kind = Literal["dlrm", "dcn_v2", "wide_deep", "xdeepfm", "dense"]


class Shape(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What lies between the features of a row and its log-odds."""

    kind: Kind = "dlrm"
    width: int = 16
    """Numbers of an embedding."""
    bottom: tuple[int, ...] = (64, 32)
    """Layers over dense features; another to `width` follows where they meet embeddings."""
    top: tuple[int, ...] = (64, 32)
    """Layers before the last, which gives one number."""
    cross_layers: int = 3
    cross_rank: int = 32
    """Of DCNv2's low-rank layers."""
    feature_maps: tuple[int, ...] = (32, 32)
    """Of the compressed interaction network of xDeepFM, layer by layer."""

    def __post_init__(self) -> None:
        sizes = {"width": self.width, "cross_layers": self.cross_layers, "cross_rank": self.cross_rank}
        layers = (*self.bottom, *self.top, *self.feature_maps)
        if min(*sizes.values(), *layers, 1) < 1:
            raise ValueError(f"a {self.kind} whose layers are {layers}, with {sizes}: all of them are at least 1")

    @property
    def table_width(self) -> int:
        """Numbers of a table's row: with a weight for the linear part, where the kind has one."""
        return self.width + (self.kind in LINEAR)


LINEAR = ("wide_deep", "xdeepfm")
"""Kinds with a linear part over categories: its weights are the last column of the tables."""

PRESETS = {
    "dlrm": Shape(),
    "dcn-v2": Shape("dcn_v2"),
    "wide-deep": Shape("wide_deep", bottom=(), top=(128, 64)),
    "xdeepfm": Shape("xdeepfm", bottom=(), top=(128, 64)),
    "dense-only": Shape("dense", bottom=(), top=(64, 32)),
    "dlrm-kaggle": Shape(width=16, bottom=(512, 256, 64), top=(512, 256)),
    "dcn-v2-mlperf": Shape("dcn_v2", 128, (512, 256), (1024, 1024, 512, 256), 3, 512),
}
"""Shapes by name. The first four learn on a laptop; "dense-only" is what categories are worth, by comparison.

"dlrm-kaggle" is facebookresearch/dlrm's for Criteo's Kaggle set (bench/dlrm_s_criteo_kaggle.sh), "dcn-v2-mlperf" is
mlcommons/training's of recommendation_v2.
"""


def shape_of(name: str | Shape) -> Shape:
    """The shape of a name. Raises `ValueError` where there is none.

    >>> shape_of("dcn-v2").cross_rank
    32
    """
    if isinstance(name, Shape):
        return name
    if name not in PRESETS:
        raise ValueError(f"no model is called {name!r}: there are {', '.join(PRESETS)}")
    return PRESETS[name]
