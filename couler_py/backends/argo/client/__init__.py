"""Runs on a cluster, steered through the Kubernetes API or the Argo server. Needs the extra `argo`.

`ArgoClient` (`runs.py`) is what people hold; `Door` (`door.py`) is a way to the cluster, of which there are two;
`Http` (`backends/rest/`) is how both send JSON, repeat what is safe to repeat, and say what went wrong.
"""

from __future__ import annotations

from couler_py.backends.argo.client.applying import in_place_of
from couler_py.backends.argo.client.runs import ArgoClient

__all__ = ["ArgoClient", "in_place_of"]
