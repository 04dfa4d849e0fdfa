"""How long a picture of an app takes: lines, points, circles, triangles, in the plane and in space.

Each is a whole picture, with its panel, from arrays to the bytes that a backend shows, on the null
backend. `--pictures FOLDER` writes them.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

import difftile as dt
from benchmarks.meter import CLOCKS, Row
from demos import biped_balance
from difftile import worlds
from difftile.arguments import Parser, positive_int
from difftile.worlds.robots import LOOK, BodyPoses, Robots
from scenes.balance import MODEL

LINES, LONG, POINTS, SIDE = 1000, 300, 100_000, 100
MANY = f"{POINTS:,}"
BIPEDS = 4
LIVELY, FLUENT, ENOUGH = 60.0, 33.0, 15.0  # pictures a second
HEIGHT = 640  # of a picture; the scene shows one unit of length in it [px]


def shapes() -> dict[str, tuple[Callable[[dt.viewer.App], None], float | None]]:
    """Return the shown scenes, with the required frame rates."""
    rng = np.random.default_rng(0)
    flat, space = rng.random((POINTS, 2)), rng.random((POINTS, 3))
    colours = rng.random((POINTS, 3))
    sizes = rng.uniform(0.001, 0.008, POINTS)
    way = rng.normal(size=(LINES, 3))
    way *= LONG / HEIGHT / np.linalg.norm(way, axis=1, keepdims=True)
    turn = rng.uniform(0.0, 2 * np.pi, LINES)
    across = LONG / HEIGHT * np.stack([np.cos(turn), np.sin(turn)], axis=1)
    each, begins, begins3 = colours[:LINES], flat[:LINES] - across / 2, space[:LINES] - way / 2
    vertices, faces = waves()
    return {
        f"{LINES} lines of {LONG} pixels": (
            lambda app: app.lines(begins, begins + across, colour=each),
            FLUENT,
        ),
        f"{LINES} such lines in space": (
            lambda app: app.lines(begins3, begins3 + way, colour=each),
            FLUENT,
        ),
        f"{MANY} points": (lambda app: app.points(flat, colour=colours), ENOUGH),
        f"{MANY} points in space": (lambda app: app.points(space, colour=colours), ENOUGH),
        f"{MANY} circles in space": (lambda app: app.circles(space, sizes, colour=colours), None),
        f"{len(faces):,} triangles in space": (lambda app: app.mesh(vertices, faces), ENOUGH),
        f"{BIPEDS} bipeds of biped-balance": (show_bipeds, LIVELY),
    }


def show_bipeds(app: dt.viewer.App) -> None:
    """Show the robots of a demo as it does, in the pose of their model."""
    model = worlds.load_arrays(MODEL)
    places, colours = biped_balance.places(BIPEDS), biped_balance.colours(BIPEDS)
    robots = Robots(model, places, colours=colours, floor=(-1.5, -1.5, 1.5, 4.0))
    xpos = np.array(model.body_pos, np.float64)
    for body in range(1, len(xpos)):  # no body of this model is turned against its parent
        xpos[body] += xpos[model.body_parentid[body]]
    still = BodyPoses(np.stack([xpos] * BIPEDS), np.stack([np.array(model.body_quat)] * BIPEDS))
    middle = 0.5 * biped_balance.APART * (BIPEDS - 1)
    app.look(**{**LOOK, "yaw": 1.15}, at=(0.0, middle, 0.5), distance=6.4)
    app.draw(lambda: robots.draw(app, still))


def waves() -> tuple[np.ndarray, np.ndarray]:
    """Return vertices and faces of a sheet with waves that hide each other."""
    line = np.linspace(0.0, 1.0, SIDE + 1)
    x, y = np.meshgrid(line, line, indexing="ij")
    z = 0.1 * np.sin(20.0 * x) * np.cos(15.0 * y)
    first = (np.arange(SIDE)[:, None] * (SIDE + 1) + np.arange(SIDE)).reshape(-1)
    beside, below = first + 1, first + SIDE + 1
    halves = [(first, beside, below), (beside, below + 1, below)]
    faces = np.concatenate([np.stack(corners, axis=1) for corners in halves])
    return np.stack([x, y, z], axis=-1).reshape(-1, 3), faces


def main(argv: Sequence[str] | None = None) -> int:
    """Run the measurements; return the exit code."""
    parser = Parser(prog="benchmarks.raster", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--turns", type=positive_int, default=15, help="default: %(default)s")
    parser.add_argument("--clock", choices=CLOCKS, default="wall", help="default: %(default)s")
    parser.add_argument("--pictures", type=Path, help="folder for pictures")
    options = parser.parse_args(argv)
    clock = CLOCKS[options.clock]
    print(f"{'':48}{'ms':>11}{'1/s':>9}")
    for label, (show, rate) in shapes().items():
        app = dt.viewer.App(
            label, (960, HEIGHT), backend="null", screenshots=options.pictures or "out"
        )
        show(app)
        times: list[float] = []
        app.step(lambda times=times: times.append(clock()))
        app.run(frames=options.turns + 2)
        print(Row(label, np.diff(times[1:]).tolist(), rate=rate), flush=True)
        if options.pictures is not None:
            app.screenshot()
    return 0


if __name__ == "__main__":
    sys.exit(main())
