"""Train on GPU nodes: devices, memory, placement. Compile it; running it here needs a GPU.

couler compile examples/gpu.py --to argo
"""

from pathlib import Path

import couler_py as couler


@couler.step(
    image="pytorch/pytorch:2.5.1-cuda12.4-cudnn9-runtime",
    cpu=4,
    memory="16Gi",
    gpu=1,
    node_selector={"gpu": "a100"},
    tolerations=[couler.Toleration(key="nvidia.com/gpu", operator="Exists", effect="NoSchedule")],
    timeout="6h",
    retries=2,
)
def train(epochs: int, learning_rate: float = 1e-3) -> Path:
    import torch

    model = torch.nn.Linear(10, 1, device="cuda")
    optimizer = torch.optim.Adam(model.parameters(), lr=learning_rate)
    for epoch in range(epochs):
        x = torch.randn(1024, 10, device="cuda")
        loss = (model(x) - x.sum(dim=1, keepdim=True)).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        couler.log_metric("loss", loss.item(), step=epoch)
    path = Path("model.pt")
    torch.save(model.state_dict(), path)
    return path


@couler.workflow
def gpu(epochs: int = 10):
    return train(epochs)
