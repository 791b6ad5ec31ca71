"""Kubernetes' objects from the IR's pod structs: containers, volumes, placement. Plain JSON data, for every engine.

How a string with expressions in it becomes the engine's text is the engine's business: every function
takes a `Render` for that.
"""

from couler_py.kubernetes.containers import container, container_fields, env, env_from, mounts
from couler_py.kubernetes.pods import dns, pod_fields, toleration
from couler_py.kubernetes.resources import resources
from couler_py.kubernetes.templated import Render, plain, templated
from couler_py.kubernetes.volumes import volume, volume_claim

__all__ = [
    "Render",
    "container",
    "container_fields",
    "dns",
    "env",
    "env_from",
    "mounts",
    "plain",
    "pod_fields",
    "resources",
    "templated",
    "toleration",
    "volume",
    "volume_claim",
]
