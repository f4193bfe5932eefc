"""OpenAI Agents SDK on Temporal: Runner.run in a workflow, model calls and tools as activities."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any

from temporalio import activity, workflow
from temporalio.openai_agents import OpenAIAgentsPlugin
from temporalio.openai_agents.testing import TestModelProvider
from temporalio.openai_agents.workflow import activity_as_tool

with workflow.unsafe.imports_passed_through():
    from agents import Agent, Model, ModelResponse, Runner, TResponseInputItem, Usage
    from openai.types.responses import ResponseFunctionToolCall, ResponseOutputMessage, ResponseOutputText

    from comparison.conversation import Framework, Plan, filler, model_called, tool_result
    from comparison.temporal_framework import WORKFLOW, TemporalFramework, tool_options

KEPT_BY_PROVIDER = "kept-by-provider"
"""The variant in which each call sends only new items, and refers to the provider's previous response for the rest."""

_ENOUGH_TURNS = 1_000_000


class InstantModel(Model):
    """Derives its reply from the input, or from the id of the previous response if it gets that instead."""

    async def get_response(
        self, system_instructions: str | None, input: str | list[TResponseInputItem], *given: Any, **options: Any
    ) -> ModelResponse:
        previous = options.get("previous_response_id")
        if previous:
            iteration, *words = previous.split("-")[1:]
            iteration, plan = int(iteration) + 1, Plan.parse(words)
        else:
            items = input if isinstance(input, list) else [{"role": "user", "content": input}]
            iteration = 1 + sum(item.get("role") == "assistant" for item in items)
            plan = Plan.of(items[0]["content"])
        model_called(iteration)
        text = ResponseOutputText(text=filler(iteration), type="output_text", annotations=[])
        message = ResponseOutputMessage(
            id=f"msg_{iteration}", content=[text], role="assistant", status="completed", type="message"
        )
        calls = [
            ResponseFunctionToolCall(
                id=f"fc_{call}", call_id=call, name="act", arguments=json.dumps({"call": call}), type="function_call"
            )
            for call in plan.calls(iteration)
        ]
        response = f"resp-{iteration}-{plan.iterations}-{plan.tools}-{int(plan.keep_open)}"
        return ModelResponse(output=[message, *calls], usage=Usage(), response_id=response)

    def stream_response(self, *given: Any, **options: Any) -> Any:
        raise NotImplementedError


@activity.defn
async def act(call: str) -> str:
    """Acts."""
    return await tool_result(call)


@workflow.defn(name=WORKFLOW)
class OpenAIAgent:
    def __init__(self) -> None:
        self._messages: list[str] = []

    @workflow.run
    async def run(self, prompt: str, variant: str) -> str:
        agent = Agent(name="agent", model="instant", tools=[activity_as_tool(act, **tool_options(variant))])
        plan = Plan.of(prompt)
        given: str | list[TResponseInputItem] = prompt
        previous: dict[str, Any] = {}
        while True:
            if variant == KEPT_BY_PROVIDER and not previous:
                previous = {"auto_previous_response_id": True}
            result = await Runner.run(agent, given, max_turns=_ENOUGH_TURNS, **previous)
            if not plan.keep_open:
                return "completed"
            await workflow.wait_condition(lambda: bool(self._messages))
            text = self._messages.pop(0)
            if variant == KEPT_BY_PROVIDER:
                given, previous = text, {"previous_response_id": result.last_response_id}
            else:
                given = [*result.to_input_list(), {"role": "user", "content": text}]

    @workflow.signal
    def say(self, text: str) -> None:
        self._messages.append(text)


class OpenAIAgentsOnTemporal(TemporalFramework):
    def plugins(self) -> Sequence[Any]:
        return [OpenAIAgentsPlugin(model_provider=TestModelProvider(InstantModel()))]

    def workflow(self) -> type:
        return OpenAIAgent

    def activities(self) -> Sequence[Callable[..., Any]]:
        return [act]


def create(variant: str, store: str) -> Framework:
    return OpenAIAgentsOnTemporal(variant, store)
