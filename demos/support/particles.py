"""Bodies of moving particles: the result of a run, as a strip and as an animation."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import PathCollection
from matplotlib.colors import to_rgba
from matplotlib.figure import Figure

from demos.support.panels import ACTIVATION, Window, draw_activation_key, make_panels
from demos.support.pictures import INK, save_animation

_BODY, _WATER = "#7d8791", "#86b3d1"
_SNAPSHOTS = 4


@dataclass(frozen=True, slots=True)
class Swarm:
    """The result of a simulation of particles in two or three dimensions (d), to be drawn.

    Attributes:
        label: Its name in the picture.
        times: Times of the frames [s], shape (frames,).
        positions: Of the particles [m], y up, shape (frames, n, d).
        activations: Of the muscles, from -1 (shortens) to 1 (lengthens), shape (frames, muscles).
        muscle: The muscle that a particle belongs to, or -1, shape (n,).
        fluid: Which particles are water, shape (n,).
        spacing: Distance of neighbours at rest [m].
    """

    label: str
    times: np.ndarray
    positions: np.ndarray
    activations: np.ndarray
    muscle: np.ndarray
    fluid: np.ndarray
    spacing: float

    @property
    def track(self) -> np.ndarray:
        """Path of the centre of the elastic particles [m], shape (frames, d)."""
        return self.positions[:, self.fluid == 0].mean(axis=1)

    @property
    def distance(self) -> float:
        """How far that centre gets along x [m]."""
        return float(self.track[-1, 0] - self.track[0, 0])

    def colours(self, frame: int) -> np.ndarray:
        """Return the colours of the particles in one frame, shape (n, 4)."""
        colours = np.empty((len(self.muscle), 4))
        colours[:] = to_rgba(_BODY)
        colours[self.fluid != 0] = to_rgba(_WATER)
        muscles = self.muscle >= 0
        colours[muscles] = ACTIVATION.to_rgba(self.activations[frame])[self.muscle[muscles]]
        return colours


def save_particle_strip(
    path: Path,
    swarms: Sequence[Swarm],
    window: Window,
    floor: float | None = None,
    target: tuple[float, float] | None = None,
) -> None:
    """Draw snapshots of each run side by side, and the runs below each other.

    Args:
        path: The PNG to write.
        swarms: The runs, from top to bottom.
        window: The visible area.
        floor: Height of the floor [m], if one is to be drawn.
        target: A point to mark [m].
    """
    figure, rows = make_panels(12.4, len(swarms), _SNAPSHOTS, window, floor, target)
    draw_key(figure, swarms[0])
    for panels, swarm in zip(rows, swarms, strict=True):
        picks = np.linspace(0, len(swarm.times) - 1, _SNAPSHOTS).round().astype(int)
        track = swarm.track
        for axes, frame in zip(panels, picks, strict=True):
            _place(_add_particles(axes, swarm, window), swarm, frame)
            axes.axvline(track[0, 0], color=INK, linewidth=0.8, linestyle=":")
            axes.plot(*track[: frame + 1].T, color=INK, linewidth=1.2, zorder=5)
            axes.plot(*track[frame], "o", color=INK, markersize=4, zorder=5)
            text = f"{swarm.times[frame]:.2f} s"
            axes.text(0.98, 0.95, text, ha="right", va="top", transform=axes.transAxes, fontsize=9)
        way = "" if target else f": {swarm.distance:+.2f} m in {swarm.times[-1]:.2f} s"
        panels[0].set_title(f"{swarm.label}{way}", loc="left", fontsize=11, color=INK)
    figure.savefig(path)


def save_particle_animation(
    path: Path,
    swarms: Sequence[Swarm],
    window: Window,
    floor: float | None = None,
    target: tuple[float, float] | None = None,
    fps: float = 25.0,
) -> None:
    """Animate the runs at the same time, wide ones under each other; see `save_particle_strip`."""
    left, right, bottom, top = window
    n_rows, n_columns = (len(swarms), 1) if right - left > 2 * (top - bottom) else (1, len(swarms))
    figure, rows = make_panels(4.6, n_rows, n_columns, window, floor, target)
    panels = [axes for row in rows for axes in row]
    drawn = [
        _add_particles(axes, swarm, window) for axes, swarm in zip(panels, swarms, strict=True)
    ]
    for axes, swarm in zip(panels, swarms, strict=True):
        axes.axvline(swarm.track[0, 0], color=INK, linewidth=0.8, linestyle=":")

    def draw(frame: int) -> None:
        for axes, swarm, points in zip(panels, swarms, drawn, strict=True):
            _place(points, swarm, frame)
            way = "" if target else f"  {swarm.track[frame, 0] - swarm.track[0, 0]:+.2f} m"
            title = f"{swarm.label}  {swarm.times[frame]:.2f} s{way}"
            axes.set_title(title, loc="left", fontsize=9, color=INK)

    last = len(swarms[0].times) - 1
    save_animation(path, figure, draw, [*range(last + 1), *[last] * round(fps / 2)], fps)


def _add_particles(axes: Axes, swarm: Swarm, window: Window) -> PathCollection:
    """Add particles as large as their distance at rest, to be placed by `_place`."""
    left, right, _, _ = window
    figure = axes.get_figure()
    assert figure is not None
    inches = figure.get_figwidth() * axes.get_position().width
    diameter = 1.15 * swarm.spacing * 72 * inches / (right - left)
    return axes.scatter([], [], s=diameter**2, linewidths=0, zorder=3)


def _place(points: PathCollection, swarm: Swarm, frame: int) -> None:
    points.set_offsets(swarm.positions[frame])
    points.set_facecolor(list(map(tuple, swarm.colours(frame))))


def draw_key(figure: Figure, swarm: Swarm) -> None:
    """Add the colours of the activations, if there are muscles."""
    if swarm.muscle.max() >= 0:
        draw_activation_key(figure)
