"""What a machine itself says: its network, its disks, and programs that are ended from outside."""

from __future__ import annotations

from couler_py.passes.retry.pattern import Pattern

_ERRNO = "https://man7.org/linux/man-pages/man3/errno.3.html"
_SIGNALS = "https://man7.org/linux/man-pages/man7/signal.7.html"
_RESOLVE = "https://man7.org/linux/man-pages/man3/getaddrinfo.3.html"

ROWS = (
    Pattern(
        "machine-disk-full",
        "machine",
        "the disk is full",
        "no",
        "make room (`couler gc` on this machine), or give the step a volume of its own",
        _ERRNO,
        r"\[Errno 28\]|No space left on device|^no space left in ",
    ),
    Pattern(
        "machine-shm",
        "machine",
        "the shared memory of its container is used up",
        "no",
        "mount a volume in memory at /dev/shm, or let the data loader have fewer workers",
        "https://docs.pytorch.org/docs/stable/multiprocessing.html",
        r"killed by signal: Bus error|insufficient shared memory \(shm\)",
    ),
    Pattern(
        "machine-no-memory",
        "machine",
        "the machine has no memory left",
        "no",
        "ask for what the step needs (`memory=`), so that fewer run at once; `couler resources` says what it used",
        _ERRNO,
        r"^OSError: \[Errno 12\] Cannot allocate memory",
    ),
    Pattern(
        "machine-disk-broken",
        "machine",
        "a disk or a network file system doesn't answer as it should",
        "later",
        "where it stays so, the disk has to be looked at",
        _ERRNO,
        r"\[Errno (?:5|116|121|108)\]|Input/output error|Stale (?:NFS )?file handle|Remote I/O error|"
        r"Transport endpoint is not connected",
    ),
    Pattern(
        "machine-names",
        "machine",
        "names of machines couldn't be looked up for a moment",
        "again",
        "where it stays so, look at the DNS of the cluster",
        _RESOLVE,
        r"Temporary failure in name resolution|\bEAI_AGAIN\b|\[Errno -3\]",
    ),
    Pattern(
        "machine-connection",
        "machine",
        "a connection was cut by the other side or by the network",
        "again",
        "where it stays so, look at the service that it speaks to",
        _ERRNO,
        r"^(?:[\w.]+: )?\[Errno (?:104|110|113)\]|\bConnectionResetError\b|Connection reset by peer|"
        r"\bRemoteDisconnected\b|No route to host|Remote end closed connection without response",
    ),
    Pattern(
        "machine-lost",
        "machine",
        "what watched over it was killed",
        "again",
        "look at the memory and the disk of this machine",
        _SIGNALS,
        r"^its warden ended without a record",
    ),
    Pattern(
        "machine-ended",
        "machine",
        "it was asked to end from outside (SIGTERM)",
        "again",
        "nothing, where nodes come and go",
        _SIGNALS,
        exit_codes=(143,),
    ),
    Pattern(
        "machine-killed",
        "machine",
        "it was killed from outside (SIGKILL), as a machine does that runs out of memory",
        "later",
        "ask for what the step needs (`memory=`); `couler resources` says what it used",
        _SIGNALS,
        exit_codes=(137,),
    ),
)
