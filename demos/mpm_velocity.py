"""Throw an elastic block so that it reaches a given point in time.

The demo learns the two components of its initial velocity through a thousand steps of material
points (MLS-MPM: Hu et al., SIGGRAPH 2018). All old values that the gradient needs would take
hundreds of megabytes; the tape has a limit, stores snapshots within it and runs steps again.
"""

import sys
from collections.abc import Sequence

import numpy as np

import difftile as dt
from demos.support.options import make_parser, start
from demos.support.particles import Swarm, save_particle_animation, save_particle_strip
from demos.support.pictures import save_loss_curve
from demos.support.training import print_check, train
from difftile import ti
from difftile.arguments import positive_int
from scenes.throw import WALL, Throw, make_block

FRAMES = 50  # of the animation
LEARNING_RATE = 10.0


def watch(simulation: Throw, label: str) -> Swarm:
    """Simulate once more without a tape, and keep the state of every few steps."""
    scene, every = simulation.scene, max(simulation.steps // FRAMES, 1)
    n, times, positions = len(scene.positions), [], []
    simulation.start()
    for t in range(simulation.steps + 1):
        if t % every == 0:
            times.append(t * scene.time_step)
            positions.append(simulation.x.to_numpy())
        simulation.step()
    return Swarm(
        label=label,
        times=np.array(times),
        positions=np.array(positions),
        activations=np.zeros((len(times), 0)),
        muscle=np.full(n, -1),
        fluid=np.zeros(n, dtype=bool),
        spacing=0.5 / scene.n_grid,
    )


def bytes_of_all(simulation: Throw, few: int = 16) -> float:
    """Return the memory of a tape without a limit [B], measured over a few steps."""
    steps, simulation.steps = simulation.steps, min(few, simulation.steps)
    with dt.Tape() as tape:
        simulation.run()
    ratio, simulation.steps = steps / simulation.steps, steps
    nbytes = ratio * tape.nbytes
    tape.release()
    return nbytes


def main(argv: Sequence[str] | None = None) -> int:
    """Run the demo; return the exit code."""
    parser = make_parser("mpm-velocity", __doc__, steps=1024, iterations=20, limit="32MB")
    parser.add_argument(
        "--grid", type=positive_int, default=120, help="cells per side; default: 120"
    )
    options = start(parser, argv)

    try:
        scene = make_block(options.grid)
    except ValueError as error:
        parser.error(f"argument --grid: {error}")
    if options.check:
        return print_check(Throw(scene, min(options.steps, 100), ti.f64), "velocity")

    simulation = Throw(scene, options.steps)
    print(f"all old values of a run: {bytes_of_all(simulation) / 1e6:.1f} MB")
    window, target = (0.0, 0.62, 0.0, 0.8), (float(scene.target[0]), float(scene.target[1]))
    floor, strip = WALL / scene.n_grid, options.out / "before_after.png"
    before = watch(simulation, "dropped")
    if not options.no_pictures:
        save_particle_strip(strip, [before], window, floor, target)
    optimiser = dt.optim.SGD(simulation.parameters, LEARNING_RATE, nonfinite="skip")
    label = "learning to throw"
    training = train(simulation, optimiser, options.iterations, label, memory=options.memory)
    if not training.losses:
        return 130  # interrupted before there was anything to show
    u, w = training.best["velocity"]
    after = watch(simulation, f"at ({u:.2f}, {w:.2f}) m/s")
    print(training)
    missed = [np.sqrt(2 * loss) for loss in (training.losses[0], min(training.losses))]
    print(
        f"thrown with ({u:.3f}, {w:.3f}) m/s the block misses the target by {missed[1]:.4f} m; "
        f"at first it missed it by {missed[0]:.4f} m"
    )
    if not options.no_pictures:
        label = "loss: half the squared miss [m²]"
        save_loss_curve(options.out / "loss.png", training.losses, label, "log")
        save_particle_strip(strip, [before, after], window, floor, target)
        save_particle_animation(options.out / "throw.gif", [before, after], window, floor, target)
        print(f"pictures in {options.out}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
