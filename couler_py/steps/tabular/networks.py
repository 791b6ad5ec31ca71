"""Networks of PyTorch, fitted to tables."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from couler_py import log_metric, step
from couler_py.steps.tabular.pipelines import Fitted, Task, kept, prepared, samples
from couler_py.steps.tabular.tables import TABLES

__couler_travels__ = True


def network(torch: Any, sizes: list[int]) -> Any:
    """Linear layers of these sizes, with ReLU between them."""
    from itertools import pairwise

    layers = [part for pair in pairwise(sizes) for part in (torch.nn.Linear(*pair), torch.nn.ReLU())]
    return torch.nn.Sequential(*layers[:-1])


@step(name="pytorch-fit", packages=[*TABLES, "torch>=2.5"])
def pytorch_fit(
    data: Path,
    target: str,
    task: Task = "classification",
    hidden: list[int] | None = None,
    epochs: int = 50,
    learning_rate: float = 1e-3,
    batch: int = 64,
    features: list[str] | None = None,
    holdout: float = 0.2,
    seed: int = 0,
) -> Fitted:
    """Fit a network of linear layers (`hidden` are their sizes, 64 and 64 by default) with PyTorch and AdamW.

    Columns are scaled to mean 0 and variance 1. Rows that are held out for the score have no part in the model. It
    trains on a GPU where there is one. The loss of each epoch is logged.

    Raises `ValueError` for a column that isn't there.

    >>> model = pytorch.fit(data, "species", hidden=[32], epochs=20)  # doctest: +SKIP
    """
    import torch
    from sklearn.metrics import accuracy_score, r2_score
    from sklearn.model_selection import train_test_split
    from sklearn.preprocessing import StandardScaler

    torch.manual_seed(seed)
    device = "cuda" if torch.cuda.is_available() else "cpu"
    x, y, names, classes = samples(data, target, task, features)
    columns = prepared(x, StandardScaler())
    train, test, train_y, test_y = train_test_split(x, y, test_size=holdout, random_state=seed)
    inputs = torch.tensor(columns.fit_transform(train), dtype=torch.float32)
    middle, spread = (0.0, 1.0) if classes else (float(train_y.mean()), float(train_y.std()) or 1.0)
    truth = torch.tensor(train_y) if classes else torch.tensor((train_y - middle) / spread, dtype=torch.float32)
    sizes = [inputs.shape[1], *(hidden or [64, 64]), len(classes) if classes else 1]
    model = network(torch, sizes).to(device)
    judge = torch.nn.CrossEntropyLoss() if classes else torch.nn.MSELoss()
    optimizer = torch.optim.AdamW(model.parameters(), lr=learning_rate)
    order = torch.Generator().manual_seed(seed)
    for epoch in range(epochs):
        total = 0.0
        for rows in torch.randperm(len(inputs), generator=order).split(batch):
            given = model(inputs[rows].to(device))
            loss = judge(given if classes else given.squeeze(1), truth[rows].to(device))
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += float(loss.detach()) * len(rows)
        log_metric("loss", total / len(inputs), step=epoch)
    with torch.no_grad():
        given = model(torch.tensor(columns.transform(test), dtype=torch.float32, device=device)).cpu()
    found = given.argmax(dim=1).numpy() if classes else given.squeeze(1).numpy() * spread + middle
    score = float(accuracy_score(test_y, found) if classes else r2_score(test_y, found))
    about = {"task": task, "target": target, "features": names, "classes": classes}
    folder = kept(columns, "torch", score, **about, layers=sizes, middle=middle, spread=spread)
    torch.save(model.cpu().state_dict(), folder / "weights.pt")
    return Fitted(folder, score, names)
