"""The shape of a decoder, and what follows from it: parameters, floating-point operations, bytes. No torch here."""

from __future__ import annotations

import msgspec


class DecoderConfig(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A decoder in the manner of Llama: RMSNorm first, rotary positions, grouped-query attention, SwiGLU.

    Touvron et al., "Llama 2" (arXiv 2307.09288) · Ainslie et al., "GQA" (arXiv 2305.13245) · Su et al., "RoFormer"
    (arXiv 2104.09864) · Shazeer, "GLU variants improve Transformer" (arXiv 2002.05202).
    """

    vocabulary: int
    layers: int = 2
    hidden: int = 64
    heads: int = 4
    kv_heads: int = 2
    """Heads of keys and values, each shared by `heads / kv_heads` heads of queries."""
    feed_forward: int = 176
    context: int = 128
    """The most tokens of a sequence."""
    rope_theta: float = 10_000.0
    norm_eps: float = 1e-5
    tied: bool = False
    """Whether the head's weights are those of the embedding."""

    def __post_init__(self) -> None:
        for name in ("vocabulary", "layers", "hidden", "heads", "kv_heads", "feed_forward", "context"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name} is {getattr(self, name)}: a decoder has at least 1")
        if self.hidden % self.heads:
            raise ValueError(f"{self.heads} heads don't share a width of {self.hidden} evenly")
        if self.heads % self.kv_heads:
            raise ValueError(
                f"{self.kv_heads} heads of keys and values aren't shared evenly by {self.heads} of queries"
            )
        if self.hidden // self.heads % 2:
            raise ValueError(
                f"a head is {self.hidden // self.heads} wide: rotary positions turn pairs, it must be even"
            )

    @property
    def head(self) -> int:
        """The width of one head."""
        return self.hidden // self.heads

    @property
    def layer_parameters(self) -> int:
        """Parameters of one layer: four projections of attention, three of the feed-forward part, two norms."""
        attention = 2 * self.hidden * self.hidden + 2 * self.hidden * self.kv_heads * self.head
        return attention + 3 * self.hidden * self.feed_forward + 2 * self.hidden

    @property
    def parameters(self) -> int:
        """All parameters; tied weights count once."""
        outside = self.vocabulary * self.hidden * (1 if self.tied else 2) + self.hidden
        return self.layers * self.layer_parameters + outside

    def flops(self, tokens: int, sequence: int) -> int:
        """Floating-point operations to train on so many tokens, in sequences of a length: forward and backward.

        6 for each parameter of a matrix and token, and 12·layers·hidden·sequence a token for attention, which counts
        what the causal mask leaves out as well (Chowdhery et al., "PaLM", arXiv 2204.02311, appendix B).
        """
        norms = (2 * self.layers + 1) * self.hidden
        looked_up = 0 if self.tied else self.vocabulary * self.hidden
        matrices = self.parameters - norms - looked_up
        return tokens * (6 * matrices + 12 * self.layers * self.hidden * sequence)


PRESETS = {
    "tiny": DecoderConfig(vocabulary=259),
    "small": DecoderConfig(vocabulary=1024, layers=4, hidden=128, heads=8, kv_heads=4, feed_forward=352, context=256),
    "medium": DecoderConfig(
        vocabulary=4096, layers=8, hidden=512, heads=8, kv_heads=4, feed_forward=1408, context=1024
    ),
    "llama-7b": DecoderConfig(
        vocabulary=32000, layers=32, hidden=4096, heads=32, kv_heads=32, feed_forward=11008, context=4096
    ),
}
"""Shapes by name: the first two train on a laptop in a minute, the last is Llama 2's."""
