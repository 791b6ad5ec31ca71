"""Documents in the words of another version of Argo: one place for all that differs between 3.5 and 4.

What is emitted, written and imported is of Argo 4. `lowered` says it as Argo 3.5 takes it, or says what gets lost. The
way back is `couler lint --fix`, which changes a file's text and leaves the rest of it alone.
"""

from __future__ import annotations

from couler_py.backends.argo.versions.older import lowered

__all__ = ["lowered"]
