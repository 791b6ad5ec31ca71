"""What is written loads in peft, with the same logits; models are the built-in decoder and those of Hugging Face."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import torch
from peft import PeftModel
from transformers import AutoModelForCausalLM, LlamaConfig, LlamaForCausalLM, Qwen2Config, Qwen2ForCausalLM

from couler_py.steps.lora import exporting
from couler_py.steps.lora.hosting import Host, Part, open_base
from couler_py.steps.lora.jobs import Adapter
from couler_py.steps.lora.objectives import DPO
from couler_py.steps.lora.trainer import Trainer
from couler_py.steps.lora.weights import Weights
from couler_py.steps.models.decoder import build
from couler_py.steps.models.folders import save
from tests.training.lora import toys

METHODS = ("lora", "lora+", "rslora", "vera", "dora")


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("base")
    save(build(toys.SHAPE, 3), folder)
    return folder


def logits(host: Host, tokens: torch.Tensor, weights: Weights) -> torch.Tensor:
    with torch.no_grad():
        return host.logits(tokens, torch.ones_like(tokens, dtype=torch.bool), [Part(0, len(tokens), weights)])


def tokens() -> torch.Tensor:
    return torch.randint(0, 256, (2, 12), generator=torch.Generator().manual_seed(1))


@pytest.mark.parametrize("method", METHODS)
def test_peft_loads_it_and_says_the_same(base: Path, tmp_path: Path, method: str) -> None:
    """Grouped queries too: keys and values are narrower than queries here."""
    trainer = Trainer(open_base(base))
    job = toys.job(tmp_path, "one", adapter=Adapter(method, rank=4, alpha=6.0, targets=toys.ALL))  # type: ignore[arg-type]
    trainer.submit(job)
    trainer.run()
    weights = trainer.tunings["one"].weights
    folder = exporting.write(weights, tmp_path / "adapter", str(base))
    theirs = PeftModel.from_pretrained(AutoModelForCausalLM.from_pretrained(base), folder).eval()
    ours = logits(trainer.host, tokens(), weights)
    with torch.no_grad():
        assert torch.allclose(theirs(tokens()).logits, ours, atol=2e-5)
        with theirs.disable_adapter():
            assert not torch.allclose(theirs(tokens()).logits, ours, atol=1e-3)
    again = exporting.read(folder, trainer.host)
    assert torch.equal(logits(trainer.host, tokens(), again), ours)
    name = "model.layers.1.mlp.down_proj"
    merged = torch.nn.functional.linear(torch.eye(56), weights.merged(name)).T
    assert torch.allclose(merged, weights.merged(name))


def test_only_adapters_of_a_known_kind_and_the_right_shape_are_read(base: Path, tmp_path: Path) -> None:
    host = open_base(base)
    with pytest.raises(ValueError, match="is no folder of an adapter"):
        exporting.read(tmp_path, host)
    weights = Weights(Adapter(rank=4), host.targets(("q_proj", "k_proj", "v_proj", "o_proj")), 0)
    folder = exporting.write(weights, tmp_path / "adapter")
    with pytest.raises(ValueError, match="has rank 4, and the job wants 8"):
        exporting.read(folder, host, Adapter(rank=8))
    told = json.loads((folder / exporting.CONFIG).read_text())
    (folder / exporting.CONFIG).write_text(json.dumps(told | {"target_modules": ["q_proj"]}))
    with pytest.raises(ValueError, match=r"don't fit this base: missing \[\], unknown"):
        exporting.read(folder, host)
    (folder / exporting.CONFIG).write_text(json.dumps({name: told[name] for name in told if name != "r"}))
    with pytest.raises(ValueError, match="doesn't say 'r'"):
        exporting.read(folder, host)
    (folder / exporting.CONFIG).write_text(json.dumps(told))
    whole = (folder / exporting.WEIGHTS).read_bytes()
    (folder / exporting.WEIGHTS).write_bytes(whole[:-8])
    with pytest.raises(ValueError, match=r"adapter_model\.safetensors is damaged"):
        exporting.read(folder, host)
    (folder / exporting.WEIGHTS).write_bytes(whole)
    (folder / exporting.CONFIG).write_text(json.dumps(told | {"peft_type": "IA3"}))
    with pytest.raises(ValueError, match="this kind of adapter is not known here: peft_type 'IA3'"):
        exporting.read(folder, host)


def test_training_goes_on_from_an_adapter_and_compares_with_one(base: Path, tmp_path: Path) -> None:
    trainer = Trainer(open_base(base))
    trainer.submit(toys.job(tmp_path, "first", 1, epochs=4))
    trainer.run()
    folder = str(exporting.write(trainer.tunings["first"].weights, tmp_path / "adapter"))
    second = Trainer(open_base(base))
    second.submit(toys.job(tmp_path, "second", 1, adapter=Adapter(start=folder)))
    second.submit(toys.job(tmp_path, "third", 1, toys.pairs(3), objective=DPO(reference=folder)))
    second.submit(toys.job(tmp_path, "base", 1, toys.pairs(3), objective=DPO()))
    told = second.run()
    first = trainer.progress()["first"].losses
    assert told["second"].losses[0] < first[0]
    # At first a policy is its reference, and the loss log 2; beside another reference it is not.
    assert told["base"].losses[0] == pytest.approx(0.6931, abs=1e-4)
    assert told["third"].losses[0] != pytest.approx(0.6931, abs=1e-4)


@pytest.mark.parametrize("kind", ["llama", "qwen2"])
def test_models_of_hugging_face_train_from_a_folder(kind: str, tmp_path: Path) -> None:
    """Qwen's projections have biases, and its folder isn't the built-in decoder's; keys are narrower than queries."""
    shape = {
        "vocab_size": 259, "hidden_size": 32, "intermediate_size": 48, "num_hidden_layers": 2, "num_attention_heads": 4,
        "num_key_value_heads": 1, "max_position_embeddings": 64,
    }  # fmt: skip
    torch.manual_seed(0)
    model = (
        LlamaForCausalLM(LlamaConfig(**shape, attention_bias=True))
        if kind == "llama"
        else Qwen2ForCausalLM(Qwen2Config(**shape))
    )
    model.save_pretrained(tmp_path / "model")
    host = open_base(tmp_path / "model")
    assert not host.ours
    trainer = Trainer(host)
    jobs = [toys.job(tmp_path, name, seed, epochs=3) for name, seed in (("one", 1), ("two", 2))]
    for job in jobs:
        trainer.submit(job)
    told = trainer.run()
    assert [each.state for each in told.values()] == ["done", "done"]
    assert all(each.losses[-1] < each.losses[0] for each in told.values())
    folder = exporting.write(trainer.tunings["one"].weights, tmp_path / "adapter", str(tmp_path / "model"))
    theirs = PeftModel.from_pretrained(AutoModelForCausalLM.from_pretrained(tmp_path / "model"), folder).eval()
    with torch.no_grad():
        ours = logits(host, tokens(), trainer.tunings["one"].weights)
        assert torch.allclose(theirs(tokens()).logits, ours, atol=2e-5)
