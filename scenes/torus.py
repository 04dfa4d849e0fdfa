"""A torus that should be found from two pictures of it.

Run this file for a few steps of the optimisation; the demo `sdf-torus` does all of them.
"""

from dataclasses import dataclass, replace

import numpy as np

import difftile as dt
from difftile import ti

WIDEST, NARROWER, NARROWEST = 4.0, 0.95, 0.25  # width of the outline [pixels]
STEPS, FAR = 256, 6.0  # of a ray
NEAR, STRIDE = 1e-3, 0.02  # the shortest steps before and after it has met the surface
REACHED = 1e-4  # from the surface, where the loop that is differentiated stops
HALVINGS, SEARCH = 40, 40  # that narrow down where it meets, and where it comes closest
FINER = 4  # rays of a pixel of the target along each axis
SKY, AMBIENT = (0.03, 0.04, 0.06), (0.08, 0.09, 0.12)
SUN, SUN_COLOUR = (0.5, 0.8, 0.33), (0.85, 0.6, 0.35)  # towards it; the length is 1
LAMP, LAMP_COLOUR = (-0.64, 0.48, -0.6), (0.1, 0.25, 0.45)

vec2, vec3 = ti.math.vec2, ti.math.vec3


@dataclass(frozen=True, slots=True)
class Torus:
    """A torus, whose axis is turned from the y axis around the z axis.

    Attributes:
        centre: Its middle, shape (3,).
        radii: Of the ring, and of the tube, shape (2,).
        tilt: How far it is turned [rad].
    """

    centre: np.ndarray
    radii: np.ndarray
    tilt: float


@dataclass(frozen=True, slots=True)
class TorusScene:
    """A torus and cameras directed at the origin.

    Attributes:
        torus: The torus to recover.
        guess: The initial guess.
        eyes: Positions of the cameras, shape (views, 3).
        frames: Their axes to the right, down and ahead, shape (views, 3, 3).
        spread: Tangent of half the angle that a picture spans.
        resolution: Pixels of a picture along each axis.
    """

    torus: Torus
    guess: Torus
    eyes: np.ndarray
    frames: np.ndarray
    spread: float
    resolution: int

    @property
    def pixel(self) -> float:
        """Width of a pixel at distance 1."""
        return 2.0 * self.spread / self.resolution


def make_scene(resolution: int = 144) -> TorusScene:
    """Return the scene of two views.

    Args:
        resolution: Pixels of a picture along each axis.
    """
    torus = Torus(np.array([0.15, -0.1, 0.1]), np.array([0.8, 0.3]), tilt=0.5)
    guess = Torus(np.array([-0.1, 0.15, -0.1]), np.array([0.6, 0.2]), tilt=0.1)
    angles, height = np.radians([20.0, 110.0]), 2.3
    eyes = np.stack([3.0 * np.sin(angles), np.full(2, height), 3.0 * np.cos(angles)], axis=1)
    return TorusScene(torus, guess, eyes, _look_at_origin(eyes), 0.45, resolution)


def _look_at_origin(eyes: np.ndarray) -> np.ndarray:
    """Return the axes of cameras that stand upright: to the right, down and ahead.

    Args:
        eyes: Where they are, shape (views, 3) and off the y axis.

    Returns:
        Shape (views, 3, 3), an axis a row.
    """
    ahead = -eyes / np.linalg.norm(eyes, axis=1, keepdims=True)
    right = np.cross(ahead, [0.0, 1.0, 0.0])
    right /= np.linalg.norm(right, axis=1, keepdims=True)
    return np.stack([right, np.cross(ahead, right), ahead], axis=1)


@dt.func
def distance(p, centre, radii, tilt):
    """Return the signed distance of a point to a torus, negative inside."""
    q = p - centre
    c, s = ti.cos(tilt), ti.sin(tilt)
    across, along = c * q.x + s * q.y, c * q.y - s * q.x
    return vec2(vec2(across, q.z).norm() - radii.x, along).norm() - radii.y


@dt.func
def normal(p, centre, radii, tilt):
    """Return the direction of increasing distance."""
    d_p, _, _, _ = dt.bwd_diff(distance)(p, centre, radii, tilt, 1.0)
    return d_p


@dt.func
def implicit(eye, way, t, centre, radii, tilt):
    """Return the number t at which a ray meets the surface, with its derivative."""
    p = eye + dt.stop_grad(t) * way
    n = dt.stop_grad(normal(p, centre, radii, tilt))
    return dt.stop_grad(t) - distance(p, centre, radii, tilt) / n.dot(way)


@dt.func
def slope(eye, way, t, centre, radii, tilt):
    """Return the slope of the distance along a ray, which is zero at the closest approach."""
    return normal(eye + t * way, centre, radii, tilt).dot(way)


@dt.func
def implicit_closest(eye, way, t, centre, radii, tilt):
    """Return the number t at which a ray comes closest, with its derivative."""
    t = dt.stop_grad(t)
    bend = dt.fwd_diff(slope)(
        eye, way, t, centre, radii, tilt, 0.0 * eye, 0.0 * way, 1.0, 0.0 * centre, 0.0 * radii, 0.0
    )
    return t - slope(eye, way, t, centre, radii, tilt) / dt.stop_grad(bend)


@dt.func
def unrolled(eye, way, t, centre, radii, tilt):
    """Walk there once more, for a derivative through all steps of the loop."""
    s = 0.0
    for _ in range(STEPS):
        f = distance(eye + s * way, centre, radii, tilt)
        if f < REACHED:
            break
        s += f
    return s


@dt.data_oriented
class SdfTorus:
    """A torus of six parameters, `centre`, `radii` and `tilt`, and pictures of it.

    Args:
        scene: The cameras.
        torus: The torus.
        dtype: Of the numbers.
    """

    def __init__(self, scene: TorusScene, torus: Torus, dtype=ti.f32):
        vector = dt.vec(3, dtype)
        self.resolution, self.spread, self.pixel = scene.resolution, scene.spread, scene.pixel
        self.width = WIDEST
        self.eyes = dt.from_numpy(scene.eyes, dtype=vector)
        self.frames = dt.from_numpy(scene.frames, dtype=dt.mat(3, 3, dtype))
        self.centre = dt.from_numpy(torus.centre, dtype=vector, grad=True)
        self.radii = dt.from_numpy(torus.radii, dtype=dt.vec(2, dtype), grad=True)
        self.tilt = dt.full((), torus.tilt, dtype, grad=True)
        shape = (len(scene.eyes), scene.resolution, scene.resolution)
        self.met, self.closest = (dt.zeros(shape, dtype) for _ in range(2))
        self.image, self.target = (dt.zeros(shape, vector, grad=True) for _ in range(2))
        self.loss = dt.zeros((), dtype, grad=True)
        self.parameters = {"centre": self.centre, "radii": self.radii, "tilt": self.tilt}

    @dt.func
    def ray(self, view, i, j):
        """Return the viewing direction of a pixel."""
        x = self.spread * (2.0 * (j + 0.5) / self.resolution - 1.0)
        y = self.spread * (2.0 * (i + 0.5) / self.resolution - 1.0)
        return (self.frames[view].transpose() @ vec3(x, y, 1.0)).normalized()

    @dt.func
    def distance_at(self, p):
        return distance(p, self.centre[None], self.radii[None], self.tilt[None])

    @dt.kernel
    def trace(self):
        """Find the first hits of rays on the torus, if any, and their closest approaches."""
        for view, i, j in self.met:
            eye, way = self.eyes[view], self.ray(view, i, j)
            t, before, met = 0.0, 0.0, -1.0
            least, low, closest, high = FAR, 0.0, 0.0, 0.0
            for _ in range(STEPS):
                f = self.distance_at(eye + t * way)
                after = t + ti.max(abs(f), NEAR if met < 0.0 else STRIDE)
                if f < least:
                    least, low, closest, high = f, before, t, after
                if met < 0.0 and f < 0.0:
                    outside, inside = before, t
                    for _ in range(HALVINGS):
                        middle = 0.5 * (outside + inside)
                        if self.distance_at(eye + middle * way) < 0.0:
                            inside = middle
                        else:
                            outside = middle
                    met = inside
                before, t = t, after
                if t > FAR:
                    break
            for _ in range(SEARCH):
                right = high - closest > closest - low
                probe = ti.math.mix(closest, high if right else low, 0.382)
                f = self.distance_at(eye + probe * way)
                if f < least:
                    least = f
                    if right:
                        low = closest
                    else:
                        high = closest
                    closest = probe
                elif right:
                    high = probe
                else:
                    low = probe
            self.met[view, i, j], self.closest[view, i, j] = met, closest

    @dt.kernel
    def shade(self, meet):
        """Light the hit points; `meet` gives derivatives to their positions."""
        for view, i, j in self.image:
            eye, way = self.eyes[view], self.ray(view, i, j)
            torus = self.centre[None], self.radii[None], self.tilt[None]
            closest = implicit_closest(eye, way, self.closest[view, i, j], *torus)
            outside = self.distance_at(eye + closest * way)
            covered = dt.sigmoid(-outside / (self.width * self.pixel * closest))
            at = closest
            if self.met[view, i, j] >= 0.0:
                at = meet(eye, way, self.met[view, i, j], *torus)
            n = normal(eye + at * way, *torus)
            sun, lamp = vec3(SUN[0], SUN[1], SUN[2]), vec3(LAMP[0], LAMP[1], LAMP[2])
            colour = vec3(AMBIENT[0], AMBIENT[1], AMBIENT[2])
            colour += ti.max(n.dot(sun), 0.0) * vec3(SUN_COLOUR[0], SUN_COLOUR[1], SUN_COLOUR[2])
            colour += ti.max(n.dot(lamp), 0.0) * vec3(
                LAMP_COLOUR[0], LAMP_COLOUR[1], LAMP_COLOUR[2]
            )
            sky = vec3(SKY[0], SKY[1], SKY[2])
            self.image[view, i, j] = covered * colour + (1.0 - covered) * sky

    @dt.kernel
    def measure(self):
        """The mean squared error of the pictures."""
        self.loss[None] = 0.0
        for view, i, j in self.image:
            off = self.image[view, i, j] - self.target[view, i, j]
            self.loss[None] += off.dot(off) / (3 * self.image.shape[0] * self.resolution**2)

    def run(self, meet=implicit) -> None:
        """Render the pictures and measure the loss."""
        with dt.no_grad():
            self.trace()
        self.shade(meet)
        self.measure()

    def sharpen(self) -> None:
        """Make the outline a little narrower."""
        self.width = max(NARROWER * self.width, NARROWEST)

    def values(self) -> np.ndarray:
        """Return the parameters, shape (6,)."""
        return np.concatenate([f.to_numpy().ravel() for f in self.parameters.values()])


def photograph(scene: TorusScene) -> np.ndarray:
    """Return pictures of the scene's torus with a sharp outline, many rays to a pixel."""
    n = scene.resolution
    fine = SdfTorus(replace(scene, resolution=FINER * n), scene.torus)
    fine.width = 1e-3
    fine.trace()
    fine.shade(implicit)
    return fine.image.to_numpy().reshape(-1, n, FINER, n, FINER, 3).mean(axis=(2, 4))


if __name__ == "__main__":
    scene = make_scene(resolution=36)
    torus = SdfTorus(scene, scene.guess)
    torus.target.from_numpy(photograph(scene))
    descent = dt.optim.Adam(torus.parameters, 0.05)
    for _ in range(8):
        with dt.Tape(torus.loss):
            torus.run()
        print(f"loss {torus.loss[None]:.6f}")
        descent.step()
