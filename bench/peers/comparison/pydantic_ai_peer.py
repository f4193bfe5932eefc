"""Pydantic AI on Temporal: an agent with the TemporalDurability capability, run in a workflow."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from temporalio import workflow

with workflow.unsafe.imports_passed_through():
    from pydantic_ai import Agent, FunctionToolset, ModelMessage, ModelResponse, RunContext, TextPart, ToolCallPart
    from pydantic_ai.durable_exec.temporal import PydanticAIPlugin, PydanticAIWorkflow, TemporalDurability
    from pydantic_ai.messages import ModelMessagesTypeAdapter, ModelRequest, UserPromptPart
    from pydantic_ai.models.function import AgentInfo, FunctionModel
    from pydantic_ai.usage import UsageLimits

    from comparison.conversation import Framework, Plan, filler, model_called, tool_result
    from comparison.temporal_framework import ONCE, WORKFLOW, TemporalFramework, tool_options

CONTINUED = "continue-as-new"
"""The variant that continues as new when the server suggests it."""


def instant(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
    iteration = 1 + sum(isinstance(message, ModelResponse) for message in messages)
    model_called(iteration)
    calls = [
        ToolCallPart("act", {"call": call}, tool_call_id=call) for call in Plan.of(_prompt(messages)).calls(iteration)
    ]
    return ModelResponse(parts=[TextPart(filler(iteration)), *calls])


def _prompt(messages: list[ModelMessage]) -> str:
    first = messages[0]
    assert isinstance(first, ModelRequest)
    return next(str(part.content) for part in first.parts if isinstance(part, UserPromptPart))


def _continue_as_new(context: RunContext[None]) -> None:
    prompt = _prompt(context.messages)
    workflow.continue_as_new(
        args=[prompt, CONTINUED, ModelMessagesTypeAdapter.dump_python(context.messages, mode="json")]
    )


def _agent(variant: str) -> Agent[None, str]:
    tools = FunctionToolset[None](id="tools")
    tools.add_function(tool_result, name="act", metadata={"temporal": tool_options(variant)})
    durability = TemporalDurability[None](continue_as_new=_continue_as_new if variant == CONTINUED else None)
    return Agent(FunctionModel(instant), name=f"agent-{variant}", toolsets=[tools], capabilities=[durability])


AGENTS = {variant: _agent(variant) for variant in ("default", ONCE, CONTINUED)}
UNLIMITED = UsageLimits(request_limit=None)


@workflow.defn(name=WORKFLOW)
class PydanticAgent(PydanticAIWorkflow):
    __pydantic_ai_agents__ = list(AGENTS.values())

    def __init__(self) -> None:
        self._messages: list[str] = []

    @workflow.run
    async def run(self, prompt: str, variant: str, before: list[Any] | None = None) -> str:
        text = None if before else prompt
        messages = ModelMessagesTypeAdapter.validate_python(before) if before else None
        while True:
            result = await AGENTS[variant].run(text, message_history=messages, usage_limits=UNLIMITED)
            if not Plan.of(prompt).keep_open:
                return "completed"
            messages = result.all_messages()
            await workflow.wait_condition(lambda: bool(self._messages))
            text = self._messages.pop(0)

    @workflow.signal
    def say(self, text: str) -> None:
        self._messages.append(text)


class PydanticAIOnTemporal(TemporalFramework):
    def plugins(self) -> Sequence[Any]:
        return [PydanticAIPlugin()]

    def workflow(self) -> type:
        return PydanticAgent


def create(variant: str, store: str) -> Framework:
    return PydanticAIOnTemporal(variant, store)
