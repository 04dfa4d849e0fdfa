"""Bodies of particles in three dimensions, in perspective: a strip and an animation."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection, PathCollection
from matplotlib.figure import Figure

from demos.support.panels import place_panels
from demos.support.particles import Swarm, draw_key
from demos.support.pictures import FLOOR, INK, PALE, save_animation

_SNAPSHOTS = 4
_EYE, _AIM = np.array([0.42, 0.62, 1.85]), np.array([0.5, 0.08, 0.45])  # [m]
_FOOTER = 0.15  # below the panels [inch]
_TILE = 0.1  # of the floor [m]
_SHADOW = "#b9b2a3"
_WATER = 0.35  # how opaque a particle of it is


@dataclass(frozen=True, slots=True)
class Stage:
    """The floor on which particles move, seen from an eye above its front edge.

    Attributes:
        floor: Its height [m].
        front: Where it ends towards the eye, along z [m].
        back: Where it ends away from the eye.
        top: The greatest height that must be seen [m].
        start: Where the bodies start, along x [m].
    """

    floor: float
    front: float
    back: float
    top: float
    start: float

    def project(self, points: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return places in the picture, shape (n, 2), and distances from the eye [m], (n,)."""
        ahead = _AIM - _EYE
        ahead = ahead / np.linalg.norm(ahead)
        right = np.cross(ahead, [0.0, 1.0, 0.0])
        right = right / np.linalg.norm(right)
        way = points - _EYE
        away = way @ ahead
        return way @ np.stack([right, np.cross(right, ahead)], axis=1) / away[:, None], away

    @property
    def window(self) -> tuple[float, float, float, float]:
        """Left, right, bottom and top of the visible area."""
        ends = [(x, y, z) for x in (0, 1) for y in (self.floor, self.top) for z in self.depths]
        places, _ = self.project(np.array(ends))
        (left, bottom), (right, top) = places.min(axis=0), places.max(axis=0)
        return left, right, bottom - 0.01, top + 0.01

    @property
    def depths(self) -> tuple[float, float]:
        """Where the floor ends along z [m], the far end first."""
        return self.back, self.front


def make_stage(swarms: Sequence[Swarm]) -> Stage:
    """Return a stage that holds all motions, its ends on lines between tiles."""
    ends = np.array(
        [(p.min(axis=(0, 1)), p.max(axis=(0, 1))) for p in (s.positions for s in swarms)]
    )
    (_, floor, back), (_, top, front) = ends[:, 0].min(axis=0), ends[:, 1].max(axis=0)
    back, front = np.floor(back / _TILE) * _TILE, np.ceil(front / _TILE) * _TILE
    start = float(swarms[0].track[0, 0])
    return Stage(float(floor), float(front), float(back), float(top), start)


def save_perspective_strip(path: Path, swarms: Sequence[Swarm]) -> None:
    """Draw snapshots of each run side by side, and the runs below each other."""
    stage = make_stage(swarms)
    figure, rows = _make_panels(12.8, len(swarms), _SNAPSHOTS, stage)
    draw_key(figure, swarms[0])
    for panels, swarm in zip(rows, swarms, strict=True):
        picks = np.linspace(0, len(swarm.times) - 1, _SNAPSHOTS).round().astype(int)
        for axes, frame in zip(panels, picks, strict=True):
            _place(_add_particles(axes), axes, stage, swarm, frame)
            text = f"{swarm.times[frame]:.2f} s"
            axes.text(0.98, 0.94, text, ha="right", va="top", transform=axes.transAxes, fontsize=9)
        title = f"{swarm.label}: {swarm.distance:+.2f} m in {swarm.times[-1]:.2f} s"
        panels[0].set_title(title, loc="left", fontsize=11, color=INK)
    figure.savefig(path)


def save_perspective_animation(path: Path, swarms: Sequence[Swarm], fps: float = 12.0) -> None:
    """Animate every other frame of the runs, at the same time and under each other."""
    stage = make_stage(swarms)
    figure, rows = _make_panels(5.6, len(swarms), 1, stage)
    drawn = [_add_particles(axes) for (axes,) in rows]

    def draw(frame: int) -> None:
        for (axes,), swarm, points in zip(rows, swarms, drawn, strict=True):
            _place(points, axes, stage, swarm, frame)
            way = swarm.track[frame, 0] - swarm.track[0, 0]
            title = f"{swarm.label}   t = {swarm.times[frame]:.2f} s   {way:+.2f} m"
            axes.set_title(title, loc="left", fontsize=9, color=INK)

    frames = range(0, len(swarms[0].times), 2)
    save_animation(path, figure, draw, [*frames, *[frames[-1]] * round(fps / 2)], fps)


def _make_panels(
    width: float, n_rows: int, n_columns: int, stage: Stage
) -> tuple[Figure, list[list[Axes]]]:
    """Return a figure of axes that show the stage."""
    figure, rows = place_panels(width, n_rows, n_columns, stage.window, _FOOTER)
    for axes in (axes for row in rows for axes in row):
        axes.set_axis_off()
        _draw_floor(axes, stage)
    return figure, rows


def _draw_floor(axes: Axes, stage: Stage) -> None:
    """Add the floor, with lines between tiles, and one across where the bodies start."""
    start, (back, front) = stage.start, stage.depths

    def project(corners: list[tuple[float, float]]) -> np.ndarray:
        return stage.project(np.array([(x, stage.floor, z) for x, z in corners]))[0]

    axes.fill(*project([(0, back), (1, back), (1, front), (0, front)]).T, color=FLOOR, zorder=0)
    lines = [project([(x, back), (x, front)]) for x in np.arange(0.0, 1.0 + _TILE / 2, _TILE)]
    depths = np.arange(back, front + _TILE / 2, _TILE)
    lines += [project([(0, z), (1, z)]) for z in depths]
    axes.add_collection(LineCollection(lines, colors=PALE, linewidths=0.5, zorder=1))
    axes.plot(*project([(start, back), (start, front)]).T, color=INK, linestyle=":", linewidth=1.0)
    style = {"ha": "right", "va": "top", "fontsize": 7, "color": INK}
    axes.annotate(
        "tiles of 10 cm", project([(1, front)])[0], (0, -1), textcoords="offset points", **style
    )


def _add_particles(axes: Axes) -> tuple[PathCollection, PathCollection]:
    """Add shadows and particles, to be placed by `_place`."""
    shadows = axes.scatter([], [], c=_SHADOW, linewidths=0, zorder=2)
    return shadows, axes.scatter([], [], linewidths=0, zorder=3)


def _place(
    drawn: tuple[PathCollection, PathCollection],
    axes: Axes,
    stage: Stage,
    swarm: Swarm,
    frame: int,
) -> None:
    """Draw one frame: shadows straight below, then particles, the far ones first and darker."""
    shadows, particles = drawn
    left, right, _, _ = stage.window
    figure = axes.get_figure()
    assert figure is not None
    points_per_unit = 72 * figure.get_figwidth() * axes.get_position().width / (right - left)
    diameter = 1.2 * swarm.spacing * points_per_unit
    positions = swarm.positions[frame]
    below = positions * [1, 0, 1] + [0, stage.floor, 0]
    for collection, points in ((shadows, below), (particles, positions)):
        places, away = stage.project(points)
        order = np.argsort(-away, kind="stable")
        collection.set_offsets(places[order])
        collection.set_sizes((diameter / away[order]) ** 2)
    places, away = stage.project(positions)
    order = np.argsort(-away, kind="stable")
    near = 1.0 - (away - away.min()) / max(float(np.ptp(away)), 1e-9)
    high = (positions[:, 1] - stage.floor) / max(stage.top - stage.floor, 1e-9)
    shade = np.clip(0.5 + 0.3 * near + 0.35 * high, 0.0, 1.0)[:, None]
    clear = np.where(swarm.fluid == 0, 1.0, _WATER)[:, None]
    colours = swarm.colours(frame) * np.hstack([np.repeat(shade, 3, axis=1), clear])
    particles.set_facecolor(list(map(tuple, colours[order])))
