"""The data of a recommender as steps: `dlrm.generate` makes a table, `dlrm.prepare` makes shards of any table.

The steps run this package, with numpy (and pyarrow for Parquet), in the environment or image that they are given.
"""

from __future__ import annotations

from pathlib import Path
from typing import Literal, NamedTuple

from couler_py.dsl.step import step


class Prepared(NamedTuple):
    """A table as shards: folders for training and testing, the report, what was set aside, and how many rows."""

    train: Path
    test: Path
    """Without a holdout, the same rows as `train`."""
    report: Path
    quarantine: Path
    """A folder with `quarantine.txt`, the rows that are none, and `quarantine.jsonl`, where they stood and why."""
    rows: int
    quarantined: int


@step(name="dlrm-generate")
def generate(
    rows: int = 100_000,
    seed: int = 0,
    largest: int = 1_000_000,
    renewal: int = 2_000_000,
    format: Literal["tsv", "parquet"] = "tsv",  # noqa: A002 - the word that people look for
    files: int = 1,
) -> Path:
    """A table in Criteo's format with a known structure, as a folder of files: the same settings, the same bytes.

    `largest` is how many categories the column with the most has at a time, and `renewal` the rows after which all
    have been replaced by new ones (0: never). Raises `ValueError` for settings that make no sense.
    """
    from couler_py.steps.dlrm.data import parquet, synthetic, tsv

    if rows < 1 or not 1 <= files <= rows:
        raise ValueError(f"{rows} rows in {files} files: each file has at least one")
    spec = synthetic.Synthetic(seed=seed, largest=largest, renewal=renewal)
    out = Path("table")
    out.mkdir()
    for number in range(files):
        first, last = rows * number // files, rows * (number + 1) // files
        made = synthetic.blocks(spec, last - first, first)
        if format == "parquet":
            parquet.write(out / f"day_{number}.parquet", made, spec.schema)
            continue
        with open(out / f"day_{number}", "wb") as file:
            for block in made:
                file.write(tsv.formatted(block))
    return out


@step(name="dlrm-prepare")
def prepare(
    data: Path,
    method: Literal["dictionary", "hash"] = "dictionary",
    rows: int = 1_000_000,
    rows_of: dict[str, int] | None = None,
    threshold: int = 1,
    holdout: float = 0.1,
    rows_per_file: int = 262_144,
    bad: float = 0.01,
) -> Prepared:
    """Make shards of a table in Criteo's format: a file or a folder of files, TSV (also as .gz) or Parquet.

    Categories become rows of embedding tables: by frequency ("dictionary": those that occur less than `threshold`
    times share a row) or by hashing ("hash": collisions are reported). `rows` bounds a table, and `rows_of` that of
    single columns. The last part of the rows, `holdout`, is for testing. What is no row is set aside and reported;
    more of it than the part `bad` is an error.

    Raises `FileNotFoundError` where there is no table, and `ValueError` for settings that make no sense, for files of
    another kind, and for too many rows that are none.

    >>> shards = dlrm.prepare("day_0.gz", method="hash", rows=2_000_000)  # doctest: +SKIP
    """
    import json

    from couler_py.steps.dlrm.data import preparing

    settings = preparing.Settings(
        method=method,
        rows=rows,
        rows_of=rows_of or {},
        threshold=threshold,
        holdout=holdout,
        rows_per_file=rows_per_file,
        bad=bad,
    )
    out = Path("prepared")
    preparing.prepare(data, out, settings)
    aside = Path("quarantine")
    aside.mkdir()
    for name in ("quarantine.txt", "quarantine.jsonl"):
        (out / name).rename(aside / name)
    told = json.loads((out / "report.json").read_text(encoding="utf-8"))
    print(  # noqa: T201
        f"{told['rows']} rows, {told['quarantined']['rows']} set aside, {told['embedding_rows']} rows of embeddings"
    )
    test = out / ("test" if holdout else "train")
    return Prepared(out / "train", test, out / "report.json", aside, told["rows"], told["quarantined"]["rows"])
