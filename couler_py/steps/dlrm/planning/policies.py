"""Who steers a simulated job: nobody (a fixed allocation that is started again), or the planner."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from couler_py.steps.dlrm.planning import instability
from couler_py.steps.dlrm.planning.allocation import Allocation, Measured, Space
from couler_py.steps.dlrm.planning.decisions import Decision
from couler_py.steps.dlrm.planning.memory import MARGIN, UNSURE, Reading, Watch, forecast
from couler_py.steps.dlrm.planning.performance import fit
from couler_py.steps.dlrm.planning.rules import RELAUNCHES
from couler_py.steps.dlrm.planning.scaling import scale
from couler_py.steps.dlrm.planning.simulator import Job

REPORT = 15.0
"""Seconds between two reports of a node, as DLRover's agents."""
CONFIRM = 3
"""Reports that show a slow or lost node before something is done about it."""
SLACK = 12
"""Reports that an alarm about memory comes before there would be no time for a server beside training."""


class Fixed:
    """One allocation from beginning to end. After a kill, and out of memory, all is started again from a checkpoint.

    That is generous: at once, without a person, and with `more` times the memory where that ran out. A job that ran out
    of memory more than `RELAUNCHES` times is given up.
    """

    def __init__(self, limit: float, more: float = 2.0, times: instability.Times = instability.Times()):
        self._limit, self._more, self._times = limit, more, times

    def begin(self, job: Job) -> None:
        """Give the servers their memory."""
        job.limit = self._limit

    def slow(self, job: Job, worker: int) -> None:
        """Nobody looks."""

    def lost_worker(self, job: Job, worker: int) -> None:
        """Start all again."""
        self.lost_server(job)

    def lost_server(self, job: Job) -> None:
        """Start all again, and so none on the node that was slow."""
        job.relaunches += 1
        for worker in range(len(job.speeds)):
            job.replace(worker)
        job.back()
        job.pause(self._times.begin + self._times.load)
        job.say("all is started again")

    def full(self, job: Job) -> None:
        """Start all again with more memory, or give up."""
        job.failed = job.ooms > RELAUNCHES
        job.limit *= self._more
        self.lost_server(job)


class Elastic:
    """The planner: probes allocations where it knows too little, moves to the best, and acts before nodes are full.

    `known` are measures of earlier jobs, and `probes` are allocations to measure first. A probe costs what a move does:
    new nodes start beside training, then all pause. Without a space the allocation stays, and only trouble is looked
    after.
    """

    def __init__(
        self,
        space: Space | None,
        limit: float,
        *,
        known: Sequence[Measured] = (),
        probes: Sequence[Allocation] = (),
        noise: float = 0.05,
        seed: int = 0,
        times: instability.Times = instability.Times(),
    ):
        self._space, self._limit, self._times, self._noise = space, limit, times, noise
        self._drawn = np.random.default_rng(seed)
        self._measured, self._probes = list(known), list(probes)
        self._readings: list[Reading] = []
        self._moving = False
        self._watch = Watch(limit, self._lead)
        self.decisions: list[Decision] = []

    @property
    def _lead(self) -> int:
        """Reports that a new server with more memory takes, and `SLACK`."""
        return round((self._times.begin + self._times.quick_save) / REPORT) + SLACK

    def begin(self, job: Job) -> None:
        """Give the servers their memory, plan or probe, and listen to reports."""
        job.limit = self._limit
        job.after(REPORT, lambda: self._report(job))
        if self._probes:
            self._probe(job)
        else:
            self._chosen(job)

    def _probe(self, job: Job) -> None:
        """Train under what there is while the next allocation's nodes start, measure, and go on."""

        def measured() -> None:
            seconds = job.world.load.batch / job.worker_rate
            noisy = seconds * max(0.1, 1 + self._noise * float(self._drawn.standard_normal()))
            self._measured.append(Measured(job.allocation, job.world.load, noisy))
            if self._probes:
                self._moved(job, self._probes.pop(0))
                self._probe(job)
            else:
                self._chosen(job)

        job.after(self._times.begin, measured)

    def _chosen(self, job: Job) -> None:
        if self._space is None:
            return
        found = scale(
            fit(self._measured), job.world.load, self._space, current=job.allocation,
            moving=lambda new: self._pause(job, new), left=(job.world.rows - job.done) / max(job.rate, 1e-9),
        )  # fmt: skip
        self.decisions.append(found.decision)
        if found.allocation.point == job.allocation.point:
            return
        if job.now > 0:  # its nodes start beside training
            job.after(self._times.begin, lambda: self._moved(job, found.allocation))
        else:
            self._moved(job, found.allocation)

    def _pause(self, job: Job, new: Allocation) -> float:
        """Seconds without training that a move of a running job takes: where servers change, the state moves."""
        changed = new.servers != job.allocation.servers or new.server_cores != job.allocation.server_cores
        return self._times.quick_save + self._times.quick_load if job.now > 0 and changed else 0.0

    def _moved(self, job: Job, allocation: Allocation) -> None:
        job.say(f"moves to {allocation}")
        pause = self._pause(job, allocation)
        if pause:
            job.pause(pause)
        job.move(allocation)
        job.save()

    def slow(self, job: Job, worker: int) -> None:
        """Replace the worker, where that ends sooner."""
        job.after(CONFIRM * REPORT, lambda: self._decided(job, "slow worker", worker))

    def lost_worker(self, job: Job, worker: int) -> None:
        """Its shard is somebody else's at once; another worker comes."""
        job.after(CONFIRM * REPORT, lambda: self._decided(job, "lost worker", worker))

    def _decided(self, job: Job, trouble: instability.Trouble, worker: int) -> None:
        if worker >= len(job.speeds) or job.speeds[worker] == 1.0:
            return  # another allocation has come in between
        healthy = job.worker_rate * len(job.speeds)
        left = job.world.rows - job.done
        way, decision = instability.decide(trouble, left=left, now=job.rate, healthy=healthy, times=self._times)
        self.decisions.append(decision)
        job.say(way.name)
        if way.beside:
            job.after(way.beside, lambda: job.replace(worker) if worker < len(job.speeds) else None)

    def lost_server(self, job: Job) -> None:
        """Another server, with what the newest checkpoint has."""
        job.relaunches += 1
        left, rate = job.world.rows - job.done, job.rate
        job.back()
        lost = job.world.rows - job.done - left
        way, decision = instability.decide(
            "lost server", left=left, now=0.0, healthy=max(rate, 1e-9), lost=lost, times=self._times
        )
        self.decisions.append(decision)
        job.pause(way.pause)
        job.say(way.name)

    def full(self, job: Job) -> None:
        """Too late: as for whom nobody watches."""
        job.failed = job.ooms > RELAUNCHES
        job.limit *= 2
        job.relaunches += 1
        job.back()
        job.pause(self._times.begin + self._times.quick_load)

    def _report(self, job: Job) -> None:
        job.after(REPORT, lambda: self._report(job))
        self._readings.append(Reading(job.done, job.need * (1 + 0.005 * float(self._drawn.standard_normal()))))
        alarm = self._watch.report(self._readings[-1].bytes)
        if alarm is None or self._moving:
            return
        distinct = [each for n, each in enumerate(self._readings) if n == 0 or each.rows > self._readings[n - 1].rows]
        foretold = forecast(distinct, job.world.rows, margin=0.0).peak if len(distinct) > 1 else 2 * job.limit
        if foretold * (1 + UNSURE) <= job.limit:
            return  # the job ends before
        needed = foretold * (1 + MARGIN)
        left = job.world.rows - job.done
        way, decision = instability.decide(
            "filling server", left=left, now=job.rate, healthy=job.rate, times=self._times,
            until_full=alarm.reports_left * REPORT,
        )  # fmt: skip
        self.decisions.append(decision)
        job.say(f"a server will be full in {alarm.reports_left:.0f} reports; all get {needed / 2**30:.1f} GiB instead")
        self._moving = True

        def moved() -> None:
            self._moving = False
            job.pause(way.pause)
            job.limit = max(job.limit, needed)
            self._watch = Watch(job.limit, self._lead)

        job.after(way.beside, moved)
