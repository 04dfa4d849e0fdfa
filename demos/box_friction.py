"""Friction and mass of a box are found from ten noisy tracks, each of half a second.

The box is thrown over a floor and pushed by known forces; a camera sees its centre, with noise. The
gradient of the misfit passes through the impacts and the sliding. It is done twice: with contact
forces that begin at 0 (`solimp` with d0 = 0), and with MuJoCo's default, whose forces begin with a
jump that derivatives do not see. Gauss-Newton gives the width of the posterior. With
`--view window` the boxes are thrown again and again, with the numbers as they are.
"""

import argparse
import sys
import warnings
from collections.abc import Mapping, Sequence

import numpy as np

import difftile as dt
from demos.support.options import make_parser, start
from demos.support.throws import LOOK_DOWN, Finding, lanes, save_findings, save_strip
from demos.support.training import fit, print_check
from demos.support.viewing import add_view_options, is_viewed, make_app, show
from difftile.arguments import positive_int
from difftile.worlds.robots import poses
from scenes.box_slide import BETWEEN, GUESS, TRUTH, Throws, width

CHANGE = 0.01  # of logarithms, for secants
PICTURES = 2  # from one look to the next, in the viewer


def find(throws: Throws, label: str, iterations: int) -> Finding:
    """Move friction and mass along gradients, from the guess to the least misfit."""
    path: list[np.ndarray] = []

    def watch(number: int) -> Mapping[str, str]:
        path.append(throws.found)
        return {"friction": f"{path[-1][0]:.4f}", "mass": f"{path[-1][1]:.4f}"}

    result = fit(throws, throws.parameters, iterations, label, watch=watch, rtol=1e-7)
    by_tape = throws.jacobian()
    finding = Finding(label, np.array(path), throws.found, width(by_tape), by_tape, secants(throws))
    errors = 100.0 * (finding.found / np.array(TRUTH) - 1.0)
    numbers = ", ".join(
        f"{name} {value:.4f} ({error:+.2f} %, posterior ± {100.0 * sigma:.2f} %)"
        for name, value, error, sigma in zip(
            ("friction", "mass"), finding.found, errors, finding.sigma, strict=True
        )
    )
    print(f"{label}: {numbers}, by {len(result.losses)} gradients in {result.seconds:.0f} s")
    first = finding.within(np.array(TRUTH))
    print("  never within 1 %" if first is None else f"  within 1 % after {first} gradients")
    print(
        f"  derivatives of the tracks by friction are {100.0 * finding.off[0]:.1f} % off the "
        f"secants, by mass {100.0 * finding.off[1]:.1f} %"
    )
    return finding


def secants(throws: Throws) -> np.ndarray:
    """Return slopes of the tracks over small changes of the logarithms, (looks, throws, 3, 2)."""
    logs, found = throws.logs.to_numpy(), []
    for k in range(2):
        ends = []
        for sign in (1.0, -1.0):
            moved = logs.copy()
            moved[k] += sign * CHANGE
            throws.logs.from_numpy(moved)
            throws.simulate()
            ends.append(throws.tracks.to_numpy())
        found.append((ends[0] - ends[1]) / (2.0 * CHANGE))
    throws.logs.from_numpy(logs)
    return np.stack(found, axis=-1)


def watch_boxes(throws: Throws) -> np.ndarray:
    """Throw the boxes once more; return their coordinates, (looks + 1, throws, nq)."""
    throws.begin()
    motion = [throws.sim.qpos.to_numpy()]
    for _ in range(throws.looks):
        throws.sim.step(BETWEEN)
        motion.append(throws.sim.qpos.to_numpy())
    return np.array(motion)


def view(throws: Throws, options: argparse.Namespace) -> dt.viewer.App:
    """Return an app in which the boxes are thrown again and again, with a gradient in between."""
    app = make_app("box-friction", options, speed=1.0)
    robots = lanes(throws.sim.model, throws.sim.worlds)
    seen = throws.seen.to_numpy() + robots.places
    app.look(**LOOK_DOWN, around=seen.reshape(-1, 3))
    adam, pictures = dt.optim.Adam(throws.logs, 0.08, betas=(0.7, 0.9)), PICTURES * len(seen)
    throws.begin()

    @app.step
    def go_on() -> None:
        if app.steps % pictures == 0:
            with dt.Tape(throws.loss):
                throws.run()
            app.plot("misfit", throws.loss, log=True)
            app.plot("friction", throws.found[0])
            app.plot("mass [kg]", throws.found[1])
            adam.step()
            throws.begin()
        throws.sim.step(BETWEEN // PICTURES)

    @app.draw
    def draw() -> None:
        robots.draw(app, poses(throws.sim))
        looks = app.steps % pictures // PICTURES
        if looks:
            app.points(seen[:looks].reshape(-1, 3), colour="#b4552d", radius=2.0)

    @app.reset
    def again() -> None:
        nonlocal adam
        throws.guess(GUESS)
        adam = dt.optim.Adam(throws.logs, 0.08, betas=(0.7, 0.9))
        throws.begin()

    return app


def main(argv: Sequence[str] | None = None) -> int:
    """Run the demo; return the exit code."""
    parser = make_parser("box-friction", __doc__, iterations=20, memory=False)
    parser.add_argument(
        "--throws", type=positive_int, default=10, help="worlds; default: %(default)s"
    )
    add_view_options(parser)
    options = start(parser, argv)
    if options.check:
        return print_check(Throws(3, options.seed, looks=5), "logs")
    if is_viewed(options):
        return show(view(Throws(options.throws, options.seed), options), options)

    findings: list[Finding] = []
    for soft, label in ((True, "d0 = 0"), (False, "default solimp")):
        throws = Throws(options.throws, options.seed, soft)
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "A gradient passes contacts")  # the point of it
            findings.append(find(throws, label, options.iterations))
        if soft and not options.no_pictures:
            seconds = throws.looks * BETWEEN * float(throws.sim.model.timestep)
            save_strip(options.out / "strip.png", throws.sim.model, watch_boxes(throws), seconds)
    if not options.no_pictures:
        save_findings(options.out / "found.png", findings, np.array(TRUTH))
        print(f"pictures in {options.out}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
