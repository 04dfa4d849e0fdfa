"""Rigid bodies that move, discs or boxes, and springs between them: a strip and an animation."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection, PolyCollection

from demos.support.panels import ACTIVATION, Window, draw_activation_key, make_panels
from demos.support.pictures import AFTER, INK, save_animation

_SNAPSHOTS = 4
_DISC = 32  # corners of the polygon that a disc is drawn as


@dataclass(frozen=True, slots=True)
class Motion:
    """The result of a simulation of rigid bodies, to be drawn.

    Attributes:
        label: Its name in the picture.
        result: Its outcome, in a few words.
        times: Times of the frames [s], shape (frames,).
        outlines: Corners of the bodies [m], shape (frames, n, corners, 2): see `boxes`, `discs`.
        colours: Of the bodies, n of them.
        tracked: The body whose path is shown.
        springs: Both ends of the springs [m], shape (frames, m, 2, 2); m may be 0.
        activations: Of the springs, from -1 (shortens) to 1 (lengthens), shape (frames, m).
    """

    label: str
    result: str
    times: np.ndarray
    outlines: np.ndarray
    colours: Sequence[str]
    tracked: int
    springs: np.ndarray
    activations: np.ndarray

    @property
    def track(self) -> np.ndarray:
        """Way of the center of the tracked body [m], shape (frames, 2)."""
        return self.outlines[:, self.tracked].mean(axis=1)


def boxes(places: np.ndarray, half: np.ndarray) -> np.ndarray:
    """Return the corners of boxes [m], shape (frames, n, 4, 2).

    Args:
        places: x [m], y [m] and angle [rad], shape (frames, n, 3).
        half: Half of the widths and heights [m], shape (n, 2).
    """
    corners = half[:, None] * [(-1, -1), (1, -1), (1, 1), (-1, 1)]
    return from_body(places[:, :, None], corners)


def discs(centers: np.ndarray, radius: float) -> np.ndarray:
    """Return points of the circles around `centers` (frames, n, 2) [m], (frames, n, 32, 2)."""
    turns = np.linspace(0, 2 * np.pi, _DISC, endpoint=False)
    return centers[:, :, None] + radius * np.stack([np.cos(turns), np.sin(turns)], axis=1)


def from_body(places: np.ndarray, points: np.ndarray) -> np.ndarray:
    """Return where points (..., 2) in the axes of bodies are whose x, y and angle are given."""
    c, s = np.cos(places[..., 2]), np.sin(places[..., 2])
    x, y = points[..., 0], points[..., 1]
    return places[..., :2] + np.stack([c * x - s * y, s * x + c * y], axis=-1)


def save_body_strip(
    path: Path,
    motions: Sequence[Motion],
    window: Window,
    goal: tuple[float, float],
    floor: float | None = None,
) -> None:
    """Draw snapshots of each run side by side, and the runs below each other.

    Args:
        path: The PNG to write.
        motions: The runs, from top to bottom.
        window: The visible area.
        goal: The point to mark [m].
        floor: Height of the floor [m], if one is to be drawn.
    """
    figure, rows = make_panels(12.4, len(motions), _SNAPSHOTS, window, floor, goal)
    if motions[0].activations.size:
        draw_activation_key(figure)
    for panels, motion in zip(rows, motions, strict=True):
        picks = np.linspace(0, len(motion.times) - 1, _SNAPSHOTS).round().astype(int)
        for axes, frame in zip(panels, picks, strict=True):
            _place(_add_bodies(axes, motion), motion, frame)
            axes.plot(*motion.track[: frame + 1].T, color=AFTER, linewidth=1.2, zorder=6)
            text = f"{motion.times[frame]:.2f} s"
            axes.text(0.98, 0.95, text, ha="right", va="top", transform=axes.transAxes, fontsize=9)
        title = f"{motion.label}: {motion.result}"
        panels[0].set_title(title, loc="left", fontsize=11, color=INK)
    figure.savefig(path)


def save_body_animation(
    path: Path,
    motions: Sequence[Motion],
    window: Window,
    goal: tuple[float, float],
    floor: float | None = None,
    fps: float = 25.0,
) -> None:
    """Animate the runs at the same time, under each other; see `save_body_strip`."""
    figure, rows = make_panels(4.6, len(motions), 1, window, floor, goal)
    drawn = [_add_bodies(axes, motion) for (axes,), motion in zip(rows, motions, strict=True)]

    def draw(frame: int) -> None:
        for (axes,), motion, shapes in zip(rows, motions, drawn, strict=True):
            _place(shapes, motion, frame)
            title = f"{motion.label}   t = {motion.times[frame]:.2f} s"
            axes.set_title(title, loc="left", fontsize=9, color=INK)

    last = len(motions[0].times) - 1
    save_animation(path, figure, draw, [*range(last + 1), *[last] * round(fps)], fps)


def _add_bodies(axes: Axes, motion: Motion) -> tuple[PolyCollection, LineCollection]:
    """Add the bodies and springs, to be placed by `_place`."""
    bodies = PolyCollection(
        [], facecolors=list(motion.colours), edgecolors=INK, linewidths=0.7, zorder=3
    )
    springs = LineCollection([], linewidths=2.4, capstyle="round", zorder=5)
    axes.add_collection(bodies)
    axes.add_collection(springs)
    return bodies, springs


def _place(shapes: tuple[PolyCollection, LineCollection], motion: Motion, frame: int) -> None:
    bodies, springs = shapes
    bodies.set_verts(list(motion.outlines[frame]))
    springs.set_segments(list(motion.springs[frame]))
    if motion.activations.size:
        colours = np.asarray(ACTIVATION.to_rgba(motion.activations[frame]))
        springs.set_color([tuple(colour) for colour in colours])
