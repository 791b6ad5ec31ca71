"""Built-in steps: split a table, boost trees two ways and fit a forest, keep the best, judge it on unseen rows.

couler run examples/boosting.py
couler compile examples/boosting.py --to argo -o boosting.yaml
"""

from pathlib import Path

import couler_py as couler
from couler_py.steps import compare, lightgbm, sklearn, train_test_split, xgboost


@couler.step(packages=["scikit-learn>=1.4", "pandas>=2.1"])
def flowers() -> Path:
    """Measures of 150 irises, as CSV."""
    from sklearn.datasets import load_iris

    data = load_iris(as_frame=True)
    table = data.frame.assign(species=[data.target_names[each] for each in data.target]).drop(columns="target")
    table.to_csv("flowers.csv", index=False)
    return Path("flowers.csv")


@couler.workflow
def boosting(seed: int = 0):
    parts = train_test_split(flowers(), test_size=0.3, seed=seed, stratify="species")
    forest = sklearn.fit(parts.train, "species", parameters={"n_estimators": 50}, seed=seed)
    trees = xgboost.train(parts.train, "species", rounds=30, parameters={"max_depth": 3}, seed=seed)
    leaves = lightgbm.train(parts.train, "species", rounds=30, parameters={"min_child_samples": 5}, seed=seed)
    scores = [
        sklearn.evaluate.named("judge-forest")(forest.model, parts.test).scores["accuracy"],
        xgboost.evaluate.named("judge-xgboost")(trees.model, parts.test).scores["accuracy"],
        lightgbm.evaluate.named("judge-lightgbm")(leaves.model, parts.test).scores["accuracy"],
    ]
    return compare(["forest", "xgboost", "lightgbm"], scores)
