"""Push a column of water so that it ends with its centre at a point as it breaks down.

The water is smoothed particles, which look for their neighbours in a grid of cells. The demo
optimises the velocity of the push through 700 steps: neighbours are found and have no derivative,
and distances to them have.
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
from scenes.dam_break import Dam, DamScene

FRAMES = 50  # of the animation
LEARNING_RATE = 0.2
CHECKED = 40  # steps: later, particles that enter and leave the radius bend what differences see


def watch(dam: Dam, label: str) -> Swarm:
    """Simulate once more without a tape, and keep the state of every few steps."""
    every, times, positions = max(dam.steps // FRAMES, 1), [], []
    dam.start()
    for t in range(dam.steps + 1):
        if t % every == 0:
            times.append(t * dam.h)
            positions.append(dam.x.to_numpy())
        dam.step()
    return Swarm(
        label=label,
        times=np.array(times),
        positions=np.array(positions),
        activations=np.zeros((len(times), 0)),
        muscle=np.full(dam.n, -1),
        fluid=np.zeros(dam.n, dtype=bool),
        spacing=dam.scene.spacing,
    )


def main(argv: Sequence[str] | None = None) -> int:
    """Run the demo; return the exit code."""
    parser = make_parser("dam-break", __doc__, steps=700, iterations=8)
    options = start(parser, argv)
    scene = DamScene()
    if options.check:
        return print_check(Dam(scene, min(options.steps, CHECKED), ti.f64), "push")

    dam, strip = Dam(scene, options.steps), options.out / "before_after.png"
    window, target = (0.0, scene.tank, 0.0, 0.8), scene.goal
    before = watch(dam, "without a push")
    if not options.no_pictures:
        save_particle_strip(strip, [before], window, 0.0, target)
    optimiser = dt.optim.Adam(dam.parameters, LEARNING_RATE)
    training = train(dam, optimiser, options.iterations, "pushing water", memory=options.memory)
    if not training.losses:
        return 130  # interrupted before there was anything to show
    u, w = training.best["push"]
    after = watch(dam, f"pushed with ({u:.2f}, {w:.2f}) m/s")
    print(training)
    missed = [np.sqrt(2 * loss) for loss in (training.losses[0], min(training.losses))]
    print(
        f"pushed with ({u:.3f}, {w:.3f}) m/s the water misses the point by {missed[1]:.4f} m; "
        f"without a push it misses it by {missed[0]:.4f} m"
    )
    if not options.no_pictures:
        label = "loss: half the squared miss [m²]"
        save_loss_curve(options.out / "loss.png", training.losses, label, "log")
        save_particle_strip(strip, [before, after], window, 0.0, target)
        save_particle_animation(options.out / "dam.gif", [before, after], window, 0.0, target)
        print(f"pictures in {options.out}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
