"""Jobs of several nodes as Kubernetes objects: one file for each family of launchers.

`LAUNCHERS` has what each launcher needs to be known of; `pods.py` what their pods share, `marks.py` how values of the
workflow stay values in a manifest.
"""

from __future__ import annotations

from couler_py.kubernetes.jobs.indexed import INDEXED_JOB, JOBSET, service
from couler_py.kubernetes.jobs.launcher import SELECTOR, Launcher, Plan
from couler_py.kubernetes.jobs.marks import Marks
from couler_py.kubernetes.jobs.operators import MPIJOB, PYTORCHJOB, RAYJOB, SPARKAPPLICATION, TRAINJOB
from couler_py.kubernetes.jobs.tfjob import TFJOB

LAUNCHERS: dict[str, Launcher] = {
    each.name: each for each in (INDEXED_JOB, JOBSET, PYTORCHJOB, TRAINJOB, TFJOB, MPIJOB, RAYJOB, SPARKAPPLICATION)
}

__all__ = ["LAUNCHERS", "SELECTOR", "Launcher", "Marks", "Plan", "service"]
