"""A soft robot of material points learns to walk, or a fish to swim.

Bodies and water are particles that move over a grid (MLS-MPM: Hu et al., SIGGRAPH 2018). In each
step the particles transfer mass and momentum to the surrounding nodes of the grid, gravity and
walls act on the nodes, and the particles read their velocities back. Muscles are stresses driven by
sines of time, whose amplitudes are learnt.
"""

import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np

import difftile as dt
from demos.support.options import make_parser, start
from demos.support.panels import Window
from demos.support.particles import Swarm, save_particle_animation, save_particle_strip
from demos.support.pictures import save_loss_curve
from demos.support.training import Training, print_check, train
from difftile import ti
from difftile.arguments import positive_int
from scenes.mpm import SCENE_NAMES, Mpm, make_controller, make_scene

FRAMES = 70  # of the animation
GRIDS = {"robot": 128, "fish": 64}  # cells along a side
LEARNING_RATES = {"robot": 0.1, "fish": 0.3}  # of Adam
VERBS = {"robot": "walk", "fish": "swim"}


def watch(mpm: Mpm, label: str) -> Swarm:
    """Simulate once more without a tape, and keep the state of every few steps."""
    scene, every = mpm.scene, max(mpm.steps // FRAMES, 1)
    times, positions, activations = [], [], []
    mpm.start()
    for t in range(mpm.steps):
        if t % every == 0:
            times.append(t * scene.time_step)
            positions.append(mpm.x.to_numpy())
        mpm.step(t)
        if t % every == 0:
            activations.append(-mpm.activation.to_numpy())  # a stress that pulls shortens
    return Swarm(
        label=label,
        times=np.array(times),
        positions=np.array(positions),
        activations=np.array(activations),
        muscle=scene.muscle,
        fluid=scene.fluid,
        spacing=0.5 / scene.n_grid,
    )


def learn(mpm: Mpm, iterations: int, memory: str | None = None) -> Training:
    """Train the controller; the one that got farthest is left in the fields."""
    name = mpm.scene.name
    optimiser = dt.optim.Adam(mpm.parameters, LEARNING_RATES[name], nonfinite="skip")
    return train(mpm, optimiser, iterations, f"learning to {VERBS[name]}", memory=memory)


def main(argv: Sequence[str] | None = None) -> int:
    """Run the demo; return the exit code."""
    parser = make_parser("diffmpm", __doc__, steps=1024, iterations=50)
    parser.add_argument("--scene", choices=SCENE_NAMES, default="robot", help="default: robot")
    parser.add_argument(
        "--grid", type=positive_int, help="cells along a side; default: 128, for the fish 64"
    )
    parser.add_argument(
        "--original",
        action="store_true",
        help="keep two mistakes of the paper's program: a floor that everything sticks to, and "
        "water that presses ten times harder sideways than down",
    )
    options = start(parser, argv)

    try:
        grid = options.grid or GRIDS[options.scene]
        scene = make_scene(options.scene, grid, options.original)
    except ValueError as error:
        parser.error(f"argument --grid: {error}")
    controller = make_controller(scene, options.seed)
    if options.check:
        return print_check(Mpm(scene, controller, min(options.steps, 100), ti.f64), "weights")

    mpm = Mpm(scene, controller, options.steps)
    before = watch(mpm, "before")
    if not options.no_pictures:
        draw_swarms(options.out, [before])
    training = learn(mpm, options.iterations, options.memory)
    if not training.losses:
        return 130  # interrupted before there was anything to show
    after = watch(mpm, f"after {len(training.losses) - 1} iterations")
    print(training)
    print(
        f"the {scene.name} {VERBS[scene.name]}s {after.distance:.2f} m in {after.times[-1]:.1f} s, "
        f"{after.distance / scene.width:.1f} body lengths; untrained it got {before.distance:.2f} m"
    )
    if not options.no_pictures:
        draw(options.out, training.losses, [before, after])
        print(f"pictures in {options.out}")
    return 0


def draw(out: Path, losses: list[float], swarms: list[Swarm]) -> None:
    """Write the pictures."""
    save_loss_curve(out / "loss.png", losses, "loss: minus x of the centre [m]")
    window, floor = draw_swarms(out, swarms)
    save_particle_animation(out / "motion.gif", swarms, window, floor)


def draw_swarms(out: Path, swarms: list[Swarm]) -> tuple[Window, float]:
    """Draw the strip of all motions; return its window and the height of the floor."""
    heights = np.concatenate([swarm.positions[..., 1].ravel() for swarm in swarms])
    window, floor = (0.0, 1.0, 0.0, float(heights.max()) + 0.03), float(heights.min())
    save_particle_strip(out / "before_after.png", swarms, window, floor)
    return window, floor


if __name__ == "__main__":
    sys.exit(main())
