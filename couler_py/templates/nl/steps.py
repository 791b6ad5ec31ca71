"""Steps that drafts may hold as they stand: ordinary Python over rows (a list of objects), small and easy to change.

A model is shown the signatures of those that fit a description; what it chooses is copied into the draft.
"""

from pathlib import Path
from typing import Any

import couler_py as couler


@couler.step(packages=["pandas", "pyarrow", "openpyxl"])
def load_table(path: str) -> Path:
    """Load a table from a file or URL (CSV, Parquet, JSON, Excel) and leave it as Parquet."""
    import pandas as pd

    readers = {".parquet": pd.read_parquet, ".json": pd.read_json, ".jsonl": read_lines, ".xlsx": pd.read_excel}
    table = readers.get(Path(path).suffix, pd.read_csv)(path)
    table.to_parquet("table.parquet")
    return Path("table.parquet")


def read_lines(path: str) -> Any:
    import pandas as pd

    return pd.read_json(path, lines=True)


@couler.step(packages=["pandas", "pyarrow"])
def drop_missing(table: Path) -> Path:
    """Clean a table: drop duplicate rows and rows with missing values."""
    import pandas as pd

    pd.read_parquet(table).drop_duplicates().dropna().to_parquet("clean.parquet")
    return Path("clean.parquet")


@couler.step(packages=["pandas", "pyarrow"])
def count_rows(table: Path) -> int:
    """Count the rows of a table, as to validate that there are enough."""
    import pandas as pd

    return len(pd.read_parquet(table))


@couler.step(packages=["pandas", "pyarrow", "scikit-learn", "joblib"])
def train_classifier(table: Path, target: str) -> Path:
    """Train a classifier (random forest) on the numeric columns of a table and leave the model."""
    import joblib
    import pandas as pd
    from sklearn.ensemble import RandomForestClassifier

    rows = pd.read_parquet(table)
    features = rows.drop(columns=[target]).select_dtypes("number")
    joblib.dump(RandomForestClassifier(random_state=0).fit(features, rows[target]), "model.joblib")
    return Path("model.joblib")


@couler.step(packages=["pandas", "pyarrow", "scikit-learn", "joblib"])
def train_regressor(table: Path, target: str) -> Path:
    """Train a regression model (gradient boosting) on the numeric columns of a table and leave the model."""
    import joblib
    import pandas as pd
    from sklearn.ensemble import HistGradientBoostingRegressor

    rows = pd.read_parquet(table)
    features = rows.drop(columns=[target]).select_dtypes("number")
    joblib.dump(HistGradientBoostingRegressor(random_state=0).fit(features, rows[target]), "model.joblib")
    return Path("model.joblib")


@couler.step(packages=["pandas", "pyarrow", "scikit-learn", "joblib"])
def accuracy_of(model: Path, table: Path, target: str) -> float:
    """Evaluate a classifier on a table: its accuracy."""
    import joblib
    import pandas as pd

    rows = pd.read_parquet(table)
    features = rows.drop(columns=[target]).select_dtypes("number")
    return float(joblib.load(model).score(features, rows[target]))


@couler.step(packages=["pandas", "pyarrow", "joblib"])
def predict_table(model: Path, table: Path) -> Path:
    """Predict with a trained model for each row of a table (batch scoring, inference)."""
    import joblib
    import pandas as pd

    rows = pd.read_parquet(table)
    rows["prediction"] = joblib.load(model).predict(rows.select_dtypes("number"))
    rows.to_parquet("predictions.parquet")
    return Path("predictions.parquet")


@couler.step
def download(url: str) -> Path:
    """Download a file from a URL."""
    import shutil
    import urllib.request

    with urllib.request.urlopen(url) as answer, open("downloaded", "wb") as file:
        shutil.copyfileobj(answer, file)
    return Path("downloaded")


@couler.step
def list_files(folder: str, pattern: str = "*") -> list[str]:
    """List the files of a folder, to work on each."""
    return sorted(str(path) for path in Path(folder).glob(pattern) if path.is_file())


@couler.step
def best_of(scores: list[float]) -> int:
    """Select the best of several scores: its place in the list."""
    return max(range(len(scores)), key=lambda place: scores[place])


@couler.step
def post_json(url: str, value: Any) -> int:
    """Send a value as JSON to a webhook or API, to publish or to notify; gives the HTTP status."""
    import json
    import urllib.request

    body = json.dumps(value).encode()
    request = urllib.request.Request(url, body, {"Content-Type": "application/json"})
    with urllib.request.urlopen(request) as answer:
        return int(answer.status)


@couler.step(packages=["fsspec", "s3fs"])
def upload(file: Path, target: str) -> str:
    """Upload, save or publish a file to a path or bucket, as s3://bucket/name."""
    import shutil

    import fsspec

    with open(file, "rb") as source, fsspec.open(target, "wb") as out:
        shutil.copyfileobj(source, out)
    return target
