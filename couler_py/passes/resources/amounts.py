"""Amounts of memory as quantities."""

from __future__ import annotations

MIB = 1024 * 1024


def memory_text(count: int) -> str:
    """Bytes as a quantity: in GiB where that is whole, else in MiB, rounded up.

    >>> memory_text(2 * 1024**3), memory_text(352 * 1024**2), memory_text(1)
    ('2Gi', '352Mi', '1Mi')
    """
    whole = -(-count // MIB)
    return f"{whole // 1024}Gi" if whole % 1024 == 0 else f"{whole}Mi"
