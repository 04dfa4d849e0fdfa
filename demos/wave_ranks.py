"""The waves of the demo `wave` on any number of processes, each with a part of the water.

Start it with `torchrun --nproc-per-node=4 -m demos.wave_ranks` or `mpiexec -n 4 python -m
demos.wave_ranks`; without either it is one process. The square is split into a grid of boxes with a
halo of one cell, which is exchanged before each step. The backward pass sends the gradients of
halos back, so that every process has the gradient of its own water: the same as in one process, but
for rounding.
"""

import sys
from collections.abc import Sequence

import numpy as np

from demos.support.images import Look, Panel, save_images
from demos.support.options import make_parser, start
from demos.support.pictures import save_loss_curve
from demos.support.pools import make_descent
from demos.support.training import print_check, train
from difftile import distributed as dist
from difftile import ti
from difftile.arguments import positive_int
from scenes.wave import WaveOnRanks, make_scene


def main(argv: Sequence[str] | None = None) -> int:
    """Run the demo; return the exit code."""
    parser = make_parser("wave-ranks", __doc__, steps=256, iterations=120)
    parser.add_argument(
        "--size", type=positive_int, default=256, help="cells along each axis; default: %(default)s"
    )
    options = start(parser, argv)
    scene = make_scene(min(options.size, 64) if options.check else options.size)
    if options.check:
        if dist.size() > 1:
            parser.error("--check is for one process")
        return print_check(WaveOnRanks(scene, options.steps, ti.f64), "initial")
    wave = WaveOnRanks(scene, options.steps)
    training = train(
        wave,
        make_descent(wave.parameters),
        options.iterations,
        "raising waves",
        memory=options.memory,
    )
    if not training.losses:
        return 130  # interrupted before there was anything to show
    wave.run()
    before, after = wave.initial.to_global(root=0), wave.p.to_global(root=0)
    if before is None or after is None:
        return 0  # rank 0 shows the result
    shown = 1.0 - min(training.losses) / float(np.mean(scene.target**2))
    boxes = " x ".join(map(str, wave.grid.ranks))
    print(f"{dist.size()} ranks, {boxes} boxes of {wave.grid.inner_shape} cells: {training}")
    print(f"step {wave.steps - 1} shows {shown:.1%} of the picture's variance")
    if not options.no_pictures:
        save_loss_curve(options.out / "loss.png", training.losses, "mean square [m²]", "log")
        high = 1.2 * float(np.abs(scene.target).max())
        row = [
            Panel("state 0", before),
            Panel(f"state {wave.steps - 1}", after),
            Panel("the picture", scene.target),
        ]
        look = Look(-high, high, "RdBu", "height [m]")
        save_images(options.out / "after.png", [("", row)], look)
        print(f"pictures in {options.out}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
