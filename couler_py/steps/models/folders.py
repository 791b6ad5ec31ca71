"""Weights in folders as Hugging Face has them: ours written for it, and its causal models read."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from couler_py.steps.models.config import DecoderConfig

if TYPE_CHECKING:
    from couler_py.steps.models.decoder import Decoder

WEIGHTS, CONFIG = "model.safetensors", "config.json"


def save(model: Decoder, folder: str | Path) -> None:
    """Write a decoder as a folder that `transformers` reads as a Llama: config.json and model.safetensors."""
    from safetensors.torch import save_file

    target = Path(folder)
    target.mkdir(parents=True, exist_ok=True)
    tensors = {_outer(name): tensor.detach().cpu().contiguous() for name, tensor in model.state_dict().items()}
    if model.config.tied:
        del tensors["lm_head.weight"]
    save_file(tensors, target / WEIGHTS, metadata={"format": "pt"})
    dtype = str(model.norm.weight.dtype).removeprefix("torch.")
    (target / CONFIG).write_text(json.dumps(_llama(model.config) | {"torch_dtype": dtype}, indent=2) + "\n")


def load(folder: str | Path) -> Decoder:
    """Read a decoder that `save`, or transformers for a Llama of the same kind, has written.

    Raises `ValueError` for a model of another kind, or with weights that don't fit it.
    """
    from safetensors.torch import load_file

    from couler_py.steps.models.decoder import Decoder

    source = Path(folder)
    config = config_of(json.loads((source / CONFIG).read_text()), source)
    files = sorted(source.glob("*.safetensors"))
    if not files:
        raise ValueError(f"{source} has no weights: no file *.safetensors is in it")
    tensors = {_inner(name): tensor for file in files for name, tensor in load_file(file).items()}
    model = Decoder(config)
    expected = set(model.state_dict()) - ({"lm_head.weight"} if config.tied else set())
    if tensors.keys() != expected:
        missing, unknown = sorted(expected - tensors.keys()), sorted(tensors.keys() - expected)
        raise ValueError(f"the weights in {source} don't fit its {CONFIG}: missing {missing}, unknown {unknown}")
    model = model.to(next(iter(tensors.values())).dtype)
    model.load_state_dict(tensors, strict=not config.tied)
    return model


def causal_model(folder: str | Path) -> Any:
    """Any causal language model of Hugging Face from a local folder; nothing is fetched, no code in it is run.

    Needs `transformers`. Raises `ValueError` where there is no such folder.
    """
    source = Path(folder)
    if not (source / CONFIG).is_file():
        raise ValueError(f"{source} is no folder of a model: it has no {CONFIG}")
    from transformers import AutoModelForCausalLM

    return AutoModelForCausalLM.from_pretrained(
        str(source), local_files_only=True, trust_remote_code=False, use_safetensors=True
    )


def config_of(told: dict[str, Any], source: object = "config.json") -> DecoderConfig:
    """The shape that a Llama's config.json tells. Raises `ValueError` for what this decoder has not."""
    if told.get("model_type") != "llama":
        raise ValueError(f"{source} is a {told.get('model_type')!r}, not a llama: `causal_model` reads others")
    head = told["hidden_size"] // told["num_attention_heads"]
    rope = told.get("rope_parameters") or told.get("rope_scaling") or {}
    for name, here, usual in [
        ("attention_bias", told.get("attention_bias", False), False),
        ("mlp_bias", told.get("mlp_bias", False), False),
        ("hidden_act", told.get("hidden_act", "silu"), "silu"),
        ("head_dim", told.get("head_dim") or head, head),
        ("rope_type", rope.get("rope_type", "default"), "default"),
    ]:
        if here != usual:
            raise ValueError(
                f"{source}: {name} is {here!r}, this decoder has {usual!r}: `causal_model` reads such models"
            )
    return DecoderConfig(
        vocabulary=told["vocab_size"],
        layers=told["num_hidden_layers"],
        hidden=told["hidden_size"],
        heads=told["num_attention_heads"],
        kv_heads=told.get("num_key_value_heads") or told["num_attention_heads"],
        feed_forward=told["intermediate_size"],
        context=told["max_position_embeddings"],
        rope_theta=rope.get("rope_theta") or told.get("rope_theta") or 10_000.0,
        norm_eps=told["rms_norm_eps"],
        tied=told.get("tie_word_embeddings", False),
    )


def _llama(config: DecoderConfig) -> dict[str, Any]:
    return {
        "architectures": ["LlamaForCausalLM"],
        "model_type": "llama",
        "vocab_size": config.vocabulary,
        "num_hidden_layers": config.layers,
        "hidden_size": config.hidden,
        "num_attention_heads": config.heads,
        "num_key_value_heads": config.kv_heads,
        "intermediate_size": config.feed_forward,
        "max_position_embeddings": config.context,
        "rope_theta": config.rope_theta,
        "rms_norm_eps": config.norm_eps,
        "tie_word_embeddings": config.tied,
        "attention_bias": False,
        "mlp_bias": False,
        "hidden_act": "silu",
        "bos_token_id": None,
        "eos_token_id": None,
    }


def _outer(name: str) -> str:
    return name if name.startswith("lm_head.") else f"model.{name}"


def _inner(name: str) -> str:
    return name.removeprefix("model.")
