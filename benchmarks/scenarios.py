"""The paper's three scenarios as traces: multimodal training, image segmentation, fine-tuning of language models.

The paper gives the numbers of pods and models; the graphs are those that such pipelines have, sizes and times are drawn
from log-normal distributions around what their steps take. Of each there are three ways of working:

- "run": one run whose pods keep nothing but what is cached, the paper's setting;
- "sweep": runs that differ in a parameter of the models, known from the start;
- "edits": runs of somebody who changes one step between two of them, mostly the one changed before, sometimes one
  next to it, and sometimes takes the change back.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping
from typing import Literal, TypeAlias

import msgspec

from couler_py.passes.cache.trace import Artifact, Trace

MIB = 1 << 20
Way: TypeAlias = Literal["run", "sweep", "edits"]
WAYS: tuple[Way, ...] = ("run", "sweep", "edits")

TRIALS = 8
EDITS = 12
SAME, NEAR, BACK = 0.6, 0.3, 0.02
"""How probably an edit is at the step edited before, how probably next to it, and how probably it is taken back."""


class Step(msgspec.Struct, frozen=True):
    """A step: what it reads, the median of its seconds and MiB, and how probably it is the one that is edited."""

    name: str
    reads: tuple[str, ...]
    seconds: float
    mib: float
    edited: float = 1.0


def multimodal() -> tuple[Step, ...]:
    """37 pods: pictures and texts, three encoders each, joined; 19 models; compared by family."""
    steps = []
    for kind, size in (("image", 6000), ("text", 900)):
        steps += [
            Step(f"load-{kind}", (), 240, size, 0.05),
            Step(f"clean-{kind}", (f"load-{kind}",), 300, size * 0.8, 0.2),
        ]
        steps += [
            Step(f"embed-{kind}-{number}", (f"clean-{kind}",), 400 + 250 * number, size / (2 + number), 0.4)
            for number in range(3)
        ]
    steps += [Step(f"join-{n}", (f"embed-image-{n}", f"embed-text-{n}"), 120, 1500 - 300 * n, 0.4) for n in range(3)]
    steps += [Step(f"train-{n}", (f"join-{n % 3}",), 500 + 60 * n, 250 + 40 * (n % 5), 1.5) for n in range(19)]
    steps += [
        Step(f"evaluate-{f}", (f"join-{f}", *(f"train-{n}" for n in range(19) if n % 3 == f)), 200, 5, 2.0)
        for f in range(3)
    ]
    steps += [
        Step("compare", ("evaluate-0", "evaluate-1", "evaluate-2"), 20, 1, 3.0),
        Step("publish", ("compare", "train-0"), 30, 300, 1.0),
    ]
    return tuple(steps)


def segmentation() -> tuple[Step, ...]:
    """15 pods: pictures tiled, split and augmented; 8 models on two resolutions; one choice."""
    steps = [
        Step("load", (), 400, 9000, 0.05),
        Step("tile", ("load",), 350, 8000, 0.2),
        Step("split", ("tile",), 60, 7500, 0.2),
        Step("augment-low", ("split",), 500, 3500, 0.4),
        Step("augment-high", ("split",), 900, 7000, 0.4),
    ]
    steps += [
        Step(f"train-{n}", ("augment-low" if n < 5 else "augment-high",), 900 + 200 * n, 400 + 100 * n, 2.0)
        for n in range(8)
    ]
    steps += [
        Step("evaluate", ("split", *(f"train-{n}" for n in range(8))), 300, 20, 3.0),
        Step("select", ("evaluate",), 20, 1, 3.0),
    ]
    return tuple(steps)


def language() -> tuple[Step, ...]:
    """21 pods: a corpus cleaned, deduplicated, tokenised and packed, a base model; 11 fine-tunings; one ranking."""
    steps = [
        Step("corpus", (), 500, 12000, 0.05),
        Step("base", (), 200, 13000, 0.05),
        Step("clean", ("corpus",), 700, 10000, 0.2),
        Step("deduplicate", ("clean",), 900, 7000, 0.2),
        Step("tokenize", ("deduplicate",), 600, 4000, 0.4),
        Step("pack-short", ("tokenize",), 150, 3500, 0.4),
        Step("pack-long", ("tokenize",), 200, 3800, 0.4),
    ]
    steps += [
        Step(f"tune-{n}", ("base", "pack-short" if n % 2 else "pack-long"), 1200 + 150 * n, 300 + 150 * (n % 4), 2.0)
        for n in range(11)
    ]
    steps += [
        Step("judge", ("pack-short", *(f"tune-{n}" for n in range(11))), 600, 10, 3.0),
        Step("rank", ("judge",), 20, 1, 3.0),
        Step("report", ("rank", "judge"), 40, 5, 3.0),
    ]
    return tuple(steps)


SCENARIOS: Mapping[str, Callable[[], tuple[Step, ...]]] = {
    "multimodal": multimodal,
    "segmentation": segmentation,
    "language": language,
}


def generate(scenario: str, way: Way, seed: int) -> Trace:
    """A trace of a scenario. The same seed gives the same trace. Raises `KeyError` for a name that isn't one."""
    drawn = random.Random(f"{scenario} {way} {seed}")
    steps = SCENARIOS[scenario]()
    facts = {
        each.name: (int(each.mib * MIB * drawn.lognormvariate(0, 0.5)) + 1, each.seconds * drawn.lognormvariate(0, 0.5))
        for each in steps
    }
    versions = _versions(steps, way, drawn)
    artifacts: dict[str, Artifact] = {}
    rounds = []
    for version in versions:
        keys: dict[str, str] = {}
        for each in steps:
            inputs = tuple(keys[name] for name in each.reads)
            keys[each.name] = _key(each.name, version[each.name], inputs, artifacts)
            size, seconds = facts[each.name]
            artifacts.setdefault(keys[each.name], Artifact(keys[each.name], size, seconds, inputs, each.name))
        rounds.append(tuple(keys.values()))
    if way == "run":
        rounds = [(key,) for key in _scheduled(steps, drawn)]
    return Trace(f"{scenario} {way} {seed}", tuple(artifacts.values()), tuple(rounds), foreseen=way != "edits")


def _key(name: str, version: int, inputs: tuple[str, ...], artifacts: Mapping[str, Artifact]) -> str:
    """What is made from the same inputs by the same version of a step has the same key."""
    number = 0
    while (key := f"{name}@{version}.{number}") in artifacts and artifacts[key].inputs != inputs:
        number += 1
    return key


def _versions(steps: tuple[Step, ...], way: Way, drawn: random.Random) -> Iterator[dict[str, int]]:
    """By run, the version of each step."""
    version = {each.name: 0 for each in steps}
    yield dict(version)
    if way == "sweep":
        models = [each.name for each in steps if each.edited in (1.5, 2.0) and each.name[-1].isdigit()]
        for trial in range(1, TRIALS):
            chosen = drawn.sample(models, max(1, len(models) // 3))
            yield {name: trial if name in chosen else 0 for name in version}
    if way == "edits":
        edited, before, fresh = "", dict(version), 0
        for _ in range(1, EDITS):
            if edited and drawn.random() < BACK:
                version, before = dict(before), dict(version)
            else:
                edited, before, fresh = _next(steps, edited, drawn), dict(version), fresh + 1
                version[edited] = fresh
            yield dict(version)


def _next(steps: tuple[Step, ...], edited: str, drawn: random.Random) -> str:
    """The step that is edited next."""
    near = [each for each in steps if edited in each.reads or each.name in _reads(steps, edited)]
    where = drawn.random()
    if edited and where < SAME:
        return edited
    among = near if near and where < SAME + NEAR else list(steps)
    return drawn.choices(among, [each.edited for each in among])[0].name


def _reads(steps: tuple[Step, ...], name: str) -> tuple[str, ...]:
    return next((each.reads for each in steps if each.name == name), ())


def _scheduled(steps: tuple[Step, ...], drawn: random.Random) -> list[str]:
    """The keys of one run, in an order in which its tasks could end."""
    left = {each.name: set(each.reads) for each in steps}
    done: list[str] = []
    while left:
        ready = sorted(name for name, reads in left.items() if reads <= set(done))
        done.append(drawn.choice(ready))
        del left[done[-1]]
    return [f"{name}@0.0" for name in done]
