"""The main of a measured process: python -m comparison.child MODULE VARIANT STORE, commands on stdin."""

from __future__ import annotations

import asyncio
import importlib
import sys

from comparison.conversation import Framework, Plan, filler, tell


async def main() -> None:
    module, variant, store = sys.argv[1:]
    framework: Framework = importlib.import_module(f"comparison.{module}").create(variant, store)
    tell("ready")
    while command := (await asyncio.to_thread(sys.stdin.readline)).split():
        try:
            tell("done " + await _run(framework, *command))
        except Exception as e:  # The driver reports it.
            reason = getattr(e, "cause", None) or e  # The cause of a failed workflow.
            tell("failed " + " ".join(f"{type(reason).__name__}: {reason}".split())[:500])


async def _run(framework: Framework, command: str, thread: str, *plan: str) -> str:
    match command:
        case "converse":
            await framework.converse(thread, Plan.parse(plan))
        case "say":
            await framework.say(thread, filler(-1))
        case "recover":
            return await framework.recover(thread)
    return ""


if __name__ == "__main__":
    asyncio.run(main())
