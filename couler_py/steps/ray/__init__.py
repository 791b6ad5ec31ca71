"""Ray: `submit` runs a program on a cluster of Ray, or on one that it starts beside it."""

from couler_py.steps.ray.step import submit

__all__ = ["submit"]
