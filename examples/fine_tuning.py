"""A language model learns further on your texts, by LoRA of several ranks; the best is kept and told to a registry.

The registry's token is a key of a secret, which reaches that one pod alone. What trains takes a GPU where it is given
one, as `huggingface.fine_tune.with_options(gpu=1)`.

couler run examples/fine_tuning.py -p epochs=1
couler compile examples/fine_tuning.py --to argo -o fine_tuning.yaml
"""

from pathlib import Path

import couler_py as couler
from couler_py.steps import http, huggingface, select_best

RANKS = [4, 16, 64]


@couler.step
def texts(lines: int) -> Path:
    """Sentences of one form, a JSON object each: what the model is to speak like."""
    import json

    crews = ["the night shift", "the day shift"]
    path = Path("texts.jsonl")
    with path.open("w", encoding="utf-8") as file:
        for number in range(lines):
            text = f"Ticket {number}: {crews[number % 2]} has looked at pump {number % 7}, and all is well."
            file.write(json.dumps({"text": text}) + "\n")
    return path


register = http.with_options(secrets=[couler.secret("registry", "REGISTRY_TOKEN")])


@couler.workflow
def fine_tuning(
    model: str = "HuggingFaceTB/SmolLM2-135M", registry: str = "https://models.example.org", epochs: int = 2
):
    data = texts(500)
    tuned = couler.map(
        lambda rank: huggingface.fine_tune(data, model=model, epochs=epochs, length=128, lora_rank=rank), RANKS
    )
    best = select_best(tuned.model, [f"rank {rank}" for rank in RANKS], tuned.loss, goal="minimize")
    register(
        couler.format("{}/api/models", registry),
        "POST",
        {"base": model, "tuned": best.name, "loss": best.score},
        secret_headers={"Authorization": "REGISTRY_TOKEN"},
    )
    return best.model
