"""A cloth of ten thousand vertices falls on a ball in large steps, by Newton's method.

Each step of implicit Euler is the minimum of an energy: inertia, springs, hinges between triangles,
weight, and the ball, which pushes back. `dt.sparse_hessian` gives its Hessian as a sparse matrix,
and SciPy solves for the step. Where the Hessian gives no direction of descent, that of terms made
positive semidefinite does. The demo measures the order in which the forces that are left vanish.
"""

import importlib
import importlib.util
import sys
from collections.abc import Sequence
from typing import Any

import numpy as np

from demos.support.convergence import orders, save_convergence
from demos.support.options import make_parser, start
from demos.support.surfaces import Ball, Drape, save_drape_animation, save_drape_strip
from difftile.arguments import positive_float, positive_int
from difftile.progress import progress_bar
from scenes.cloth import SHEAR, SOLVED, STRETCH, ClothScene, SoftCloth, make_cloth

HEIGHT = 0.31  # of the cloth at first, over the middle of the ball [m]
SKIN = 0.02  # the part of the ball's radius that is not drawn: flat triangles cut the corner
QUADRATIC = 1.7  # the least order of convergence that counts as quadratic


def check(cloth: SoftCloth, seed: int, eps: float = 1e-6) -> tuple[float, float]:
    """Return a curvature of the energy by the Hessian and by differences of the forces."""
    rng = np.random.default_rng(seed)
    start = cloth.x.to_numpy()
    start += 0.02 * rng.standard_normal(start.shape) / len(start) ** 0.5
    axis = rng.standard_normal(start.shape)
    cloth.x.from_numpy(start)
    by_hessian = axis.ravel() @ (cloth.hessian(cloth.x) @ axis.ravel())
    forces = []
    for way in (1.0, -1.0):
        cloth.x.from_numpy(start + way * eps * axis)
        forces.append(cloth.value_and_forces(cloth.x)[1].to_numpy())
    return float(by_hessian), float(np.sum(axis * (forces[0] - forces[1])) / (2 * eps))


def main(argv: Sequence[str] | None = None) -> int:
    """Run the demo; return the exit code."""
    parser = make_parser("cloth-newton", __doc__, steps=20, iterations=60, memory=False)
    say = "default: %(default)s"
    parser.add_argument(
        "--masses", type=positive_int, default=100, help=f"in a row and in a column; {say}"
    )
    parser.add_argument(
        "--time-step", type=positive_float, default=0.01, help=f"of implicit Euler [s]; {say}"
    )
    options = start(parser, argv)
    if options.masses < 3:
        parser.error("argument --masses: this cloth has 3 or more in a row")
    if importlib.util.find_spec("scipy") is None:
        parser.error("the linear systems need SciPy: pip install difftile[demo]")
    grid = make_cloth(options.masses, options.masses, height=HEIGHT)
    cloth = SoftCloth(ClothScene(grid, options.time_step), options.iterations)
    if options.check:
        by_hessian, by_differences = check(cloth, options.seed)
        agree = abs(by_hessian - by_differences) <= 1e-6 * abs(by_differences)
        print(f"curvature by the Hessian {by_hessian:.12g}, by differences {by_differences:.12g}")
        return 0 if agree else 1

    shape = *cloth.scene.cloth.shape, 3
    frames = [cloth.x.to_numpy().reshape(shape)]
    if not options.no_pictures:
        draw_strip(cloth, options.out, frames)
    with progress_bar(range(options.steps), desc="falling", unit="step") as bar:
        try:
            for _ in bar:
                cloth.step()
                frames.append(cloth.x.to_numpy().reshape(shape))
                bar.set_postfix(iterations=len(cloth.effort.forces[-1]) - 1)
        except KeyboardInterrupt:
            bar.set_description("interrupted")
    if len(frames) == 1:
        return 130  # interrupted before there was anything to show
    return report(cloth, options, frames)


def report(cloth: SoftCloth, options: Any, frames: list[np.ndarray]) -> int:
    """Print the figures and write the pictures; return the exit code."""
    effort, scene = cloth.effort, cloth.scene
    steps = len(effort.forces)
    explicit = 2 * np.sqrt(cloth.mass / (4 * STRETCH + 4 * SHEAR))
    print(
        f"{len(scene.cloth.positions):,} vertices, {steps} steps of {1e3 * cloth.h:g} ms, "
        f"{cloth.h / explicit:.0f} times the longest step of an explicit method"
    )
    print(
        f"{effort.iterations} iterations of Newton's method, {effort.projected} of them with terms "
        f"made semidefinite; {effort.total:.1f} s: {effort.hessians:.1f} s in Hessians, "
        f"{effort.solutions:.1f} s in linear systems"
    )
    if not options.no_pictures:
        draw(cloth, options.out, frames)
        print(f"pictures in {options.out}")
    unsolved = sum(one[-1] >= SOLVED for one in effort.forces)
    if unsolved:
        print(f"{unsolved} steps have not converged to {SOLVED:g} N")
    last = [found[-1] for one in effort.forces if len(found := orders(one))]
    if not last:
        return 0
    order = float(np.median(last))
    quadratic = order >= QUADRATIC
    print(
        f"the order of convergence at the end of a step is {order:.2f} (median)"
        + (", as it should" if quadratic else "")
    )
    return 0 if quadratic and not unsolved else 1


def draw(cloth: SoftCloth, out: Any, frames: list[np.ndarray]) -> None:
    """Write the pictures of the fall and of the convergence."""
    drape, ball, captions = draw_strip(cloth, out, frames)
    triangles = cloth.scene.cloth.triangles
    save_drape_animation(out / "cloth.gif", [drape], triangles, ball, captions, fps=10.0)
    save_convergence(out / "convergence.png", cloth.effort.forces, cloth.h)


def draw_strip(
    cloth: SoftCloth, out: Any, frames: list[np.ndarray]
) -> tuple[Drape, Ball, list[str]]:
    """Draw some frames of the fall so far; return it, the ball, and a caption for each frame."""
    scene, count = cloth.scene, len(frames)
    ball = Ball(scene.center, (1 - SKIN) * scene.radius)
    drape = Drape(
        f"{len(scene.cloth.positions):,} vertices", np.array(frames), np.zeros((count, 0, 3))
    )
    captions = [f"{k * cloth.h:.2f} s" for k in range(count)]
    picks = sorted({round(share * (count - 1)) for share in (0.0, 0.25, 0.5, 0.75, 1.0)})
    said = [captions[k] for k in picks]
    save_drape_strip(out / "strip.png", [drape], scene.cloth.triangles, ball, picks, said)
    return drape, ball, captions


if __name__ == "__main__":
    sys.exit(main())
