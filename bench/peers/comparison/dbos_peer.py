"""DBOS: a workflow whose model and tool calls are steps, with SQLite (the default) or PostgreSQL."""

from __future__ import annotations

import asyncio
import threading
from typing import Any

from dbos import DBOS, DBOSConfig, DBOSPortableJSONSerializer, SetWorkflowID

from comparison.conversation import Framework, Plan, filler, model_called, tool_result

_TOPIC = "messages"
_DAY_SECONDS = 86_400
_CONFIGURATION: dict[str, DBOSConfig] = {"json": {"serializer": DBOSPortableJSONSerializer()}}
_WORKFLOW_OPTIONS: dict[str, dict[str, Any]] = {"no-recovery": {"max_recovery_attempts": 0}}

_turn_ended = threading.Event()


@DBOS.step()
async def think(messages: list[dict[str, Any]]) -> dict[str, Any]:
    iteration = 1 + sum(message["role"] == "assistant" for message in messages)
    model_called(iteration)
    calls = Plan.of(messages[0]["content"]).calls(iteration)
    return {"role": "assistant", "content": filler(iteration), "tool_calls": calls}


@DBOS.step()
async def act(call: str) -> str:
    return await tool_result(call)


async def agent(prompt: str) -> str:
    messages: list[dict[str, Any]] = [{"role": "user", "content": prompt}]
    while True:
        reply = await think(messages)
        messages.append(reply)
        calls = reply["tool_calls"]
        if calls:
            results = await asyncio.gather(*map(act, calls))
            messages += [
                {"role": "tool", "tool_call_id": call, "content": result}
                for call, result in zip(calls, results, strict=True)
            ]
            continue
        _turn_ended.set()
        if not Plan.of(prompt).keep_open:
            return "completed"
        messages.append({"role": "user", "content": await DBOS.recv_async(_TOPIC, timeout_seconds=_DAY_SECONDS)})


class Dbos(Framework):
    def __init__(self, variant: str, store: str) -> None:
        url = store if store.startswith("postgresql:") else f"sqlite:///{store}"
        config: DBOSConfig = {"name": "peers", "system_database_url": url, "console_log_level": "CRITICAL"}
        DBOS(config={**config, **_CONFIGURATION.get(variant, {})})
        self._agent = DBOS.workflow(**_WORKFLOW_OPTIONS.get(variant, {}))(agent)
        self._launched = False

    async def converse(self, thread: str, plan: Plan) -> None:
        self._launch()
        with SetWorkflowID(thread):
            handle = await DBOS.start_workflow_async(self._agent, plan.prompt())
        if plan.keep_open:
            await asyncio.to_thread(_turn_ended.wait)
        else:
            await handle.get_result()

    async def say(self, thread: str, text: str) -> None:
        self._launch()  # This starts to recover the workflows of the earlier process.
        await DBOS.send_async(thread, text, _TOPIC)

    async def recover(self, thread: str) -> str:
        self._launch()
        handle = await DBOS.retrieve_workflow_async(thread)
        try:
            await handle.get_result()
        except Exception:
            if (await handle.get_status()).status != "MAX_RECOVERY_ATTEMPTS_EXCEEDED":
                raise
            return "the run stops; resumed by an operator, it would run the tool again"
        return "the tool ran again, and the run completed"

    def _launch(self) -> None:
        if not self._launched:
            DBOS.launch()
            self._launched = True
        _turn_ended.clear()


def create(variant: str, store: str) -> Framework:
    return Dbos(variant, store)
