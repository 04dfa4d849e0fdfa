"""A network learns to lead a charge along a path, by the strengths of eight others.

One launch advances many charges in place, each along its own path: positions and velocities have no
time axis. `with dt.Tape(loss):` computes the gradient of the distances between charges and goals
with respect to the weights of the network.
"""

import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np

import difftile as dt
from demos.support.charges import Chase, save_chase_animation, save_chase_strip
from demos.support.options import make_parser, start
from demos.support.pictures import save_loss_curve
from demos.support.training import print_check, train, write
from difftile import ti
from difftile.arguments import positive_int
from scenes.electric import Electric, ElectricScene, make_network, make_ways

N_SHOWN = 4  # unseen paths, for the pictures
FRAME_EVERY = 8  # simulation steps from one frame of the animation to the next
LEARNING_RATE = 0.03  # of Adam; it falls to 0


def watch(electric: Electric, weights: dict[str, np.ndarray], label: str) -> Chase:
    """Simulate with these weights and without a tape, and keep the state of every few steps."""
    write(electric, weights)
    scene, ways = electric.scene, electric.ways.to_numpy()
    times = np.arange(1, electric.steps, FRAME_EVERY)
    positions, strengths = [], []
    electric.start()
    for t in range(1, electric.steps):
        electric.step(t)
        if t in times:
            positions.append(electric.x.to_numpy()[t % electric.x.shape[0]])
            strengths.append(electric.charge.to_numpy())
    segment, part = np.divmod(times, scene.segment)
    share = (part / scene.segment)[:, None, None]
    return Chase(
        label=label,
        times=scene.time_step * times,
        positions=np.array(positions),
        goals=(1.0 - share) * ways[segment] + share * ways[segment + 1],
        strengths=np.array(strengths),
    )


def main(argv: Sequence[str] | None = None) -> int:
    """Run the demo; return the exit code."""
    parser = make_parser("electric", __doc__, steps=512, iterations=200)
    say = "number of paths to learn from; default: %(default)s"
    parser.add_argument("--ways", type=positive_int, default=16, help=say)
    say = "let the network read values of the previous run, as the paper's program does"
    parser.add_argument("--original", action="store_true", help=say)
    options = start(parser, argv)
    if options.check and options.original:
        parser.error("argument --check: with --original a run depends on the one before it")

    scene, steps, original = ElectricScene(), options.steps, options.original
    network = make_network(scene, options.seed)
    ways = make_ways(scene, options.ways, steps, options.seed)
    if options.check:
        return print_check(Electric(scene, network, ways, min(steps, 128), dtype=ti.f64), "b2")

    electric = Electric(scene, network, ways, steps, original)
    rate = dt.optim.schedules.cosine(LEARNING_RATE, options.iterations, 0.0)
    optimiser = dt.optim.Adam(electric.parameters, rate)
    label = "learning to lead"
    training = train(electric, optimiser, options.iterations, label, memory=options.memory)
    if not training.losses:
        return 130  # interrupted before there was anything to show

    unseen = make_ways(scene, N_SHOWN, steps, options.seed + 1)
    shown = Electric(scene, network, unseen, steps, original)
    chases = [watch(shown, training.first, "before"), watch(shown, training.best, "after")]
    before, after = (float(np.mean(chase.distance)) for chase in chases)
    print(training)
    print(
        f"along {N_SHOWN} unseen paths the network keeps the charge "
        f"{100 * after:.1f} cm from its goal; untrained, {100 * before:.1f} cm"
    )
    if not options.no_pictures:
        draw(options.out, scene, training.losses, chases)
        print(f"pictures in {options.out}")
    return 0


def draw(out: Path, scene: ElectricScene, losses: list[float], chases: list[Chase]) -> None:
    """Write the pictures."""
    label = "loss: square distance × time [m² s]"
    save_loss_curve(out / "loss.png", losses, label, "log")
    save_chase_strip(out / "before_after.png", chases, scene.charges)
    save_chase_animation(out / "chase.gif", chases, scene.charges)


if __name__ == "__main__":
    sys.exit(main())
