"""Shared by all frameworks on Temporal: a worker, a workflow for each conversation, signals for messages."""

from __future__ import annotations

import abc
import asyncio
import os
from collections.abc import Callable, Sequence
from datetime import timedelta
from typing import Any

from temporalio.api.common.v1 import WorkflowExecution
from temporalio.api.workflowservice.v1 import ResetStickyTaskQueueRequest
from temporalio.client import Client, WorkflowExecutionStatus, WorkflowFailureError, WorkflowHandle
from temporalio.common import RetryPolicy
from temporalio.worker import Worker

from comparison.conversation import EFFECT_TIMEOUT_SECONDS, Framework, Plan

WORKFLOW = "Agent"
SAY = "say"
ONCE = "maximum-attempts-1"
"""The variant in which a tool's activity isn't retried."""

_POLL_SECONDS = 0.05


def tool_options(variant: str) -> dict[str, Any]:
    """The options of a tool's activity: the same time limit for all, and Temporal's retries unless it is ONCE."""
    options: dict[str, Any] = {"start_to_close_timeout": timedelta(seconds=EFFECT_TIMEOUT_SECONDS)}
    return options | ({"retry_policy": RetryPolicy(maximum_attempts=1)} if variant == ONCE else {})


class TemporalFramework(Framework):
    """The workflow type is WORKFLOW in every framework; its arguments are the prompt and the variant."""

    def __init__(self, variant: str, address: str) -> None:
        self._variant = variant
        self._address = address
        self._client: Client | None = None
        self._task_queue = os.environ.get("PEERS_TASK_QUEUE", "peers")

    @abc.abstractmethod
    def plugins(self) -> Sequence[Any]:
        """The framework's plugins of client and worker."""

    @abc.abstractmethod
    def workflow(self) -> type:
        """The workflow."""

    def activities(self) -> Sequence[Callable[..., Any]]:
        """The activities that the plugins don't register."""
        return []

    async def _working(self) -> Client:
        """Connects and starts the worker, once."""
        if self._client is None:
            self._client = await Client.connect(self._address, plugins=self.plugins())
            worker = Worker(
                self._client, task_queue=self._task_queue, workflows=[self.workflow()], activities=self.activities()
            )
            self._worker = asyncio.create_task(worker.run())
        return self._client

    async def converse(self, thread: str, plan: Plan) -> None:
        client = await self._working()
        handle = await client.start_workflow(
            WORKFLOW, args=[plan.prompt(), self._variant], id=thread, task_queue=self._task_queue
        )
        if plan.keep_open:
            await standstill(handle)
        else:
            await handle.result()

    async def say(self, thread: str, text: str) -> None:
        client = await self._working()
        await standstill(client.get_workflow_handle(thread))

    async def recover(self, thread: str) -> str:
        client = await self._working()
        try:
            await client.get_workflow_handle(thread).result()
        except WorkflowFailureError as e:
            return f"the run failed: {str(e.cause).rpartition(': ')[2]}"
        return "the tool ran again, and the run completed" if self._variant != ONCE else "the run completed"


async def standstill(handle: WorkflowHandle[Any, Any]) -> None:
    """Waits until neither an activity nor a workflow task is due. An error if the workflow is closed."""
    while True:
        description = await handle.describe()
        if description.status not in (WorkflowExecutionStatus.RUNNING, WorkflowExecutionStatus.CONTINUED_AS_NEW):
            await handle.result()
            raise RuntimeError(f"closed: {description.status}")
        raw = description.raw_description
        if not raw.pending_activities and not raw.HasField("pending_workflow_task"):
            return
        await asyncio.sleep(_POLL_SECONDS)


async def signal_before_worker(client: Client, thread: str, signal: str, text: str) -> None:
    """Sends a message while no worker runs. Otherwise the server would offer the task to the killed one first."""
    handle = client.get_workflow_handle(thread)
    await client.workflow_service.reset_sticky_task_queue(
        ResetStickyTaskQueueRequest(namespace=client.namespace, execution=WorkflowExecution(workflow_id=thread))
    )
    await handle.signal(signal, text)
