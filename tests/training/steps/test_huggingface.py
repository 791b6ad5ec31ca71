"""A tiny Llama, made here with its tokenizer, learns further."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from couler_py.steps import huggingface

TEXTS = ["the cat sat on the mat", "the dog sat on the log"] * 20


@pytest.fixture
def base(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A Llama of two layers and some words."""
    from tokenizers import Tokenizer
    from tokenizers.models import WordLevel
    from tokenizers.pre_tokenizers import Whitespace
    from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast, set_seed

    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    words = {word: number for number, word in enumerate(["<unk>", "<end>", *sorted({*" ".join(TEXTS).split()})])}
    tokenizer = Tokenizer(WordLevel(words, unk_token="<unk>"))
    tokenizer.pre_tokenizer = Whitespace()
    PreTrainedTokenizerFast(tokenizer_object=tokenizer, unk_token="<unk>", eos_token="<end>").save_pretrained("base")
    set_seed(0)
    config = LlamaConfig(
        vocab_size=len(words), hidden_size=32, intermediate_size=64, num_hidden_layers=2, num_attention_heads=2
    )
    LlamaForCausalLM(config).save_pretrained("base")
    return Path("base")


def lines(texts: list[str]) -> Path:
    path = Path("texts")
    path.write_text("".join(json.dumps({"text": text}) + "\n" for text in texts))
    return path


@pytest.mark.parametrize("rank", [0, 4])
def test_the_loss_falls_and_the_result_is_a_plain_model(rank: int, base: Path) -> None:
    from transformers import AutoModelForCausalLM

    data = lines(TEXTS)
    first = huggingface.fine_tune(data, base, length=14, learning_rate=1e-2, epochs=1, lora_rank=rank)
    found = huggingface.fine_tune(data, base, length=14, learning_rate=1e-2, epochs=6, lora_rank=rank)
    assert found.loss < first.loss
    assert found.tokens == 6 * 20 * 14
    assert {path.name for path in found.model.iterdir()} >= {"config.json", "model.safetensors", "tokenizer.json"}
    assert AutoModelForCausalLM.from_pretrained(found.model).config.num_hidden_layers == 2


def test_what_has_no_text_is_named(base: Path) -> None:
    Path("texts").write_text('{"text": "a"}\n{"words": "b"}\n')
    with pytest.raises(ValueError, match="line 2 of texts has no text 'text'"):
        huggingface.fine_tune(Path("texts"), base)
    with pytest.raises(ValueError, match="texts has 7 tokens, and one piece takes 512"):
        huggingface.fine_tune(lines(TEXTS[:1]), base)
    with pytest.raises(ValueError, match="either a base or a model"):
        huggingface.fine_tune(Path("texts"))
