"""Find the rest shape that makes a rubber strip hang straight.

A strip that is clamped at one end sags. The demo bends its rest shape until the strip, at rest
under gravity, is straight. The gradient is that of a static equilibrium: computed from only the
equilibrium, by the implicit function theorem (`dt.root`), or through the thousands of iterations
that lead to it, recorded on a tape. The two agree once the iterations have converged; the demo
measures their difference before that, and the time and memory of each.
"""

import sys
import time
from collections.abc import Sequence

import numpy as np

import difftile as dt
from demos.support.equilibrium import Measured, save_comparison, save_strips
from demos.support.options import make_parser, start
from demos.support.pictures import save_loss_curve
from difftile.arguments import positive_int
from difftile.progress import progress_bar
from scenes.hanging_strip import Strip, make_strip

LARGEST_TURN = 0.05  # by which an angle of the rest shape changes at once [rad]
COUNTS = 8  # numbers of iterations at which unrolling is measured
TRIES = 3  # of each measurement, of which the fastest counts
AGREEMENT = 1e-6  # of the two gradients, relative to their largest entry
BALANCE = 1e-9  # the force that may be left on a node after iterations that have converged [N]


# The rest shape follows from the angles between columns, the forces from rest shape and position.


# Two gradients of one equilibrium


def by_rule(strip: Strip, steps: int) -> Measured:
    """Let the strip come to rest with no tape, and differentiate the equilibrium itself."""
    started = time.perf_counter()
    strip.relax(steps)
    with dt.Tape() as tape:
        strip.lay_out()
        strip.settle()
        strip.measure()
    return finish(strip, tape, "implicit rule", 0, started)


def by_iterations(strip: Strip, steps: int) -> Measured:
    """Record the iterations in which the strip comes to rest, and reverse all of them."""
    started = time.perf_counter()
    with dt.Tape() as tape:
        strip.lay_out()
        strip.relax(steps)
        strip.measure()
    return finish(strip, tape, f"{steps} iterations on the tape", steps, started)


def finish(strip: Strip, tape: dt.Tape, label: str, steps: int, started: float) -> Measured:
    """Run the tape backwards and return the gradient and its cost."""
    turned, nbytes = time.perf_counter(), tape.peak_nbytes
    tape.backward(strip.loss)
    return Measured(
        label=label,
        steps=steps,
        gradient=strip.bend.grad.to_numpy(),
        forward=turned - started,
        backward=time.perf_counter() - turned,
        nbytes=max(nbytes, tape.peak_nbytes),
    )


def compare(strip: Strip, steps: int) -> list[Measured]:
    """Return the gradient of the straight rest shape by the rule, and by ever more iterations."""
    counts = sorted({max(1, steps * part // COUNTS) for part in range(1, COUNTS + 1)})
    runs = [(by_rule, steps), *((by_iterations, count) for count in counts)]
    found = []
    for method, count in progress_bar(runs, desc="measuring both gradients", unit="gradient"):
        tries = []
        for _ in range(TRIES):  # the first one compiles
            strip.straighten()
            tries.append(method(strip, count))
        found.append(min(tries, key=lambda one: one.seconds))
    return found


def check(strip: Strip, steps: int, eps: float = 1e-5) -> tuple[float, float]:
    """Return the largest entry of the gradient by the rule and by differences, in that order."""
    strip.straighten()
    gradient = by_rule(strip, steps).gradient
    entry = int(np.argmax(np.abs(gradient)))
    losses = []
    for sign in (1.0, -1.0):
        strip.bend[entry] = sign * eps
        strip.lay_out()
        strip.settle()
        strip.measure()
        losses.append(strip.loss[None])
    strip.bend[entry] = 0.0
    strip.lay_out()
    return float(gradient[entry]), (losses[0] - losses[1]) / (2 * eps)


# The fit


def fit(strip: Strip, steps: int, iterations: int) -> tuple[list[float], np.ndarray]:
    """Bend the rest shape by the method of Broyden, Fletcher, Goldfarb and Shanno.

    No angle changes by more than `LARGEST_TURN` at once, so that the strip stays near to the
    equilibrium before. Returns the losses and the best angles.
    """
    n = strip.scene.columns
    bend, losses, best = np.zeros(n), [], np.zeros(n)
    inverse, old = np.eye(n), None  # of the Hessian; angles and gradient of the iteration before
    with progress_bar(range(iterations + 1), desc="bending the rest shape", unit="step") as bar:
        try:
            for _ in bar:
                strip.bend.from_numpy(bend)
                strip.lay_out()
                gradient = by_rule(strip, steps).gradient
                losses.append(strip.loss[None])
                bar.set_postfix(away=f"{1e3 * np.sqrt(losses[-1]):.2f} mm")
                if losses[-1] == min(losses):
                    best = bend
                if old is not None:
                    inverse = update(
                        inverse, bend - old[0], gradient - old[1], first=len(losses) == 2
                    )
                old = bend, gradient
                turn = -inverse @ gradient
                bend = bend + turn * min(1.0, LARGEST_TURN / np.max(np.abs(turn)))
        except KeyboardInterrupt:
            bar.set_description("interrupted")
    return losses, best


def update(inverse: np.ndarray, s: np.ndarray, y: np.ndarray, *, first: bool) -> np.ndarray:
    """Return the inverse Hessian that maps the change y of the gradient to the step s."""
    along = s @ y
    if along <= 0.0:
        return inverse
    if first:
        inverse = inverse * along / (y @ y)
    project = np.eye(len(s)) - np.outer(s, y) / along
    return project @ inverse @ project.T + np.outer(s, s) / along


def main(argv: Sequence[str] | None = None) -> int:
    """Run the demo; return the exit code."""
    parser = make_parser("implicit-equilibrium", __doc__, steps=6000, iterations=30, memory=False)
    parser.add_argument("--columns", type=positive_int, default=24, help="default: %(default)s")
    options = start(parser, argv)
    strip = Strip(make_strip(options.columns))
    if options.check:
        by_root, by_differences = check(strip, options.steps)
        agree = abs(by_root - by_differences) <= 1e-6 * abs(by_differences)
        print(f"gradient by the rule {by_root:.12g}, by differences {by_differences:.12g}")
        return 0 if agree else 1

    found = compare(strip, options.steps)
    if not options.no_pictures:
        save_comparison(options.out / "gradients.png", found)
    left = float(np.max(np.abs(strip.force.to_numpy())))
    before = strip.nodes()
    losses, best = fit(strip, options.steps, options.iterations)
    if not losses:
        return 130  # interrupted before there was anything to show
    strip.bend.from_numpy(best)
    strip.lay_out()
    strip.relax(options.steps)
    strip.settle()
    first, last = (1e3 * np.sqrt(loss) for loss in (losses[0], min(losses)))
    print(
        f"the strip hung {first:.1f} mm away from the straight line; with a rest shape that turns "
        f"by {np.degrees(best.sum()):.0f} degrees it hangs {last:.2f} mm away"
    )
    print(table(found))
    if not options.no_pictures:
        scene, out = strip.scene, options.out
        shapes = scene.target, before, strip.rest.to_numpy(), strip.nodes()
        save_strips(out / "strip.png", scene.triangles, scene.rows, *shapes)
        away = [1e3 * np.sqrt(loss) for loss in losses]
        save_loss_curve(out / "loss.png", away, "distance from the straight line [mm]", "log")
        print(f"pictures in {out}")
    apart = found[-1].apart(found[0])
    if left > BALANCE:
        print(f"the iterations have not converged: {left:.1e} N are left; give them more, --steps")
        return 0
    print(
        f"the gradients agree to {apart:.1e}" + (", as they should" if apart <= AGREEMENT else "")
    )
    return 0 if apart <= AGREEMENT else 1


def table(found: Sequence[Measured]) -> str:
    """Return a line for each method, with its cost."""
    lines = [f"{'gradient by':<34} {'difference':>10} {'forward':>9} {'backward':>9} {'tape':>10}"]
    for one in found:
        lines.append(
            f"{one.label:<34} {one.apart(found[0]):>10.1e} {one.forward:>7.3f} s "
            f"{one.backward:>7.3f} s {one.nbytes / 1e3:>7.1f} kB"
        )
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(main())
