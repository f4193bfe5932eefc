"""The conversation that runs in every framework, and the reports of each framework to the driver."""

from __future__ import annotations

import abc
import asyncio
import os
import random
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass

TEXT_BYTES = 2_000
EFFECT_TIMEOUT_SECONDS = 10
"""The time limit of a tool, where a framework asks for one."""

_STRIDE = 2_003
_LETTERS = bytes(b"abcdefghijklmnopqrstuvwxyz     "[i % 31] for i in range(256))
_POOL = random.Random(1).randbytes(1 << 20).translate(_LETTERS).decode("ascii")


def filler(seed: int, length: int = TEXT_BYTES) -> str:
    """Meaningless printable ASCII, different for every seed, and fast to create."""
    start = seed * _STRIDE % (len(_POOL) - TEXT_BYTES)
    return _POOL[start : start + length]


@dataclass(frozen=True)
class Plan:
    """The instructions for the model, which are in the first message of a conversation."""

    iterations: int
    tools: int
    keep_open: bool = True
    """Whether the conversation waits for another message after the model's last reply."""

    def words(self) -> list[int]:
        return [self.iterations, self.tools, int(self.keep_open)]

    def prompt(self) -> str:
        plan = "".join(f"{word} " for word in self.words())
        return plan + filler(0, TEXT_BYTES - len(plan))

    @staticmethod
    def of(prompt: str) -> Plan:
        return Plan.parse(prompt.split(" ", 3)[:3])

    @staticmethod
    def parse(words: Sequence[str]) -> Plan:
        iterations, tools, keep_open = map(int, words)
        return Plan(iterations, tools, bool(keep_open))

    def unique_bytes(self) -> int:
        """The bytes of all texts, each counted once: prompt, replies, results and the last reply."""
        return TEXT_BYTES * (1 + self.iterations * (1 + self.tools) + 1)

    def calls(self, iteration: int) -> list[str]:
        """The ids of the tool calls in this reply; none in the last one."""
        return [f"call_{iteration}_{tool}" for tool in range(self.tools)] if iteration <= self.iterations else []


def model_called(iteration: int) -> None:
    """Every framework's model calls this first, once it has its input."""
    tell(f"{iteration} {time.time_ns() // 1_000}")


async def tool_result(call: str) -> str:
    """The tool: instant and harmless, or with the side effect that a crash test counts."""
    if _record_effect(call):
        await asyncio.sleep(3_600)
    return _result(call)


def blocking_tool_result(call: str) -> str:
    """The same tool for frameworks that run it in a thread."""
    if _record_effect(call):
        time.sleep(3_600)
    return _result(call)


def _result(call: str) -> str:
    iteration, tool = call.split("_")[1:]
    return filler(int(iteration) * 7 + int(tool) + 1)


def _record_effect(call: str) -> bool:
    """Appends to the ledger, if there is one. Returns whether the tool should then hang, so that it can be killed."""
    ledger = os.environ.get("PEERS_LEDGER")
    if ledger:
        with open(ledger, "a", encoding="ascii") as file:
            file.write(f"{call}\n")
            file.flush()
            os.fsync(file.fileno())
    return bool(ledger) and "PEERS_HOLD" in os.environ


def tell(line: str) -> None:
    """Reports to the driver, which reads stdout."""
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


class Framework(abc.ABC):
    """One framework in the process that runs its conversations."""

    @abc.abstractmethod
    async def converse(self, thread: str, plan: Plan) -> None:
        """Starts a conversation, and returns once the model's turn has ended."""

    @abc.abstractmethod
    async def say(self, thread: str, text: str) -> None:
        """Continues a conversation of an earlier process with another message. The driver waits for the model call."""

    @abc.abstractmethod
    async def recover(self, thread: str) -> str:
        """Continues a killed turn as the framework documents it, and returns the outcome."""
