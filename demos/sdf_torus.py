"""Recover a torus from two pictures, through the points where rays hit its surface.

The surface is the zero set of a signed distance f. A ray marches by that distance until it arrives,
in a loop that the tape need not record: only its end matters. One step of Newton's method from
there, t - f(x) / (n . d), does not move the point, but has its derivative, by the implicit function
theorem. The normal n is the gradient of f, by `dt.bwd_diff`. Around the outline the coverage of a
pixel follows from the least distance along its ray. Where one part of the torus hides another,
there is a jump from pixel to pixel that has no derivative here.
"""

import sys
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import taichi as ti

import difftile as dt
from demos.support.fits import (
    PictureFit,
    fit_pictures,
    psnr,
    save_fit_animation,
    save_fit_curve,
    save_fit_strip,
)
from demos.support.options import make_parser, start
from demos.support.search import Search
from demos.support.training import print_check
from difftile.arguments import positive_int
from scenes.torus import Torus, TorusScene, make_scene

WIDEST, NARROWER, NARROWEST = 4.0, 0.95, 0.25  # width of the outline [pixels]
STEP_SIZE, SHORTER = 0.05, 0.97  # of Adam, and its factor from step to step
MILESTONES = 50, 100, 200  # iterations after which the parameters are printed
STEPS, FAR = 256, 6.0  # of a ray
NEAR, STRIDE = 1e-3, 0.02  # the shortest steps before and after it has met the surface
REACHED = 1e-4  # from the surface, where the loop that is differentiated stops
HALVINGS, SEARCH = 40, 40  # that narrow down where it meets, and where it comes closest
FINER = 4  # rays of a pixel of the target along each axis
SKY, AMBIENT = (0.03, 0.04, 0.06), (0.08, 0.09, 0.12)
SUN, SUN_COLOUR = (0.5, 0.8, 0.33), (0.85, 0.6, 0.35)  # towards it; the length is 1
LAMP, LAMP_COLOUR = (-0.64, 0.48, -0.6), (0.1, 0.25, 0.45)

vec2, vec3 = ti.math.vec2, ti.math.vec3


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


def differentiate(torus: SdfTorus, meet) -> tuple[np.ndarray, float]:
    """Return the gradient, shape (6,), and the seconds that the adjoint of the shading takes.

    Args:
        torus: The torus with its pictures.
        meet: The func that gives derivatives to the points where rays hit the surface.
    """
    with dt.Tape(torus.loss):
        torus.run(meet)
    gradient = np.concatenate([f.grad.to_numpy().ravel() for f in torus.parameters.values()])
    torus.shade.bwds(meet)  # compiled
    started = time.perf_counter()
    torus.shade.bwds(meet)
    return gradient, time.perf_counter() - started


def compare_gradients(torus: SdfTorus) -> None:
    """Print the difference of the derivative through all steps and the implicit one."""
    rule, rule_seconds = differentiate(torus, implicit)
    steps, steps_seconds = differentiate(torus, unrolled)
    print(f"gradient by the implicit rule  {np.array2string(rule, precision=5)}")
    print(f"through the steps of the loop  {np.array2string(steps, precision=5)}")
    off = np.abs(steps - rule).max() / np.abs(rule).max()
    print(
        f"the loop, which stops {REACHED:g} from the surface, is {off:.1%} off; "
        f"adjoint of the shading {1e3 * rule_seconds:.1f} ms by the rule, "
        f"{1e3 * steps_seconds:.1f} ms through the loop"
    )


def main(argv: Sequence[str] | None = None) -> int:
    """Run the demo; return the exit code."""
    parser = make_parser("sdf-torus", __doc__, iterations=200, memory=False)
    parser.add_argument(
        "--resolution",
        type=positive_int,
        default=144,
        help="pixels of a picture along each axis; default: %(default)s",
    )
    options = start(parser, argv)
    scene = make_scene(options.resolution)
    pictures = photograph(scene)
    if options.check:
        torus = SdfTorus(scene, scene.guess, ti.f64)
        torus.target.from_numpy(pictures)
        return max(print_check(torus, name, eps=1e-6) for name in torus.parameters)

    torus = SdfTorus(scene, scene.guess)
    torus.target.from_numpy(pictures)
    compare_gradients(torus)
    true = np.array([*scene.torus.centre, *scene.torus.radii, scene.torus.tilt])

    def miss() -> float:
        """Return the largest error of a parameter."""
        return float(np.abs(torus.values() - true).max())

    rate = dt.optim.schedules.exponential(STEP_SIZE, SHORTER)
    descent = dt.optim.Adam(torus.parameters, rate)
    search = Search(descent, miss, torus.sharpen)
    fit = fit_pictures(
        torus,
        search,
        options.iterations,
        "finding it",
        picture=lambda: np.concatenate([*torus.image.to_numpy()], axis=1),
        quality=lambda: psnr(torus.image.to_numpy(), pictures),
        keep="last",
    )
    if fit is None:
        return 130  # interrupted before there was anything to show
    print(fit)
    search.print("a parameter", MILESTONES)
    if not options.no_pictures:
        draw(options.out, fit, pictures)
        print(f"pictures in {options.out}")
    return 0


def draw(out: Path, fit: PictureFit, pictures: np.ndarray) -> None:
    """Write the pictures."""
    target = np.concatenate([*pictures], axis=1)
    n = len(target)
    rows = []
    for k in range(len(pictures)):
        part = np.s_[:, k * n : (k + 1) * n]
        rows.append((f"view {k}", target[part], fit.frames[0][part], fit.result[part]))
    save_fit_strip(out / "strip.png", rows, linear=True)
    save_fit_curve(out / "curve.png", fit, "mean square off the pictures")
    save_fit_animation(out / "torus.gif", fit, target, linear=True)


if __name__ == "__main__":
    sys.exit(main())
