"""A trained recommender as a folder: model.json, the dense layers, and each table, as safetensors that others read.

`tables/00000.safetensors` has one tensor, `weight` [rows, width], and the table's name in its metadata. model.json is
written last: a folder without one is not whole. `export` adds `dense.pt2`, the dense layers as a torch.export program.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
import torch

from couler_py.steps.checkpoint.places import Folder
from couler_py.steps.dlrm.embeddings.moving import moved
from couler_py.steps.dlrm.embeddings.placing import Table, table_wise
from couler_py.steps.dlrm.shapes import Shape
from couler_py.steps.dlrm.task import Task
from couler_py.steps.dlrm.trainer import Trainer

if TYPE_CHECKING:
    from couler_py.steps.dlrm.data.shards import Dataset

ABOUT, DENSE, PROGRAM, TABLES = "model.json", "dense.safetensors", "dense.pt2", "tables"


class About(msgspec.Struct, frozen=True):
    """What a folder holds: a shape, how many dense features, and tables in the order of the columns of categories."""

    shape: Shape
    dense: int
    tables: tuple[Table, ...]


def save_model(trainer: Trainer, folder: Path) -> None:
    """Write a model; all ranks call it, and the first writes. It holds one table at a time as a whole."""
    from safetensors.torch import save_file

    bags, first = trainer.bags, trainer.ranks.rank == 0
    place = Folder(folder)
    if first:
        place.remove(ABOUT)
        (folder / TABLES).mkdir(parents=True, exist_ok=True)
        dense = {name: each.detach().cpu().contiguous() for name, each in trainer.dense.state_dict().items()}
        save_file(dense, folder / DENSE)
    like = torch.empty(0, dtype=bags.dtype, device=bags.device)
    for number, table in enumerate(trainer.tables):
        held = {table.name: bags.weight(table.name).detach()} if table.name in bags.parts else {}
        old, new = {table.name: bags.plan[table.name]}, {table.name: table_wise(table, 0)}
        gathered = moved(held, [table], old, new, trainer.ranks, like)
        if first:
            weight = {"weight": gathered[table.name].cpu().contiguous()}
            save_file(weight, folder / TABLES / f"{number:05}.safetensors", metadata={"table": table.name})
    if first:
        about = About(trainer.task.shape, trainer.dense.dense, trainer.tables)
        place.swap(ABOUT, msgspec.json.format(msgspec.json.encode(about), indent=1))


def load_model(folder: str | Path) -> Trainer:
    """Read a model that `save_model` has written, in one process.

    Raises `FileNotFoundError` where a folder has no whole model, and `ValueError` where its files don't fit together.
    """
    from safetensors.torch import load_file

    source = Path(folder)
    if not (source / ABOUT).is_file():
        raise FileNotFoundError(f"{source} has no {ABOUT}: it is no recommender's folder, or is not whole")
    about = msgspec.json.decode((source / ABOUT).read_bytes(), type=About)
    dense = load_file(source / DENSE)
    precise = any(each.dtype == torch.float64 for each in dense.values())
    trainer = Trainer(Task(about.shape, precision="fp64" if precise else "fp32"), about.tables, about.dense)
    trainer.dense.load_state_dict(dense)
    for number, table in enumerate(about.tables):
        path = source / TABLES / f"{number:05}.safetensors"
        weight = load_file(path)["weight"]
        if weight.shape != (table.rows, table.width):
            raise ValueError(f"{path} is {list(weight.shape)}, and table {table.name!r} {[table.rows, table.width]}")
        with torch.no_grad():
            trainer.bags.weight(table.name).copy_(weight)
    return trainer


def export(model: str | Path, folder: Path) -> float:
    """Write a model's folder anew with its dense layers as a program of torch.export, for any number of rows.

    The program takes dense features [rows, dense] and embeddings [rows, tables, width], and gives log-odds [rows];
    embeddings are the tables' rows. Gives the largest difference between the program, read back, and the model.
    """
    trainer = load_model(model)
    save_model(trainer, folder)
    dense = trainer.dense.eval()
    stream = torch.Generator().manual_seed(0)

    def drawn(rows: int) -> tuple[torch.Tensor, torch.Tensor]:
        width = trainer.task.shape.table_width
        shapes = (rows, dense.dense), (rows, len(trainer.tables), width)
        given = [torch.randn(shape, generator=stream, dtype=torch.float64).to(trainer.dtype) for shape in shapes]
        return given[0], given[1]

    rows = torch.export.Dim("rows", min=2)
    program = torch.export.export(dense, drawn(4), dynamic_shapes={"dense": {0: rows}, "embedded": {0: rows}})
    torch.export.save(program, folder / PROGRAM)
    again = torch.export.load(folder / PROGRAM).module()
    given = drawn(33)
    with torch.no_grad():
        return float((again(*given) - dense(*given)).abs().max())


def tables_of(columns: list[tuple[str, int]], shape: Shape) -> tuple[Table, ...]:
    """The tables of a shape for columns of categories: their names and rows."""
    return tuple(Table(name, rows, shape.table_width) for name, rows in columns)


def opened(folder: str | Path, shape: Shape) -> tuple[Dataset, tuple[Table, ...], int]:
    """A folder of shards as `dlrm.prepare` makes it: its rows, the tables that they need, and its dense features."""
    from couler_py.steps.dlrm.data.shards import Dataset

    rows = Dataset(folder)
    columns = [(each.column, each.rows) for each in rows.index.tables]
    return rows, tables_of(columns, shape), len(rows.index.schema.dense)
