"""Model selection on real data: train four families of models side by side on two data sets, keep the best of
each, publish it if it is good enough, and write a report.

    couler run examples/automl.py
    couler compile examples/automl.py --to argo -o automl.yaml
"""

from pathlib import Path
from typing import NamedTuple

import couler_py as couler

PACKAGES = ["scikit-learn>=1.4", "matplotlib>=3.8"]
FAMILIES = ["logistic regression", "random forest", "support vectors", "nearest neighbours"]


class Data(NamedTuple):
    train: Path
    held_out: Path


class Fitted(NamedTuple):
    family: str
    validation: float
    model: Path


class Best(NamedTuple):
    family: str
    validation: float
    model: Path


class Evaluation(NamedTuple):
    accuracy: float
    labels: list[str]
    confusion: list[list[int]]


class Selected(NamedTuple):
    families: list[str]
    validations: list[float]
    best: str
    accuracy: float
    labels: list[str]
    confusion: list[list[int]]


@couler.step(packages=PACKAGES)
def load(name: str, seed: int) -> Data:
    """Split a data set of scikit-learn's into one part to train on and one that no model sees before the end."""
    import pickle

    from sklearn import datasets
    from sklearn.model_selection import train_test_split

    data = getattr(datasets, f"load_{name}")()
    parts = train_test_split(data.data, data.target, test_size=0.3, random_state=seed, stratify=data.target)
    labels = [str(label) for label in data.target_names]
    paths = Path("train.pickle"), Path("held_out.pickle")
    for path, x, y in zip(paths, parts[:2], parts[2:], strict=True):
        path.write_bytes(pickle.dumps((x, y, labels)))
    return Data(*paths)


@couler.step(packages=PACKAGES, retries=1)
def fit(train: Path, family: str, seed: int) -> Fitted:
    """Fit one family of models; its score is cross-validated."""
    import pickle

    from sklearn.ensemble import RandomForestClassifier
    from sklearn.linear_model import LogisticRegression
    from sklearn.model_selection import cross_val_score
    from sklearn.neighbors import KNeighborsClassifier
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler
    from sklearn.svm import SVC

    models = {
        "logistic regression": LogisticRegression(max_iter=2000, random_state=seed),
        "random forest": RandomForestClassifier(n_estimators=100, random_state=seed),
        "support vectors": SVC(C=10, gamma="scale", random_state=seed),
        "nearest neighbours": KNeighborsClassifier(n_neighbors=3),
    }
    x, y, _ = pickle.loads(train.read_bytes())
    model = make_pipeline(StandardScaler(), models[family])
    scores = cross_val_score(model, x, y, cv=3)
    for fold, score in enumerate(scores):
        couler.log_metric("accuracy", score, step=fold)
    path = Path("model.pickle")
    path.write_bytes(pickle.dumps(model.fit(x, y)))
    return Fitted(family, float(scores.mean()), path)


@couler.step
def pick(families: list[str], validations: list[float], models: Path) -> Best:
    """The model of the best score. `models` holds one entry for each that was fitted, in the order of the scores."""
    place = max(range(len(validations)), key=validations.__getitem__)
    return Best(families[place], validations[place], sorted(models.iterdir())[place])


@couler.step(packages=PACKAGES)
def evaluate(model: Path, held_out: Path) -> Evaluation:
    """How good the chosen model is on data that had no part in choosing it."""
    import pickle

    from sklearn.metrics import confusion_matrix

    x, y, labels = pickle.loads(held_out.read_bytes())
    predicted = pickle.loads(model.read_bytes()).predict(x)
    return Evaluation(float((predicted == y).mean()), labels, confusion_matrix(y, predicted).tolist())


@couler.step
def publish(name: str, model: Path, accuracy: float) -> Path:
    """Give the model the name that it is served under."""
    import json
    import shutil

    folder = Path(name)
    folder.mkdir()
    shutil.copy(model, folder / "model.pickle")
    (folder / "about.json").write_text(json.dumps({"data": name, "accuracy": accuracy}))
    print(f"published {name}: {accuracy:.1%} on held-out data")
    return folder


@couler.step
def hold_back(name: str, accuracy: float) -> None:
    print(f"{name} is not good enough to publish: {accuracy:.1%} on held-out data")


@couler.workflow
def select(name: str, seed: int, threshold: float) -> Selected:
    data = load(name, seed)
    fitted = couler.map(lambda family: fit(data.train, family, seed), FAMILIES)
    best = pick(fitted.family, fitted.validation, fitted.model)
    held_out = evaluate(best.model, data.held_out)
    couler.when(
        held_out.accuracy >= threshold,
        lambda: publish(name, best.model, held_out.accuracy),
        otherwise=lambda: hold_back(name, held_out.accuracy),
    )
    return Selected(
        fitted.family, fitted.validation, best.family, held_out.accuracy, held_out.labels, held_out.confusion
    )


@couler.step(packages=PACKAGES)
def report(names: list[str], results: list[Selected]) -> Path:
    """One page with, for each data set, the scores of all families and the confusion matrix of the best."""
    import base64
    import html
    import io

    import matplotlib

    matplotlib.use("agg")
    from matplotlib import pyplot

    sections = []
    for name, result in zip(names, results, strict=True):
        figure, (scores, matrix) = pyplot.subplots(1, 2, figsize=(11, 4), layout="constrained")
        colours = ["tab:orange" if family == result.best else "tab:blue" for family in result.families]
        scores.scatter(result.validations, result.families, c=colours, s=90, zorder=3)
        for family, score in zip(result.families, result.validations, strict=True):
            scores.annotate(f"{score:.3f}", (score, family), xytext=(10, 0), textcoords="offset points", va="center")
        scores.grid(axis="x", alpha=0.3)
        scores.margins(x=0.2, y=0.2)
        scores.set(title="cross-validated accuracy")
        scores.invert_yaxis()
        matrix.imshow(result.confusion, cmap="Blues")
        for row, counts in enumerate(result.confusion):
            for column, count in enumerate(counts):
                shade = "white" if count > max(map(max, result.confusion)) / 2 else "black"
                matrix.text(column, row, count or "", ha="center", va="center", color=shade, fontsize=8)
        places = range(len(result.labels))
        matrix.set(title=f"{result.best} on held-out data", xlabel="predicted", ylabel="true")
        matrix.set_xticks(places, result.labels)
        matrix.set_yticks(places, result.labels)
        picture = io.BytesIO()
        figure.savefig(picture, dpi=110)
        pyplot.close(figure)
        sections.append(
            f"<h2>{html.escape(name)}</h2><p>Best: <b>{html.escape(result.best)}</b>, "
            f"{result.accuracy:.1%} of the held-out data right.</p>"
            f'<img alt="scores and confusion matrix" src="data:image/png;base64,'
            f'{base64.b64encode(picture.getvalue()).decode()}">'
        )
    page = Path("report.html")
    page.write_text(
        "<!doctype html><meta charset=utf-8><title>Model selection</title>"
        "<style>body{font:16px system-ui;max-width:70rem;margin:2rem auto;padding:0 1rem}img{max-width:100%}</style>"
        f"<h1>Model selection</h1>{''.join(sections)}",
        encoding="utf-8",
    )
    return page


@couler.workflow
def automl(seed: int = 0, threshold: float = 0.95):
    digits = select("digits", seed, threshold)
    cancer = select("breast_cancer", seed, threshold)
    return report(["digits", "breast_cancer"], [digits, cancer])
