"""Pictures of the demo of Newton's method: the arm, and the loss of both methods."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.collections import LineCollection, PolyCollection
from matplotlib.colors import Normalize
from matplotlib.ticker import FixedLocator, NullLocator

from demos.support.pictures import AFTER, INK, PALE, make_figure
from scenes.spring_arm import SpringArm

GRADIENT = "#b4552d"
_ROUNDING = 1e-28  # loss [m^2]: positions of about 1 m are off by some 1e-14 m
_START, _TARGET = "#c9ced4", "#d9a441"


@dataclass(slots=True)
class Descent:
    """A way down the loss.

    Attributes:
        label: The method.
        lengths: The rest lengths it has come to [m], shape (m,).
        losses: The loss before each iteration and after the last [m^2].
        seconds: The time until it was known [s].
    """

    label: str
    lengths: np.ndarray
    losses: list[float] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)

    def away(self, iteration: int) -> float:
        """Return the root mean square distance of the masses from the target then [mm]."""
        return 1e3 * float(np.sqrt(self.losses[iteration]))

    @property
    def orders(self) -> np.ndarray:
        """The order of convergence at each iteration from the second on.

        For errors e the order is log(e'' / e') / log(e' / e): 1 if each is a fraction of the one
        before, 2 if it is proportional to its square. Losses at the level of rounding do not count.
        """
        logs = np.diff(np.log([loss for loss in self.losses if loss > _ROUNDING]))
        return logs[1:] / logs[:-1]


def save_arm(path: Path, scene: SpringArm, lengths: np.ndarray, fitted: np.ndarray) -> None:
    """Draw the arm at the start, the target, and the fitted arm.

    Args:
        path: The PNG to write.
        scene: The arm.
        lengths: The fitted rest lengths [m], shape (m,).
        fitted: Where the masses get with them [m], shape (n, 2).
    """
    points = np.concatenate([scene.positions, scene.target, fitted])
    (left, bottom), (right, top) = points.min(axis=0) - 0.08, points.max(axis=0) + 0.08
    width = 8.2
    figure = make_figure(width, 0.82 * width * (top - bottom) / (right - left) + 0.4)
    axes = figure.subplots()
    axes.set(xlim=(left, right), ylim=(bottom, top), aspect="equal", xticks=[], yticks=[])
    axes.spines[:].set_visible(False)
    _draw_wall(axes, scene.positions[:2], left)
    _draw_springs(axes, scene.positions, scene.springs, colors=_START, linewidths=1.4)
    change = 100.0 * (lengths / scene.lengths - 1.0)
    limit = float(np.max(np.abs(change)))
    scale = ScalarMappable(Normalize(-limit, limit), "coolwarm")
    _draw_springs(axes, fitted, scene.springs, colors=scale.to_rgba(change), linewidths=3.2)
    axes.plot(*fitted.T, "o", color=INK, markersize=3.5, zorder=4)
    rings = {"markersize": 10, "markerfacecolor": "none", "markeredgewidth": 1.5}
    axes.plot(*scene.target.T, "o", color=_TARGET, zorder=5, label="target", **rings)
    axes.plot([], [], color=_START, linewidth=1.4, label="start")
    axes.plot([], [], "o", color=INK, markersize=3.5, label="after the last step, fitted")
    axes.legend(frameon=False, fontsize=9, loc="upper left", labelcolor=INK)
    bar = figure.colorbar(scale, ax=axes, shrink=0.7, pad=0.01)
    bar.set_label("change of the rest length [%]", color=INK, fontsize=9)
    bar.outline.set_visible(False)
    figure.savefig(path)


def save_descents(path: Path, found: Sequence[Descent]) -> None:
    """Draw the distance from the target over iterations and over time."""
    figure = make_figure(9.6, 4.0)
    first, second = figure.subplots(1, 2, sharey=True)
    for one, color in zip(found, (AFTER, GRADIENT), strict=True):
        mark = "o-" if len(one.losses) < 60 else "-"
        style = {"color": color, "linewidth": 1.8, "markersize": 3.5, "label": one.label}
        first.plot(range(len(one.losses)), one.losses, mark, **style)
        second.plot(one.seconds, one.losses, mark, **style)
    first.set(xlabel="iteration", ylabel="loss: mean square distance [m²]", yscale="log")
    second.set_xlabel("time [s]")
    # Linear up to the end of Newton's method, logarithmic after it.
    first.set_xscale("symlog", linthresh=20)
    first.set_xlim(0, 1.02 * max(len(one.losses) for one in found))
    first.xaxis.set_major_locator(FixedLocator([0, 5, 10, 15, 20, 100, 1000]))
    first.xaxis.set_minor_locator(NullLocator())
    first.xaxis.set_major_formatter("{x:,.0f}")
    for axes in (first, second):
        axes.grid(color=PALE, alpha=0.3)
        axes.spines[["top", "right"]].set_visible(False)
    second.legend(frameon=False, fontsize=9, labelcolor=INK)
    figure.savefig(path)


def _draw_springs(
    axes: Axes, nodes: np.ndarray, springs: np.ndarray, **style: object
) -> LineCollection:
    lines = LineCollection(list(nodes[springs]), capstyle="round", zorder=3, **style)
    axes.add_collection(lines)
    return lines


def _draw_wall(axes: Axes, ends: np.ndarray, left: float) -> None:
    right, low, high = ends[:, 0].max(), ends[:, 1].min() - 0.06, ends[:, 1].max() + 0.06
    wall = [(left, low), (right, low), (right, high), (left, high)]
    axes.add_collection(
        PolyCollection([wall], facecolor="none", edgecolor=PALE, hatch="////", linewidth=0.0)
    )
    axes.plot([right, right], [low, high], color=INK, linewidth=1.4, zorder=1)
