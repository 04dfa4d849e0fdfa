"""The cost of watching: frame rates of a window, and how much it slows down training.

Frames are those of an app whose step fills a field and whose window shows each one.
Training is that of the demo mass-spring, with and without a window that is drawn 30 times a second,
turn by turn; on a machine that has other work too, `--clock cpu` is more precise: it counts the
time of the training process and not of the drawing one. Without a display it opens windows on a
virtual screen, which Xvfb provides.
"""

import os
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import nullcontext

import numpy as np
import taichi as ti

import difftile as dt
from benchmarks.meter import CLOCKS, Row
from demos.mass_spring import CLIP_NORM, MOMENTUM, STEP_SIZE
from difftile.arguments import Parser, positive_int
from scenes.mass_spring import Walker, make_network, make_scene
from tests.viewer.screen import missing_tools, opened

IMAGES, POINTS, SLOWER = 30, 15, 1.05  # pictures a second, and the ratio of times
SIDE, MANY = 512, 100_000
SIZES = ((752, 512), (1264, 1024), (1920, 1080))  # of windows, 240 of them for the panel [px]
FPS = 30  # of the window that shows the training
FIRST = 5  # steps that are not counted: kernels are compiled
STEPS = 200  # of the simulation in an iteration of training


@dt.kernel
def paint(image, t: float):
    for i, j in image:
        x, y = j / SIDE, i / SIDE
        wave = 0.5 + 0.5 * ti.sin(20.0 * ti.sqrt((x - 0.5) ** 2 + (y - 0.5) ** 2) - t)
        image[i, j] = ti.math.vec3(x, wave, y)


@dt.kernel
def turn(positions):
    for i in positions:
        p = positions[i] - 0.5
        positions[i] = ti.math.vec2(0.5 + p.x - 0.02 * p.y, 0.5 + p.y + 0.02 * p.x) * 0.9998


def images(pictures: int, backend: str, width: int, height: int) -> list[float]:
    """Return the seconds of each picture of a stream of images."""
    image = dt.zeros((SIDE, SIDE), dtype=dt.vec(3, ti.f32))
    app = dt.viewer.App("images", size=(width, height), backend=backend, speed=1)
    app.image(image)
    return paced(app, lambda: paint(image, 0.1 * app.steps), pictures)


def points(pictures: int, backend: str) -> list[float]:
    """Return the seconds of each picture of many points that move."""
    places = np.random.default_rng(0).random((MANY, 2))
    positions = dt.from_numpy(places, dtype=dt.vec(2, ti.f32))
    app = dt.viewer.App("points", backend=backend, speed=1)
    app.points(positions)
    return paced(app, lambda: turn(positions), pictures)


def paced(app: dt.viewer.App, step: Callable[[], object], pictures: int) -> list[float]:
    """Return the seconds from picture to picture, as fast as they come."""
    times: list[float] = []
    app.step(step)
    app.draw(lambda: times.append(time.perf_counter()))
    app.run(frames=FIRST + pictures, fps=1e6)
    return np.diff(times[FIRST:]).tolist()


def training(
    turns: int, pictures: int, backend: str, clock: Callable[[], float]
) -> tuple[list[float], list[float]]:
    """Return the seconds of an iteration with a window open and without, of each turn."""
    scene = make_scene("C")
    walker = Walker(scene, make_network(scene, 0), STEPS)
    rate = STEP_SIZE / CLIP_NORM
    optimiser = dt.optim.SGD(walker.parameters, rate, momentum=MOMENTUM, clip_norm=CLIP_NORM)
    started: list[float] = []

    def iterate() -> None:
        started.append(clock())
        optimiser.zero_grads()
        with dt.Tape(walker.loss):
            walker.run()
        optimiser.step()

    def watched() -> None:
        app = dt.viewer.App("training", backend=backend)
        app.lines(walker.x, edges=walker.springs)
        app.points(walker.x)
        app.step(lambda: (iterate(), app.plot("loss", walker.loss)))
        app.run(frames=pictures, fps=FPS)

    def alone() -> None:
        end = time.perf_counter() + pictures / FPS
        while time.perf_counter() < end:
            iterate()

    def seconds(run: Callable[[], None]) -> float:
        started.clear()
        run()
        return float(np.diff(started[FIRST:]).mean())

    alone()
    found = [(seconds(watched), seconds(alone)) for _ in range(turns)]
    return [one for one, _ in found], [one for _, one in found]


def main(argv: Sequence[str] | None = None) -> int:
    """Run the measurements; return the exit code."""
    parser = Parser(prog="benchmarks.viewer", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--turns", type=positive_int, default=7, help="default: %(default)s")
    parser.add_argument("--pictures", type=positive_int, default=90, help="default: %(default)s")
    parser.add_argument(
        "--clock", choices=CLOCKS, default="wall", help="of training; default: %(default)s"
    )
    parser.add_argument("--toolkit", choices=["ti", "tk"], help="default: the first that there is")
    options = parser.parse_args(argv)
    backend = f"window:{options.toolkit}" if options.toolkit else "window"
    if "DISPLAY" not in os.environ and missing_tools():
        print(f"no display: {missing_tools()}", file=sys.stderr)
        return 1
    dt.init(arch="cpu")
    with nullcontext() if "DISPLAY" in os.environ else opened(1920, 1080) as screen:
        if screen is not None:
            os.environ["DISPLAY"] = screen.display
        rows = [
            Row(
                f"images in a window of {width}x{height}, a picture",
                images(options.pictures, backend, width, height),
                rate=IMAGES if (width, height) == SIZES[0] else None,
            )
            for width, height in SIZES
        ]
        rows += [
            Row(f"{MANY:,} points, a picture", points(options.pictures, backend), rate=POINTS),
            Row(
                f"an iteration beside {FPS} pictures a second",
                *training(options.turns, options.pictures, backend, CLOCKS[options.clock]),
                SLOWER,
            ),
        ]
    print(f"{'':48}{'ms':>11}{'1/s':>9}{'alone ms':>11}{'ratio':>8}")
    for row in rows:
        print(row)
    return 0


if __name__ == "__main__":
    sys.exit(main())
