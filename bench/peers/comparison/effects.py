"""Kills processes in the middle of a tool with a side effect, and counts the effects."""

from __future__ import annotations

import abc
import asyncio
import json
import subprocess
import time
import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from comparison.catalogue import ROOT, TEMPORAL, Variant
from comparison.conversation import EFFECT_TIMEOUT_SECONDS, Plan
from comparison.measure import environment
from comparison.notes import note
from comparison.process import Ended, FrameworkProcess, until
from comparison.stores import Store

MOST_KILLS = 3
_PATIENCE_SECONDS = 120


@dataclass
class Effects:
    """The result of one tool call."""

    variant: str
    kills: int
    """The process is killed after each effect of the tool, before it returns, at most MOST_KILLS times."""
    effects: int
    end: str


class CrashTest(abc.ABC):
    """One run of one variant, with one tool call."""

    def __init__(self, variant: str, directory: Path, log: Path) -> None:
        self.variant = variant
        self.ledger = directory / f"{uuid.uuid4().hex}.ledger"
        self.thread = uuid.uuid4().hex
        self._log = log

    def effects(self) -> int:
        return len(self.ledger.read_text().splitlines()) if self.ledger.exists() else 0

    @abc.abstractmethod
    async def work(self, holding: bool, first: bool) -> FrameworkProcess:
        """Starts a process that begins or continues the run. The tool hangs if told to, and returns otherwise."""

    @abc.abstractmethod
    async def outcome(self, process: FrameworkProcess) -> str:
        """Waits for the end of the run."""

    async def run(self) -> Effects:
        kills = 0
        end = None
        while end is None and kills < MOST_KILLS:
            process = await self.work(holding=True, first=kills == 0)
            end = await self._killed_or_ended(process, kills)
            kills += end is None
        if end is None:
            process = await self.work(holding=False, first=False)
            end = await self._ended(process)
        return Effects(self.variant, kills, self.effects(), end)

    async def _killed_or_ended(self, process: FrameworkProcess, kills: int) -> str | None:
        """Kills the process after the next effect. If there is none, returns how the run ended."""
        ended = asyncio.create_task(self._ended(process, kill=False))
        try:
            await until(lambda: self.effects() > kills or ended.done(), _PATIENCE_SECONDS + 30)
            return None if self.effects() > kills else await ended
        finally:
            ended.cancel()
            await process.kill()

    async def _ended(self, process: FrameworkProcess, kill: bool = True) -> str:
        try:
            return await self.outcome(process)
        except Ended as e:
            return str(e)
        finally:
            if kill:
                await process.kill()


class FrameworkCrashTest(CrashTest):
    """A variant whose process takes commands."""

    def __init__(self, variant: Variant, store: Store, directory: Path, log: Path) -> None:
        super().__init__(variant.key, directory, log)
        self._variant = variant
        self._store = store

    async def work(self, holding: bool, first: bool) -> FrameworkProcess:
        variables = {"PEERS_LEDGER": str(self.ledger), "PEERS_TASK_QUEUE": self.thread} | (
            {"PEERS_HOLD": "yes"} if holding else {}
        )
        command = self._variant.command(await self._store.open(self.thread))
        process = await FrameworkProcess.start(command, environment(variables), self._log)
        plan = Plan(1, 1, keep_open=False)
        await process.command(*(["converse", self.thread, *plan.words()] if first else ["recover", self.thread]))
        return process

    async def outcome(self, process: FrameworkProcess) -> str:
        return await process.done(_PATIENCE_SECONDS)


_RESULT = "charged"
_TOOL = f"""\
#!/bin/sh
# charge.sh LEDGER HOLD: takes effect, and then holds if HOLD exists
echo "$WAYMARK_IDEMPOTENCY_KEY" >> "$1"
if [ -e "$2" ]; then sleep 3600; fi
echo {_RESULT}
"""
_VERIFY = """\
#!/bin/sh
# landed.sh LEDGER: whether the call took effect
if grep -qs "$WAYMARK_IDEMPOTENCY_KEY" "$1"; then echo '{"landed":true,"result":"charged"}'; else echo '{"landed":false}'; fi
"""
_SCRIPT = """\
replies:
  - text: I charge.
    tool_calls: [{ id: tu_1, name: charge, input: {} }]
  - text: That is all.
"""
WAYMARK_VARIANTS = {
    "default": {},
    "on_unknown: ask": {"on_unknown": "ask"},
    "verify": {"verify": ["./landed.sh", "LEDGER"]},
}


class WaymarkCrashTest(CrashTest):
    """Runs Waymark through its own commands, with a program as the tool."""

    def __init__(self, variant: str, address: str, directory: Path, log: Path) -> None:
        super().__init__(_waymark_key(variant), directory, log)
        self._address = address
        self._agents = directory / f"agents-{self.thread}"
        self._hold = directory / f"{self.thread}.hold"
        self._write_agent(variant)

    def _write_agent(self, variant: str) -> None:
        self._agents.mkdir()
        for name, text in {"charge.sh": _TOOL, "landed.sh": _VERIFY}.items():
            (self._agents / name).write_text(text)
            (self._agents / name).chmod(0o755)
        (self._agents / "charging.script.yaml").write_text(_SCRIPT)
        tool = {
            "name": "charge",
            "description": "Charges",
            "command": ["./charge.sh", str(self.ledger), str(self._hold)],
            "timeout": f"{EFFECT_TIMEOUT_SECONDS}s",
            **json.loads(json.dumps(WAYMARK_VARIANTS[variant]).replace("LEDGER", str(self.ledger))),
        }
        agent = {"instructions": "Charge.", "model": "scripted:charging.script.yaml", "tools": [tool]}
        (self._agents / "charging.yaml").write_text(json.dumps(agent))  # JSON is YAML.

    async def work(self, holding: bool, first: bool) -> FrameworkProcess:
        if holding:
            self._hold.touch()
        else:
            self._hold.unlink()
        queue = ["--task-queue", self.thread]
        worker = [str(ROOT / "waymark"), "worker", "--address", self._address, "--agents", str(self._agents), *queue]
        process = await FrameworkProcess.start(worker, environment(), self._log)
        if first:
            await self._waymark("run", "--agent", "charging", "--thread", self.thread, "--no-wait", "Charge.")
        return process

    async def outcome(self, process: FrameworkProcess) -> str:
        outcome: dict[str, Any] = {}
        deadline = time.monotonic() + _PATIENCE_SECONDS
        while "status" not in outcome:  # Without a status, the output says that no worker runs yet.
            if time.monotonic() > deadline:
                raise Ended(f"not done within {_PATIENCE_SECONDS} s")
            outcome = json.loads(await self._waymark("result", self.thread, "--json"))
        if outcome["status"] != "complete":
            return "the run waits for a person, who says whether it took effect"
        result = next(
            part
            for message in outcome["messages"]
            for part in message["content"]
            if isinstance(part, dict) and "toolUseId" in part
        )
        if result["content"].strip() == _RESULT:
            return "the tool's check found the effect, and the run completed"
        return "the model was told that the outcome is unknown, and the run completed"

    async def _waymark(self, command: str, *arguments: str) -> str:
        words = [str(ROOT / "waymark"), command, *arguments, "--address", self._address]
        variables = environment({"WAYMARK_TASK_QUEUE": self.thread})
        done = await asyncio.to_thread(
            subprocess.run, words, env=variables, capture_output=True, text=True, check=False
        )
        with self._log.open("a") as log:
            log.write(done.stdout + done.stderr)
        return done.stdout


def waymark_variants(only: str) -> list[str]:
    """The variants whose name contains this text."""
    return [variant for variant in WAYMARK_VARIANTS if only.lower() in _waymark_key(variant).lower()]


def _waymark_key(variant: str) -> str:
    return f"Waymark, {TEMPORAL}, {variant}"


async def effects(
    stores: dict[str, Store], variants: Sequence[Variant], waymark: Sequence[str], directory: Path, log: Path
) -> list[Effects]:
    """Runs all crash tests, two at a time, because they mostly wait."""
    tests: list[CrashTest] = []
    if TEMPORAL in stores:
        address = await stores[TEMPORAL].open("")
        tests += [WaymarkCrashTest(each, address, directory, log) for each in waymark]
    tests += [FrameworkCrashTest(each, stores[each.store], directory, log) for each in variants if each.store in stores]
    slots = asyncio.Semaphore(2)

    async def run(test: CrashTest) -> Effects:
        async with slots:
            done = await test.run()
            note(f"{done.variant}: {done.kills} kills, {done.effects} effects: {done.end}")
            return done

    return list(await asyncio.gather(*map(run, tests)))
