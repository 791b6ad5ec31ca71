"""One job while it is trained: its adapter, its optimizer, where it is in its data, and how it went."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import msgspec
import torch

from couler_py.steps.lora.data import Example, window, windows
from couler_py.steps.lora.losses import Share
from couler_py.steps.lora.measuring import out_of_memory
from couler_py.steps.lora.objectives import SFT
from couler_py.steps.lora.passes import Piece
from couler_py.steps.lora.progress import Progress
from couler_py.steps.lora.weights import digest_of
from couler_py.steps.models.decoder import stream

if TYPE_CHECKING:
    from couler_py.steps.lora.jobs import Job
    from couler_py.steps.lora.passes import Learned
    from couler_py.steps.lora.weights import Weights


class Tuning:
    """A job at work. What it does depends on its own settings, data and seed, never on who shares its passes."""

    def __init__(self, job: Job, samples: Sequence[Example], weights: Weights, reference: Weights | None = None):
        self.job, self.weights, self.reference = job, weights, reference
        cut = len(samples) - job.data.held_out
        self.samples, self.held_out = samples[:cut], samples[cut:]
        self.steps = windows(job, self.samples) * job.epochs
        self.progress = Progress(scale=job.scaler.initial if job.scaler else 1.0)
        self.optimizer = _optimizer(job, weights)
        self.longest = max(example.length for example in samples)
        self.origin = _origin(job, samples, weights, reference)
        """A digest of the lines and adapters that it begins with, wherever they lie."""
        self._window: tuple[int, list[Example]] = (-1, [])

    @property
    def examples(self) -> list[Example]:
        """Those of the step that it is in."""
        return self.examples_of(self.progress.step)

    def examples_of(self, step: int) -> list[Example]:
        """Those of a step."""
        if self._window[0] != step:
            self._window = (step, window(self.job, self.samples, step))
        return self._window[1]

    @property
    def state_bytes(self) -> int:
        """Bytes of parameters, gradients and what the optimizer keeps."""
        kept = 2 if self.job.optimizer.kind == "adamw" else 1
        trained = sum(each.numel() * each.element_size() for each in self.weights.parameters)
        return self.weights.size + (1 + kept) * trained + (self.reference.size if self.reference else 0)

    def piece(self) -> Piece:
        """What it brings to the next pass: some of its step's examples, and what all of the step's are divided by."""
        return self.piece_of(self.progress.step, self.progress.within)

    def piece_of(self, step: int, number: int) -> Piece:
        """One of the pieces of a step; the loss's scale is as it is now."""
        examples, begin = self.examples_of(step), number * self.job.micro
        return Piece(
            examples[begin : begin + self.job.micro],
            self.job.objective,
            self.weights,
            share_of(self.job, examples),
            self.progress.scale,
            stream(self.job.seed, f"dropout/{step}/{number}"),
            self.reference,
        )

    def pieces_of(self, step: int) -> int:
        """How many pieces a step has."""
        return -(-len(self.examples_of(step)) // self.job.micro)

    def take(self, piece: Piece, learned: Learned, loss: float) -> bool:
        """Add a pass's gradients; True where the step has all of them and `finish` is next."""
        for parameter, gradient in zip(self.weights.parameters, learned.gradients, strict=True):
            parameter.grad = gradient if parameter.grad is None else parameter.grad + gradient
        self._add(loss)
        self.progress.within += 1
        self.progress.tokens += sum(row.learned for row in piece.rows)
        return self.progress.within * self.job.micro >= len(self.examples)

    def whole(self, loss: float) -> None:
        """Note the loss of a whole step, whose gradients are in the parameters: `finish` is next."""
        self._add(loss)
        self.progress.tokens += sum(row.learned for example in self.examples for row in example.rows)

    def rewind(self) -> None:
        """Go back to the beginning of the step that it is in."""
        progress = self.progress
        for example in self.examples[: progress.within * self.job.micro]:
            progress.tokens -= sum(row.learned for row in example.rows)
        progress.within, progress.sum, progress.odd = 0, 0.0, ""
        self.optimizer.zero_grad(set_to_none=True)

    def norm(self) -> torch.Tensor:
        """The norm of this step's gradient, without the loss's scale, on the device."""
        gradients = [parameter.grad for parameter in self.weights.parameters if parameter.grad is not None]
        return torch.nn.utils.get_total_norm(gradients) / self.progress.scale

    def finish(self, norm: float) -> str:
        """Move by this step's gradient, clipped to the job's own norm; gives why the job can't go on, or nothing."""
        job, progress = self.job, self.progress
        problem = ""
        if math.isfinite(norm):
            problem = self._move(norm)
            if not problem:
                progress.losses.append(progress.sum)
        elif job.scaler and progress.scale > 1:
            progress.scale, progress.good = max(1.0, progress.scale / 2), 0
        else:
            problem = (
                f"the gradient of step {progress.step + 1} is {norm}, its loss {progress.odd or progress.sum}: "
                "look at its data, or take a lower learning rate"
            )
        self.optimizer.zero_grad(set_to_none=True)
        progress.step, progress.within, progress.sum, progress.odd = progress.step + 1, 0, 0.0, ""
        return problem

    def evaluate_now(self) -> bool:
        """Whether held-out lines are looked at after this step."""
        if not self.held_out:
            return False
        stop = self.job.stop
        return self.progress.step >= self.steps or (stop is not None and self.progress.step % stop.every == 0)

    def look(self, loss: float) -> str:
        """Note the loss on held-out lines; gives why the job can't go on, or nothing."""
        if not math.isfinite(loss):
            return f"its loss on held-out lines is {loss} after step {self.progress.step}: take a lower learning rate"
        self.progress.seen.append((self.progress.step, loss))
        return ""

    def worn_out(self) -> bool:
        """Whether the loss on held-out lines has stopped falling."""
        stop, seen = self.job.stop, [loss for _, loss in self.progress.seen]
        if stop is None or len(seen) <= stop.patience:
            return False
        before, since = min(seen[: -stop.patience]), min(seen[-stop.patience :])
        return not since < before - stop.least

    def move_to(self, device: torch.device | str) -> None:
        """Take the adapter and the optimizer's numbers elsewhere: to the host's memory while others are at work."""
        for tensor in (*self.weights.parameters, *(self.reference.parameters if self.reference else ())):
            tensor.data = tensor.data.to(device)
            if tensor.grad is not None:
                tensor.grad.data = tensor.grad.data.to(device)
        self.weights.frozen = {name: tensor.to(device) for name, tensor in self.weights.frozen.items()}
        if self.reference:
            self.reference.frozen = {name: tensor.to(device) for name, tensor in self.reference.frozen.items()}
        for state in self.optimizer.state.values():
            for name, tensor in state.items():
                if name != "step":  # AdamW counts on the host
                    state[name] = tensor.to(device)

    def _add(self, loss: float) -> None:
        if math.isfinite(loss):
            self.progress.sum += loss
        else:
            self.progress.odd = str(loss)

    def _move(self, norm: float) -> str:
        """A step of the optimizer; gives why it can't be made, or nothing. A job that ends here ends half moved."""
        job, progress = self.job, self.progress
        factor = 1 / progress.scale
        if job.clip is not None and norm > job.clip:
            factor *= job.clip / norm
        if factor != 1:
            for parameter in self.weights.parameters:
                if parameter.grad is not None:
                    parameter.grad *= factor
        rate = job.schedule.rate(progress.step, self.steps, job.optimizer.lr)
        for group in self.optimizer.param_groups:
            group["lr"] = rate * group["times"]
        try:
            self.optimizer.step()
        except (RuntimeError, MemoryError, OverflowError) as problem:
            if out_of_memory(problem):
                return f"memory ends where the optimizer makes step {progress.step + 1} ({problem})"
            if "overflow" not in str(problem):
                raise
            # What a rate is divided and multiplied by is a number of Python, and more than the weights' type may hold.
            return (
                f"step {progress.step + 1} can't be made at a rate of {rate:g} ({problem}): take a lower learning rate"
            )
        progress.moved += 1
        progress.good += 1
        if job.scaler and progress.good >= job.scaler.growth:
            progress.scale, progress.good = progress.scale * 2, 0
        return ""


def share_of(job: Job, examples: Sequence[Example]) -> Share:
    """What the losses of some examples are divided by when they are all that there are."""
    first = slice(None) if isinstance(job.objective, SFT) else slice(0, 1)
    tokens = sum(row.learned for example in examples for row in example.rows[first])
    return Share(tokens, 0 if isinstance(job.objective, SFT) else len(examples))


def _origin(job: Job, samples: Sequence[Example], weights: Weights, reference: Weights | None) -> str:
    digest = hashlib.blake2b(msgspec.msgpack.encode(samples), digest_size=16)
    for given in (weights if job.adapter.start else None, reference):
        digest.update((digest_of(given.trained) if given else "").encode())
    return digest.hexdigest()


def _optimizer(job: Job, weights: Weights) -> Any:
    chosen, groups = job.optimizer, weights.groups(job.optimizer)
    if chosen.kind == "sgd":
        return torch.optim.SGD(groups, lr=chosen.lr, momentum=chosen.momentum, weight_decay=chosen.weight_decay)
    return torch.optim.AdamW(groups, lr=chosen.lr, betas=chosen.betas, eps=chosen.eps, weight_decay=chosen.weight_decay)
