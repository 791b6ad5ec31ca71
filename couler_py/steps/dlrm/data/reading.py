"""Batches for training: which rows, in which order, read ahead by a thread."""

from __future__ import annotations

import queue
import threading
from collections.abc import Iterable, Iterator, Sequence
from typing import TypeVar

import numpy as np

from couler_py.steps.dlrm.data.mixing import permuted
from couler_py.steps.dlrm.data.rows import Array
from couler_py.steps.dlrm.data.shards import Batch, Dataset
from couler_py.steps.dlrm.sharding.messages import Lease, Piece

Item = TypeVar("Item")


def batches(
    dataset: Dataset, ranges: Iterable[tuple[int, int]], size: int, *, shuffle: tuple[object, ...] | None = None
) -> Iterator[Batch]:
    """Batches of so many rows, from ranges of rows; no batch spans two ranges, and the last of one may be shorter.

    With `shuffle`, a seed, the rows of a range are permuted: the same seed and range, the same order. Memory holds one
    range. Raises `ValueError` for batches without rows.
    """
    if size < 1:
        raise ValueError(f"batches of {size} rows: there is at least 1")
    for start, stop in ranges:
        if shuffle is None:
            for first in range(start, stop, size):
                yield dataset.take(first, min(stop, first + size))
            continue
        block = dataset.take(start, stop)
        order = permuted(start, stop - start, *shuffle)
        for first in range(0, stop - start, size):
            yield _chosen(block, order[first : first + size])


def _chosen(block: Batch, rows: Array) -> Batch:
    return Batch(*(column.take(rows, axis=0) for column in block))


class Pieces:
    """Reads parts of shards in the order of training, as a master of shards hands them out.

    With a seed the rows of a shard are permuted, anew in each epoch; memory holds the last shard. Without one they come
    as they lie. The same seed, the same rows, whoever reads them.
    """

    def __init__(self, dataset: Dataset, seed: int | None = None):
        self._dataset, self._seed = dataset, seed
        self._shard: tuple[int, int, int] | None = None
        self._block: Batch | None = None
        self._order: Array = np.empty(0, np.int64)

    def take(self, epoch: int, start: int, stop: int, first: int, last: int) -> Batch:
        """Of the shard from row `start` to `stop`, the rows from `first` to `last` in the order of training."""
        if self._seed is None:
            return self._dataset.take(start + first, start + last)
        if self._block is None or self._shard != (epoch, start, stop):
            self._block, self._shard = self._dataset.take(start, stop), (epoch, start, stop)
            self._order = permuted(start, stop - start, self._seed, "epoch", epoch)
        return _chosen(self._block, self._order[first:last])

    def leased(self, lease: Lease, size: int) -> Iterator[tuple[Batch, int]]:
        """The batches of a shard that are left, each with the cursor to report when it has been trained on."""
        for first in range(lease.cursor, lease.rows, size):
            last = min(lease.rows, first + size)
            yield self.take(lease.epoch, lease.start, lease.stop, first, last), last

    def drawn(self, pieces: Sequence[Piece]) -> Batch:
        """What a rank has drawn for a step, as one batch. Raises `ValueError` where it has drawn nothing."""
        if not pieces:
            raise ValueError("a batch of no pieces: the training is over for this rank")
        parts = [self.take(each.epoch, each.start, each.stop, each.first, each.last) for each in pieces]
        return Batch(*(np.concatenate(columns) for columns in zip(*parts, strict=True)))


class _Raised:
    def __init__(self, error: BaseException):
        self.error = error


_END = object()


def ahead(items: Iterable[Item], depth: int = 4) -> Iterator[Item]:
    """The same items, of which so many are made by a thread before they are asked for.

    What raises there is raised here, after the items before it. The thread ends with the iterator.
    """
    ready: queue.Queue[object] = queue.Queue(depth)
    over = threading.Event()

    def put(item: object) -> bool:
        while not over.is_set():
            try:
                ready.put(item, timeout=0.1)
            except queue.Full:
                continue
            return True
        return False

    def work() -> None:
        try:
            for item in items:
                if not put(item):
                    return
            put(_END)
        except BaseException as error:  # whatever it is: the reader is who has to hear of it
            put(_Raised(error))

    thread = threading.Thread(target=work, name="reading ahead", daemon=True)
    thread.start()
    try:
        while (item := ready.get()) is not _END:
            if isinstance(item, _Raised):
                raise item.error
            yield item  # type: ignore[misc]
    finally:
        over.set()
        thread.join()
