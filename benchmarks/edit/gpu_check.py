"""Whether rounds on a GPU write and read in the right order: the same training there and on the processor, compared.

    .venv-train/bin/torchrun --standalone --nproc-per-node=1 -m benchmarks.edit.gpu_check

One GPU is enough: each round moves the parameters, module by module, on a stream beside the computation, while
fully_shard gathers on streams of its own. A read before a write would show as another loss. Without a GPU it says so.
"""

from __future__ import annotations

import copy
import time

import torch
from torch import Tensor, distributed
from torch.distributed.fsdp import fully_shard

from couler_py.steps.edit.local_sgd import LocalSGD
from couler_py.steps.edit.mesh import replica_mesh
from couler_py.steps.edit.settings import Outer, preset
from couler_py.steps.models.config import DecoderConfig
from couler_py.steps.models.decoder import Decoder, build, next_token_loss

MODEL = DecoderConfig(vocabulary=512, layers=8, hidden=256, heads=4, kv_heads=4, feed_forward=688, context=128)
STEPS, EVERY = 24, 3


def rows(step: int) -> Tensor:
    return torch.randint(0, MODEL.vocabulary, (4, 65), generator=torch.Generator().manual_seed(step))


def losses(model: Decoder, device: torch.device, *, offload: bool) -> list[float]:
    mesh = replica_mesh(1, 1, device.type)
    if device.type == "cuda":
        for layer in model.layers:
            fully_shard(layer, mesh=mesh["shard"])
        fully_shard(model, mesh=mesh["shard"])
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    settings = preset("edit", sync_every=EVERY, outer=Outer(0.7, 0.8), offload=offload)
    found = []
    with LocalSGD(model, optimizer, settings, mesh) as local:
        for step in range(STEPS):
            taken = rows(step).to(device)
            loss = next_token_loss(model(taken[:, :-1]), taken[:, 1:])
            loss.backward()
            optimizer.step()
            optimizer.zero_grad()
            found.append(float(loss.detach()))
        local.finish()
    return found


def main() -> None:
    if not torch.cuda.is_available():
        print("skipped: there is no GPU here")
        return
    distributed.init_process_group("cpu:gloo,cuda:nccl")
    torch.backends.cuda.matmul.allow_tf32 = False
    first = build(MODEL, seed=1)
    expected = losses(copy.deepcopy(first), torch.device("cpu"), offload=False)
    for offload in (False, True):
        began = time.monotonic()
        found = losses(copy.deepcopy(first).cuda(), torch.device("cuda"), offload=offload)
        worst = max(abs(one - other) for one, other in zip(found, expected, strict=True))
        verdict = "the same" if worst < 1e-3 else "DIFFERENT"
        print(f"offload={offload}: {verdict}, largest difference {worst:.2e}, {time.monotonic() - began:.2f} s")
        if worst >= 1e-3:
            raise SystemExit(1)
    distributed.destroy_process_group()


if __name__ == "__main__":
    main()
