"""Controllers of jobs on the cluster: installed where it is ours, and expected where it is somebody else's."""

from __future__ import annotations

import pytest
from kubernetes import client, config

from tests.cluster.fixtures import Cluster, script

GROUPS = {
    "jobset": "jobset.x-k8s.io",
    "kueue": "kueue.x-k8s.io",
    "training-operator": "kubeflow.org",
    "trainer": "trainer.kubeflow.org",
}
"""The API group that each of them serves."""


def add(cluster: Cluster, *names: str) -> None:
    """See to it that these controllers are there; fails, with what is missing, where there can be none."""
    if cluster.machine is not None:
        added = script("add", *names)
        if added.returncode:
            pytest.fail(f"no {' or '.join(names)}: {added.stderr}", pytrace=False)
        return
    served = client.ApisApi(config.new_client_from_config(str(cluster.kubeconfig))).get_api_versions().groups
    if missing := {GROUPS[name] for name in names} - {each.name for each in served}:
        pytest.fail(f"the cluster of COULER_TEST_KUBECONFIG serves no {', '.join(sorted(missing))}", pytrace=False)
