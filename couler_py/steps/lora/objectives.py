"""What a job learns: from what comes next, or from what is preferred. No torch here."""

from __future__ import annotations

from typing import Literal

import msgspec

from couler_py.steps.lora.ranges import held


class SFT(msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag="sft", tag_field="type"):
    """Supervised: cross entropy of the tokens after the prompt, over the job's own tokens of a step."""


class DPO(msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag="dpo", tag_field="type"):
    """Direct preference optimization (Rafailov et al., arXiv 2305.18290), or its IPO form (Azar et al., 2310.12036)."""

    beta: float = 0.1
    loss: Literal["sigmoid", "ipo"] = "sigmoid"
    smoothing: float = 0.0
    """The part of labels that are taken for wrong (conservative DPO)."""
    reference: str = ""
    """A folder with the adapter of the reference; empty is the base."""

    def __post_init__(self) -> None:
        held("dpo", above=0, beta=self.beta)
        if not 0 <= self.smoothing < 0.5:
            raise ValueError(f"dpo: smoothing is {self.smoothing}: it is at least 0 and below 0.5")
        if self.smoothing and self.loss == "ipo":
            raise ValueError("dpo: smoothing is of the sigmoid loss; ipo has none")


class CPO(msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag="cpo", tag_field="type"):
    """Contrastive preference optimization (Xu et al., arXiv 2401.08417): no reference, and cross entropy of chosen."""

    beta: float = 0.1
    loss: Literal["sigmoid", "hinge"] = "sigmoid"

    def __post_init__(self) -> None:
        held("cpo", above=0, beta=self.beta)


Objective = SFT | DPO | CPO
