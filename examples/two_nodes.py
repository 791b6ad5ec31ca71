"""A training on two nodes: a line fitted by gradients that are averaged over all processes.

What each process runs travels in the command, so the image needs torch and nothing else. Here the nodes are processes
of this machine, whose Python needs torch; on a cluster they are pods of an Indexed Job.

    couler run examples/two_nodes.py
    couler compile examples/two_nodes.py --to argo
"""

import couler_py as couler

FIT = """
import os
from pathlib import Path

import torch
import torch.distributed as dist

dist.init_process_group("gloo")
rank, world = dist.get_rank(), dist.get_world_size()
torch.manual_seed(0)
x = torch.rand(256, 1)
y = 3 * x - 1
mine = torch.arange(rank, len(x), world)
model = torch.nn.Linear(1, 1)
rate = float(os.environ["RATE"])
for _ in range(200):
    loss = torch.nn.functional.mse_loss(model(x[mine]), y[mine])
    model.zero_grad()
    loss.backward()
    with torch.no_grad():
        for each in model.parameters():
            dist.all_reduce(each.grad)
            each -= rate * each.grad / world
dist.all_reduce(loss.detach())
if rank == 0:
    Path("/tmp/couler/outputs/slope").write_text(str(model.weight.item()))
    Path("/tmp/couler/outputs/loss").write_text(str(loss.item() / world))
dist.destroy_process_group()
"""

fit = couler.distributed_job(
    "registry.example.org/couler-train:0.1.0-cpu",
    ["python", "-c", FIT],
    name="fit",
    nodes=2,
    cpu=1,
    memory="2Gi",
    max_restarts=1,
    inputs={"rate": float},
    env={"RATE": couler.argument("rate")},
    outputs={"slope": float, "loss": float},
)


@couler.workflow
def two_nodes(rate: float = 0.5):
    fitted = fit(rate)
    return {"slope": fitted.slope, "loss": fitted.loss}
