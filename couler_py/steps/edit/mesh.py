"""Replicas and shards as a device mesh."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from torch.distributed import DeviceMesh

REPLICAS, SHARDS = "sync", "shard"


def replica_mesh(replicas: int, shards: int, device: str = "cpu", patience: timedelta | None = None) -> DeviceMesh:
    """A mesh of `replicas` rows of `shards` ranks; rows are neighbours, on one node where that has so many devices.

    Shard a model over `mesh["shard"]` alone. `patience` is how long ranks wait for other replicas before they fail:
    longer than a fast replica waits for a slow one, an hour unless given.
    """
    from torch import distributed
    from torch.distributed.device_mesh import DeviceMesh

    world = distributed.get_world_size()
    if world != replicas * shards:
        raise ValueError(f"{replicas} replicas of {shards} shards are {replicas * shards} ranks, and there are {world}")
    patience = timedelta(hours=1) if patience is None else patience
    rank = distributed.get_rank()
    rows = [[row * shards + column for column in range(shards)] for row in range(replicas)]
    within = [distributed.new_group(ranks) for ranks in rows]
    between = [distributed.new_group([row[column] for row in rows], timeout=patience) for column in range(shards)]
    groups = [between[rank % shards], within[rank // shards]]
    return DeviceMesh.from_group(groups, device, rows, mesh_dim_names=(REPLICAS, SHARDS))
