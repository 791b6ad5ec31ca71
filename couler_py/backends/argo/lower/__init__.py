"""Rewrites of the IR before Argo's emission: each a function from workflow to workflow that keeps the meaning."""

from couler_py.backends.argo.lower.decisions import decide_in_steps
from couler_py.backends.argo.lower.modules import nest_modules

__all__ = ["decide_in_steps", "nest_modules"]
