"""Whatever the words: a draft that is offered compiles for this machine and for Argo."""

from __future__ import annotations

import re

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from couler_py import api
from couler_py.nl import ask

WORDS = re.findall(
    r"\S+",
    "load clean train evaluate deploy merge split predict email it the a data model models sales.csv s3://b/in `make` "
    "and then , . ; : -> ( ) in parallel for each region us eu if otherwise accuracy above 0.9 is until loss < 0.1 at "
    "most 5 rounds times retry 3 every day at 7 pm berlin with 2 gpus 4 cpus on argo fails not don't import class 20 "
    "epochs both all repeat wait 10 minutes approval 训练 评估 trainiere und evalúa y 100 shards 'quoted' #ops a@b.org "
    "${X} {{y}} - ; meanwhile one branch the other after before once trained while being always even if it fails no "
    "matter what stop when loop: every one of them A B C runs after actually make that 500 at once between 0.8 should "
    "be where with an of or more means until it stops improving — cleaning deployment to s3://c/out.csv",
)
TEXTS = (
    "Load customers.csv, clean it, train xgboost and lightgbm, evaluate each; if the AUC is above 0.9 deploy it, "
    "otherwise open a ticket.",
    "For each region in us, eu and apac: download sales from s3://s/r, clean it. Then merge everything. Retry twice.",
    "Label a batch, train, evaluate. Repeat all three until the F1 score reaches 0.9. Then export to s3://v/export.",
    "In parallel: fetch a.csv and parse it; get b.csv and parse it. Then join both. Drop it even if it fails.",
    "Loop: generate samples, train 4 models (a, b, c, d), test each; stop when the F1 is 0.9 or after 5 rounds.",
    "Test m.pkl. If the accuracy is above 0.9, and if the latency is below 9, deploy it; if it's between 0.8 and 0.9, "
    "ask for approval, otherwise mail a@b.org.",
    "Compress logs -> upload s3://a/logs -> rm local. If the upload fails restore the logs. Daily at 4am utc.",
)
SOUP = st.lists(st.sampled_from(WORDS), max_size=25).map(" ".join)


@st.composite
def mutated(draw: st.DrawFn) -> str:
    words = re.findall(r"\S+", draw(st.sampled_from(TEXTS)))
    for _ in range(draw(st.integers(1, 4))):
        at = draw(st.integers(0, len(words) - 1))
        words[at] = draw(st.sampled_from([*WORDS, words[0], words[-1], ""]))
    return " ".join(words)


@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(SOUP | mutated() | st.text(max_size=60))
def test_every_offered_draft_compiles_and_its_source_builds_it(text: str) -> None:
    draft = ask(text)

    if draft.workflow is None:
        assert draft.questions or draft.impossible
        return
    for engine in ("local", "argo"):
        assert api.compile(draft.workflow, to=engine).files
    compile(draft.source, "draft", "exec")
