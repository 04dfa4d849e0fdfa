"""Smoke gets behind a wall: optimise the initial velocity of the air in a closed box.

Air is incompressible, so each step solves a linear system for the pressure. Here conjugate
gradients solve it to a tolerance, with a matrix that exists only as a kernel. The tape sees one
step, and `dt.linear_solve` differentiates the solution instead of the iterations: the adjoint is
another system with the same matrix. For comparison the demo also records Jacobi iterations.
"""

import sys
import time
from collections.abc import Sequence

import numpy as np

import difftile as dt
from demos.support.fluids import (
    Flow,
    Measured,
    save_comparison,
    save_flow_animation,
    save_flow_strip,
)
from demos.support.options import make_parser, start
from demos.support.pictures import save_loss_curve
from demos.support.training import check, print_check, train, write
from difftile.arguments import positive_int
from difftile.progress import progress_bar
from scenes.implicit_fluid import Box, Fluid, make_box

LEARNING_RATE = 0.05  # [cells/step], of Adam
JACOBI = 10, 40, 160, 640  # iterations for a pressure that are compared
FRAMES = 37


def watch(fluid: Fluid, label: str) -> Flow:
    """Simulate once more, and keep the states of some steps."""
    times = np.unique(np.linspace(0, fluid.steps, FRAMES).round().astype(int))
    smoke, velocity = [], []
    fluid.start()
    for t in range(fluid.steps + 1):
        if t > 0:
            fluid.step()
        if t in times:
            u, v = fluid.u.to_numpy(), fluid.v.to_numpy()
            smoke.append(fluid.smoke.to_numpy())
            velocity.append(0.5 * np.stack([u[1:] + u[:-1], v[:, 1:] + v[:, :-1]], axis=-1))
    return Flow(label, times, np.array(smoke), np.array(velocity))


def share_at_goal(fluid: Fluid) -> float:
    """Return the fraction of the smoke that is now in the circle around the goal."""
    smoke = fluid.smoke.to_numpy()
    return float(smoke[fluid.box.near_goal].sum() / smoke.sum())


def divergence(fluid: Fluid) -> float:
    """Return the largest net outflow of a cell [1/step]."""
    u, v = fluid.u.to_numpy(), fluid.v.to_numpy()
    return float(np.abs(u[1:] - u[:-1] + v[:, 1:] - v[:, :-1]).max())


def measure(fluid: Fluid) -> Measured:
    """Return the gradient by a tape, and its cost once everything is compiled."""
    forward, backward = [], []
    for _ in range(3):
        started = time.perf_counter()
        with dt.Tape() as tape:
            fluid.run()
        turned, nbytes = time.perf_counter(), tape.peak_nbytes
        tape.backward(fluid.loss)
        forward.append(turned - started)
        backward.append(time.perf_counter() - turned)
    iterates = (fluid.relaxations or 0) * (fluid.steps + 1) * fluid.p.to_numpy().nbytes
    return Measured(
        relaxations=fluid.relaxations,
        gradient=np.concatenate([p.grad.to_numpy().ravel() for p in fluid.parameters.values()]),
        divergence=divergence(fluid),
        forward=min(forward),
        backward=min(backward),
        nbytes=max(nbytes, tape.peak_nbytes),
        axis=iterates,
    )


def compare(box: Box, parameters: dict[str, np.ndarray]) -> list[Measured]:
    """Return gradients with pressures by conjugate gradients, and by ever more of Jacobi."""
    found = []
    for relaxations in progress_bar((None, *JACOBI), desc="comparing", unit="gradient"):
        fluid = Fluid(box, relaxations)
        write(fluid, parameters)
        found.append(measure(fluid))
    return found


def main(argv: Sequence[str] | None = None) -> int:
    """Run the demo; return the exit code."""
    parser = make_parser("implicit-fluid", __doc__, steps=36, iterations=60)
    parser.add_argument(
        "--size", type=positive_int, default=40, help="cells along an axis; default: %(default)s"
    )
    options = start(parser, argv)
    box = make_box(max(options.size, 8), options.steps)
    exact = Fluid(box, tolerance=1e-12)
    if options.check:
        stir(exact, options.seed)
        return print_check(exact, "u0")

    fluid = Fluid(box)
    adam = dt.optim.Adam(fluid.parameters, LEARNING_RATE)
    before = watch(fluid, "before")
    if not options.no_pictures:
        unmoved = [(before, [len(before.times) - 1])]
        save_flow_strip(options.out / "before_after.png", box, unmoved)
    training = train(fluid, adam, options.iterations, "stirring air", memory=options.memory)
    if not training.losses:
        return 130  # interrupted before there was anything to show
    print(training)
    away = np.sqrt(training.losses)
    after = watch(fluid, "after")
    print(
        f"in {fluid.steps} steps {share_at_goal(fluid):.0%} of the smoke reaches the circle "
        f"behind the wall; all of it is {min(away):.1f} cells from its "
        f"middle (root mean square), {away[0]:.1f} without stirring"
    )
    write(exact, training.best)
    by_tape, by_differences = check(exact, "u0")
    print(f"gradient by tape {by_tape:.12g}, by differences {by_differences:.12g}")
    found = compare(box, {name: 0.5 * values for name, values in training.best.items()})
    print("with half as much stirring:")
    print(table(found))
    if not options.no_pictures:
        out, last = options.out, len(after.times) - 1
        picks = [round(part * last) for part in (0.0, 0.25, 0.5, 0.75, 1.0)]
        save_loss_curve(out / "loss.png", list(away), "smoke from its goal, rms [cells]")
        save_flow_strip(out / "before_after.png", box, [*unmoved, (after, picks)])
        save_flow_animation(out / "smoke.gif", box, after)
        save_comparison(out / "gradients.png", found)
        print(f"pictures in {out}")
    return 0 if abs(by_tape - by_differences) <= 1e-6 * abs(by_differences) else 1


def stir(fluid: Fluid, seed: int) -> None:
    """Set the air in motion by velocities that are drawn."""
    rng = np.random.default_rng(seed)
    write(fluid, {k: rng.standard_normal(p.shape) for k, p in fluid.parameters.items()})


def table(found: Sequence[Measured]) -> str:
    """Return a line for each method, with its cost."""
    lines = [
        f"{'pressure by':<20} {'divergence':>10} {'gradient off':>12} {'forward':>8} "
        f"{'backward':>8} {'tape':>9} {'iterates':>9}"
    ]
    for one in found:
        lines.append(
            f"{one.label:<20} {one.divergence:>10.1e} {one.apart(found[0]):>12.1e} "
            f"{one.forward:>6.2f} s {one.backward:>6.2f} s {one.nbytes / 1e6:>6.2f} MB "
            f"{one.axis / 1e6:>6.1f} MB"
        )
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(main())
