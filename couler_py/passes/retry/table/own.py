"""What looks like the platform's and lies with the step: no attempt more helps, but there is something to say."""

from __future__ import annotations

from couler_py.passes.retry.pattern import Pattern

_CUDA = "https://docs.nvidia.com/cuda/cuda-runtime-api/group__CUDART__TYPES.html"
_CODES = "https://docs.aws.amazon.com/AmazonS3/latest/API/ErrorResponses.html"


def _own(name: str, system: str, title: str, advice: str, source: str, message: str) -> Pattern:
    return Pattern(name, system, title, "no", advice, source, message, own=True)


ROWS = (
    _own(
        "own-cuda-memory",
        "CUDA",
        "it needs more memory than its GPU has",
        "use a smaller batch, or a GPU with more memory",
        "https://docs.pytorch.org/docs/stable/notes/cuda.html#memory-management",
        r"CUDA out of memory|CUDA error: out of memory|\bCUDA_ERROR_OUT_OF_MEMORY\b",
    ),
    _own(
        "own-cuda-assert",
        "CUDA",
        "an assertion in a kernel failed, as for an index beyond the end",
        "run it with CUDA_LAUNCH_BLOCKING=1, or on a processor, to see where",
        _CUDA,
        r"device-side assert triggered|"
        r"CUDA error: (?:an illegal memory access|misaligned address|invalid device ordinal)",
    ),
    _own(
        "own-cuda-driver",
        "CUDA",
        "its image is made for a newer driver than the node has",
        "use an image for an older CUDA",
        "https://docs.nvidia.com/deploy/cuda-compatibility/",
        r"driver version is insufficient for CUDA runtime version|no kernel image is available for execution",
    ),
    _own(
        "own-nccl-usage",
        "NCCL",
        "the processes of the job called NCCL in ways that don't fit",
        "each has to make the same calls, on a GPU of its own",
        "https://docs.nvidia.com/deeplearning/nccl/user-guide/docs/api/types.html",
        r"\bncclInvalid(?:Usage|Argument)\b|Duplicate GPU detected",
    ),
    _own(
        "own-access",
        "S3",
        "the store doesn't let it in",
        "look at the credentials, and at what they allow",
        _CODES,
        r"\((?:AccessDenied|403|InvalidAccessKeyId|SignatureDoesNotMatch|AllAccessDisabled)\) when calling|"
        r"\bNoCredentialsError\b",
    ),
    _own(
        "own-no-object",
        "S3",
        "there is no such bucket or object",
        "look at the name, and at the step that should have written it",
        _CODES,
        r"\((?:NoSuchKey|NoSuchBucket|404)\) when calling",
    ),
    _own(
        "own-module",
        "Python",
        "a module isn't in its image",
        "name it in packages=, or bring your own by include=",
        "https://docs.python.org/3/library/exceptions.html#ModuleNotFoundError",
        r"\bModuleNotFoundError: ",
    ),
    _own(
        "own-memory",
        "Python",
        "it asked for more memory than there is",
        "give the step more memory (`memory=`), or read less at once",
        "https://docs.python.org/3/library/exceptions.html#MemoryError",
        r"^(?:[\w.]*\.)?_?(?:Array)?MemoryError\b",
    ),
    _own(
        "own-segfault",
        "machine",
        "a library that it uses crashed",
        "look at versions of packages with native code; PYTHONFAULTHANDLER=1 says where",
        "https://man7.org/linux/man-pages/man7/signal.7.html",
        r"Segmentation fault \(core dumped\)|^Fatal Python error: Segmentation fault",
    ),
)
