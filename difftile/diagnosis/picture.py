"""A tape as a picture: fields are lines, launches are columns that touch them."""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Any

from difftile.diagnosis.trace import Item, Node, Times, Trace
from difftile.diagnostics import TapeError
from difftile.recording.budget import as_text

_COLUMNS = 40  # at most; of more columns the first and the last are shown
_WIDTH, _HEIGHT = 1.35, 0.62  # of a column and of a row [inches]
_USE, _KEPT, _LINE = "#1f6fb4", "#e8891c", "#c8ccd0"


def draw(trace: Trace, times: Times | None, title: str, path: str | Path) -> None:
    """Write the picture of a tape.

    Args:
        trace: The steps of the tape.
        times: The times of its launches, if they were measured.
        title: The text above the picture.
        path: A file whose name ends in .png or .svg.

    Raises:
        TapeError: The name has another ending, or the tape is empty.
    """
    if Path(path).suffix.lower() not in (".png", ".svg"):
        raise TapeError(f"visualize() writes a .png or an .svg file, not {str(path)!r}.")
    if not trace.items:
        raise TapeError(
            "The tape recorded nothing to draw; launch kernels inside its 'with' block."
        )
    columns: list[Item | None] = []  # None stands for omitted items
    spans: list[tuple[int, int, int, int]] = []
    for node in trace.folded():
        _lay_out(node, columns, spans)
    left_out = len(columns) - _COLUMNS
    if left_out > 0:
        half = _COLUMNS // 2

        def place(column: int) -> int:
            return column if column < half else max(half, column - left_out)

        columns = [*columns[:half], None, *columns[half + left_out + 1 :]]
        spans = [(place(first), place(last), height, n) for first, last, height, n in spans]
        spans = [span for span in spans if span[:2] != (half, half)]
    _Picture(trace, times, columns, spans).save(title, Path(path))


def _lay_out(node: Node, columns: list[Item | None], spans: list[tuple[int, int, int, int]]) -> int:
    """Add the columns of a node, and the first and last column, height and times of its loops."""
    if isinstance(node, Item):
        columns.append(node)
        return 0
    first = len(columns)
    height = 1 + max([_lay_out(inner, columns, spans) for inner in node.body])
    spans.append((first, len(columns) - 1, height, node.times))
    return height


class _Picture:
    def __init__(
        self,
        trace: Trace,
        times: Times | None,
        columns: list[Item | None],
        spans: list[tuple[int, int, int, int]],
    ) -> None:
        self.trace, self.times, self.columns, self.spans = trace, times, columns, spans
        self.rows = trace.rows()
        self.top = len(self.rows) - 0.25  # of the lines; the texts of the columns stand above
        lines = max(len(self._figures(item)) for item in columns if item is not None)
        self.brackets = self.top + 0.85 + 0.25 * lines
        self.title = (
            self.brackets + 0.3 + 0.55 * max([height for *_, height, _ in spans], default=0)
        )
        width, height = 3.0 + _WIDTH * max(3, len(columns)), _HEIGHT * (self.title + 1.5)
        figure = importlib.import_module("matplotlib.figure").Figure(figsize=(width, height))
        self.figure: Any = figure
        self.axes: Any = figure.add_axes((0, 0, 1, 1))
        self.axes.set(xlim=(-2.2, width / _WIDTH - 2.2), ylim=(-0.9, self.title + 0.6))
        self.axes.axis("off")

    def save(self, title: str, path: Path) -> None:
        """Draw everything and write the file."""
        axes, last = self.axes, len(self.columns) - 0.5
        for row, (name, detail) in enumerate(self.rows):
            y = self._y(row)
            axes.plot([-0.5, last], [y, y], color=_LINE, linewidth=1.5, zorder=1)
            axes.text(-0.6, y + 0.02, name, ha="right", va="bottom", fontsize=10, weight="bold")
            axes.text(-0.6, y - 0.02, detail, ha="right", va="top", fontsize=7, color="#555555")
        for column, item in enumerate(self.columns):
            if item is None:
                axes.text(column, self.top / 2, "…", ha="center", va="center", fontsize=28)
            else:
                self._column(column, item)
        for first, end, level, times in self.spans:
            left, right, y = first - 0.42, end + 0.42, self.brackets - 0.25 + 0.55 * level
            corners = [left, left, right, right], [y - 0.15, y, y, y - 0.15]
            axes.plot(*corners, color="#444444", linewidth=1)
            axes.text((left + right) / 2, y + 0.05, f"{times:,} times", ha="center", fontsize=8)
        axes.text(-2.1, self.title, title, fontsize=10)
        self._legend()
        self.figure.savefig(path, dpi=120, facecolor="white")

    def _y(self, row: int) -> int:
        return len(self.rows) - 1 - row

    def _column(self, column: int, item: Item) -> None:
        axes, ys = self.axes, [self._y(row) for row in item.reads | item.writes]
        if ys:
            axes.plot([column] * 2, [min(ys), self.top], color=_USE, linewidth=0.8, zorder=2)
        for row in item.reads | item.writes:
            self._dot(column, self._y(row), row in item.reads, row in item.writes, row in item.kept)
        style = {"boxstyle": "round,pad=0.3", "facecolor": "#eef3f8", "edgecolor": _USE}
        shown = item.name if len(item.name) <= 16 else item.name[:15] + "…"
        axes.text(column, self.top + 0.25, shown, ha="center", fontsize=9, bbox=style, zorder=4)
        axes.text(
            column, self.top + 0.7, "\n".join(self._figures(item)), ha="center", va="bottom",
            fontsize=7, color="#333333", linespacing=1.15,
        )  # fmt: skip

    def _figures(self, item: Item) -> list[str]:
        lines = [f"keeps {as_text(item.nbytes)}"] if item.nbytes else []
        if self.times is not None and item.launches:
            forward, backward = (
                sum(known.get(launch, 0.0) for launch in item.launches)
                for known in (self.times.forward, self.times.backward)
            )
            lines.append(f"{forward:.3g} ms" + (f", back {backward:.3g} ms" if backward else ""))
        return lines

    def _dot(self, x: float, y: float, reads: bool, writes: bool, kept: bool) -> None:
        if kept:
            self.axes.scatter([x], [y], s=190, color=_KEPT, zorder=3)
        face = _USE if writes else "white"
        self.axes.scatter([x], [y], s=60, facecolor=face, edgecolor=_USE, zorder=3, linewidth=1.2)
        if reads and writes:
            self.axes.scatter([x], [y], s=14, color="white", zorder=4)

    def _legend(self) -> None:
        meanings = {
            "reads": (True, False, False),
            "writes": (False, True, False),
            "reads and writes": (True, True, False),
            "old values are kept": (True, False, True),
        }
        x = -2.0
        for text, marks in meanings.items():
            self._dot(x, -0.62, *marks)
            self.axes.text(x + 0.15, -0.62, text, va="center", fontsize=8)
            x += 0.5 + 0.055 * len(text)
