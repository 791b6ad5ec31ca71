"""What a layer with an adapter takes on GPUs that nobody has measured: bounds of arithmetic, memory and links.

Williams et al., "Roofline" (CACM 52(4), 2009): a kernel takes what its arithmetic or its bytes take, whichever is more.
Matrices are computed in tiles, as many at once as there are multiprocessors (NVIDIA, "Matrix Multiplication Background
User's Guide", DU-09799-001, chapter 3), so narrow parts of matrices use less of a GPU. The base is frozen: its matrices
give gradients of inputs alone. Layers are split by columns and rows with sequences split in between (Korthikanti et
al., arXiv 2205.05198), attention keeps no matrix (Dao, "FlashAttention-2", arXiv 2307.08691: 2.5 forwards a backward).
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from couler_py.steps.lora.planning.costs import Costs, Sample, fit
from couler_py.steps.models.config import DecoderConfig

WIDTH = 2
"""Bytes of a number in bfloat16."""
TILE = (256, 128)
"""Rows and columns of the largest tile of cuBLAS."""
COLLECTIVES = 8
"""Of a layer, forward and backward: before and after attention and the feed-forward part."""
PASSES = 8
"""Of a token's vector through memory in what is no matrix, forward: two norms, two sums, turning, the gate (reads and
writes, kernels fused where torch.compile does). A backward reads and writes twice as much."""
ROWS = (1, 2, 4, 8, 16, 32)
LENGTHS = (128, 256, 512, 1024, 2048, 4096, 8192, 16384)


class Device(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A kind of GPU, by its data sheet, and which shares of that kernels reach."""

    matrix: float
    """Operations a second in matrices of bfloat16."""
    memory: float
    """Bytes a second."""
    link: float
    """Bytes a second to other GPUs of a machine, in one direction."""
    network: float
    """Bytes a second of one GPU to other machines, in one direction."""
    units: int = 108
    node: int = 8
    """GPUs of a machine."""
    matrix_share: float = 0.85
    """Of full tiles: CUTLASS reaches 0.8 to 0.9 of an A100's peak in large products (github.com/NVIDIA/cutlass)."""
    memory_share: float = 0.85
    """Of copies and sums: BabelStream reaches 0.85 to 0.9 on an A100 (github.com/UoB-HPC/BabelStream)."""
    link_share: float = 0.78
    """Of large messages: about 235 GB/s of 300 among eight A100 (github.com/NVIDIA/nccl-tests)."""
    launch: float = 4.5e-6
    """Seconds until a kernel is started, assumed; the host starts one while another runs."""
    base: float = 8.4e-6
    hop: float = 3.4e-6
    network_hop: float = 14.0e-6
    """Latencies of a ring, at its start and for each rank (NCCL, src/graph/tuning.cc, protocol Simple)."""


A100_40GB = Device(312e12, 1555e9, 300e9, 25e9)
"""NVIDIA A100 data sheet: 312 teraflops, 1,555 GB/s, NVLink 600 GB/s both ways; DGX A100: 200 Gb/s of network a GPU."""
A800_80GB = Device(312e12, 2039e9, 200e9, 25e9)
"""As an A100 with 80 GB, and NVLink 400 GB/s both ways (NVIDIA A800 data sheet)."""


def layer_time(config: DecoderConfig, device: Device, tensor: int, rows: int, length: int, rank: int = 16) -> float:
    """Seconds of one layer, forward and backward, for rows of a length on so many ranks, all matrices with adapters.

    Raises `ValueError` for more ranks than heads.
    """
    if not 1 <= tensor <= config.heads:
        raise ValueError(f"{config.heads} heads on {tensor} ranks: each has at least one")
    tokens = rows * length
    wide, narrow, fed = config.hidden, config.kv_heads * config.head, config.feed_forward
    columns = [(wide + 2 * max(narrow, config.head * tensor), wide), (2 * fed, wide)]
    lines = [(wide, wide), (wide, fed)]
    total, kernels = 0.0, 0
    shapes = [(out / tensor, into) for out, into in columns] + [(out, into / tensor) for out, into in lines]
    for out, into in shapes:
        total += _matrix(device, tokens, out, into) + _matrix(device, tokens, into, out)
        total += _adapter(device, tokens, out, into, rank)
        kernels += 8
    # Queries times keys and scores times values, the causal half; 2.5 times that backward.
    total += 3.5 * 2 * tokens * length * wide / tensor / (device.matrix * device.matrix_share)
    moved = 3 * PASSES * tokens * (wide + fed) / 2 * WIDTH / tensor
    total += moved / (device.memory * device.memory_share)
    kernels += 2 + 3 * PASSES // 2
    return max(total, kernels * device.launch) + COLLECTIVES * _collective(device, tensor, tokens * wide * WIDTH)


def roofline(
    config: DecoderConfig, device: Device, tensors: Sequence[int], rank: int = 16, most: int = 16384
) -> tuple[Costs, float]:
    """Costs of a model as `fit` gives them for measures, and the largest error of the fit as a share.

    It is fitted to micro-batches of at most `most` tokens a group. Needs SciPy.
    """
    samples = [
        Sample(tensor, rows, length, layer_time(config, device, tensor, rows, length, rank))
        for tensor in tensors
        for rows in ROWS
        for length in LENGTHS
        if rows * length <= most
    ]
    found = fit(samples)
    return Costs(config.layers, {tensor: tau for tensor, (tau, _) in found.items()}), max(
        worst for _, worst in found.values()
    )


def _matrix(device: Device, m: float, n: float, k: float) -> float:
    """A product of (m, k) and (k, n): its tiles on all units, one for each at least, or its bytes."""
    waves = max(1.0, m * n / (TILE[0] * TILE[1] * device.units))
    arithmetic = waves * device.units * TILE[0] * TILE[1] * 2 * k / (device.matrix * device.matrix_share)
    moved = WIDTH * (m * k + k * n + m * n)
    return max(arithmetic, moved / (device.memory * device.memory_share))


def _adapter(device: Device, tokens: float, out: float, into: float, rank: int) -> float:
    """An adapter beside a matrix, bound by memory: it reads inputs, and adds to outputs; backward both, twice."""
    forward = into + 2 * out + 2 * rank
    backward = 2 * out + into + 2 * into + 4 * rank
    return WIDTH * tokens * (forward + backward) / (device.memory * device.memory_share)


def _collective(device: Device, ranks: int, size: float) -> float:
    """Gathering parts of so many bytes together, or adding and scattering them, around a ring."""
    if ranks == 1:
        return 0.0
    machines = -(-ranks // device.node)
    speed, hops = device.link, (ranks - machines) * device.hop
    if machines > 1:
        # Every GPU has a network card of its own, and rings go out by different ones.
        speed = min(speed, device.network * device.node)
        hops += machines * device.network_hop
    return device.base + hops + size * (ranks - 1) / ranks / (speed * device.link_share)
