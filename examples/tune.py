"""A sweep: twelve trials of support vectors in three rounds, each chosen by what came out of those before it; then the
best model, trained on all of the data.

    couler run examples/tune.py
    couler report RUN -o run.html
"""

from pathlib import Path

import couler_py as couler

PACKAGES = ["scikit-learn>=1.4"]
SPACE = {
    "kernel": ["linear", "rbf"],
    "c": couler.space.real(1e-3, 1e3, log=True),
    "gamma": couler.space.real(1e-4, 1, log=True).only(kernel="rbf"),
}


@couler.step(packages=PACKAGES)
def validate(c: float, kernel: str, gamma: float = 0.0, folds: int = 3) -> float:
    """The accuracy on folds that the model doesn't see."""
    from sklearn.datasets import load_breast_cancer
    from sklearn.model_selection import cross_val_score
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler
    from sklearn.svm import SVC

    data = load_breast_cancer()
    model = make_pipeline(StandardScaler(), SVC(C=c, kernel=kernel, gamma=gamma or "scale"))
    return float(cross_val_score(model, data.data, data.target, cv=folds).mean())


@couler.step(packages=PACKAGES)
def train(settings: dict[str, str | float]) -> Path:
    """The model with the best settings, from all of the data."""
    import pickle

    from sklearn.datasets import load_breast_cancer
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler
    from sklearn.svm import SVC

    data = load_breast_cancer()
    support = SVC(C=settings["c"], kernel=settings["kernel"], gamma=settings["gamma"] or "scale")
    model = make_pipeline(StandardScaler(), support).fit(data.data, data.target)
    target = Path("model.pickle")
    target.write_bytes(pickle.dumps(model))
    return target


@couler.workflow
def tune(folds: int = 3):
    found = couler.sweep(
        validate, SPACE, "accuracy", "maximize", trials=12, parallel=4, algorithm="tpe", given={"folds": folds}
    )
    return {"accuracy": found.value, "settings": found.best, "page": found.page, "model": train(found.best)}
