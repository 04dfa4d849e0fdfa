"""Robots of `difftile.worlds` in the viewer and in pictures: several worlds side by side.

Planes, spheres, capsules and boxes become triangles, which the viewer draws as any other mesh.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from PIL import Image

import difftile as dt
from difftile import worlds

PALETTE = ("#4db6ac", "#f2a65a", "#7aa6f0", "#d67ab1", "#b8c46a")  # of worlds, in turn
_AROUND, _ALONG = 16, 8  # faces of round geoms around their axis and from pole to pole
_FLOOR, _TILE = np.array([[250, 245, 236], [234, 229, 218]]), 0.5  # colours and size [m] of tiles
_SHADOW = np.array([150, 145, 134])
_LIGHT = np.array([-0.35, -0.5, 0.79])  # the way to the light
_AMBIENT = 0.55  # brightness of a face that is turned away from it
_LIFT = 0.003  # of shadows above the floor [m]
_GAMMA = 0.65  # of pictures, whose background is white
# For `App.look`: the worlds stand along y, and x goes to the right.
LOOK: dict[str, Any] = {"up": (0.0, 0.0, 1.0), "yaw": 0.3, "pitch": 0.22, "fov": 0.5}
_PAPER = np.full((1, 1, 3), 255, np.uint8)


@dataclass(frozen=True, slots=True)
class BodyPoses:
    """Positions and orientations of the bodies of some worlds, or of one at several times.

    Attributes:
        xpos: Shape (k, nbody, 3) [m].
        xquat: Shape (k, nbody, 4), w first.
    """

    xpos: np.ndarray
    xquat: np.ndarray

    def __getitem__(self, which: slice | Sequence[int] | np.ndarray) -> "BodyPoses":
        return BodyPoses(self.xpos[which], self.xquat[which])


def poses_of(model: worlds.Model, qpos: np.ndarray) -> BodyPoses:
    """Return the poses of a robot in some states.

    Args:
        model: The robot.
        qpos: Its coordinates, shape (k, nq).
    """
    sim = worlds.Worlds(model, len(qpos), dtype=dt.ti.f64)
    sim.qpos.from_numpy(np.asarray(qpos, np.float64))
    return poses(sim)


def poses(sim: worlds.Worlds, which: Sequence[int] | None = None) -> BodyPoses:
    """Return the present poses of some worlds, by default of all."""
    sim.sense()
    chosen = slice(None) if which is None else list(which)
    return BodyPoses(sim.xpos.to_numpy()[chosen], sim.xquat.to_numpy()[chosen])


class Robots:
    """The geoms of copies of a model as triangles.

    Args:
        model: The robot. Its first plane, if horizontal, is the floor.
        places: Where the world of each copy is shown [m], shape (k, 3) or a number of copies,
            which then stand along y.
        spacing: From one copy to the next [m], if their number is given.
        colours: Of each copy, "#rrggbb"; by default `PALETTE`, in turn.
        floor: Left, front, right and back of the floor [m]; by default 2 m around the copies.

    Attributes:
        places: Where the world of each copy is shown [m], shape (k, 3).
        floor: Corners of the floor as above.
        vertices: Their number, of all copies, without shadows and floor.
    """

    def __init__(
        self,
        model: worlds.Model,
        places: int | np.ndarray = 1,
        spacing: float = 1.5,
        colours: Sequence[str] = PALETTE,
        floor: tuple[float, float, float, float] | None = None,
    ) -> None:
        if isinstance(places, int):
            places = np.arange(places)[:, None] * np.array([0.0, spacing, 0.0])
        self.places = places = np.asarray(places, np.float64)
        shapes = [_shape(model, geom) for geom in range(len(model.geom_type))]
        found = [one for one in shapes if one is not None]
        corners = np.cumsum([0, *(len(vertices) for _, vertices, _ in found)])
        self._bodies = np.concatenate([np.full(len(v), body) for body, v, _ in found])
        self._vertices = np.concatenate([vertices for _, vertices, _ in found])
        one = np.concatenate([f + k for (_, _, f), k in zip(found, corners, strict=False)])
        step = corners[-1] * np.arange(len(places))
        self.vertices = int(corners[-1]) * len(
            places
        )  # vertices of robots, before shadows and floor
        self._faces = (one + step[:, None, None]).reshape(-1, 3)
        hues = np.array([_bytes(colours[k % len(colours)]) for k in range(len(places))])
        self._hues = np.repeat(hues, len(one), axis=0)
        low, high = places.min(axis=0) - 2.0, places.max(axis=0) + 2.0
        self.floor = floor or (low[0], low[1], high[0], high[1])
        self._height = _height(model)
        self._tiles = None if self._height is None else _tiles(self.floor, self._height)

    def mesh(self, poses: BodyPoses) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return vertices [m], shape (n, 3), faces, (m, 3), and their colours, (m, 3), 0 to 1.

        Args:
            poses: One for each copy.
        """
        turned = _rotate(poses.xquat[:, self._bodies], self._vertices)
        vertices = (turned + poses.xpos[:, self._bodies] + self.places[:, None]).reshape(-1, 3)
        corners = vertices[self._faces]
        normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
        lengths = np.linalg.norm(normals, axis=1)
        lit = np.maximum(normals @ _LIGHT / np.where(lengths > 0, lengths, 1.0), 0.0)
        colours = self._hues * (_AMBIENT + (1.0 - _AMBIENT) * lit)[:, None]
        if self._tiles is None or self._height is None:
            return vertices, self._faces, colours / 255.0
        above = vertices[:, 2:] - self._height
        shadows = vertices - above * _LIGHT / _LIGHT[2] + [0.0, 0.0, _LIFT]
        ground, tiles, paint = self._tiles
        parts = vertices, shadows, ground
        lit_faces = self._faces[lit > 0.0]  # the others of a closed shape cast the same shadow
        faces = self._faces, lit_faces + len(vertices), tiles + 2 * len(vertices)
        dark = np.broadcast_to(_SHADOW, (len(lit_faces), 3))
        return (
            np.concatenate(parts),
            np.concatenate(faces),
            np.concatenate([colours, dark, paint]) / 255.0,
        )

    def draw(self, app: dt.viewer.App, poses: BodyPoses) -> None:
        """Add the copies, their shadows and the floor to the picture, in a function of `app.draw`.

        Args:
            app: The viewer; `app.look(**LOOK)` once before.
            poses: One for each copy, as `poses(sim, which)` returns them.
        """
        vertices, faces, colours = self.mesh(poses)
        app.mesh(vertices, faces, colour=colours)

    def image(
        self, poses: BodyPoses, size: tuple[int, int] = (640, 360), fine: int = 2, **look: Any
    ) -> np.ndarray:
        """Return a picture on white, shape (height, width, 3), bytes.

        Args:
            poses: One for each copy.
            size: Width and height [pixels]; with `fine`, at least 480 and 320.
            fine: Samples of a pixel along each side.
            look: As for `App.look`; by default all copies from the front, a little above.
        """
        app = dt.viewer.App("robots", (fine * size[0], fine * size[1]), _Bare())
        if not {"at", "distance", "around"} & set(look):
            look["around"] = self.mesh(poses)[0][: self.vertices]
        app.look(**{**LOOK, **look})
        app.backdrop(lambda view: np.broadcast_to(_PAPER, (view.height, view.width, 3)))
        self.draw(app, poses)
        app.run(frames=1)
        assert app.picture is not None
        small = Image.fromarray(app.picture).resize(size, Image.Resampling.BOX)
        return (255.0 * (np.asarray(small) / 255.0) ** _GAMMA).astype(np.uint8)


class _Bare(dt.viewer.NullBackend):
    """No display, and no controls in the picture."""

    def attach(self, panel: object, keys: object) -> bool:
        """Return True: the picture has no controls."""
        return True


def _shape(model: worlds.Model, geom: int) -> tuple[int, np.ndarray, np.ndarray] | None:
    """Return the body of a geom, its vertices in the body's axes, and faces; None for others."""
    make = _MAKERS.get(int(model.geom_type[geom]))
    if make is None:
        return None
    vertices, faces = make(model.geom_size[geom])
    turned = _rotate(model.geom_quat[geom], vertices)
    return int(model.geom_bodyid[geom]), turned + model.geom_pos[geom], faces


def _round(length: float, radius: float) -> tuple[np.ndarray, np.ndarray]:
    """Return a capsule along z, or a sphere: a profile that goes around its axis."""
    tilt = np.linspace(0.0, np.pi, _ALONG + 1)
    height = radius * np.cos(tilt) + length * np.sign(np.cos(tilt))
    across = radius * np.sin(tilt)
    if length:  # both ends have the ring in the middle
        half = _ALONG // 2
        height = np.insert(height, half, length)
        height[half + 1] = -length
        across = np.insert(across, half, radius)
    turn = np.arange(_AROUND) * (2.0 * np.pi / _AROUND)
    ring = np.stack([np.cos(turn), np.sin(turn)], axis=1)
    vertices = np.empty((len(height), _AROUND, 3))
    vertices[..., :2], vertices[..., 2] = across[:, None, None] * ring, height[:, None]
    row, column = np.mgrid[: len(height) - 1, :_AROUND]
    a, b = row * _AROUND + column, row * _AROUND + (column + 1) % _AROUND
    below = _AROUND
    first, second = np.stack([a, a + below, b], -1), np.stack([b, a + below, b + below], -1)
    return vertices.reshape(-1, 3), np.concatenate([first.reshape(-1, 3), second.reshape(-1, 3)])


def _box(halves: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    signs = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)])
    sides = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]
    faces = [(a, b, c) for a, b, c, _ in sides] + [(a, c, d) for a, _, c, d in sides]
    return signs * halves, np.array(faces)


# By MuJoCo's numbers of types.
_MAKERS = {
    2: lambda size: _round(0.0, size[0]),
    3: lambda size: _round(size[1], size[0]),
    6: _box,
}


def _height(model: worlds.Model) -> float | None:
    """Return the height of the first plane of the world [m], if it is horizontal."""
    for geom in np.flatnonzero(model.geom_type == 0)[:1]:
        normal = _rotate(model.geom_quat[geom], np.array([0.0, 0.0, 1.0]))
        if model.geom_bodyid[geom] == 0 and normal[2] > 1.0 - 1e-9:
            return float(model.geom_pos[geom, 2])
    return None


def _tiles(
    floor: tuple[float, float, float, float], height: float
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return vertices, faces and colours of a floor of tiles, whose lines go through 0."""
    left, front, right, back = floor
    xs = _lines(left, right)
    ys = _lines(front, back)
    x, y = np.meshgrid(xs, ys, indexing="ij")
    vertices = np.stack([x, y, np.full_like(x, height)], axis=-1).reshape(-1, 3)
    i, j = (one.reshape(-1) for one in np.mgrid[: len(xs) - 1, : len(ys) - 1])
    a, n = i * len(ys) + j, len(ys)
    faces = np.concatenate(
        [np.stack([a, a + n, a + 1], -1), np.stack([a + n, a + n + 1, a + 1], -1)]
    )
    middle = np.floor(0.5 * (xs[i] + xs[i + 1]) / _TILE) + np.floor(
        0.5 * (ys[j] + ys[j + 1]) / _TILE
    )
    return vertices, faces, np.tile(_FLOOR[middle.astype(int) % 2], (2, 1))


def _lines(low: float, high: float) -> np.ndarray:
    inside = _TILE * np.arange(np.floor(low / _TILE) + 1, np.ceil(high / _TILE))
    return np.array([low, *inside, high])


def _rotate(quat: np.ndarray, v: np.ndarray) -> np.ndarray:
    """Turn vectors (..., 3) by unit quaternions (..., 4)."""
    axis = quat[..., 1:]
    twice = 2.0 * np.cross(axis, v)
    return v + quat[..., :1] * twice + np.cross(axis, twice)


def _bytes(text: str) -> tuple[int, ...]:
    return tuple(bytes.fromhex(text.lstrip("#")))
