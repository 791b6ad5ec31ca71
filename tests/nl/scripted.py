"""A chat model of langchain-core that says what a script has, and the replies of a model that understood a text."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from langchain_core.callbacks import CallbackManagerForLLMRun
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, ChatResult

TEXT = "Load sales.csv, clean it, train a model, evaluate it, and publish it if the accuracy is over 0.9."

PLAN = {
    "name": "churn",
    "steps": [
        {"name": "load", "role": "load", "does": "load sales.csv"},
        {"name": "clean", "role": "clean", "does": "clean the sales", "takes": ["load"]},
        {"name": "train", "role": "train", "does": "train a model", "takes": ["clean"]},
        {"name": "evaluate", "role": "evaluate", "does": "measure the accuracy", "takes": ["train", "clean"]},
        {"name": "publish", "role": "export", "does": "publish the model", "takes": ["train"]},
    ],
}
DETAILS = {
    "steps": [
        {"name": "load", "arguments": [{"name": "path", "value": "sales.csv"}]},
        {"name": "evaluate", "gives": "number"},
        {"name": "publish", "when": [{"task": "evaluate", "op": ">", "value": 0.9}]},
    ]
}
GOOD = {"score": 0.9}
BAD = {"score": 0.2, "wrong": ["the condition is missing"]}


def said(*replies: Any) -> Scripted:
    """A model that gives these replies, one after the other; data as JSON."""
    return Scripted(replies=[each if isinstance(each, str) else json.dumps(each) for each in replies])


class Scripted(BaseChatModel):
    """`asked` are the prompts so far. Asked more often than there are replies it fails the test."""

    replies: list[str]
    asked: list[str] = []

    @property
    def _llm_type(self) -> str:
        return "scripted"

    def _next(self, messages: list[BaseMessage]) -> str:
        self.asked.append(str(messages[-1].content))
        assert self.replies, f"nobody expected: {self.asked[-1]}"
        return self.replies.pop(0)

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        return ChatResult(generations=[ChatGeneration(message=AIMessage(self._next(messages)))])

    def _stream(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> Iterator[ChatGenerationChunk]:
        yield ChatGenerationChunk(message=AIMessageChunk(self._next(messages)))
