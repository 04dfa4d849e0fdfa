"""A knotted tube of coloured discs, its cameras, and points where a reconstruction begins.

Run this file for a few steps of the optimisation; the demo `fit-splats` does all of them.
"""

from dataclasses import dataclass

import numpy as np

import difftile as dt
from difftile import ti

AROUND, THROUGH = 2, 3  # turns of the knot around the axis, and through the hole
ALONG, AROUND_TUBE = 90, 10  # rings of discs, and discs in a ring
MAJOR, MINOR, TUBE = 1.0, 0.42, 0.2  # radii [scene units]
DISTANCE, ANGLE = 4.8, 50.0  # of the cameras: from the middle [scene units], across [degrees]
WIDTH, HEIGHT = 80, 60  # of a picture [pixels]
HARMONIC = 0.28209479177387814  # the constant one: colour = 0.5 + HARMONIC sh0
OPAQUE = 4.0  # the logit of the opacity of the knot's discs
SIZE = 0.12  # standard deviation of the gaussians at first [scene units]


@dataclass(frozen=True, slots=True)
class TorusKnot:
    """The discs of the knot, the cameras, and the points known at first.

    Attributes:
        means: Centres of the discs [scene units], shape (n, 3).
        widths: Their standard deviations along the tube, around it and outwards [scene units],
            shape (n, 3).
        quaternions: The rotations (w, x, y, z) to these directions, shape (n, 4).
        colours: In 0..1, shape (n, 3).
        eyes: Places of the cameras [scene units], shape (views, 3).
        held_out: Places of the held-out cameras, shape (views, 3).
        points: Points near the tube that are known at first [scene units], shape (points, 3).
    """

    means: np.ndarray
    widths: np.ndarray
    quaternions: np.ndarray
    colours: np.ndarray
    eyes: np.ndarray
    held_out: np.ndarray
    points: np.ndarray


def make_scene(
    points: int = 400, views: int = 16, *, noise: float = 0.1, seed: int = 0
) -> TorusKnot:
    """Return a knot.

    Args:
        points: Number of known points.
        views: Number of pictures; a quarter as many, or one, are held out.
        noise: Standard deviation of the distances of the points from the tube [scene units].
        seed: Of the points.
    """
    t = np.repeat(np.linspace(0.0, 2.0 * np.pi, ALONG, endpoint=False), AROUND_TUBE)
    angle = np.tile(np.linspace(0.0, 2.0 * np.pi, AROUND_TUBE, endpoint=False), ALONG) + 0.3 * t
    centre, tangent = _curve(t)
    length = np.linalg.norm(np.diff(_curve(np.linspace(0, 2 * np.pi, 2000))[0], axis=0), axis=1)
    normal = np.cross(tangent, np.cross([0.0, 0.0, 1.0], tangent))
    normal /= np.linalg.norm(normal, axis=1, keepdims=True)
    beside = np.cross(tangent, normal)
    out = np.cos(angle)[:, None] * normal + np.sin(angle)[:, None] * beside
    turned = np.stack([tangent, np.cross(out, tangent), out], axis=2)
    widths = np.array([0.6 * length.sum() / ALONG, 1.2 * np.pi * TUBE / AROUND_TUBE, 0.02])
    hue = np.stack([np.cos(AROUND * t + shift) for shift in (0.0, 2.1, 4.2)], axis=1)
    light = 0.65 + 0.35 * out @ np.array([0.48, 0.36, 0.8])
    colours = np.clip((0.55 + 0.4 * hue) * light[:, None], 0.0, 1.0)

    random = np.random.default_rng(seed)
    somewhere, _ = _curve(random.uniform(0.0, 2.0 * np.pi, points))
    return TorusKnot(
        means=centre + TUBE * out,
        widths=np.tile(widths, (len(t), 1)),
        quaternions=_quaternions(turned),
        colours=colours,
        eyes=_eyes(views, 0.0, (0.3, 0.75, -0.35, 1.1)),
        held_out=_eyes(max(views // 4, 1), 0.375, (0.55, -0.1, 0.9, 0.1)),
        points=somewhere + random.normal(0.0, noise, (points, 3)),
    )


def turn(frames: int) -> np.ndarray:
    """Return places of cameras once around the knot, shape (frames, 3)."""
    return _on_sphere(np.linspace(0.0, 2.0 * np.pi, frames, endpoint=False), 0.45)


def _curve(t: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return points of the knot and unit tangents there, shape (n, 3)."""
    r, dr = MAJOR + MINOR * np.cos(THROUGH * t), -MINOR * THROUGH * np.sin(THROUGH * t)
    c, s = np.cos(AROUND * t), np.sin(AROUND * t)
    points = np.stack([r * c, r * s, -MINOR * np.sin(THROUGH * t)], axis=1)
    tangents = np.stack(
        [
            dr * c - AROUND * r * s,
            dr * s + AROUND * r * c,
            -MINOR * THROUGH * np.cos(THROUGH * t),
        ],
        axis=1,
    )
    return points, tangents / np.linalg.norm(tangents, axis=1, keepdims=True)


def _quaternions(rotations: np.ndarray) -> np.ndarray:
    """Return quaternions (w, x, y, z), shape (n, 4): eigenvectors (Bar-Itzhack, 2000)."""
    r = rotations.transpose(1, 2, 0)
    k = np.zeros((4, 4, len(rotations)))
    k[0, 0] = r[0, 0] + r[1, 1] + r[2, 2]
    k[0, 1:] = k[1:, 0] = r[2, 1] - r[1, 2], r[0, 2] - r[2, 0], r[1, 0] - r[0, 1]
    k[1:, 1:] = r + r.transpose(1, 0, 2)
    for axis in range(3):
        k[axis + 1, axis + 1] -= k[0, 0]
    return np.linalg.eigh(k.transpose(2, 0, 1))[1][:, :, -1]


def _eyes(views: int, shift: float, heights: tuple[float, ...]) -> np.ndarray:
    """Return places in rings at these angles above the middle [rad], shape (views, 3)."""
    k = np.arange(views)
    return _on_sphere(2.0 * np.pi * (k + shift) / views, np.resize(heights, views))


def _on_sphere(azimuth: np.ndarray, height: np.ndarray | float) -> np.ndarray:
    height = np.broadcast_to(height, azimuth.shape)
    flat = np.cos(height)
    return DISTANCE * np.stack(
        [flat * np.cos(azimuth), flat * np.sin(azimuth), np.sin(height)], axis=1
    )


def look_from(eyes: np.ndarray, dtype=ti.f32) -> dt.render.Cameras:
    """Return cameras at these places, directed at the knot."""
    up = (0.0, 0.0, 1.0)
    return dt.render.Cameras.look_at(
        eyes, (0.0, 0.0, 0.0), WIDTH, HEIGHT, fov=ANGLE, up=up, dtype=dtype
    )


def make_splatter() -> dt.render.Splatter:
    return dt.render.Splatter(WIDTH, HEIGHT, sh_degree=0, depth=False)


def see(gaussians: dt.Rows, eyes: np.ndarray) -> np.ndarray:
    """Return pictures of gaussians, shape (views, rows, columns, 3)."""
    return make_splatter()(gaussians, look_from(eyes)).image.to_numpy()


def make_knot(scene: TorusKnot, dtype=ti.f32) -> dt.Rows:
    """Return the Gaussians to recover, or others with the same appearance."""
    return dt.render.make_gaussians(
        means=scene.means,
        scales=np.log(scene.widths),
        quaternions=scene.quaternions,
        opacities=np.full(len(scene.means), OPAQUE),
        sh0=(scene.colours - 0.5) / HARMONIC,
        dtype=dtype,
        grad=False,
    )


class Reconstruction:
    """Gaussians, cameras that see them, and the error of their pictures."""

    def __init__(self, scene: TorusKnot, dtype=ti.f32):
        n = len(scene.points)
        self.gaussians = dt.render.make_gaussians(
            means=scene.points,
            scales=np.full((n, 3), np.log(SIZE)),
            quaternions=np.tile([1.0, 0.0, 0.0, 0.0], (n, 1)),
            opacities=np.zeros(n),
            sh0=np.zeros((n, 3)),
            dtype=dtype,
        )
        self.parameters = dict(self.gaussians)
        self.cameras = look_from(scene.eyes, dtype)
        self.splatter = make_splatter()
        self.seen = self.splatter(make_knot(scene, dtype), self.cameras)
        self.target = dt.from_numpy(self.seen.image.to_numpy(), dtype=dt.vec(3, dtype))
        self.loss = dt.zeros((), dtype, grad=True)

    def run(self) -> None:
        """Draw all pictures, and measure the mean square that they are off."""
        self.splatter(self.gaussians, self.cameras, self.seen)
        self.loss.fill(0.0)
        dt.render.l2(self.seen.image, self.target, self.loss)


if __name__ == "__main__":
    knot = Reconstruction(make_scene(points=200, views=4))
    descent = dt.optim.Adam(knot.parameters, 0.02)
    for _ in range(8):
        with dt.Tape(knot.loss):
            knot.run()
        print(f"loss {knot.loss[None]:.6f}")
        descent.step()
