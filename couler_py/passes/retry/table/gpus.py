"""What CUDA, the driver and NCCL say of broken machines and lost neighbours."""

from __future__ import annotations

from couler_py.passes.retry.pattern import Pattern

_XID = "https://docs.nvidia.com/deploy/xid-errors/"
_CUDA = "https://docs.nvidia.com/cuda/cuda-runtime-api/group__CUDART__TYPES.html"
_NCCL = "https://docs.nvidia.com/deeplearning/nccl/user-guide/docs"
_ELASTIC = "https://docs.pytorch.org/docs/stable/elastic"

ROWS = (
    Pattern(
        "gpu-driver-mismatch",
        "CUDA",
        "the driver of its node was changed under it",
        "later",
        "the node has to be restarted by whoever keeps it",
        "https://docs.nvidia.com/deploy/nvml-api/group__nvmlDeviceEnumvs.html",
        r"NVML: Driver/library version mismatch|\bnvmlErrorLibRmVersionMismatch\b|NVML_ERROR_LIB_RM_VERSION_MISMATCH",
    ),
    Pattern(
        "gpu-off-the-bus",
        "CUDA",
        "a GPU is lost (Xid 79)",
        "later",
        "the node has to be restarted or mended by whoever keeps it",
        _XID,
        r"GPU has fallen off the bus|\bGPU is lost\b|Xid[^:]*: ?(?:\S+: )?79\b",
    ),
    Pattern(
        "gpu-ecc",
        "CUDA",
        "the memory of a GPU is broken (uncorrectable ECC error)",
        "later",
        "the GPU has to be reset or replaced by whoever keeps the node",
        _XID,
        r"uncorrectable ECC error|\bcudaErrorECCUncorrectable\b|Xid[^:]*: ?(?:\S+: )?(?:48|94|95)\b",
    ),
    Pattern(
        "gpu-nvlink",
        "CUDA",
        "the link between GPUs is broken (Xid 74)",
        "later",
        "the node has to be looked at by whoever keeps it",
        _XID,
        r"\bcudaErrorNvlinkUncorrectable\b|uncorrectable NVLink error|Xid[^:]*: ?(?:\S+: )?74\b",
    ),
    Pattern(
        "gpu-not-ready",
        "CUDA",
        "the GPUs of its node weren't ready (error 802)",
        "later",
        "where it stays so, the fabric manager of the node doesn't run",
        _CUDA,
        r"(?:CUDA|[Ee]rror 802)\b.*system not yet initialized|\bcudaErrorSystemNotReady\b",
    ),
    Pattern(
        "gpu-unavailable",
        "CUDA",
        "the GPUs of its node are busy or unavailable",
        "later",
        "where it stays so, another process holds the GPU of that node",
        _CUDA,
        r"CUDA-capable device\(s\) is/are busy or unavailable|\bcudaErrorDevicesUnavailable\b",
    ),
    Pattern(
        "gpu-hardware",
        "CUDA",
        "a GPU met a hardware fault",
        "later",
        "where it stays so, the node has to be looked at by whoever keeps it",
        _CUDA,
        r"CUDA error: (?:hardware stack error|an external error)|\bcudaErrorHardwareStackError\b|"
        r"CUDA driver error: unknown error",
    ),
    Pattern(
        "nccl-remote",
        "NCCL",
        "another process of the job ended, or the network to it broke",
        "again",
        "look at the process that ended first; alone, the network is to blame",
        f"{_NCCL}/api/types.html",
        r"\bncclRemoteError\b|remote process exited or there was a network error|Connection closed by remote peer",
    ),
    Pattern(
        "nccl-system",
        "NCCL",
        "a call to the system failed inside NCCL",
        "again",
        "where it stays so, run with NCCL_DEBUG=INFO: shared memory and interfaces are what is wrong most often",
        f"{_NCCL}/troubleshooting.html",
        r"\bncclSystemError\b|NCCL .*unhandled system error|"
        r"\bncclUnhandledCudaError\b.*(?:ECC|unspecified launch failure)",
    ),
    Pattern(
        "nccl-timeout",
        "NCCL",
        "the processes of the job waited for each other in vain",
        "again",
        "once is the network or a slow node; each time at the same place is a process that doesn't take part",
        "https://github.com/NVIDIA/nccl/issues/1609",
        r"Watchdog caught collective operation timeout|ran for \d+ milliseconds before timing out",
    ),
    Pattern(
        "nccl-network",
        "NCCL",
        "the network between the nodes of the job broke",
        "again",
        "where it stays so, look at the network card of the node",
        f"{_NCCL}/troubleshooting.html",
        r"NCCL WARN .*(?:NET/(?:IB|Socket)|Call to (?:connect|recv|send)|socketPollConnect|socketProgress).*"
        r"(?:error|failed|timed out|closed|status=(?:\d|IBV_WC_))|NET/\w+ ?: ?Got completion .* with (?:error|status=)",
    ),
    Pattern(
        "elastic-rendezvous",
        "PyTorch",
        "the nodes of the job didn't meet in time",
        "later",
        "where it stays so, the cluster has no room for all nodes at once: queue it (Kueue), or give it longer",
        f"{_ELASTIC}/rendezvous.html",
        r"\bRendezvous(?:Timeout|Connection|Closed)Error\b|\bRendezvousGracefulExitError\b",
    ),
    Pattern(
        "elastic-store",
        "PyTorch",
        "the process that the others speak with is gone",
        "again",
        "look at the process of rank 0",
        f"{_ELASTIC}/errors.html",
        r"\b(?:DistStoreError|DistNetworkError)\b|\[c10d\] The client socket has (?:timed out|failed to connect)|"
        r"store->get\('?\S*'?\) got error: (?:Connection reset|Broken pipe)",
    ),
)
