"""What a description leaves open is asked, and what can't be is refused."""

from __future__ import annotations

import pytest

from couler_py.nl import ask


@pytest.mark.parametrize(
    ("text", "topic", "words"),
    [
        ("Train a model.", "data", "Which data"),
        ("Join the two tables and train a model on them.", "data", "the two tables"),
        ("Deploy it to production.", "data", "What is meant"),
        ("Train on a.csv and deploy.", "target", "Where is it deployed"),
        ("Load a.csv, clean it, save the result.", "target", "Where does it go"),
        ("Clean a.csv and send the report.", "notify", "Who gets it"),
        ("Clean a.csv, retry a few times if it fails.", "amount", "How many times"),
        ("Train on a.csv with a big machine.", "resources", "how many CPUs or GPUs"),
        ("Every morning load a.csv into b.parquet.", "schedule", "which time of the day"),
        ("On every push lint a.py and test it.", "schedule", "When does it start"),
        ("Train on a.csv and do the usual.", "steps", "step by step"),
        ("Run my script.", "steps", "Which script"),
        ("Build the image web:4.0 and deploy it to all of our regions.", "items", "Which regions"),
        ("Retrain on a.csv if the performance drops too much.", "condition", "Which step says so"),
        ("Fine-tune two language models on a.jsonl and upload the better one to s3://m.", "metric", "By which metric"),
    ],
)
def test_what_is_open_is_asked(text: str, topic: str, words: str) -> None:
    asked = [question.text for question in ask(text).questions if question.about == topic]

    assert any(words in each for each in asked), ask(text).questions


@pytest.mark.parametrize(
    "text",
    [
        "Train on a.csv with 4 GPUs, evaluate, deploy it to prod if the AUC is above 0.9.",
        "Every day at 7 load s3://in/a.csv, clean it and save it to s3://out/b.csv. Retry 3 times.",
    ],
)
def test_nothing_is_asked_where_all_is_said(text: str) -> None:
    assert ask(text).questions == ()


@pytest.mark.parametrize(
    "text",
    [
        "Tell me a joke about penguins.",
        "Train a model without any data.",
        "The task must finish before it starts.",
        "Load a.csv, then loop forever.",
        "Split a.csv 80/30 into train and test.",
        "Deploy m.pkl if the accuracy is above 0.9 and below 0.5.",
        "Train on 200% of the data in a.csv.",
        "Run step 2 before step 1, step 1 before step 3 and step 3 before step 2.",
        "Train on a.csv with -4 epochs.",
        "Load a.csv every 0 minutes.",
    ],
)
def test_what_can_not_be_is_refused(text: str) -> None:
    draft = ask(text)

    assert draft.workflow is None
    assert draft.impossible
