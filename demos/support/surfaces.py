"""Surfaces of shaded triangles around a ball, in three dimensions: a strip and an animation.

Parallel projection and the painter's algorithm, far triangles first. The ball is a shaded disc:
triangles that it hides are drawn before it and all others after it, which is exact for a surface
outside of the ball, up to those at its edge.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import PolyCollection
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure

from demos.support.pictures import INK, make_figure, save_animation

_TOP, _UNDERSIDE = ("#1f6f78", "#8fc4c7"), ("#b4552d", "#e0a27f")
_BALL, _MARK = "#d9b44a", "#22272e"
_SQUARES = 8  # of the pattern along the shorter side of a surface
_MARGIN, _HEADER = 0.12, 0.5  # around and between panels [inch]
_AMBIENT = 0.42  # the ambient part of the light
_DISC = 256  # pixels across the image of a ball


@dataclass(frozen=True, slots=True)
class Ball:
    """A ball that surfaces lie around.

    Attributes:
        center: [m], shape (3,).
        radius: [m].
    """

    center: np.ndarray
    radius: float


@dataclass(frozen=True, slots=True)
class View:
    """The directions of the view and of the light.

    Attributes:
        right: Unit vector to the right of the picture, shape (3,).
        up: To its top.
        toward: To the eye.
        light: To the light.
    """

    right: np.ndarray
    up: np.ndarray
    toward: np.ndarray
    light: np.ndarray

    def project(self, points: np.ndarray) -> np.ndarray:
        """Return the places of points (..., 3) in the picture, shape (..., 2)."""
        return points @ np.stack([self.right, self.up], axis=1)

    def shade(self, normals: np.ndarray) -> np.ndarray:
        """Return how bright a surface with these unit normals (..., 3) is, from 0 to 1."""
        return _AMBIENT + (1 - _AMBIENT) * np.maximum(normals @ self.light, 0.0)

    def hidden(self, points: np.ndarray, ball: Ball) -> np.ndarray:
        """Say which points (n, 3) outside of a ball it hides."""
        offset = points - ball.center
        aside = offset - np.outer(offset @ self.toward, self.toward)
        return (offset @ self.toward < 0) & (np.linalg.norm(aside, axis=1) < ball.radius)


def look_from(azimuth: float, elevation: float) -> View:
    """Return the view from these directions [degrees]; the light comes from its upper left."""
    a, e = np.radians(azimuth), np.radians(elevation)
    toward = np.array([np.cos(e) * np.cos(a), np.cos(e) * np.sin(a), np.sin(e)])
    right = np.array([-np.sin(a), np.cos(a), 0.0])
    up = np.cross(toward, right)
    light = 0.7 * toward - 0.5 * right + np.array([0.0, 0.0, 0.9])
    return View(right, up, toward, light / np.linalg.norm(light))


@dataclass(frozen=True, slots=True)
class Drape:
    """The motion of a surface.

    Attributes:
        label: Its name in the picture.
        points: Its vertices [m], shape (frames, rows, columns, 3).
        marks: Points to compare it with [m], shape (frames, k, 3), NaN where missing.
    """

    label: str
    points: np.ndarray
    marks: np.ndarray


VIEW = look_from(azimuth=-60.0, elevation=20.0)


def save_drape_strip(
    path: Path,
    drapes: Sequence[Drape],
    triangles: np.ndarray,
    ball: Ball,
    frames: Sequence[int],
    captions: Sequence[str],
) -> None:
    """Draw the chosen frames of each motion side by side, and the motions below each other.

    Args:
        path: The PNG to write.
        drapes: The motions, from top to bottom.
        triangles: Of the surface, shape (k, 3), first one of each cell, then the other.
        ball: The ball under the surface.
        frames: The numbers of the frames.
        captions: A title for each frame.
    """
    window = _window(drapes, ball, frames)
    figure, rows = _make_panels(11.0, len(drapes), len(frames), window)
    for panels, drape in zip(rows, drapes, strict=True):
        for axes, frame, caption in zip(panels, frames, captions, strict=True):
            _Surface(axes, drape, triangles, ball).move(frame)
            axes.set_title(caption, fontsize=9, color=INK, pad=2)
        where = {"ha": "left", "va": "bottom", "transform": panels[0].transAxes}
        panels[0].text(0.0, 1.14, drape.label, fontsize=11, color=INK, **where)
    figure.savefig(path)


def save_drape_animation(
    path: Path,
    drapes: Sequence[Drape],
    triangles: np.ndarray,
    ball: Ball,
    captions: Sequence[str],
    fps: float,
) -> None:
    """Animate the motions side by side, at the same time; `captions` has one per frame."""
    n_frames = len(captions)
    window = _window(drapes, ball, range(n_frames))
    figure, (panels,) = _make_panels(8.4, 1, len(drapes), window)
    surfaces = [
        _Surface(axes, drape, triangles, ball) for axes, drape in zip(panels, drapes, strict=True)
    ]
    for axes, drape in zip(panels, drapes, strict=True):
        axes.set_title(drape.label, fontsize=10, color=INK)
    caption = figure.text(0.02, 0.03, "", fontsize=9, color=INK)

    def draw(frame: int) -> None:
        for surface in surfaces:
            surface.move(frame)
        caption.set_text(captions[frame])

    save_animation(path, figure, draw, [*range(n_frames), *[n_frames - 1] * round(fps)], fps)


class _Surface:
    """The triangles, marks and ball of one panel."""

    def __init__(self, axes: Axes, drape: Drape, triangles: np.ndarray, ball: Ball):
        self._drape, self._triangles, self._ball = drape, triangles, ball
        shape = drape.points.shape[1:3]
        self._top, self._underside = (_checkered(shape, two) for two in (_TOP, _UNDERSIDE))
        # Edges in the colour of the faces: without them the seams shine through.
        self._behind, self._before = (
            PolyCollection([], linewidths=0.4, zorder=zorder) for zorder in (1, 3)
        )
        axes.add_collection(self._behind)
        axes.add_collection(self._before)
        self._marks = axes.scatter([], [], s=5.0, c=_MARK, linewidths=0, zorder=4)
        _draw_ball(axes, ball)

    def move(self, frame: int) -> None:
        """Show a frame."""
        corners = self._drape.points[frame].reshape(-1, 3)[self._triangles]
        normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
        normals /= np.linalg.norm(normals, axis=1, keepdims=True) + 1e-30
        top = (normals @ VIEW.toward > 0)[:, None]
        shade = VIEW.shade(np.where(top, normals, -normals))[:, None]
        colors = np.where(top, self._top, self._underside) * shade
        middle = corners.mean(axis=1)
        order = np.argsort(middle @ VIEW.toward)
        hidden = VIEW.hidden(middle, self._ball)[order]
        places = VIEW.project(corners)
        for collection, some in ((self._behind, order[hidden]), (self._before, order[~hidden])):
            collection.set_verts(list(places[some]))
            collection.set_color(list(map(tuple, colors[some])))
        marks = self._drape.marks[frame]
        self._marks.set_offsets(VIEW.project(marks[~VIEW.hidden(marks, self._ball)]))


def _checkered(shape: tuple[int, int], colors: tuple[str, str]) -> np.ndarray:
    """Return the colours of both triangles of each cell, shape (2 * cells, 3)."""
    row, column = np.mgrid[: shape[0] - 1, : shape[1] - 1]
    side = max(1, (min(shape) - 1) // _SQUARES)
    odd = (row // side + column // side).ravel() % 2 == 1
    return np.tile(np.where(odd[:, None], to_rgb(colors[0]), to_rgb(colors[1])), (2, 1))


def _window(
    drapes: Sequence[Drape], ball: Ball, frames: Sequence[int]
) -> tuple[float, float, float, float]:
    """The left, right, bottom and top of the drawing in these frames."""
    points = [VIEW.project(drape.points[list(frames)]).reshape(-1, 2) for drape in drapes]
    center = VIEW.project(ball.center)
    points = np.concatenate([*points, [center - ball.radius], [center + ball.radius]])
    (left, bottom), (right, top) = points.min(axis=0) - 0.02, points.max(axis=0) + 0.02
    return left, right, bottom, top


def _make_panels(
    width: float, n_rows: int, n_columns: int, window: tuple[float, float, float, float]
) -> tuple[Figure, list[list[Axes]]]:
    """Return a figure of axes that show `window`, placed by hand since their aspect is fixed."""
    left, right, bottom, top = window
    inner = (width - (n_columns + 1) * _MARGIN) / n_columns
    panel = inner * (top - bottom) / (right - left)
    height = n_rows * (panel + _HEADER) + 2 * _MARGIN
    figure = make_figure(width, height)
    figure.set_layout_engine("none")
    rows = []
    for row in range(n_rows):
        low = height - (row + 1) * (panel + _HEADER)
        starts = [_MARGIN + column * (inner + _MARGIN) for column in range(n_columns)]
        boxes = [(s / width, low / height, inner / width, panel / height) for s in starts]
        rows.append([figure.add_axes(box) for box in boxes])
        for axes in rows[-1]:
            axes.set(xlim=(left, right), ylim=(bottom, top))
            axes.set_axis_off()
    return figure, rows


def _draw_ball(axes: Axes, ball: Ball) -> None:
    across = np.linspace(-1.0, 1.0, _DISC)
    x, y = np.meshgrid(across, across)
    z = np.sqrt(np.maximum(1 - x**2 - y**2, 0.0))
    normals = x[..., None] * VIEW.right + y[..., None] * VIEW.up + z[..., None] * VIEW.toward
    half = VIEW.light + VIEW.toward
    gloss = np.maximum(normals @ (half / np.linalg.norm(half)), 0.0)[..., None] ** 40
    colors = np.array(to_rgb(_BALL)) * VIEW.shade(normals)[..., None] + 0.35 * gloss
    inside = np.clip((1 - np.hypot(x, y)) * 0.5 * _DISC + 0.5, 0.0, 1.0)[..., None]
    (left, bottom), (right, top) = (
        VIEW.project(ball.center) + sign * ball.radius for sign in (-1.0, 1.0)
    )
    limits = axes.get_xlim(), axes.get_ylim()
    pixels = np.concatenate([np.clip(colors, 0.0, 1.0), inside], axis=-1)
    axes.imshow(pixels, extent=(left, right, bottom, top), origin="lower", zorder=2)
    axes.set(xlim=limits[0], ylim=limits[1], aspect="auto")  # imshow has changed them
