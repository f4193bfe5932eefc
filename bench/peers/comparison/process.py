"""A process with a framework, as the driver sees it."""

from __future__ import annotations

import asyncio
import os
import signal
import time
from asyncio.subprocess import PIPE, Process
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

TOO_SLOW = "not done within"


class Ended(Exception):
    """The conversation ended in an unexpected way; the message says how."""


class FrameworkProcess:
    """A process group of its own, which reads commands.

    It prints model calls (`ITERATION MICROSECONDS`) and what came of each command.
    """

    def __init__(self, process: Process, started: float) -> None:
        self.started = started
        self.calls: dict[int, float] = {}
        """The time of the first model call in each iteration, in seconds since the epoch."""
        self._process = process
        self._changed = asyncio.Condition()
        self._done: list[str] = []
        self._failure: str | None = None
        self._reader = asyncio.create_task(self._read())

    @staticmethod
    async def start(command: Sequence[str], environment: Mapping[str, str], log: Path) -> FrameworkProcess:
        started = time.time()
        with log.open("ab") as errors:
            process = await asyncio.create_subprocess_exec(
                *command, env=environment, stdin=PIPE, stdout=PIPE, stderr=errors, start_new_session=True
            )
        return FrameworkProcess(process, started)

    async def command(self, *words: object) -> None:
        assert self._process.stdin
        self._process.stdin.write((" ".join(map(str, words)) + "\n").encode())
        await self._process.stdin.drain()

    async def done(self, seconds: float) -> str:
        """Waits for the outcome of a command."""
        await self._until(lambda: bool(self._done), seconds)
        return self._done.pop(0)

    async def called(self, iteration: int, seconds: float) -> float:
        """Waits for a model call, and returns its time."""
        await self._until(lambda: iteration in self.calls, seconds)
        return self.calls[iteration]

    async def _until(self, happened: Callable[[], bool], seconds: float) -> None:
        try:
            async with asyncio.timeout(seconds), self._changed:
                await self._changed.wait_for(lambda: happened() or self._failure is not None)
        except TimeoutError:
            raise Ended(f"{TOO_SLOW} {seconds:.0f} s") from None
        if not happened():
            raise Ended(self._failure)

    async def _read(self) -> None:
        assert self._process.stdout
        async for line in self._process.stdout:
            word, _, rest = line.decode().strip().partition(" ")
            async with self._changed:
                if word.isdigit():
                    self.calls.setdefault(int(word), int(rest) / 1e6)
                elif word == "done":
                    self._done.append(rest)
                elif word == "failed":
                    self._failure = rest
                self._changed.notify_all()
        async with self._changed:
            self._failure = self._failure or "the process ended"
            self._changed.notify_all()

    async def kill(self) -> None:
        """kill -9 for the whole group."""
        if self._process.returncode is None:
            os.killpg(self._process.pid, signal.SIGKILL)
        await self._process.wait()
        await self._reader


async def until(happened: Callable[[], bool], seconds: float) -> bool:
    """Whether the condition became true in this time."""
    deadline = time.monotonic() + seconds
    while not happened():
        if time.monotonic() > deadline:
            return False
        await asyncio.sleep(0.05)
    return True
