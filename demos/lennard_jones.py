"""Measure energy and pressure of a fluid of Lennard-Jones atoms beside published values.

Atoms move by minus the gradient of their energy, and the pressure is its derivative by the scale of
all distances, so that the energy of a pair is the only physics that is written. Averages are
compared with those that NIST publishes for tests of programs.
"""

import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from demos.support.options import make_parser, start
from demos.support.pictures import AFTER, INK, PALE, make_figure
from difftile import ti
from difftile.progress import progress_bar
from scenes.lennard_jones import Fluid, FluidScene

SETTLING = 600  # steps, in which the lattice melts
EVERY = 10  # steps from one sample to the next
MOVED = 1e-5  # of an atom, for differences [sigma]


def check(fluid: Fluid) -> int:
    """Compare the force on an atom with differences of the energy; return the exit code."""
    for _ in range(20):
        fluid.step()
    fluid.differentiate()
    by_tape, x = fluid.x.grad.to_numpy()[0, 0], fluid.x.to_numpy()
    energies: list[float] = []
    for sign in (1.0, -1.0):
        moved = x.copy()
        moved[0, 0] += sign * MOVED
        fluid.x.from_numpy(moved)
        fluid.differentiate()
        energies.append(float(fluid.energy[None]))
    by_differences = (energies[0] - energies[1]) / (2 * MOVED)
    print(f"gradient by tape {by_tape:.12g}, by differences {by_differences:.12g}")
    return 0 if abs(by_tape - by_differences) <= 1e-5 * abs(by_differences) else 1


def error_of_mean(samples: np.ndarray, blocks: int = 8) -> np.ndarray:
    """Return the standard error of the mean of correlated samples, from means of blocks."""
    means = [block.mean(axis=0) for block in np.array_split(samples, blocks)]
    return np.std(means, axis=0, ddof=1) / np.sqrt(blocks)


def main(argv: Sequence[str] | None = None) -> int:
    """Run the demo; return the exit code."""
    parser = make_parser("lennard-jones", __doc__, steps=6000, iterations=1, memory=False)
    options = start(parser, argv)
    scene = FluidScene()
    fluid = Fluid(scene, options.seed)
    if options.check:
        return check(Fluid(scene, options.seed, ti.f64))

    samples: list[tuple[float, float]] = []
    steps = options.steps + SETTLING
    with progress_bar(desc="moving atoms", unit="step", total=steps) as bar:
        for t in range(steps):
            fluid.step()
            if t >= SETTLING and t % EVERY == 0:
                samples.append(fluid.state())
            bar.update()
    found = np.array(samples)
    (energy, pressure), (de, dp) = found.mean(axis=0), error_of_mean(found)
    print(
        f"potential energy of an atom {energy:.4f} +- {de:.4f}, published {scene.energy:.4f}\n"
        f"pressure {pressure:.4f} +- {dp:.4f}, published {scene.pressure:.4f}"
    )
    if not options.no_pictures:
        draw(options.out, fluid, found)
        print(f"pictures in {options.out}")
    return 0


def draw(out: Path, fluid: Fluid, found: np.ndarray) -> None:
    """Draw a slice of the fluid, and the running means beside published values."""
    scene = fluid.scene
    figure = make_figure(10.0, 4.6)
    left, right = figure.subplots(1, 2, width_ratios=(1, 1.2))
    x = fluid.x.to_numpy() % scene.edge
    near = x[:, 2] < 2.0
    left.scatter(*x[near, :2].T, s=420, c=x[near, 2], cmap="viridis", edgecolors=INK)
    left.set(xlim=(0, scene.edge), ylim=(0, scene.edge), aspect="equal", title="atoms near a face")
    counts = np.arange(1, len(found) + 1)
    means = np.cumsum(found, axis=0) / counts[:, None]
    for k, (label, value) in enumerate(
        [("energy of an atom", scene.energy), ("pressure", scene.pressure)]
    ):
        colour = (AFTER, INK)[k]
        right.plot(EVERY * counts, means[:, k] - value, color=colour, label=label)
    right.axhline(0.0, color=PALE)
    right.set(xlabel="steps", ylabel="running mean less the published value")
    right.legend(frameon=False)
    figure.savefig(out / "fluid.png")


if __name__ == "__main__":
    sys.exit(main())
