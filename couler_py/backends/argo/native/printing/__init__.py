"""Argo's documents as Python source that a person would have written, and will keep.

    print(print_documents([document]))

The program builds equal documents: that is proved before it is given out, by reading it with an interpreter that knows
nothing but what such programs consist of (`proof`). A person's text never becomes program text.
"""

from __future__ import annotations

from couler_py.backends.argo.native.printing.program import Printed, print_documents

__all__ = ["Printed", "print_documents"]
