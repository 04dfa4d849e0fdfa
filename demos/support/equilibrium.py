"""Pictures of the demo of the hanging strip: the strips, and two ways to one gradient."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import PolyCollection
from matplotlib.ticker import FuncFormatter

from demos.support.pictures import AFTER, INK, PALE, make_figure

UNROLLED = "#b4552d"
_BEFORE, _REST = "#c9ced4", "#bcdadd"


@dataclass(frozen=True, slots=True)
class Measured:
    """A gradient, and its cost.

    Attributes:
        label: The method.
        steps: The iterations on the tape; 0 for the rule of implicit functions.
        gradient: Of the loss with respect to the angles [m^2/rad], shape (columns,).
        forward: Time until rest [s].
        backward: Time of the reverse [s].
        nbytes: Largest memory of the tape, apart from the fields.
    """

    label: str
    steps: int
    gradient: np.ndarray
    forward: float
    backward: float
    nbytes: int

    @property
    def seconds(self) -> float:
        """The time in both directions [s]."""
        return self.forward + self.backward

    def apart(self, other: "Measured") -> float:
        """Return the largest difference of the gradients relative to the other's largest entry."""
        gap = np.max(np.abs(self.gradient - other.gradient))
        return float(gap / np.max(np.abs(other.gradient)))


def save_strips(
    path: Path,
    triangles: np.ndarray,
    rows: int,
    target: np.ndarray,
    before: np.ndarray,
    rest: np.ndarray,
    after: np.ndarray,
) -> None:
    """Draw the strip as it hangs at first, its fitted rest shape, and how that hangs.

    Args:
        path: The PNG to write.
        triangles: Nodes of the triangles, shape (m, 3).
        rows: Nodes of a column.
        target: Where the nodes should hang [m], shape (n, 2); it is the first rest shape, too.
        before: Where they hang at first [m], shape (n, 2).
        rest: The fitted rest shape [m], shape (n, 2).
        after: Where the nodes hang then [m], shape (n, 2).
    """
    points = np.concatenate([target, before, rest, after])
    (left, bottom), (right, top) = points.min(axis=0), points.max(axis=0)
    left, right, bottom, top = left - 0.06, right + 0.2, bottom - 0.02, top + 0.02
    width = 7.0
    figure = make_figure(width, width * (top - bottom) / (right - left) + 0.45)
    axes = figure.subplots()
    axes.set(xlim=(left, right), ylim=(bottom, top), aspect="equal", yticks=[])
    axes.set_xticks(np.arange(0.0, 0.41, 0.1))
    axes.set_xlabel("x [m]", color=INK)
    axes.spines[["top", "right", "left"]].set_visible(False)
    axes.spines["bottom"].set_bounds(0.0, 0.4)
    _draw_wall(axes, target[:rows], left)
    _draw_strip(axes, before, triangles, _BEFORE, PALE)
    _draw_strip(axes, rest, triangles, _REST, AFTER, alpha=0.75)
    _draw_strip(axes, after, triangles, AFTER, "white")
    axes.plot(*_outline(target, rows).T, color=UNROLLED, linewidth=1.6, linestyle=(0, (4, 2)))
    _name(axes, before[-rows:], "a straight rest shape\nhangs like this", "#6d757e")
    _name(axes, rest[-rows:], "the fitted rest shape", AFTER)
    _name(axes, after[-rows:], "hangs like this", AFTER, lift=-0.011)
    _name(axes, after[-rows:], "target: straight", UNROLLED, lift=0.011)
    arrow = {"arrowstyle": "-|>", "color": INK, "linewidth": 1.2}
    axes.annotate("", (0.06, bottom + 0.04), (0.06, bottom + 0.1), arrowprops=arrow)
    axes.text(0.07, bottom + 0.07, "gravity", color=INK, fontsize=9, va="center")
    figure.savefig(path)


def save_comparison(path: Path, found: Sequence[Measured]) -> None:
    """Draw gradients, their differences, memory and time of the rule and of the iterations."""
    rule, *unrolled = found
    figure = make_figure(9.6, 6.6)
    (first, second), (third, fourth) = figure.subplots(2, 2)
    columns = np.arange(1, len(rule.gradient) + 1)
    picks = sorted({0, len(unrolled) // 8, len(unrolled) - 1})
    for shade, pick in zip((0.4, 0.7, 1.0), picks, strict=False):
        one = unrolled[pick]
        dots = {
            "color": UNROLLED,
            "alpha": shade,
            "ms": 3.5,
            "lw": 1,
            "label": f"{one.steps:,} iterations",
        }
        first.plot(columns, one.gradient, "o-", **dots)
    first.plot(columns, rule.gradient, color=AFTER, lw=1.8, label="implicit rule")
    first.set(xlabel="angle, from the clamp on", ylabel="[m²/rad]", title="gradient")
    first.legend(frameon=False, fontsize=8)

    steps = [one.steps for one in unrolled]
    line = {"color": UNROLLED, "ms": 4, "label": "iterations on the tape"}
    for axes, values, title, unit in (
        (second, [one.apart(rule) for one in found], "difference from the rule", "relative"),
        (third, [one.nbytes / 1e3 for one in found], "held by the tape", "[kB]"),
        (fourth, [one.seconds for one in found], "time, both ways", "[s]"),
    ):
        axes.plot(steps, values[1:], "o-", **line)
        axes.set(title=title, ylabel=unit, xlabel="iterations", xlim=(0, 1.04 * steps[-1]))
        axes.xaxis.set_major_formatter(FuncFormatter(lambda n, _: f"{n:,.0f}"))
        if axes is second:
            axes.set_yscale("log")
            continue
        axes.axhline(values[0], color=AFTER, lw=1.8, label="implicit rule")
        if axes is third:
            axes.set(yscale="log", ylim=(0.3 * values[0], 3.0 * values[-1]))
        else:
            axes.set_ylim(0.0, 1.3 * max(values))
        axes.legend(frameon=False, fontsize=8, loc="best")
    for axes in (first, second, third, fourth):
        axes.title.set(fontsize=10, color=INK)
        axes.grid(color=PALE, alpha=0.3)
        axes.spines[["top", "right"]].set_visible(False)
    figure.savefig(path)


def _draw_wall(axes: Axes, ends: np.ndarray, left: float) -> None:
    low, high = ends[:, 1].min() - 0.03, ends[:, 1].max() + 0.03
    wall = [(left, low), (0.0, low), (0.0, high), (left, high)]
    axes.add_collection(
        PolyCollection([wall], facecolor="none", edgecolor=PALE, hatch="////", linewidth=0.0)
    )
    axes.plot([0.0, 0.0], [low, high], color=INK, linewidth=1.4)


def _draw_strip(
    axes: Axes, nodes: np.ndarray, triangles: np.ndarray, fill: str, edge: str, alpha: float = 1.0
) -> None:
    axes.add_collection(
        PolyCollection(
            list(nodes[triangles]), facecolor=fill, edgecolor=edge, linewidth=0.4, alpha=alpha
        )
    )


def _outline(nodes: np.ndarray, rows: int) -> np.ndarray:
    """Return the border of a strip, from the wall around the tip and back."""
    grid = nodes.reshape(-1, rows, 2)
    return np.concatenate([grid[:, 0], grid[-1, 1:], grid[-2::-1, -1]])


def _name(axes: Axes, tip: np.ndarray, text: str, color: str, lift: float = 0.0) -> None:
    x, y = tip.mean(axis=0)
    axes.text(x + 0.025, y + lift, text, color=color, fontsize=9, va="center")
