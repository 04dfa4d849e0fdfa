"""An arm of springs rolls up to a given shape, by Newton's method.

The demo finds rest lengths of thirty springs with which an arm, after 200 launches that update it
in place, has a target shape. The loss is an ordinary function, and `dt.value_and_grad` and
`dt.hessian` are its derivatives. Newton's method, damped where the loss is not convex, finally
doubles the number of correct digits in each iteration, which the demo measures; gradient descent
from the same start does not converge.
"""

import sys
import time
from collections.abc import Callable, Sequence

import numpy as np

import difftile as dt
from demos.support.newton import Descent, save_arm, save_descents
from demos.support.options import make_parser, start
from difftile.arguments import positive_int
from difftile.progress import progress_bar
from scenes.spring_arm import Arm, make_arm

LARGEST_CHANGE = 0.2  # of a rest length at once, relative to it
SLOPE = 1e-4  # the part of the expected decrease that a step must bring (Armijo, 1966)
FLATTEST = 1e-8  # curvature that is not taken to be less, relative to the largest
SHORTEST = 1e-12  # part of a direction that is tried
SOLVED = 1e-20  # loss [m^2] at which an iteration more would be down to rounding
MOST = 60  # iterations of Newton's method
LAST = 6  # iterations that are printed
QUADRATIC = 1.8  # the least order of convergence that counts as quadratic


Direction = Callable[[np.ndarray, np.ndarray], np.ndarray]


def newton(arm: Arm) -> Direction:
    """Return a function that computes Newton's direction from rest lengths and gradient.

    Where the Hessian has directions of negative curvature their curvatures count as positive, so
    that the direction is always one of descent (Nocedal and Wright, Numerical optimization, 2nd
    ed., section 3.4).
    """
    hessian = dt.hessian(arm.loss)

    def direction(rest: np.ndarray, gradient: np.ndarray) -> np.ndarray:
        curvatures, axes = np.linalg.eigh(hessian(rest))
        curvatures = np.abs(curvatures)
        curvatures = np.maximum(curvatures, FLATTEST * curvatures.max())
        return -axes @ (axes.T @ gradient / curvatures)

    return direction


def descend(
    arm: Arm, label: str, direction: Direction, iterations: int, *, grow: float | None = None
) -> Descent:
    """Follow a direction of descent, each step as long as the loss lets it be.

    Args:
        arm: What is fitted, from the lengths of the start on.
        label: The method.
        direction: What works out the direction from rest lengths and the gradient there.
        iterations: The maximum number; fewer if the loss reaches the level of rounding.
        grow: What the length of a step is tried with, relative to the one before; by default each
            is tried as the direction says.
    """
    value_and_gradient = dt.value_and_grad(arm.loss)
    found, share = Descent(label, arm.scene.lengths), 1.0
    started = time.perf_counter()
    with progress_bar(range(iterations + 1), desc=label, unit="step") as bar:
        try:
            for iteration in bar:
                loss, gradient = value_and_gradient(found.lengths)
                found.losses.append(loss)
                found.seconds.append(time.perf_counter() - started)
                bar.set_postfix(away=f"{1e3 * np.sqrt(loss):.1e} mm")
                if loss <= SOLVED or iteration == iterations:
                    break
                change = direction(found.lengths, gradient)
                share = 1.0 if grow is None else grow * share
                share = min(share, LARGEST_CHANGE / np.max(np.abs(change / found.lengths)))
                slope = SLOPE * (gradient @ change)
                while not arm.measure(found.lengths + share * change) <= loss + share * slope:
                    share *= 0.5
                    if share < SHORTEST:
                        return found  # no step decreases the loss any more
                found.lengths = found.lengths + share * change
        except KeyboardInterrupt:
            bar.set_description("interrupted")
    return found


def check(arm: Arm, eps: float = 1e-5) -> tuple[float, float]:
    """Return the largest curvature by the Hessian and by differences of the gradient."""
    rest, gradient = arm.scene.lengths, dt.grad(arm.loss)
    curvatures, axes = np.linalg.eigh(dt.hessian(arm.loss)(rest))
    largest = int(np.argmax(np.abs(curvatures)))
    axis = axes[:, largest]
    up, down = gradient(rest + eps * axis), gradient(rest - eps * axis)
    return float(curvatures[largest]), float(axis @ (up - down)) / (2 * eps)


def main(argv: Sequence[str] | None = None) -> int:
    """Run the demo; return the exit code."""
    parser = make_parser("newton-spring", __doc__, steps=200, iterations=1000, memory=False)
    parser.add_argument("--masses", type=positive_int, default=15, help="default: %(default)s")
    options = start(parser, argv)
    arm = Arm(make_arm(options.masses), options.steps)
    if options.check:
        by_hessian, by_differences = check(arm)
        agree = abs(by_hessian - by_differences) <= 1e-6 * abs(by_differences)
        print(f"curvature by the Hessian {by_hessian:.12g}, by differences {by_differences:.12g}")
        return 0 if agree else 1

    found = descend(arm, "Newton's method", newton(arm), min(MOST, options.iterations))
    other = descend(arm, "gradient descent", lambda _, g: -g, options.iterations, grow=2.0)
    if not found.losses or not other.losses:
        return 130  # interrupted before there was anything to show
    print(table(found))
    for one in (found, other):
        print(
            f"{one.label}: {one.away(0):.0f} mm away at first, {one.away(-1):.1e} mm after "
            f"{len(one.losses) - 1} iterations and {one.seconds[-1]:.1f} s"
        )
    if not options.no_pictures:
        fitted = arm.nodes(found.lengths)
        save_arm(options.out / "arm.png", arm.scene, found.lengths, fitted)
        save_descents(options.out / "descent.png", [found, other])
        print(f"pictures in {options.out}")
    if found.losses[-1] > SOLVED:
        print("Newton's method has not converged: give it more iterations, --iterations")
        return 0
    order = found.orders[-1]
    quadratic = order >= QUADRATIC
    print(f"the order of convergence is {order:.2f}" + (", as it should" if quadratic else ""))
    return 0 if quadratic else 1


def table(found: Descent) -> str:
    """Return the last iterations, a line each."""
    lines = [f"{'iteration':>9} {'distance':>13} {'order':>6}"]
    first = max(2, len(found.losses) - LAST)
    for k, order in list(enumerate(found.orders, 2))[first - 2 :]:
        lines.append(f"{k:>9} {found.away(k):>10.2e} mm {order:>6.2f}")
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(main())
