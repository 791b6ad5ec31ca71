"""The built-in decoder: Hugging Face's Llama number by number, and it learns."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import torch

from couler_py.steps.models.config import DecoderConfig
from couler_py.steps.models.decoder import IGNORED, Decoder, build, next_token_loss, within_documents
from couler_py.steps.models.folders import causal_model, load, save

SHAPES = {
    "grouped": DecoderConfig(vocabulary=97, layers=3, hidden=32, heads=4, kv_heads=2, feed_forward=48, context=24),
    "one head of keys": DecoderConfig(vocabulary=50, hidden=24, heads=3, kv_heads=1, feed_forward=40, context=16),
    "tied": DecoderConfig(vocabulary=50, hidden=16, heads=2, kv_heads=2, feed_forward=24, context=16, tied=True),
    "other base": DecoderConfig(vocabulary=50, hidden=16, heads=2, kv_heads=2, feed_forward=24, rope_theta=500.0),
}
shapes = pytest.mark.parametrize("config", SHAPES.values(), ids=SHAPES)


def tokens(config: DecoderConfig, rows: int = 2, length: int = 16, seed: int = 1) -> torch.Tensor:
    return torch.randint(0, config.vocabulary, (rows, length), generator=torch.Generator().manual_seed(seed))


@shapes
def test_it_has_the_parameters_that_its_shape_says(config: DecoderConfig) -> None:
    assert sum(each.numel() for each in build(config).parameters()) == config.parameters


@shapes
def test_transformers_computes_the_same_from_its_folder(config: DecoderConfig, tmp_path: Path) -> None:
    ours = build(config, seed=3)
    save(ours, tmp_path)
    theirs = causal_model(tmp_path)
    assert type(theirs).__name__ == "LlamaForCausalLM"
    given = tokens(config)
    torch.testing.assert_close(ours(given), theirs(given).logits, rtol=1e-5, atol=1e-6)


@shapes
def test_what_transformers_writes_is_read(config: DecoderConfig, tmp_path: Path) -> None:
    save(build(config, seed=3), tmp_path / "ours")
    causal_model(tmp_path / "ours").save_pretrained(tmp_path / "theirs")
    back = load(tmp_path / "theirs")
    assert back.config == config
    for name, tensor in build(config, seed=3).state_dict().items():
        assert torch.equal(back.state_dict()[name], tensor), name


def test_a_model_of_another_kind_is_named(tmp_path: Path) -> None:
    save(build(SHAPES["tied"]), tmp_path)
    told = json.loads((tmp_path / "config.json").read_text())
    (tmp_path / "config.json").write_text(json.dumps(told | {"model_type": "gpt2"}))
    with pytest.raises(ValueError, match="is a 'gpt2', not a llama"):
        load(tmp_path)
    (tmp_path / "config.json").write_text(json.dumps(told | {"attention_bias": True}))
    with pytest.raises(ValueError, match="attention_bias is True, this decoder has False"):
        load(tmp_path)
    (tmp_path / "config.json").write_text(json.dumps(told | {"num_hidden_layers": 1}))
    with pytest.raises(ValueError, match=r"don't fit its config\.json: missing \[\], unknown \['layers\.1"):
        load(tmp_path)


def test_weights_depend_on_the_seed_and_on_nothing_else() -> None:
    config = SHAPES["grouped"]
    first = build(config, 5)
    torch.manual_seed(123)
    second = build(config, 5)
    third = build(config, 6)
    assert all(torch.equal(a, b) for a, b in zip(first.parameters(), second.parameters(), strict=True))
    assert not torch.equal(first.embed_tokens.weight, third.embed_tokens.weight)


def test_no_token_sees_what_comes_behind_it() -> None:
    config = SHAPES["grouped"]
    model, given = build(config), tokens(config, 1)
    changed = given.clone()
    changed[0, 9] = (changed[0, 9] + 1) % config.vocabulary
    before, after = model(given), model(changed)
    assert torch.equal(before[0, :9], after[0, :9])
    assert not torch.equal(before[0, 9:], after[0, 9:])


def test_packed_documents_are_as_if_each_were_alone() -> None:
    config = SHAPES["grouped"]
    model, given = build(config).double(), tokens(config, 1, 12)
    documents = torch.tensor([[0] * 5 + [1] * 7])
    positions = torch.tensor([[*range(5), *range(7)]])
    packed = model(given, positions, documents)
    alone = torch.cat([model(given[:, :5]), model(given[:, 5:])], dim=1)
    torch.testing.assert_close(packed, alone, rtol=1e-12, atol=1e-12)


def test_the_mask_of_documents() -> None:
    assert within_documents(torch.tensor([[0, 0, 1]]))[0, 0].int().tolist() == [[1, 0, 0], [1, 1, 0], [0, 0, 1]]


def test_positions_without_a_target_do_not_count() -> None:
    logits = torch.randn(1, 3, 5)
    targets = torch.tensor([[1, IGNORED, 2]])
    kept = torch.stack([next_token_loss(logits[:, :1], targets[:, :1]), next_token_loss(logits[:, 2:], targets[:, 2:])])
    torch.testing.assert_close(next_token_loss(logits, targets), kept.mean())


def test_a_row_longer_than_the_context_is_an_error() -> None:
    with pytest.raises(ValueError, match="a row of 25 tokens: this decoder's context holds 24"):
        build(SHAPES["grouped"])(torch.zeros(1, 25, dtype=torch.long))


def test_it_learns_a_row_by_heart() -> None:
    config = SHAPES["grouped"]
    model, given = build(config), tokens(config, 4, 17)
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)
    losses = []
    for _ in range(150):
        loss = next_token_loss(model(given[:, :-1]), given[:, 1:])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    assert losses[0] == pytest.approx(4.575, abs=0.05)  # ln 97
    assert losses[-1] < 0.1


def test_a_model_may_be_made_in_another_precision() -> None:
    model: Decoder = build(SHAPES["tied"], dtype=torch.bfloat16)
    assert {each.dtype for each in model.parameters()} == {torch.bfloat16}
    assert model(tokens(SHAPES["tied"])).dtype == torch.bfloat16
