"""Charges that are led along paths: the result of a run, as a strip and as an animation."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.collections import PathCollection
from matplotlib.colors import Normalize
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from demos.support.pictures import AFTER, FLOOR, INK, PALE, make_figure, save_animation

_STRENGTH = ScalarMappable(Normalize(-1.0, 1.0), "coolwarm")


@dataclass(frozen=True, slots=True)
class Chase:
    """The result of a simulation of charges, to be drawn.

    Attributes:
        label: Its name in the picture.
        times: Times of the frames [s], shape (frames,).
        positions: Of the free charges [m], shape (frames, ways, 2).
        goals: Where they should be [m], same shape.
        strengths: Of the fixed charges, from -1 (pulls) to 1 (pushes), shape (frames, ways,
            charges).
    """

    label: str
    times: np.ndarray
    positions: np.ndarray
    goals: np.ndarray
    strengths: np.ndarray

    @property
    def distance(self) -> np.ndarray:
        """Root mean square of the distances from the goals, for each path [m], shape (ways,)."""
        away = self.positions - self.goals
        return np.sqrt((away**2).sum(axis=2).mean(axis=0))


def save_chase_strip(path: Path, chases: Sequence[Chase], charges: np.ndarray) -> None:
    """Draw all paths of each run side by side, and the runs below each other.

    Args:
        path: The PNG to write.
        chases: The runs, from top to bottom.
        charges: Positions of the fixed charges [m], shape (charges, 2).
    """
    columns = chases[0].positions.shape[1]
    figure = make_figure(2.6 * columns, 2.85 * len(chases) + 0.3)
    rows = figure.subplots(len(chases), columns, squeeze=False)
    for panels, chase in zip(rows, chases, strict=True):
        for way, axes in enumerate(panels):
            _draw_square(axes, charges)
            _draw_way(axes, chase, way, len(chase.times) - 1)
            text = f"{chase.label}: {chase.distance[way]:.2f} m off its goal (r.m.s.)"
            axes.set_title(text, fontsize=8.5, color=INK)
    held = [_dot(INK, FLOOR, "charge that is held")]
    _add_legend(figure, held)
    figure.savefig(path)


def save_chase_animation(path: Path, chases: Sequence[Chase], charges: np.ndarray) -> None:
    """Animate the first path of all runs side by side, at twice the speed."""
    figure = make_figure(3.2 * len(chases), 3.65)
    panels = figure.subplots(1, len(chases), squeeze=False)[0]
    held = [_draw_square(axes, charges) for axes in panels]
    drawn = [_draw_way(axes, one, 0, 0) for axes, one in zip(panels, chases, strict=True)]
    colours = _STRENGTH.to_rgba([0.7, -0.7])
    _add_legend(
        figure, [_dot(INK, c, w) for c, w in zip(colours, ("pushes", "pulls"), strict=True)]
    )

    def draw(frame: int) -> None:
        for axes, chase, dots, (track, goal, charge) in zip(
            panels, chases, held, drawn, strict=True
        ):
            dots.set_facecolor(list(_STRENGTH.to_rgba(chase.strengths[frame, 0])))
            track.set_data(*chase.positions[: frame + 1, 0].T)
            goal.set_data(*chase.goals[frame : frame + 1, 0].T)
            charge.set_data(*chase.positions[frame : frame + 1, 0].T)
            axes.set_title(
                f"{chase.label}   t = {chase.times[frame]:.1f} s", fontsize=9, color=INK, loc="left"
            )

    draw(0)
    for _ in range(2):  # the layout has found room for the titles at the second pass
        figure.draw_without_rendering()
    figure.set_layout_engine("none")
    times = chases[0].times
    fps = 2.0 * (len(times) - 1) / float(times[-1] - times[0])
    save_animation(path, figure, draw, [*range(len(times)), *[len(times) - 1] * round(fps)], fps)


def _draw_square(axes: Axes, charges: np.ndarray) -> PathCollection:
    """Add the fixed charges; return them, to be coloured."""
    axes.set(xlim=(0, 1), ylim=(0, 1), aspect="equal", xticks=[], yticks=[])
    for spine in axes.spines.values():
        spine.set_color(PALE)
    return axes.scatter(*charges.T, s=70, c=FLOOR, edgecolors=INK, linewidths=0.8, zorder=2)


def _draw_way(axes: Axes, chase: Chase, way: int, frame: int) -> tuple[Line2D, Line2D, Line2D]:
    """Add the path of the goal, and up to a frame of the charge; return the moving artists."""
    axes.plot(*chase.goals[:, way].T, color=PALE, linewidth=1.4, linestyle="--", zorder=1)
    places = chase.positions[: frame + 1, way]
    (track,) = axes.plot(*places.T, color=AFTER, linewidth=1.5, zorder=3)
    (goal,) = axes.plot(*chase.goals[frame, way], "x", color=INK, markersize=8, zorder=4)
    (charge,) = axes.plot(*places[-1], "o", color=AFTER, markersize=7, zorder=5)
    return track, goal, charge


def _dot(edge: str, face: object, label: str) -> Line2D:
    """Return a dot for a legend."""
    style = {"marker": "o", "linestyle": "", "markersize": 8}
    return Line2D([], [], color=edge, markerfacecolor=face, label=label, **style)


def _add_legend(figure: Figure, held: list[Line2D]) -> None:
    """Add the key of the lines, and of the charges that are held, below all panels."""
    lines = [
        Line2D([], [], color=PALE, linestyle="--", label="path of the goal"),
        Line2D([], [], color=INK, marker="x", linestyle="", label="goal"),
        Line2D([], [], color=AFTER, marker="o", label="charge"),
    ]
    style = {"loc": "outside lower center", "frameon": False, "fontsize": 9, "labelcolor": INK}
    figure.legend(handles=[*lines, *held], ncols=len(lines) + len(held), **style)
