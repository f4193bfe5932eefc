"""Two kinds of plots as SVG, readable on light and dark pages."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

_STYLE = """<style>
text { font: 13px system-ui, sans-serif; fill: #24292f }
.title { font-size: 16px; font-weight: 600 }
.small { font-size: 12px; fill: #57606a }
.ours { fill: #0969da } .theirs { fill: #8c959f } text.ours { font-weight: 600 }
line, path { fill: none; stroke: #8c959f } .grid { stroke: #d0d7de }
path.ours { stroke: #0969da; stroke-width: 3 } path.floor { stroke-dasharray: 4 4 } path { stroke-width: 1.5 }
@media (prefers-color-scheme: dark) {
  text { fill: #e6edf3 } .small { fill: #9198a1 } .grid { stroke: #3d444d }
  .ours { fill: #4493f8 } path.ours { stroke: #4493f8; fill: none }
}
path.ours { fill: none }
</style>"""
_WIDTH = 900
_ROW = 24


@dataclass(frozen=True)
class Bar:
    name: str
    value: float
    note: str
    ours: bool


@dataclass(frozen=True)
class Line:
    name: str
    points: Sequence[tuple[float, float]]
    note: str
    ours: bool
    floor: bool
    """Drawn as a dashed line: the minimum for any framework on the same store."""


def bars(title: str, axis: str, rows: Sequence[Bar]) -> str:
    """Horizontal bars from zero, with the value and the note at their ends."""
    left, top = 312, 56
    most = max((row.value for row in rows), default=1)
    scale = (_WIDTH - left - (330 if any(len(row.note) > 10 for row in rows) else 110)) / most
    parts = []
    for i, row in enumerate(rows):
        y = top + i * _ROW
        kind = "ours" if row.ours else "theirs"
        end = left + max(row.value * scale, 1)
        value = f"{row.value:g}" if isinstance(row.value, int) else f"{row.value:.2f}"
        parts.append(_text(left - 8, y + 15, row.name, "ours" if row.ours else "", "end"))
        parts.append(
            f'<rect class="{kind}" x="{left}" y="{y + 3}" width="{end - left:.1f}" height="{_ROW - 8}" rx="2"/>'
        )
        parts.append(_text(end + 6, y + 15, value, "ours" if row.ours else ""))
        parts.append(_text(end + 12 + 8 * len(value), y + 15, row.note, "small"))
    bottom = top + len(rows) * _ROW
    parts.append(f'<line class="grid" x1="{left}" y1="{top}" x2="{left}" y2="{bottom}"/>')
    return _svg(title, bottom + 12, [_text(16, 44, axis, "small"), *parts])


def lines(title: str, x_axis: str, y_axis: str, series: Sequence[Line]) -> str:
    """Lines on logarithmic axes, with their names at their ends."""
    left, right, top, bottom = 64, 540, 60, 440
    drawn = [line for line in series if line.points]
    xs = sorted({x for line in drawn for x, _ in line.points})
    most = max(y for line in drawn for _, y in line.points)
    ticks = [tick for tick in (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000) if tick <= most]

    def at_x(x: float) -> float:
        return left + (right - left) * math.log(x / xs[0]) / math.log(xs[-1] / xs[0])

    def at_y(y: float) -> float:
        return bottom - (bottom - top) * math.log(y) / math.log(most * 1.1)

    parts = [_text(16, 44, f"{y_axis}, by {x_axis}; both axes logarithmic", "small")]
    for tick in ticks:
        parts.append(f'<line class="grid" x1="{left}" y1="{at_y(tick):.1f}" x2="{right}" y2="{at_y(tick):.1f}"/>')
        parts.append(_text(left - 8, at_y(tick) + 4, f"{tick}", "small", "end"))
    parts += [_text(at_x(x), bottom + 20, f"{x:g}", "small", "middle") for x in xs]
    parts.append(_text((left + right) / 2, bottom + 40, x_axis, "small", "middle"))
    middle = (top + bottom) / 2
    parts.append(
        f'<text class="small" text-anchor="middle" transform="translate(18 {middle}) rotate(-90)">{escape(y_axis)}</text>'
    )
    ends = sorted(drawn, key=lambda line: at_y(line.points[-1][1]))
    label_y = _apart([at_y(line.points[-1][1]) for line in ends], 17, bottom)
    for line, y in zip(ends, label_y, strict=True):
        kind = "ours" if line.ours else "floor" if line.floor else ""
        points = " L".join(f"{at_x(a):.1f} {at_y(b):.1f}" for a, b in line.points)
        end_x, end_y = at_x(line.points[-1][0]), at_y(line.points[-1][1])
        parts.append(f'<path class="{kind}" d="M{points}"/>')
        parts += [
            f'<circle class="{kind if line.ours else "theirs"}" cx="{at_x(a):.1f}" cy="{at_y(b):.1f}" r="3"/>'
            for a, b in line.points
        ]
        parts.append(f'<line class="grid" x1="{end_x + 5:.1f}" y1="{end_y:.1f}" x2="{right + 12}" y2="{y:.1f}"/>')
        label = f"{line.name}: {line.points[-1][1]:.1f}" + (
            f" at {line.points[-1][0]:g}, {line.note}" if line.note else ""
        )
        parts.append(_text(right + 16, y + 4, label, "ours" if line.ours else "small"))
    return _svg(title, bottom + 56, parts)


def _apart(places: Sequence[float], least: float, lowest: float) -> list[float]:
    """The positions in order, moved so that neighbors are at least this far apart."""
    moved: list[float] = []
    for place in places:
        moved.append(max(place, moved[-1] + least) if moved else place)
    below = max(0.0, moved[-1] - lowest) if moved else 0.0
    for i in range(len(moved) - 1, -1, -1):
        limit = lowest if i == len(moved) - 1 else moved[i + 1] - least
        moved[i] = min(moved[i], limit) if below else moved[i]
    return moved


def _text(x: float, y: float, text: str, kind: str = "", anchor: str = "start") -> str:
    return f'<text class="{kind}" x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escape(text)}</text>' if text else ""


def _svg(title: str, height: float, parts: Sequence[str]) -> str:
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {height:.0f}" role="img" aria-label="{escape(title)}">'
    return "\n".join([head, _STYLE, _text(16, 24, title, "title"), *filter(None, parts), "</svg>", ""])
