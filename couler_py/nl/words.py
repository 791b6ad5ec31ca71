"""Names for what steps give to each other, and texts as names: what both front ends and `assemble` share."""

from __future__ import annotations

import keyword
import re
import unicodedata

PRODUCTS = {
    "load": "data",
    "clean": "clean_data",
    "validate": "checked_data",
    "split": "parts",
    "features": "features",
    "transform": "transformed",
    "join": "joined",
    "aggregate": "summary",
    "embed": "embeddings",
    "index": "index",
    "train": "model",
    "finetune": "model",
    "tune": "setting",
    "evaluate": "score",
    "test": "test_result",
    "predict": "predictions",
    "compare": "comparison",
    "select": "best",
    "export": "exported",
    "build": "built",
    "report": "report",
    "plot": "plot",
    "tokenize": "tokens",
    "forecast": "forecast",
}
"""What a step of a role gives, as the name of a parameter of the step that reads it."""

_LONGEST = 40


def name_of(text: str, fallback: str = "step") -> str:
    """A name made of a text: lower case, letters of ASCII, digits and underscores, at most 40 characters.

    >>> name_of("Train XGBoost!"), name_of("训练")
    ('train_xgboost', 'step')
    """
    plain = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode().lower()
    found = re.sub(r"[^a-z0-9]+", "_", plain).strip("_")
    if not found:
        return fallback
    if not found[0].isalpha():
        found = f"{fallback}_{found}"
    if len(found) > _LONGEST:
        found = found[:_LONGEST].rsplit("_", 1)[0]
    found = found.strip("_") or fallback
    return f"{found}_" if keyword.iskeyword(found) else found


def sentence(text: str) -> str:
    """A text as one line that begins with a capital letter and ends with a full stop; "" stays.

    >>> sentence("train the  model")
    'Train the model.'
    """
    found = " ".join(text.split())
    if not found:
        return ""
    found = found[0].upper() + found[1:]
    return found if found[-1] in ".!?。！？" else f"{found}."
