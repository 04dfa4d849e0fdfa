"""Figures of panels that all show one window of the plane."""

from typing import TypeAlias

import numpy as np
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.colors import Normalize
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from demos.support.pictures import FLOOR, INK, PALE, make_figure

Window: TypeAlias = tuple[float, float, float, float]  # left, right, bottom and top [m]

ACTIVATION = ScalarMappable(Normalize(-1.0, 1.0), "coolwarm")  # of muscles
_MARGIN, _HEADER, _FOOTER = 0.2, 0.36, 0.5  # around and between panels [inch]


def make_panels(
    width: float,
    n_rows: int,
    n_columns: int,
    window: Window,
    floor: float | None,
    target: tuple[float, float] | None,
) -> tuple[Figure, list[list[Axes]]]:
    """Return a figure of axes with a scale along x that show `window`, in rows.

    Args:
        width: Of the figure [inch].
        n_rows: Number of rows of axes.
        n_columns: Number of axes in a row.
        window: The visible area.
        floor: Height of the floor [m], if one is to be drawn.
        target: A point to mark [m].
    """
    figure, rows = place_panels(width, n_rows, n_columns, window, _FOOTER)
    bottom = window[2]
    for row, columns in enumerate(rows):
        for axes in columns:
            axes.set_yticks([])
            axes.xaxis.set_major_locator(MaxNLocator(4, prune="both"))
            axes.tick_params(colors=INK, labelsize=8)
            axes.spines[["top", "right", "left"]].set_color(PALE)
            if row == n_rows - 1:
                axes.set_xlabel("x [m]", fontsize=9, color=INK)
            else:
                axes.set_xticklabels([])
            if floor is not None:
                axes.axhspan(bottom, floor, color=FLOOR, zorder=0)
                axes.axhline(floor, color=INK, linewidth=0.8, zorder=0)
            if target is not None:
                axes.plot(*target, "x", color="#c23b22", markersize=9, markeredgewidth=2, zorder=9)
    return figure, rows


def place_panels(
    width: float, n_rows: int, n_columns: int, window: Window, footer: float
) -> tuple[Figure, list[list[Axes]]]:
    """Return a figure of empty axes that show `window` at equal scales, in rows.

    Placed by hand: the automatic layouts leave gaps around axes of a fixed aspect.

    Args:
        width: Of the figure [inch].
        n_rows: Number of rows of axes.
        n_columns: Number of axes in a row.
        window: The visible area.
        footer: Room below the last row [inch].
    """
    left, right, bottom, top = window
    inner = (width - (n_columns + 1) * _MARGIN) / n_columns
    panel = inner * (top - bottom) / (right - left)
    height = n_rows * (panel + _HEADER) + footer
    figure = make_figure(width, height)
    figure.set_layout_engine("none")

    def place(row: int, column: int) -> Axes:
        start, low = _MARGIN + column * (inner + _MARGIN), height - (row + 1) * (panel + _HEADER)
        axes = figure.add_axes((start / width, low / height, inner / width, panel / height))
        axes.set(xlim=(left, right), ylim=(bottom, top))
        return axes

    return figure, [[place(row, k) for k in range(n_columns)] for row in range(n_rows)]


def draw_activation_key(figure: Figure) -> None:
    """Add the colours of the activations, at the right of the first title."""
    high = 1.0 - 0.24 / figure.get_figheight()
    axes = figure.add_axes((0.78, high, 0.1, 0.1 / figure.get_figheight()))
    axes.imshow(np.linspace(-1, 1, 64)[None], cmap=ACTIVATION.get_cmap(), aspect="auto")
    axes.set_axis_off()
    for x, side, word in ((-0.05, "right", "muscle shortens"), (1.05, "left", "lengthens")):
        axes.text(
            *(x, 0.5, word), ha=side, va="center", transform=axes.transAxes, fontsize=9, color=INK
        )
