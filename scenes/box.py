"""A box of coloured walls with a lamp, whose colours should be found from a picture of it.

The box goes from -1 to 1 and is open to the front (z = 1), where the camera is; it is like the one
that Goral et al. (SIGGRAPH 1984) painted, with two balls in it.

Run this file for a few steps of the optimisation; the demo `path-replay` does all of them.
"""

from dataclasses import dataclass

import numpy as np

import difftile as dt
from difftile import ti

SURFACES = "left wall", "right wall", "other walls", "near ball", "far ball"
BOUNCES = 8
MANY = 64  # paths per pixel for the target, and for displayed pictures
LEFT, RIGHT, OTHER, BALLS = 0, 1, 2, 3  # surfaces
NOTHING, LAMP = -1, -2  # the other surfaces
OFF = 1e-4  # from a surface, where the next ray starts

vec2, vec3 = ti.math.vec2, ti.math.vec3


@dataclass(frozen=True, slots=True)
class BoxScene:
    """The box.

    Attributes:
        albedo: Part of the light that each of `SURFACES` scatters, shape (5, 3): red, green, blue.
        guess: Initial values of the same.
        balls: Middle and radius of each ball, shape (2, 4).
        lamp: Half the width of the lamp, a square in the middle of the ceiling.
        emission: Light that it emits, shape (3,).
        eye: Distance of the camera from the middle of the box.
        resolution: Pixels of a picture along each axis.
    """

    albedo: np.ndarray
    guess: np.ndarray
    balls: np.ndarray
    lamp: float
    emission: np.ndarray
    eye: float
    resolution: int


def make_scene(resolution: int = 96) -> BoxScene:
    """Return the scene, in which the guess takes everything for blue.

    Args:
        resolution: Pixels of a picture along each axis.
    """
    albedo = [
        [0.63, 0.06, 0.05],
        [0.14, 0.45, 0.09],
        [0.73, 0.71, 0.68],
        [0.75, 0.65, 0.30],
        [0.35, 0.45, 0.75],
    ]
    balls = [[0.42, -0.62, 0.3, 0.38], [-0.4, -0.5, -0.35, 0.5]]
    return BoxScene(
        albedo=np.array(albedo),
        guess=np.tile([0.2, 0.4, 0.86], (len(albedo), 1)),
        balls=np.array(balls),
        lamp=0.35,
        emission=np.array([9.0, 8.4, 7.2]),
        eye=3.4,
        resolution=resolution,
    )


@dt.func
def hashed(x):
    """Return 32 bits that look random: PCG by O'Neill, as a hash (Jarzynski and Olano, 2020)."""
    state = x * ti.u32(747796405) + ti.u32(2891336453)
    word = ((state >> ((state >> ti.u32(28)) + ti.u32(4))) ^ state) * ti.u32(277803737)
    return (word >> ti.u32(22)) ^ word


@dt.func
def uniform2(path, k):
    """Return two numbers from 0 to 1 for the k-th draw of a path."""
    a = hashed(path + ti.u32(k) * ti.u32(2))
    b = hashed(a ^ ti.u32(0x9E3779B9))
    return vec2(ti.cast(a >> ti.u32(8), float), ti.cast(b >> ti.u32(8), float)) / 16777216.0


@dt.func
def meet(box, p, way):
    """Return the first surface that a ray hits, the point, and the normal there."""
    sides = ti.select(way >= 0.0, vec3(1.0, 1.0, 1.0), vec3(-1.0, -1.0, -1.0))
    ways = (sides - p) / way
    surface, t, n = OTHER, ways.y, vec3(0.0, -sides.y, 0.0)
    if ways.x < t:
        surface, t, n = (RIGHT if sides.x > 0.0 else LEFT), ways.x, vec3(-sides.x, 0.0, 0.0)
    if ways.z < t:
        surface, t, n = (NOTHING if sides.z > 0.0 else OTHER), ways.z, vec3(0.0, 0.0, -sides.z)
    at = p + t * way
    if at.z > 1.0 + OFF:
        surface = NOTHING  # outside the box
    if surface == OTHER and at.y > 1.0 - OFF and ti.max(abs(at.x), abs(at.z)) < box.lamp:
        surface = LAMP
    for b in range(box.balls.shape[0]):
        there = way_to_ball(box.balls[b], p, way)
        if there > 0.0 and there < t:
            surface, t = BALLS + b, there
            n = (p + t * way - box.balls[b].xyz) / box.balls[b].w
    return surface, p + t * way, n


@dt.func
def way_to_ball(ball, p, way):
    """Return the length of a ray until it enters a ball, or -1."""
    off = p - ball.xyz
    along = off.dot(way)
    inside = along * along - off.norm_sqr() + ball.w**2
    return -along - ti.sqrt(inside) if inside > 0.0 else -1.0


@dt.func
def from_lamp(box, p, n, draw):
    """Return the light that a white surface scatters which one point of the lamp lights."""
    at = box.lamp * (2.0 * draw - 1.0)
    to = vec3(at.x, 1.0, at.y) - p
    far = to.norm()
    way = to / far
    cosines = ti.max(n.dot(way), 0.0) * ti.max(way.y, 0.0)
    for b in range(box.balls.shape[0]):
        there = way_to_ball(box.balls[b], p, way)
        if there > 0.0 and there < far:
            cosines = 0.0
    return box.emission[None] * (4.0 * box.lamp**2 * cosines / (ti.math.pi * far * far))


@dt.func
def scattered(n, draw):
    """Return a direction, those near the normal more often, by the cosine of their angle."""
    z, angle = 1.0 - 2.0 * draw.x, 2.0 * ti.math.pi * draw.y
    side = ti.sqrt(ti.max(1.0 - z * z, 0.0))
    return (n + vec3(side * ti.cos(angle), side * ti.sin(angle), z)).normalized()


@dt.func
def bounce(box, p, way, path, k):
    """Return the surface that a ray hits, the light it scatters if white, and the next ray."""
    surface, at, n = meet(box, p, way)
    lit, start, onwards = vec3(0.0, 0.0, 0.0), at, way
    if surface >= 0:
        start = at + OFF * n
        lit = from_lamp(box, start, n, uniform2(path, 2 * k))
        onwards = scattered(n, uniform2(path, 2 * k + 1))
    return surface, lit, start, onwards


@dt.func
def radiance(box, eye, way, path):
    """Return the light that comes along a path."""
    light, part = vec3(0.0, 0.0, 0.0), vec3(1.0, 1.0, 1.0)
    p = eye
    for k in range(box.bounces):
        surface, lit, p, way = bounce(box, p, way, path, k)
        if surface == LAMP and k == 0:
            light += box.emission[None]
        if surface < 0:
            break
        part *= box.albedo[surface]
        light += part * lit
    return light


@dt.func
def replayed(box, eye, way, path):
    """Return the same light, with a derivative that walks the path once more."""
    return radiance(box, eye, way, path)


@replayed.backward
def _(box, eye, way, path, d_out):
    to_come, part = radiance(box, eye, way, path), vec3(1.0, 1.0, 1.0)
    p = eye
    for k in range(box.bounces):
        surface, lit, p, way = bounce(box, p, way, path, k)
        if surface < 0:
            break
        # All light that is still to come has been scattered here.
        box.albedo.grad_out[surface] += d_out * to_come / box.albedo[surface]
        part *= box.albedo[surface]
        to_come -= part * lit
    return None, None


@dt.data_oriented
class PathReplay:
    """A box whose surfaces have colours, `albedo`, and two pictures of it by other paths.

    Args:
        scene: The box.
        samples: Paths of a pixel in each picture.
        light: The func for the light of a path: `replayed`, or `radiance` with a derived adjoint.
        dtype: Of the numbers.

    Attributes:
        seed: Of the two sets of paths of the next run; `look` uses 0.
    """

    def __init__(self, scene: BoxScene, samples: int = 4, light=replayed, dtype=ti.f32):
        vector = dt.vec(3, dtype)
        self.samples, self.bounces, self.light, self.seed = samples, BOUNCES, light, 1
        self.lamp, self.distance = scene.lamp, scene.eye
        self.emission = dt.full((), tuple(scene.emission), vector)
        self.balls = dt.from_numpy(scene.balls, dtype=dt.vec(4, dtype))
        self.albedo = dt.from_numpy(scene.guess, dtype=vector, grad=True)
        shape = (scene.resolution, scene.resolution)
        self.image, self.other = (dt.zeros(shape, vector, grad=True) for _ in range(2))
        self.target, self.shown = (dt.zeros(shape, vector) for _ in range(2))
        self.loss = dt.zeros((), dtype, grad=True)
        self.parameters = {"albedo": self.albedo}

    @dt.kernel
    def render(self, image, light, seed: int, samples: int):
        """Write the mean of the light that comes along some paths to each pixel."""
        for i, j in image:
            n = image.shape[0]
            at = (vec2(j, i) + 0.5) * (2.0 / n) - 1.0
            eye = vec3(0.0, 0.0, self.distance)
            way = (vec3(at.x, -at.y, 1.0) - eye).normalized()
            pixel = hashed(hashed(ti.u32(seed)) + ti.u32(n * i + j))
            total = vec3(0.0, 0.0, 0.0)
            for s in range(samples):
                total += light(self, eye, way, hashed(pixel + ti.u32(s)))
            image[i, j] = total / samples

    @dt.kernel
    def measure(self):
        """The mean product of the errors of both pictures, which cancels independent noise."""
        self.loss[None] = 0.0
        for i, j in self.image:
            off, other = self.image[i, j] - self.target[i, j], self.other[i, j] - self.target[i, j]
            self.loss[None] += off.dot(other) / (3 * self.image.shape[0] * self.image.shape[1])

    def run(self) -> None:
        """Render both pictures and measure the loss."""
        self.render(self.image, self.light, self.seed, self.samples)
        self.render(self.other, self.light, self.seed + 1, self.samples)
        self.measure()

    def go_elsewhere(self) -> None:
        """Take paths that were not walked before."""
        self.seed += 2

    def look(self) -> np.ndarray:
        """Return a picture of little noise, which is the same for the same colours."""
        self.render(self.shown, radiance, 0, MANY)
        return self.shown.to_numpy()


def photograph(scene: BoxScene) -> np.ndarray:
    """Return a picture of the box with its true colours."""
    paths = PathReplay(scene)
    paths.albedo.from_numpy(scene.albedo)
    return paths.look()


if __name__ == "__main__":
    scene = make_scene(resolution=32)
    paths = PathReplay(scene)
    paths.target.from_numpy(photograph(scene))
    descent = dt.optim.Adam(paths.parameters, 0.1, low=0.01, high=0.95)
    for _ in range(8):
        with dt.Tape(paths.loss):
            paths.run()
        print(f"loss {paths.loss[None]:.6f}")
        descent.step()
        paths.go_elsewhere()
