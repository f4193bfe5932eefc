"""Counts the actions that Temporal Cloud would bill for an iteration, with the server's own metric."""

from __future__ import annotations

import asyncio
import uuid
from dataclasses import dataclass
from pathlib import Path

from comparison.catalogue import Variant
from comparison.conversation import Plan
from comparison.measure import WARM_UP_ITERATIONS, environment
from comparison.process import Ended, FrameworkProcess
from comparison.stores import TemporalStore

LENGTHS = (10, 40)
"""Conversations of two lengths, so that the fixed cost of a conversation cancels out. A new process may send
heartbeats, so an earlier conversation is not counted."""

SETTLED_SECONDS = 2
CONVERSATION_SECONDS = 180


@dataclass
class Actions:
    """The actions of an iteration, by kind."""

    variant: str
    tools: int
    kinds: dict[str, float]
    ended: str = ""


async def count(variant: Variant, store: TemporalStore, tools: int, log: Path) -> Actions:
    """Runs two conversations and compares what the server has counted for them."""
    process = await FrameworkProcess.start(variant.command(await store.open("")), environment(), log)
    try:
        await _conversation(process, store, Plan(WARM_UP_ITERATIONS, tools, False))
        short, long = [await _conversation(process, store, Plan(length, tools, False)) for length in LENGTHS]
    except Ended as e:
        return Actions(variant.key, tools, {}, str(e))
    finally:
        await process.kill()
    steps = LENGTHS[1] - LENGTHS[0]
    kinds = {kind: (long[kind] - short.get(kind, 0)) / steps for kind in sorted(long)}
    return Actions(variant.key, tools, {kind: each for kind, each in kinds.items() if each})


async def _conversation(process: FrameworkProcess, store: TemporalStore, plan: Plan) -> dict[str, float]:
    before = store.actions()
    await process.command("converse", uuid.uuid4().hex, *plan.words())
    await process.done(CONVERSATION_SECONDS)
    await asyncio.sleep(SETTLED_SECONDS)
    return {kind: total - before.get(kind, 0) for kind, total in store.actions().items()}
