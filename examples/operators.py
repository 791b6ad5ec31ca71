"""Jobs of operators on a cluster, each watched until it ends: Spark prepares, Katib searches, the others train.

The cluster needs the operators of Spark, Katib and Kubeflow's training.

    couler compile examples/operators.py --to argo
"""

import couler_py as couler
from couler_py.steps import katib, mpi, pytorch, spark, tensorflow

TRIAL = {
    "apiVersion": "batch/v1",
    "kind": "Job",
    "spec": {
        "template": {
            "spec": {
                "restartPolicy": "Never",
                "containers": [
                    {
                        "name": "trial",
                        "image": "registry.example.org/train:1",
                        "command": ["python", "train.py", "--lr=${trialParameters.lr}"],
                    }
                ],
            }
        }
    },
}
GPU = {"cpu": 8, "memory": "32Gi", "nvidia.com/gpu": 1}
IMAGE = "registry.example.org/train:1"


@couler.workflow
def operators(day: str = "2026-01-31"):
    prepared = spark.submit("spark:3.5.3", "local:///opt/app/prepare.py", ["--day", day], service_account="spark")
    searched = katib.run(
        TRIAL,
        [{"name": "lr", "range": [0.0001, 0.1], "log": True}],
        {"type": "maximize", "metric_name": "accuracy"},
    )
    wide = tensorflow.train(
        IMAGE,
        ["python", "wide.py"],
        num_chiefs=1,
        num_workers=3,
        num_ps=1,
        resources=GPU,
        ps_resources={"cpu": 4, "memory": "64Gi"},
    )
    deep = pytorch.train(
        IMAGE,
        ["python", "deep.py"],
        num_workers=3,
        resources=GPU,
        claims={"/data": "training-data"},
        env={"BEST": searched.experiment, "WANDB_API_KEY": couler.secret("wandb", "API_KEY")},
    )
    ring = mpi.train(IMAGE, ["python", "ring.py"], num_workers=4, resources=GPU, launcher_resources="cpu=1,memory=2048")
    prepared >> searched >> [wide, deep]
    wide >> ring
