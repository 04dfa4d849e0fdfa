"""Robots of springs that walk: the result of a run, as a strip and as an animation."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.collections import LineCollection
from matplotlib.colors import Normalize
from matplotlib.figure import Figure

from demos.support.pictures import AFTER, FLOOR, INK, PALE, make_figure, save_animation

_SNAPSHOTS = 5
ACTIVATION = ScalarMappable(Normalize(-1.0, 1.0), "coolwarm")


@dataclass(frozen=True, slots=True)
class Motion:
    """The result of a simulation of masses and springs, to be drawn.

    Attributes:
        label: Its name in the picture.
        times: Times of the frames [s], shape (frames,).
        positions: Of the masses [m], shape (frames, n, 2).
        activations: Of the springs, from -1 (shortened) to 1 (lengthened), shape (frames, m).
        tracked: The mass whose path is shown.
        slopes: Gradients with respect to the positions, of the same shape; None if not requested.
    """

    label: str
    times: np.ndarray
    positions: np.ndarray
    activations: np.ndarray
    tracked: int = 0
    slopes: np.ndarray | None = None

    @property
    def distance(self) -> float:
        """How far the tracked mass gets along x [m]."""
        track = self.positions[:, self.tracked, 0]
        return float(track[-1] - track[0])


def save_walk_strip(
    path: Path, motions: Sequence[Motion], springs: np.ndarray, muscles: np.ndarray, floor: float
) -> None:
    """Draw each motion as snapshots on one floor, the older the paler, under each other.

    Args:
        path: The PNG to write.
        motions: The runs, from top to bottom.
        springs: Ends of the springs, shape (m, 2).
        muscles: Which springs are muscles, shape (m,), bool.
        floor: Height of the floor [m].
    """
    window = _window(motions, floor)
    figure, rows, header = _make_rows(11.0, len(motions), window)
    _draw_key(figure, header)
    for axes, motion in zip(rows, motions, strict=True):
        _draw_ground(axes, floor, window)
        track = motion.positions[:, motion.tracked]
        axes.plot(track[:, 0], track[:, 1], color=AFTER, linewidth=0.8, alpha=0.7, zorder=1)
        picks = np.linspace(0, len(motion.times) - 1, _SNAPSHOTS).round().astype(int)
        for age, frame in enumerate(picks[::-1]):
            alpha = 1.0 if age == 0 else 0.62 - 0.09 * age
            lines, points = _draw_body(axes, springs, muscles, motion.tracked, zorder=10 - age)
            _move_body(lines, points, motion, springs, muscles, frame)
            lines.set_alpha(alpha)
            points.set_alpha(alpha)
        _draw_distance(axes, motion, floor, picks)
    rows[-1].set_xlabel("x [m]", fontsize=9, color=INK)
    figure.savefig(path)


def save_walk_animation(
    path: Path,
    motions: Sequence[Motion],
    springs: np.ndarray,
    muscles: np.ndarray,
    floor: float,
) -> None:
    """Animate the motions at the same time under each other, in real time."""
    window = _window(motions, floor)
    figure, rows, _ = _make_rows(6.4, len(motions), window)
    bodies = []
    for axes, motion in zip(rows, motions, strict=True):
        _draw_ground(axes, floor, window)
        axes.axvline(motion.positions[0, motion.tracked, 0], color=PALE, linewidth=0.8, ls=":")
        bodies.append(_draw_body(axes, springs, muscles, motion.tracked, zorder=5))

    def draw(frame: int) -> None:
        for axes, motion, (lines, points) in zip(rows, motions, bodies, strict=True):
            frame_here = min(frame, len(motion.times) - 1)
            _move_body(lines, points, motion, springs, muscles, frame_here)
            track = motion.positions[:, motion.tracked, 0]
            axes.set_title(
                f"{motion.label}   t = {motion.times[frame_here]:.2f} s   "
                f"{track[frame_here] - track[0]:+.2f} m",
                loc="left",
                fontsize=9,
                color=INK,
            )

    times = motions[0].times
    fps = (len(times) - 1) / float(times[-1] - times[0])
    n_frames = len(times)
    hold = [n_frames - 1] * round(fps)
    save_animation(path, figure, draw, [*range(n_frames), *hold], fps)


def _window(motions: Sequence[Motion], floor: float) -> tuple[float, float, float, float]:
    """The left, right, bottom and top [m] that hold all motions."""
    points = np.concatenate([motion.positions.reshape(-1, 2) for motion in motions])
    (left, _), (right, top) = points.min(axis=0), points.max(axis=0)
    return left - 0.05, right + 0.05, floor - 0.06, top + 0.03


def _make_rows(
    width: float, n_rows: int, window: tuple[float, float, float, float]
) -> tuple[Figure, list[Axes], float]:
    """Return a figure of axes that show `window` at equal scales, and the height of its header.

    Placed by hand: the automatic layouts leave gaps around axes of a fixed aspect.
    """
    left, right, bottom, top = window
    margin, title, footer = 0.25, 0.42, 0.5
    inner = width - 2 * margin
    panel = inner * (top - bottom) / (right - left)
    height = n_rows * (panel + title) + footer
    figure = make_figure(width, height)
    figure.set_layout_engine("none")
    rows = []
    for row in range(n_rows):
        low = height - (row + 1) * (panel + title)
        box = (margin / width, low / height, inner / width, panel / height)
        rows.append(figure.add_axes(box))
        if row < n_rows - 1:
            rows[-1].set_xticklabels([])
    return figure, rows, title / height


def _draw_key(figure: Figure, header: float) -> None:
    """Add the colours of the activations, at the right of the first title."""
    axes = figure.add_axes((0.78, 1.0 - 0.55 * header, 0.12, 0.2 * header))
    axes.imshow(np.linspace(-1, 1, 64)[None], cmap=ACTIVATION.get_cmap(), aspect="auto")
    axes.set_axis_off()
    for x, side, word in ((-0.04, "right", "muscle shortens"), (1.04, "left", "lengthens")):
        axes.text(
            *(x, 0.5, word), ha=side, va="center", transform=axes.transAxes, fontsize=9, color=INK
        )


def _draw_ground(axes: Axes, floor: float, window: tuple[float, float, float, float]) -> None:
    left, right, bottom, top = window
    axes.axhspan(bottom - 1.0, floor, color=FLOOR, zorder=0)
    axes.axhline(floor, color=INK, linewidth=1.0, zorder=0)
    axes.set(xlim=(left, right), ylim=(bottom, top), yticks=[])
    axes.spines[["top", "right", "left"]].set_visible(False)
    axes.tick_params(colors=INK, labelsize=8)


def _draw_body(
    axes: Axes, springs: np.ndarray, muscles: np.ndarray, tracked: int, zorder: float
) -> tuple[LineCollection, LineCollection]:
    """Add the springs and, as dots, the masses of one robot, to be placed by `_move_body`."""
    lines = LineCollection(
        [], linewidths=np.where(muscles, 3.2, 1.2), capstyle="round", zorder=zorder
    )
    # A line without length and with round ends is a dot, and takes part in set_segments.
    sizes = np.full(int(springs.max()) + 1, 3.6)
    sizes[tracked] = 7.0
    points = LineCollection([], linewidths=sizes, colors=INK, capstyle="round", zorder=zorder + 0.5)
    axes.add_collection(lines)
    axes.add_collection(points)
    return lines, points


def _move_body(
    lines: LineCollection,
    points: LineCollection,
    motion: Motion,
    springs: np.ndarray,
    muscles: np.ndarray,
    frame: int,
) -> None:
    place = motion.positions[frame]
    colors = np.asarray(ACTIVATION.to_rgba(motion.activations[frame]))
    colors[~muscles] = (0.55, 0.58, 0.62, 1.0)
    lines.set_segments(list(place[springs]))
    lines.set_color([tuple(color) for color in colors])
    points.set_segments(list(np.repeat(place[:, None], 2, axis=1)))


def _draw_distance(axes: Axes, motion: Motion, floor: float, picks: np.ndarray) -> None:
    """Add the title and, in the ground, an arrow along the way of the tracked mass."""
    track = motion.positions[:, motion.tracked, 0]
    body = float(np.ptp(motion.positions[0, :, 0]))
    axes.set_title(
        f"{motion.label}: {motion.distance:+.2f} m in {motion.times[-1]:.1f} s "
        f"({motion.distance / body:+.1f} body lengths)",
        loc="left",
        fontsize=11,
        color=INK,
    )
    height = floor - 0.02
    arrow = {"arrowstyle": "-|>", "color": INK, "linewidth": 1.2, "shrinkA": 0, "shrinkB": 0}
    if abs(motion.distance) > 0.02:
        axes.annotate("", (track[-1], height), (track[0], height), arrowprops=arrow)
    labelled = -np.inf
    for frame in picks:
        axes.plot(track[frame], height, "|", color=INK, markersize=8)
        # Where the robot stays, its snapshots lie on each other and so would their times.
        if track[frame] - labelled > 0.06:
            labelled = track[frame]
            text = f"{motion.times[frame]:.1f} s"
            axes.text(labelled, height - 0.017, text, ha="center", va="top", fontsize=8, color=INK)
