"""When a replica wants a round."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import torch

    from couler_py.steps.edit.channel import Channel
    from couler_py.steps.edit.settings import Settings


class Timing:
    """Counts a replica's steps, and knows when it is due. The clock is that of the replica's first rank."""

    def __init__(self, settings: Settings, clock: Callable[[], float]):
        self._settings, self._clock = settings, clock
        self.step = 0
        """Optimizer steps of this replica."""
        self.since = 0
        """Local steps since the last round."""
        self._began = clock()
        self._asked = -1

    @property
    def synchronous(self) -> bool:
        """Whether the step that is being made averages its gradients."""
        return self._settings.synchronous(self.step)

    @property
    def elapsed(self) -> float:
        """Seconds since the last round ended."""
        return self._clock() - self._began

    def stepped(self) -> None:
        """The optimizer has made a step."""
        if not self.synchronous:
            self.since += 1
        self.step += 1

    def due(self, within: Channel, device: torch.device) -> bool:
        """Whether the replica wants a round now: asked in each forward, answered once for each step."""
        if self.synchronous or not self.since or self._asked == self.step:
            return False
        self._asked = self.step
        if self._settings.sync_every is not None:
            return self.since >= self._settings.sync_every
        most, seconds = self._settings.most_steps, self._settings.sync_seconds
        wanted = (most is not None and self.since >= most) or (seconds is not None and self.elapsed >= seconds)
        return bool(within.from_first(int(wanted), "due", device))

    def restart(self) -> None:
        """Begin to count seconds anew: a round ended, or was put off."""
        self._began = self._clock()

    def restore(self, step: int, since: int, elapsed: float) -> None:
        """Go on where a checkpoint was."""
        self.step, self.since = step, since
        self._began = self._clock() - elapsed
        self._asked = -1
