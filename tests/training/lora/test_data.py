"""Lines become rows; what can't be learned from names its line. Losses are those of the papers, by hand."""

from __future__ import annotations

import itertools
import json
import math
from pathlib import Path

import pytest
import torch

from couler_py.steps.corpus.tokenizers import END
from couler_py.steps.lora.data import DataError, OfBytes, Row, examples_of, window, windows
from couler_py.steps.lora.jobs import Data, Job
from couler_py.steps.lora.losses import Share, cpo, dpo, loss_of
from couler_py.steps.lora.objectives import CPO, DPO, SFT, Objective
from couler_py.steps.lora.passes import Piece, batch_of
from couler_py.steps.models.decoder import IGNORED
from tests.training.lora import toys


def examples(folder: Path, text: str, objective: Objective = SFT(), **options: object) -> list:
    (folder / "data.jsonl").write_text(text, encoding="utf-8")
    cutoff = options.pop("cutoff", 32)
    job = Job("one", Data("data.jsonl", **options), objective=objective, cutoff=cutoff)  # type: ignore[arg-type]
    return examples_of(job, OfBytes(), 259, 64, folder)


def test_nothing_is_learned_of_a_prompt(tmp_path: Path) -> None:
    [one] = examples(tmp_path, '{"prompt": "ab", "completion": "cd"}\n\n')
    assert one.rows == (Row((97, 98, 99, 100), (IGNORED, 99, 100, END)),)
    assert one.rows[0].learned == 3


def test_texts_tokens_templates_and_pairs(tmp_path: Path) -> None:
    assert examples(tmp_path, '{"text": "ab"}')[0].rows == (Row((97, 98), (98, END)),)
    assert examples(tmp_path, '{"tokens": [5, 6, 7]}')[0].rows == (Row((5, 6), (6, 7)),)
    shown = examples(tmp_path, '{"q": "a", "completion": "b"}', template="{{ q }}?")
    assert shown[0].rows == (Row((97, 63, 98), (IGNORED, 98, END)),)
    [pair] = examples(tmp_path, '{"prompt": "a", "chosen": "b", "rejected": "cd"}', DPO())
    assert [row.tokens for row in pair.rows] == [(97, 98), (97, 99, 100)]
    cut = examples(tmp_path, '{"prompt": "ab", "completion": "cdefgh"}', cutoff=4)
    assert cut[0].rows == (Row((97, 98, 99, 100), (IGNORED, 99, 100, 101)),)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ('{"text": "a"}\n{"text": ', "line 2 of data.jsonl: it is no JSON"),
        ("[1]", "line 1 of data.jsonl: it is no object"),
        ("[" * 100_000, "line 1 of data.jsonl: it is no JSON"),
        ('{"text": "\\ud800"}', "line 1 of data.jsonl: .*surrogates not allowed"),
        ('{"prompt": "a"}', "it has no text 'completion': there are prompt"),
        ('{"tokens": [1, 300]}', "token 300 is none of the base's 259"),
        ('{"tokens": [1, true]}', "its tokens are no list of whole numbers"),
        ('{"tokens": [1]}', "its prompt has 1 tokens and nothing to learn is left within 32"),
        (json.dumps({"prompt": "a" * 40, "completion": "b"}), "its prompt has 40 tokens and nothing to learn is left"),
        ("", "data.jsonl has 0 lines, and 0 of them are held out"),
    ],
)
def test_what_is_no_good_names_its_line(tmp_path: Path, text: str, problem: str) -> None:
    with pytest.raises(DataError, match=problem):
        examples(tmp_path, text)


def test_templates_are_text_and_no_program(tmp_path: Path) -> None:
    line = '{"q": "a", "completion": "b"}'
    with pytest.raises(DataError, match=r"line 1 .* the template doesn't fit it: 'missing' is undefined"):
        examples(tmp_path, line, template="{{ missing }}")
    with pytest.raises(DataError, match="the template doesn't fit it: access to attribute '__class__'"):
        examples(tmp_path, line, template="{{ q.__class__.__mro__ }}")
    with pytest.raises(DataError, match=r"line 1 .* the template doesn't fit it: integer division"):
        examples(tmp_path, line, template="{{ 1 // 0 }}")
    with pytest.raises(DataError, match=r"the template of data.jsonl can't be read"):
        examples(tmp_path, line, template="{{ q")
    with pytest.raises(DataError, match="can't be read as text"):
        examples_of(Job("one", Data("nowhere.jsonl")), OfBytes(), 259, 64, tmp_path)


def test_each_epoch_has_every_line_once(tmp_path: Path) -> None:
    for order in ("shuffle", "given", "sort"):
        job = toys.job(tmp_path, order, 3, toys.lines(3, count=10), order=order, epochs=2)
        samples = examples_of(job, OfBytes(), 259, 64)
        assert windows(job, samples) == 3
        taken = [window(job, samples, step) for step in range(6)]
        assert [len(each) for each in taken] == [4, 4, 2, 4, 4, 2]
        epochs = [[*itertools.chain(*taken[:3])], [*itertools.chain(*taken[3:])]]
        assert all(sorted(epoch) == sorted(samples) for epoch in epochs)
        assert (epochs[0] == epochs[1]) == (order != "shuffle")
        if order == "sort":
            assert [each.length for each in epochs[0]] == sorted((each.length for each in samples), reverse=True)


def test_a_batch_is_padded_to_eights_and_within_the_context(tmp_path: Path) -> None:
    rows = examples(tmp_path, '{"text": "abc"}\n{"text": "abcdefghi"}')
    pieces = [Piece([row], SFT(), None, Share(1)) for row in rows]  # type: ignore[arg-type]
    batch = batch_of(pieces, 64, torch.device("cpu"))
    assert batch.tokens.shape == (2, 16)
    assert batch.bounds == (0, 1, 2)
    assert batch.valid.sum(1).tolist() == [3, 9]
    assert batch.targets[0].tolist() == [98, 99, END] + [IGNORED] * 13
    assert batch_of(pieces, 10, torch.device("cpu")).tokens.shape == (2, 10)


def test_preferences_are_those_of_the_papers() -> None:
    chosen, rejected = torch.tensor([-1.0], dtype=torch.float64), torch.tensor([-3.0], dtype=torch.float64)
    ref_chosen, ref_rejected = torch.tensor([-2.0], dtype=torch.float64), torch.tensor([-2.5], dtype=torch.float64)
    z = (-1 + 3) - (-2 + 2.5)
    given = (chosen, rejected, ref_chosen, ref_rejected)
    assert float(dpo(DPO(0.5), *given)) == pytest.approx(math.log(1 + math.exp(-0.5 * z)))
    smooth = 0.9 * math.log(1 + math.exp(-0.5 * z)) + 0.1 * math.log(1 + math.exp(0.5 * z))
    assert float(dpo(DPO(0.5, smoothing=0.1), *given)) == pytest.approx(smooth)
    assert float(dpo(DPO(0.5, "ipo"), *given)) == pytest.approx((z - 1) ** 2)
    assert float(cpo(CPO(0.5), chosen, rejected)) == pytest.approx(math.log(1 + math.exp(-1)))
    assert float(cpo(CPO(0.25, "hinge"), chosen, rejected)) == pytest.approx(0.5)
    losses = torch.tensor([[1.0, 0.0], [2.0, 1.0]], dtype=torch.float64)
    likely = float(loss_of(CPO(0.5), losses, None, Share(tokens=1, pairs=1)))
    assert likely == pytest.approx(math.log(1 + math.exp(-1)) + 1.0)
    assert float(loss_of(SFT(), losses, None, Share(tokens=4))) == 1.0
