"""Hugging Face: `fine_tune` trains a causal language model further on text, whole or by LoRA."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

from couler_py import log_metric, step

PACKAGES = ["torch>=2.5", "transformers>=4.46", "accelerate>=1.1", "peft>=0.13"]


class Tuned(NamedTuple):
    """The model's folder with its tokenizer, the mean loss of the last epoch, and of how many tokens it learned."""

    model: Path
    loss: float
    tokens: int


def texts_of(data: Path, field: str) -> list[str]:
    """The texts of a file: one object of JSON a line, or plain text with empty lines between."""
    import json
    import re

    text = data.read_text(encoding="utf-8")
    if not text.lstrip().startswith("{"):
        return [part for part in re.split(r"\n\s*\n", text) if part.strip()]
    found = []
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
        except ValueError as problem:
            raise ValueError(f"line {number} of {data.name} is no JSON: {problem}") from problem
        if not isinstance(row, dict) or not isinstance(row.get(field), str):
            raise ValueError(f"line {number} of {data.name} has no text {field!r}")
        found.append(row[field])
    return found


@step(packages=PACKAGES)
def fine_tune(
    data: Path,
    base: Path | None = None,
    model: str = "",
    field: str = "text",
    epochs: int = 1,
    learning_rate: float = 5e-5,
    batch: int = 8,
    length: int = 512,
    lora_rank: int = 0,
    lora_modules: list[str] | None = None,
    seed: int = 0,
) -> Tuned:
    """Train a causal language model further on texts: JSON lines with a `field`, or paragraphs of plain text.

    The model is a folder that another step made (`base`) or the name of one on the hub (`model`). Texts follow each
    other, with the tokenizer's end mark between, and are cut into pieces of `length` tokens. With a `lora_rank`, peft
    trains matrices of that rank beside the linear layers (or `lora_modules`), and what they learn is merged in at the
    end, so that the result is a plain model. Losses are logged.

    Raises `ValueError` for data without texts, or with fewer tokens than one piece.

    >>> tuned = huggingface.fine_tune(texts, model="HuggingFaceTB/SmolLM2-135M", lora_rank=8)  # doctest: +SKIP
    """
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer, Trainer, TrainerCallback, TrainingArguments, set_seed

    if (base is None) == (not model):
        raise ValueError("fine_tune takes either a base or a model")
    set_seed(seed)
    tokenizer = AutoTokenizer.from_pretrained(str(base or model))
    network: Any = AutoModelForCausalLM.from_pretrained(str(base or model))
    end = [] if tokenizer.eos_token_id is None else [tokenizer.eos_token_id]
    stream = [token for text in texts_of(data, field) for token in tokenizer(text)["input_ids"] + end]
    pieces = [torch.tensor(stream[at : at + length]) for at in range(0, len(stream) - length + 1, length)]
    if not pieces:
        raise ValueError(f"{data.name} has {len(stream)} tokens, and one piece takes {length}: give more, or a length")
    if lora_rank:
        from peft import LoraConfig, get_peft_model

        modules = lora_modules or "all-linear"
        config = LoraConfig(r=lora_rank, lora_alpha=2 * lora_rank, target_modules=modules, task_type="CAUSAL_LM")
        network = get_peft_model(network, config)

    class Logging(TrainerCallback):
        def on_log(self, arguments: Any, state: Any, control: Any, logs: Any = None, **others: Any) -> None:
            if logs and "loss" in logs:
                log_metric("loss", float(logs["loss"]), step=state.global_step)

    arguments = TrainingArguments(
        output_dir="trainer",
        num_train_epochs=epochs,
        per_device_train_batch_size=batch,
        learning_rate=learning_rate,
        logging_strategy="epoch",
        save_strategy="no",
        report_to=[],
        seed=seed,
    )
    dataset: Any = [{"input_ids": piece, "labels": piece} for piece in pieces]
    trainer = Trainer(model=network, args=arguments, train_dataset=dataset, callbacks=[Logging()])
    trainer.train()
    losses = [entry["loss"] for entry in trainer.state.log_history if "loss" in entry]
    if lora_rank:
        network = network.merge_and_unload()
    folder = Path("model")
    network.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return Tuned(folder, float(losses[-1]), epochs * len(pieces) * length)


__all__ = ["fine_tune"]
