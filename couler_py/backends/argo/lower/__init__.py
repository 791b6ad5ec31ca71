"""Rewrites of the IR before Argo's emission: each a function from workflow to workflow that keeps the meaning."""

from couler_py.backends.argo.lower.decisions import decide_in_steps

__all__ = ["decide_in_steps"]
