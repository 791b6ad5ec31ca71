"""Lines of a job's file as rows of tokens, and in which order they come. What is wrong names its line."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from jinja2 import StrictUndefined, TemplateError
from jinja2.sandbox import SandboxedEnvironment

from couler_py.steps.corpus import tokenizers
from couler_py.steps.corpus.order import Order
from couler_py.steps.lora.jobs import Data, Job
from couler_py.steps.lora.objectives import SFT
from couler_py.steps.models.decoder import IGNORED


class DataError(ValueError):
    """A file, or a line of it, that can't be trained on."""


class Encoder(Protocol):
    """Text to tokens, and the token that ends a text, where there is one."""

    @property
    def end(self) -> int | None:
        """The token behind each completion."""

    def encode(self, text: str) -> list[int]:
        """The tokens of a text, without begin and end."""


class Row(NamedTuple):
    """Tokens, and for each of them what should come next."""

    tokens: tuple[int, ...]
    targets: tuple[int, ...]

    @property
    def learned(self) -> int:
        """How many targets there are."""
        return sum(target != IGNORED for target in self.targets)


class Example(NamedTuple):
    """One row, or a pair of them: what is chosen and what is rejected."""

    rows: tuple[Row, ...]

    @property
    def length(self) -> int:
        """Tokens of the longest row."""
        return max(len(row.tokens) for row in self.rows)


class OfBytes(NamedTuple):
    """The tokenizers of this package, whose texts end with `<end>`."""

    tokenizer: tokenizers.ByteTokenizer | tokenizers.PairTokenizer = tokenizers.ByteTokenizer()
    end: int | None = tokenizers.END

    def encode(self, text: str) -> list[int]:
        """The tokens of a text."""
        return self.tokenizer.encode(text)


class OfHuggingFace(NamedTuple):
    """A tokenizer of Hugging Face."""

    tokenizer: Any

    @property
    def end(self) -> int | None:
        """Its mark of the end, where it has one."""
        token: int | None = self.tokenizer.eos_token_id
        return token

    def encode(self, text: str) -> list[int]:
        """The tokens of a text, without special ones."""
        return list(self.tokenizer(text, add_special_tokens=False)["input_ids"])


def encoder_of(base: str | Path, tokenizer: str | Path = "") -> Encoder:
    """A file of this package's tokenizers; else the tokenizer in a model's folder; else bytes."""
    if tokenizer:
        return OfBytes(tokenizers.load(tokenizer))
    if (Path(base) / "tokenizer_config.json").is_file():
        from transformers import AutoTokenizer

        return OfHuggingFace(AutoTokenizer.from_pretrained(str(base), local_files_only=True, trust_remote_code=False))
    return OfBytes()


def examples_of(job: Job, encoder: Encoder, vocabulary: int, context: int, root: str | Path = "") -> list[Example]:
    """All examples of a job's file, held-out ones last. A relative path lies in `root`.

    Raises `DataError` for a file that can't be read or has no line left to train on, and for a line that is no object
    of JSON, lacks a field, has a token that the base hasn't, or no target within the cutoff.
    """
    path = Path(root) / job.data.path
    cutoff = min(job.cutoff, context)
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as problem:
        raise DataError(f"{path} can't be read as text: {problem}") from problem
    reader = _Reader(job, encoder, vocabulary, cutoff)
    made = []
    for number, line in enumerate(text.splitlines(), 1):
        if line.strip():
            try:
                made.append(reader.example(line))
            except ValueError as problem:  # an encoder's too: half of a surrogate pair is no text
                raise DataError(f"line {number} of {path.name}: {problem}") from problem
    if len(made) <= job.data.held_out:
        raise DataError(f"{path.name} has {len(made)} lines, and {job.data.held_out} of them are held out")
    return made


def windows(job: Job, samples: Sequence[Example]) -> int:
    """Optimizer steps of an epoch: the last one takes what is left."""
    return -(-len(samples) // job.batch)


def window(job: Job, samples: Sequence[Example], step: int) -> list[Example]:
    """The examples of a step, counted from 0 over all epochs."""
    epoch, within = divmod(step, windows(job, samples))
    begin = within * job.batch
    places = range(begin, min(begin + job.batch, len(samples)))
    if job.data.order == "sort":
        longest = sorted(range(len(samples)), key=lambda number: (-samples[number].length, number))
        return [samples[longest[place]] for place in places]
    order = Order(len(samples), job.seed, shuffled=job.data.order == "shuffle")
    return [samples[order[epoch * len(samples) + place]] for place in places]


def pieces(examples: Sequence[Example], count: int) -> Iterator[Sequence[Example]]:
    """Examples in pieces of so many; the last may have less."""
    for begin in range(0, len(examples), count):
        yield examples[begin : begin + count]


class _Reader:
    def __init__(self, job: Job, encoder: Encoder, vocabulary: int, cutoff: int):
        self.single = isinstance(job.objective, SFT)
        self.encoder, self.vocabulary, self.cutoff = encoder, vocabulary, cutoff
        self.template = _template(job.data)

    def example(self, line: str) -> Example:
        try:
            fields = json.loads(line)
        except (ValueError, RecursionError) as problem:
            raise DataError(f"it is no JSON: {problem}") from problem
        if not isinstance(fields, dict):
            raise DataError("it is no object of JSON")
        if not self.single:
            prompt = self._prompt(fields)
            return Example(tuple(self._row(prompt, _text(fields, name)) for name in ("chosen", "rejected")))
        if "tokens" in fields:
            return Example((self._cut(self._numbers(fields["tokens"]), 1),))
        if "text" in fields:
            return Example((self._row("", _text(fields, "text")),))
        return Example((self._row(self._prompt(fields), _text(fields, "completion")),))

    def _prompt(self, fields: dict[str, Any]) -> str:
        if self.template is None:
            return _text(fields, "prompt")
        try:
            return str(self.template.render(fields))
        except Exception as problem:  # a template is an expression: what may go wrong in it has no common name
            raise DataError(f"the template doesn't fit it: {problem}") from problem

    def _numbers(self, tokens: Any) -> list[int]:
        if not isinstance(tokens, list) or any(type(token) is not int for token in tokens):
            raise DataError("its tokens are no list of whole numbers")
        return tokens

    def _row(self, prompt: str, completion: str) -> Row:
        before = self.encoder.encode(prompt)
        end = [] if self.encoder.end is None else [self.encoder.end]
        return self._cut(before + self.encoder.encode(completion) + end, max(1, len(before)))

    def _cut(self, tokens: list[int], first: int) -> Row:
        """A row whose targets begin with the token at place `first`."""
        if odd := [token for token in tokens if not 0 <= token < self.vocabulary]:
            raise DataError(f"token {odd[0]} is none of the base's {self.vocabulary}")
        kept = tokens[: self.cutoff + 1]
        if len(kept) <= first:
            raise DataError(
                f"its prompt has {first} tokens and nothing to learn is left within {self.cutoff}: raise the cutoff"
            )
        return Row(tuple(kept[:-1]), (IGNORED,) * (first - 1) + tuple(kept[first:]))


def _text(fields: dict[str, Any], name: str) -> str:
    text = fields.get(name)
    if not isinstance(text, str):
        raise DataError(f"it has no text {name!r}: there are {', '.join(map(str, fields)) or 'no fields'}")
    return text


def _template(data: Data) -> Any:
    if not data.template:
        return None
    # What a template can't be is said here, before any line: it is text of a file, rendered without Python's objects.
    try:
        return SandboxedEnvironment(undefined=StrictUndefined, autoescape=False).from_string(data.template)
    except TemplateError as problem:
        raise DataError(f"the template of {data.path} can't be read: {problem}") from problem
