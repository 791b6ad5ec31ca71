"""End to end with a real language model: small, quick and often wrong, which is what the loop is for.

What it says is poor; what is tested is that the protocol, the schema, time-outs, costs and the loop hold with it.
"""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import couler_py as couler
from couler_py import api
from couler_py.dsl.sweeps.space import misfit, read
from couler_py.nl import ask
from couler_py.nl.calls import Calls, Limits
from couler_py.nl.models import ModelError, model_of
from couler_py.nl.pipeline import retrieval
from couler_py.nl.pipeline.drafting import plan_prompt
from couler_py.nl.pipeline.options import Options
from couler_py.nl.pipeline.prompts import prompt
from couler_py.nl.pipeline.shapes import Details, Module, Plan, Score, schema
from tests.nl import smollm

pytestmark = pytest.mark.xdist_group("smollm")

TEXT = (
    "Every night at 3 load s3://lake/sales.csv, clean it, train a model to predict churn, evaluate it, and if the "
    "accuracy is over 0.9 publish it to s3://models/churn."
)


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    try:
        smollm.model_file()
    except FileNotFoundError as error:
        pytest.skip(str(error))
    pytest.importorskip("xllamacpp")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, str(Path(smollm.__file__)), str(port)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as process:
        assert process.stdout is not None
        address = process.stdout.readline().strip()  # it says where, once it listens
        assert address, f"the server ended: {process.wait()}"
        try:
            yield f"{address}/v1"
        finally:
            process.terminate()


@pytest.fixture(autouse=True)
def _home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("COULER_HOME", str(tmp_path))
    for name in [each for each in os.environ if each.startswith(("OPENAI_", "COULER_LAKE"))]:
        monkeypatch.delenv(name)


def tokens(server: str, text: str) -> int:
    request = urllib.request.Request(
        f"{server.removesuffix('/v1')}/tokenize",
        json.dumps({"content": text}).encode(),
        {"Content-Type": "application/json"},
    )
    with urllib.request.urlopen(request) as answer:
        return len(json.load(answer)["tokens"])


def test_a_score_is_written_to_the_schema_and_paid_for(server: str):
    calls = Calls(model_of(server), Limits(tokens=400))
    question = prompt("score", text="Load a.csv, train.", workflow="1. load\n2. train, after load")
    reply = calls.ask(prompt("system"), question, schema(Score), name="score")
    if not reply.cut:
        assert isinstance(json.loads(reply.text)["score"], int | float)
    cost = calls.account.cost((1.0, 1.0))
    assert cost.tokens_in >= tokens(server, question)
    assert 0 < cost.tokens_out <= 400


def test_what_cuts_a_reply_is_told(server: str):
    calls = Calls(model_of(server), Limits(tokens=5))
    assert calls.ask(prompt("system"), plan_prompt(TEXT), schema(Plan), name="plan").cut


def test_a_model_too_slow_is_given_up(server: str):
    calls = Calls(model_of(server), Limits(call=0.05, attempts=2, backoff=0.001))
    with pytest.raises(ModelError, match="takes too long"):
        calls.ask(prompt("system"), plan_prompt(TEXT), schema(Plan), name="plan")


@pytest.mark.parametrize("text", ["Load a.csv, then train a model.", pytest.param(TEXT, marks=pytest.mark.soak)])
def test_whatever_it_says_the_draft_is_valid_or_none(server: str, text: str):
    limits = Limits(tokens=250, call=40, total=60, attempts=1)
    found = ask(text, model=server, limits=limits, tries=2, rounds=1)
    assert found.cost.calls >= 1
    assert found.cost.tokens_out > 0
    assert found.cost.dollars == 0  # it runs here
    assert found.model != "offline" or found.notes
    if found.workflow is not None:
        for engine in ("local", "argo"):
            api.compile(found.workflow, to=engine)


def test_a_kept_draft_needs_no_server(server: str):
    asked: dict[str, Any] = {"limits": Limits(tokens=150), "tries": 1, "rounds": 1, "score": False}
    first = ask("Load a.csv.", model=server, **asked)
    again = ask("Load a.csv.", model=server, **asked)
    if first.model != "offline":
        assert again.cost.calls == 0
        assert again.source == first.source


def test_prompts_of_five_steps_have_at_most_2000_tokens_together(server: str):
    names = ["load", "clean", "train", "evaluate", "publish"]
    said = [
        "load s3://lake/sales.csv",
        "clean the sales",
        "train a model to predict churn",
        "evaluate it",
        "publish it",
    ]
    steps = [Module(name, does=does) for name, does in zip(names, said, strict=True)]
    lake = retrieval.candidates(TEXT, Options(lake=[]))
    known = [retrieval.shown(each, source=False) for each in retrieval.known_for(steps, lake)]
    workflow = "\n".join(f"{n}. {step.name}, after {step.does} (still to be written)." for n, step in enumerate(steps))
    prompts = [
        plan_prompt(TEXT),
        prompt("details", text=TEXT, steps=steps, parameters=["day"], known=known, critique=()),
        prompt("score", text=TEXT, workflow=workflow),
    ]
    counted = [tokens(server, prompt("system") + text) for text in prompts]
    assert sum(counted) <= 2000, counted
    assert all(len(json.dumps(schema(shape))) < 6000 for shape in (Plan, Details, Score))


SPACE = {"rate": couler.space.real(1e-4, 1, log=True), "depth": couler.space.integer(1, 8)}


@couler.step
def accuracy(rate: float, depth: int) -> float:
    return 1 / (1 + rate) - 0.01 * depth


NUMBERS = {"type": "array", "items": {"type": "number"}, "minItems": 1, "maxItems": 5}
LOGS = {"type": "object", "properties": {str(each): NUMBERS for each in range(4)}, "required": ["0", "1", "2", "3"]}
FORM = {
    "type": "json_schema",
    "json_schema": {
        "name": "logs",
        "schema": {"type": "object", "properties": {"logs": LOGS}, "required": ["logs"]},
        "strict": True,
    },
}


@pytest.mark.parametrize(
    "form", [pytest.param(None, id="free", marks=pytest.mark.soak), pytest.param(FORM, id="in a form")]
)
def test_whatever_it_expects_of_trainings_a_sweep_tries_points_of_the_space(server: str, form: Any):
    from langchain_openai import ChatOpenAI

    model = ChatOpenAI(model="smollm2", base_url=server, api_key="none", max_tokens=300, temperature=0, seed=0)
    chat = model if form is None else model.bind(response_format=form)
    expected = couler.predict_trials(
        chat,
        SPACE,
        "maximize",
        data_card={"name": "digits", "input_type": "8x8 grey", "label_space": "0 to 9", "metric": "accuracy"},
        model_card={"name": "net", "structure": "perceptron", "description": "small"},
        candidates=4,
        first=2,
        bounds=(0, 1),
    )
    assert len(expected.logs) == len(expected.candidates) == 4
    assert all(0 <= value <= 1 for log in expected.logs for value in log)
    assert all(misfit(read(SPACE), point) == "" for point in expected.candidates)
    assert set(map(id, expected.first)) <= set(map(id, expected.candidates))
    assert expected.first or expected.problems  # what isn't used is told

    @couler.workflow
    def tuned():
        return couler.sweep(accuracy, SPACE, "accuracy", "maximize", trials=3, first=expected.first)

    found = api.run(tuned).outputs
    tried = [trial["values"] for trial in json.loads(Path(found["study"]).read_text())["trials"]]
    assert len(tried) == 3
    assert tried[: len(expected.first)] == list(expected.first)
    assert found["value"] == max(1 / (1 + each["rate"]) - 0.01 * each["depth"] for each in tried)
