"""Bare Temporal, Python SDK: activities in the order of an agent, with only the necessary inputs and results."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from datetime import timedelta
from typing import Any

from temporalio import activity, workflow

with workflow.unsafe.imports_passed_through():
    from comparison.conversation import Framework, Plan, filler, model_called, tool_result
    from comparison.temporal_framework import WORKFLOW, TemporalFramework, tool_options


@activity.defn
async def think(iteration: int) -> str:
    model_called(iteration)
    return filler(iteration)


@activity.defn
async def act(call: str) -> str:
    return await tool_result(call)


@workflow.defn(name=WORKFLOW)
class Bare:
    def __init__(self) -> None:
        self._messages = 0

    @workflow.run
    async def run(self, prompt: str, variant: str) -> str:
        plan = Plan.of(prompt)
        iteration = 0
        while True:
            iteration += 1
            await workflow.execute_activity(think, iteration, start_to_close_timeout=timedelta(seconds=60))
            if calls := plan.calls(iteration):
                await asyncio.gather(*(workflow.execute_activity(act, call, **tool_options(variant)) for call in calls))
            elif plan.keep_open:
                await workflow.wait_condition(lambda: self._messages > 0)
                self._messages -= 1
            else:
                return "completed"

    @workflow.signal
    def say(self, text: str) -> None:
        self._messages += 1


class BareTemporal(TemporalFramework):
    def plugins(self) -> Sequence[Any]:
        return []

    def workflow(self) -> type:
        return Bare

    def activities(self) -> Sequence[Callable[..., Any]]:
        return [think, act]


def create(variant: str, store: str) -> Framework:
    return BareTemporal(variant, store)
