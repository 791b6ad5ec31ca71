"""Training in rounds on two nodes of four GPUs: each node is a replica of four shards, and nodes speak once in a round.

couler compile examples/edit_nodes.py --to argo -o edit.yaml
SHARED=s3://bucket/edit couler compile examples/edit_nodes.py --to airflow -O artifacts=s3://bucket/runs -o edit.py

The corpus goes to the nodes, and the model comes back, by a claim that all pods mount, or by the store that SHARED
names. Compile it; running it here needs eight GPUs.
"""

import os

import couler_py as couler
from couler_py.steps import edit

IMAGE = "ghcr.io/couler-py/train-cuda:latest"
SHARED = os.environ.get("SHARED", "")
WHERE = {} if SHARED else {"volumes": {"/shared": couler.existing_claim("shared", "training")}}


@couler.workflow
def on_nodes(most: int = 100_000_000):
    corpus = edit.prepare.with_options(image=IMAGE)(most=most)
    trained = edit.train(
        corpus,
        method="edit",
        model="small",
        replicas=2,
        shards=4,
        nodes=2,
        sync_every=64,
        warmup=100,
        steps=2000,
        precision="bf16",
        recompute=True,
        save_every=200,
        shared=SHARED or "/shared/edit",
        job={"elastic": (1, 2), "max_restarts": 3},
        image=IMAGE,
        cpu=16,
        memory="64Gi",
        gpu=4,
        gpu_type="nvidia.com/gpu",
        node_selector={"nvidia.com/gpu.product": "NVIDIA-H100-80GB-HBM3"},
        tolerations=[couler.Toleration(key="nvidia.com/gpu", operator="Exists", effect="NoSchedule")],
        **WHERE,
    )
    judge = edit.evaluate.with_options(image=IMAGE)
    return judge(trained.model, corpus), trained.report
