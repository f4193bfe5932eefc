"""Compares Waymark with other frameworks: results as JSON, a page and plots. Started by bench/peers/run."""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import platform
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from comparison.actions import count
from comparison.catalogue import ACTIONS, CONVERSATIONS, EFFECTS, POSTGRES, ROOT, SQLITE, TEMPORAL, Variant, versions
from comparison.conversation import Plan
from comparison.effects import MOST_KILLS, effects, waymark_variants
from comparison.measure import converse
from comparison.notes import note
from comparison.report import TOOLS, write
from comparison.stores import PostgresStore, SqliteStore, Store, TemporalStore, Unavailable

RESULTS = ROOT / "docs/peers/results.json"
QUICK_RESULTS = "/tmp/waymark-peers.json"
SECONDS_A_CONVERSATION = 180
MOST_MINUTES = 40
"""No conversation is started after this time."""
SCHEDULE = [
    (10, 1),
    (10, 4),
    (50, 1),
    (50, 4),
    (200, 1),
    (500, 1),
    (200, 4),
    (500, 4),
    (50, 1),
    (50, 4),
    (10, 1),
    (10, 4),
]
"""Iterations and tools, the most important first. Repeated ones are reported as a median."""
PARTS = ["actions", "conversations", "effects"]
QUICK_SCHEDULE = [(3, 1), (6, 4)]


class Results:
    """The file with all figures. Parts that aren't measured again stay as they are."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._parts: dict[str, Any] = json.loads(file.read_text(encoding="utf-8")) if file.exists() else {}

    def put(self, part: str, value: Any) -> None:
        self._parts[part] = value
        self._file.write_text(json.dumps(self._parts, indent=1) + "\n", encoding="utf-8")


def open_stores(directory: Path, needed: set[str]) -> dict[str, Store]:
    """The required stores that this machine can run."""
    kinds = {
        SQLITE: lambda: SqliteStore(directory),
        POSTGRES: lambda: PostgresStore(directory),
        TEMPORAL: lambda: TemporalStore(ROOT, directory),
    }
    stores: dict[str, Store] = {}
    for name, start in kinds.items():
        if name in needed:
            try:
                stores[name] = start()
            except Unavailable as e:
                note(f"SKIPPED, everything on {name}: not found: {e}")
    return stores


def installed(variants: list[Variant], only: str) -> list[Variant]:
    """The requested variants that are installed. Others are skipped with a message."""
    found = []
    for variant in variants:
        if only.lower() in variant.key.lower():
            if missing := variant.missing():
                note(f"SKIPPED, {variant.key}: not found: {missing}")
            else:
                found.append(variant)
    return found


async def conversations(
    variants: list[Variant], stores: dict[str, Store], schedule: list[tuple[int, int]], results: Results, log: Path
) -> None:
    """Runs all variants in turns. A variant that was given up is not tried with longer conversations."""
    done: list[dict[str, Any]] = []
    given_up: set[tuple[str, int]] = set()
    deadline = time.monotonic() + MOST_MINUTES * 60
    ready = [variant for variant in variants if variant.store in stores]
    for iterations, tools in schedule:
        turn = f"{datetime.now():%H:%M:%S}"
        for variant in ready:
            if (variant.key, tools) in given_up and iterations > 50:
                continue
            if time.monotonic() > deadline:
                note(f"SKIPPED, {variant.key}: {iterations} × {tools}: {MOST_MINUTES} minutes are over")
                continue
            plan = Plan(iterations, tools)
            figures = await converse(variant, stores[variant.store], plan, turn, SECONDS_A_CONVERSATION, log)
            if figures.ended:
                given_up.add((variant.key, tools))
            done.append(asdict(figures))
            results.put("conversations", done)
            note(_line(done[-1]))


def _line(figures: dict[str, Any]) -> str:
    stored, unique = figures["stored_bytes"], figures["unique_bytes"]
    ratio = f"{stored / unique:.2f} stored/unique" if stored else f"ended at {figures['reached']}: {figures['ended']}"
    time_each = f"{figures['ms_an_iteration'] or 0:.1f} ms"
    resumed = f"resumed in {figures['resume_ms']:.0f} ms" if figures["resume_ms"] else "not resumed"
    return f"{figures['variant']}: {figures['iterations']} × {figures['tools']}: {time_each}, {ratio}, {resumed}"


async def conditions(stores: dict[str, Store]) -> dict[str, Any]:
    """The environment, on which the figures depend."""
    java = subprocess.run(["java", "-version"], capture_output=True, text=True, check=True).stderr
    servers = [await store.version() for store in stores.values()]
    return {
        "date": f"{datetime.now(UTC):%Y-%m-%d}",
        "machine": f"{os.cpu_count()} cores, {platform.system()} {platform.machine()}",
        "load": [round(load, 1) for load in os.getloadavg()],
        "python": platform.python_version(),
        "packages": versions(),
        "servers": ", ".join([*servers, f"JDK {java.split(chr(34))[1]}"]),
    }


async def measure(options: argparse.Namespace) -> None:
    started = time.monotonic()
    results = Results(Path(options.results))
    parts = [options.part] if options.part else PARTS
    talking = installed(CONVERSATIONS, options.only) if "conversations" in parts else []
    crashing = installed(EFFECTS, options.only) if "effects" in parts else []
    counted = installed(ACTIONS, options.only) if "actions" in parts else []
    needed = {variant.store for variant in [*talking, *crashing, *counted]}
    if "effects" in parts and waymark_variants(options.only):
        needed.add(TEMPORAL)
    with tempfile.TemporaryDirectory(prefix="waymark-peers-") as temporary:
        directory = Path(temporary)
        stores = open_stores(directory, needed)
        log = Path(options.log)
        log.unlink(missing_ok=True)
        try:
            results.put("conditions", await conditions(stores))
            if counted and isinstance(temporal := stores.get(TEMPORAL), TemporalStore):
                found = [await count(variant, temporal, tools, log) for tools in TOOLS for variant in counted]
                results.put("actions", [asdict(each) for each in found])
            if "conversations" in parts:
                await conversations(talking, stores, options.plan, results, log)
            if "effects" in parts:
                note(f"kill -9 in the middle of a tool, at most {MOST_KILLS} times")
                crashed = await effects(stores, crashing, waymark_variants(options.only), directory, log)
                results.put("effects", [asdict(each) for each in crashed])
        finally:
            for store in stores.values():
                store.close()
    note(f"{time.monotonic() - started:.0f} s. --draw draws tables and plots. Results: {options.results}; log: {log}")


def _plan(words: str) -> list[tuple[int, int]]:
    return [(int(iterations), int(tools)) for iterations, tools in (word.split("x") for word in words.split(","))]


def main() -> None:
    parser = argparse.ArgumentParser(prog="bench/peers/run", description=__doc__)
    parser.add_argument(
        "--quick", action="store_true", help="a few iterations, to see that it runs; figures mean nothing"
    )
    parser.add_argument("--only", default="", metavar="TEXT", help="only variants whose name contains this")
    parser.add_argument("--part", choices=PARTS, help="only this part; the results' others stay")
    parser.add_argument(
        "--plan", type=_plan, metavar="NxT,…", help="only these iterations and tools, such as 50x1,200x4"
    )
    parser.add_argument("--results", metavar="FILE", help=f"default: {RESULTS}, or {QUICK_RESULTS} with --quick")
    parser.add_argument("--log", default="/tmp/waymark-peers.log", metavar="FILE", help="default: %(default)s")
    parser.add_argument(
        "--draw", action="store_true", help="only writes the tables and plots of docs, from the results"
    )
    options = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # So that it ends the servers.
    options.plan = options.plan or (QUICK_SCHEDULE if options.quick else SCHEDULE)
    options.results = options.results or (QUICK_RESULTS if options.quick else str(RESULTS))
    if options.draw:
        results = json.loads(Path(options.results).read_text(encoding="utf-8"))
        write(results, ROOT / "docs/peers.md", ROOT / "docs/peers")
    else:
        asyncio.run(measure(options))


if __name__ == "__main__":
    main()
