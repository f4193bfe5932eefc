"""Runs one conversation of one variant: time, bytes, and the time of a new process to its next model call."""

from __future__ import annotations

import os
import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from comparison.catalogue import HERE, Variant
from comparison.conversation import Plan
from comparison.process import Ended, FrameworkProcess
from comparison.stores import Store

WARM_UP_ITERATIONS = 15
RESUME_SECONDS = 60


@dataclass
class Conversation:
    """The figures of one conversation."""

    variant: str
    turn: str
    """Equal for conversations that ran directly after each other."""
    iterations: int
    tools: int
    reached: int
    """The completed iterations; fewer than requested if the conversation ended early."""
    ended: str = ""
    """Why the conversation ended early."""
    ms_an_iteration: float | None = None
    """The median, from model call to model call."""
    stored_bytes: int | None = None
    unique_bytes: int | None = None
    resume_ms: float | None = None
    load: float = 0
    """The load of the machine at the end."""


def environment(more: Mapping[str, str] | None = None) -> dict[str, str]:
    """The environment of a framework's process."""
    own = {"PYTHONPATH": str(HERE), "OPENAI_AGENTS_DISABLE_TRACING": "1", "PYTHONDONTWRITEBYTECODE": "1"}
    return {**os.environ, **own, **(more or {})}


async def converse(variant: Variant, store: Store, plan: Plan, turn: str, seconds: float, log: Path) -> Conversation:
    """Runs, measures, kills and resumes a conversation, and gives it up after this many seconds."""
    thread = uuid.uuid4().hex
    place = await store.open(thread)
    process = await FrameworkProcess.start(variant.command(place), environment(), log)
    try:
        figures = Conversation(variant.key, turn, plan.iterations, plan.tools, plan.iterations)
        await _run(figures, store, process, thread, plan, seconds)
    finally:
        await process.kill()
    if not figures.ended:
        figures.resume_ms = await _resume(variant, store, thread, plan, log)
    await store.discard(thread)
    figures.load = round(os.getloadavg()[0], 1)
    return figures


async def _run(
    figures: Conversation, store: Store, process: FrameworkProcess, thread: str, plan: Plan, seconds: float
) -> None:
    try:
        await process.command("converse", uuid.uuid4().hex, *Plan(WARM_UP_ITERATIONS, plan.tools, False).words())
        await process.done(seconds)
        process.calls.clear()
        await process.command("converse", thread, *plan.words())
        await process.done(seconds)
        await process.called(plan.iterations + 1, seconds)
        await store.settle(thread)
        figures.stored_bytes = await store.stored_bytes(thread)
        figures.unique_bytes = plan.unique_bytes()
    except Ended as e:
        figures.ended = str(e)
        figures.reached = max(process.calls, default=1) - 1
    calls = process.calls
    laps = [calls[i + 1] - calls[i] for i in range(1, figures.reached + 1) if i in calls and i + 1 in calls]
    if laps:
        figures.ms_an_iteration = median(laps) * 1e3


async def _resume(variant: Variant, store: Store, thread: str, plan: Plan, log: Path) -> float | None:
    """From the start of a new process to its model call, in milliseconds."""
    await store.before_resume(thread, variant.signal, "go on")
    process = await FrameworkProcess.start(variant.command(await store.open(thread)), environment(), log)
    try:
        if not variant.is_java:
            await process.command("say", thread)
        return (await process.called(plan.iterations + 2, RESUME_SECONDS) - process.started) * 1e3
    except Ended:
        return None
    finally:
        await process.kill()
