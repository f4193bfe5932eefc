"""Creates the tables of docs/peers.md and the plots from the file with the results."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable
from pathlib import Path
from statistics import median
from typing import Any

from comparison.catalogue import BARE_JAVA, CONVERSATIONS, WAYMARK
from comparison.plots import Bar, Line, bars, lines
from comparison.process import TOO_SLOW

BEGIN = "<!-- figures: written by bench/peers/run --draw -->"
END = "<!-- end of figures -->"
LENGTHS = (10, 50, 200, 500)
TOOLS = (1, 4)
NOT_MEASURED = "–"


class Figures:
    """Medians of the conversations' figures."""

    def __init__(self, conversations: list[dict[str, Any]]) -> None:
        self._runs: dict[tuple[str, int, int], list[dict[str, Any]]] = defaultdict(list)
        for run in conversations:
            self._runs[run["variant"], run["iterations"], run["tools"]].append(run)

    def runs(self, variant: str, length: int, tools: int) -> list[dict[str, Any]]:
        return self._runs.get((variant, length, tools), [])

    def _median(
        self, variant: str, length: int, tools: int, of: Callable[[dict[str, Any]], float | None]
    ) -> float | None:
        values = [value for run in self.runs(variant, length, tools) if (value := of(run)) is not None]
        return median(values) if values else None

    def stored(self, variant: str, length: int, tools: int) -> float | None:
        """Stored over unique bytes."""
        return self._median(
            variant,
            length,
            tools,
            lambda run: run["stored_bytes"] / run["unique_bytes"] if run["stored_bytes"] else None,
        )

    def resume(self, variant: str, length: int, tools: int) -> float | None:
        """Milliseconds."""
        return self._median(variant, length, tools, lambda run: run["resume_ms"])

    def time(self, variant: str, length: int, tools: int) -> float | None:
        """The time of an iteration, as a multiple of bare Temporal's in the same turn; complete conversations only."""
        bare = {
            run["turn"]: run["ms_an_iteration"] for run in self.runs(BARE_JAVA.key, length, tools) if not run["ended"]
        }
        ratios = [
            run["ms_an_iteration"] / bare[run["turn"]]
            for run in self.runs(variant, length, tools)
            if run["ms_an_iteration"] and run["turn"] in bare and not run["ended"]
        ]
        return median(ratios) if ratios else None

    def end(self, variant: str, length: int, tools: int) -> dict[str, Any] | None:
        """A conversation of at most this length that ended early."""
        runs = [run for each in LENGTHS if each <= length for run in self.runs(variant, each, tools)]
        return next((run for run in runs if run["ended"]), None)


def shown(key: str) -> str:
    """A variant's name in tables. Names without a database are on Temporal."""
    name, store, variant = key.rsplit(", ", 2)
    name += {"sqlite": ", SQLite", "postgres": ", PostgreSQL", "temporal": ""}[store]
    return name if variant == "default" else f"{name}, `{variant}`"


def plain(key: str) -> str:
    return shown(key).replace("`", "")


def write(results: dict[str, Any], page: Path, directory: Path) -> None:
    """Writes the part of the page between the marks, and the plots."""
    figures = Figures(results["conversations"])
    text = page.read_text(encoding="utf-8")
    before, rest = text.split(BEGIN)
    after = rest.split(END)[1]
    tables = "\n\n".join(_tables(results, figures))
    page.write_text(f"{before}{BEGIN}\n\n{tables}\n\n{END}{after}", encoding="utf-8")
    for name, svg in _plots(results, figures):
        (directory / name).write_text(svg, encoding="utf-8")


def _tables(results: dict[str, Any], figures: Figures) -> Iterable[str]:
    keys = [variant.key for variant in CONVERSATIONS]
    yield "### kill -9 in the middle of a tool with a side effect"
    yield _table(
        ["", "kills", "effects", "what happens then"],
        [[shown(each["variant"]), each["kills"], each["effects"], each["end"]] for each in results["effects"]],
    )
    if "actions" in results:
        yield "### Temporal Cloud actions of an iteration"
        yield _actions(results["actions"])
    for tools in TOOLS:
        calls = f"{tools} tool call{'s' if tools > 1 else ''} a reply"
        yield f"### Stored bytes over unique bytes, {calls}"
        growth = "growth, 500 / 50"
        yield _table(
            ["", *(f"n = {length}" for length in LENGTHS), growth], [_stored_row(figures, key, tools) for key in keys]
        )
        yield f"### Time of an iteration over bare Temporal's (Java), {calls}"
        yield _by_length(figures.time, keys, tools, "{:.2f}")
        yield f"### Milliseconds from the start of a new process to the next model call, {calls}"
        yield _by_length(figures.resume, keys, tools, "{:.0f}")
    conditions = results["conditions"]
    loads = [run["load"] for run in results["conversations"] if run.get("load")] or conditions["load"]
    packages = ", ".join(f"{name} {version}" for name, version in conditions["packages"].items())
    yield (
        f"{conditions['date']}, {conditions['machine']}, load {min(loads):g} to {max(loads):g}. "
        f"Python {conditions['python']}: {packages}. {conditions['servers']}."
    )


def _actions(counted: list[dict[str, Any]]) -> str:
    """A row for each variant, with a column for each number of tools."""
    totals = {(each["variant"], each["tools"]): sum(each["kinds"].values()) for each in counted if not each["ended"]}
    rows = []
    for key in dict.fromkeys(each["variant"] for each in counted):
        values = [totals.get((key, tools)) for tools in TOOLS]
        rows.append([shown(key), *(f"{value:.1f}" if value is not None else NOT_MEASURED for value in values)])
    return _table(["", *(f"{tools} tool call{'s' if tools > 1 else ''} a reply" for tools in TOOLS)], rows)


def _stored_row(figures: Figures, key: str, tools: int) -> list[str]:
    cells = []
    for length in LENGTHS:
        end = figures.end(key, length, tools)
        stored = figures.stored(key, length, tools)
        if stored is not None:
            cells.append(f"{stored:.2f}")
        else:
            cells.append(_ended(end) or NOT_MEASURED)
    first, last = figures.stored(key, 50, tools), figures.stored(key, 500, tools)
    return [shown(key), *cells, f"{last / first:.2f}" if first and last else NOT_MEASURED]


def _by_length(figure: Callable[[str, int, int], float | None], keys: list[str], tools: int, form: str) -> str:
    rows = []
    for key in keys:
        values = [figure(key, length, tools) for length in LENGTHS]
        rows.append([shown(key), *(form.format(value) if value is not None else NOT_MEASURED for value in values)])
    return _table(["", *(f"n = {length}" for length in LENGTHS)], rows)


def _table(head: list[str], rows: list[list[Any]]) -> str:
    align = "|---" + "|---:" * (len(head) - 1) + "|"
    if "what" in head[-1]:
        align = align.removesuffix("---:|") + "---|"
    return "\n".join([_row(head), align, *map(_row, rows)])


def _row(cells: Iterable[Any]) -> str:
    return "| " + " | ".join(map(str, cells)) + " |"


def _plots(results: dict[str, Any], figures: Figures) -> Iterable[tuple[str, str]]:
    yield (
        "effects.svg",
        bars(
            "Effects of one tool call whose process is killed",
            "effects, when kill -9 hits each time after the effect and before the result, at most 3 times",
            [
                Bar(plain(each["variant"]), each["effects"], each["end"], each["variant"].startswith("Waymark"))
                for each in results["effects"]
            ],
        ),
    )
    left_out = ("postgres", "bare Temporal, Python")
    keys = [variant.key for variant in CONVERSATIONS if not any(word in variant.key for word in left_out)]
    yield (
        "stored.svg",
        lines(
            "Stored bytes over unique bytes, one tool call a reply",
            "iterations of the conversation",
            "stored / unique",
            [
                Line(plain(key), _points(figures, key), _note(figures, key), key == WAYMARK.key, key == BARE_JAVA.key)
                for key in keys
            ],
        ),
    )
    every = [variant.key for variant in CONVERSATIONS]
    length = max(LENGTHS, key=lambda each: (sum(figures.time(key, each, 1) is not None for key in every), each))
    times = [(key, figures.time(key, length, 1)) for key in every]
    yield (
        "time.svg",
        bars(
            f"Time of an iteration, {length} iterations, one tool call a reply",
            "over bare Temporal's, Java SDK, in the same turn; on a busy machine less than a factor of two means nothing",
            [Bar(plain(key), round(time, 2), "", key == WAYMARK.key) for key, time in times if time is not None],
        ),
    )
    resumes = [(key, _longest_resume(figures, key)) for key in every]
    yield (
        "resume.svg",
        bars(
            "From the start of a new process to the next model call",
            "milliseconds, at the longest conversation that the variant finished",
            [
                Bar(plain(key), round(found[1]), f"n = {found[0]}", key == WAYMARK.key)
                for key, found in resumes
                if found is not None
            ],
        ),
    )


def _points(figures: Figures, key: str) -> list[tuple[int, float]]:
    found = [(length, figures.stored(key, length, 1)) for length in LENGTHS]
    return [(length, value) for length, value in found if value is not None]


def _note(figures: Figures, key: str) -> str:
    return _ended(figures.end(key, LENGTHS[-1], 1))


def _ended(end: dict[str, Any] | None) -> str:
    if end is None:
        return ""
    return f"{'cut' if end['ended'].startswith(TOO_SLOW) else 'ended'} at {end['reached']}"


def _longest_resume(figures: Figures, key: str) -> tuple[int, float] | None:
    found = [(length, value) for length in LENGTHS if (value := figures.resume(key, length, 1)) is not None]
    return found[-1] if found else None
