"""What a job learns from, normalised by the job's own tokens or pairs of a whole step, never by its neighbours'."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from torch.nn import functional

from couler_py.steps.lora.objectives import CPO, DPO, SFT

if TYPE_CHECKING:
    from torch import Tensor

    from couler_py.steps.lora.objectives import Objective


class Share(NamedTuple):
    """What a step's loss is divided by, whatever pieces its examples come in."""

    tokens: int
    """Targets of all rows; of the chosen ones alone where rows are pairs."""
    pairs: int = 0


def loss_of(objective: Objective, losses: Tensor, reference: Tensor | None, share: Share) -> Tensor:
    """The part of a step's loss that some rows are.

    `losses` are -log p of each target, of shape (rows, sequence), 0 where there is none; chosen rows come before the
    rejected ones. `reference` are those of DPO's reference, for the same rows.
    """
    match objective:
        case SFT():
            return losses.sum() / share.tokens
        case DPO():
            assert reference is not None
            policy, other = -losses.sum(1), -reference.sum(1)
            return dpo(objective, *policy.chunk(2), *other.chunk(2)).sum() / share.pairs
        case CPO():
            chosen, rejected = (-losses.sum(1)).chunk(2)
            likely = losses.chunk(2)[0].sum() / share.tokens
            return cpo(objective, chosen, rejected).sum() / share.pairs + likely


def dpo(objective: DPO, chosen: Tensor, rejected: Tensor, ref_chosen: Tensor, ref_rejected: Tensor) -> Tensor:
    """The loss of each pair, from summed log-probabilities of shape (pairs,).

    With z how much more than the reference the policy prefers what was chosen: -(1-e) log σ(βz) - e log σ(-βz), where e
    is the part of wrong labels, or (z - 1/(2β))².
    """
    z = (chosen - rejected) - (ref_chosen - ref_rejected)
    if objective.loss == "ipo":
        return (z - 1 / (2 * objective.beta)).square()
    right, wrong = functional.logsigmoid(objective.beta * z), functional.logsigmoid(-objective.beta * z)
    return -(1 - objective.smoothing) * right - objective.smoothing * wrong


def cpo(objective: CPO, chosen: Tensor, rejected: Tensor) -> Tensor:
    """The preference of each pair, without the cross entropy: -log σ(βz), or max(0, 1 - βz)."""
    z = objective.beta * (chosen - rejected)
    return functional.relu(1 - z) if objective.loss == "hinge" else -functional.logsigmoid(z)
