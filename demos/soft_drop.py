"""A soft body is thrown onto hills so that it ends at a goal on them.

The body is a lattice of springs and the hills are a mesh. In each step each node asks for the
nearest point of the mesh, `mesh.closest`, through 600 steps on the tape. The pictures are drawn by
`dt.render.rasterize`.
"""

import sys
from collections.abc import Sequence
from itertools import product
from pathlib import Path

import numpy as np

import difftile as dt
from demos.support.images import Panel, save_images
from demos.support.options import make_parser, start
from demos.support.pictures import save_loss_curve
from demos.support.training import print_check, train
from difftile import ti
from scenes.soft_drop import DropScene, SoftDrop

LEARNING_RATE = 0.2
CHECKED = 60  # steps: later, nodes that touch other triangles bend what differences see
SHOWN = 6  # moments of a run in its picture
SIZE = 640, 360  # of the picture
GROUND, GOAL, BODY = (0.55, 0.62, 0.45), (0.9, 0.25, 0.2), (0.25, 0.5, 0.85)
LIGHT = np.array([-0.4, -0.5, 0.8]) / np.linalg.norm([0.4, 0.5, 0.8])


def skin(n: int) -> np.ndarray:
    """Return the triangles around a lattice of n x n x n nodes."""
    number = np.arange(n**3).reshape(n, n, n)
    faces: list[np.ndarray] = []
    for axis, end in product(range(3), (0, -1)):
        side = np.moveaxis(number, axis, 0)[end]
        if (end == 0) == (axis != 1):
            side = side.T
        a, b, c, d = side[:-1, :-1], side[1:, :-1], side[1:, 1:], side[:-1, 1:]
        faces += [np.stack(three, -1).reshape(-1, 3) for three in ((a, b, c), (a, c, d))]
    return np.concatenate(faces)


def watch(drop: SoftDrop) -> np.ndarray:
    """Simulate once more without a tape; return some states, shape (moments, nodes, 3)."""
    shown = np.linspace(0, drop.steps, SHOWN).astype(int)
    states: list[np.ndarray] = []
    drop.start()
    for t in range(drop.steps + 1):
        if t in shown:
            states.append(drop.x.to_numpy().reshape(-1, 3))
        drop.step()
    return np.array(states)


@dt.kernel
def shade(raster: ti.template(), colours, light: ti.template(), image):
    """Colour the pixels by the angle between surfaces and the light."""
    for c, i, j in image:
        hit = raster.hit(c, i, j)
        image[c, i, j] = ti.Vector([0.93, 0.95, 0.97])
        if hit.face >= 0:
            normal = raster.mesh.normal(hit.face)
            lit = max(normal.dot(ti.Vector(light)), 0.0)
            image[c, i, j] = (0.35 + 0.65 * lit) * colours[hit.face]


def picture(drop: SoftDrop, states: np.ndarray) -> np.ndarray:
    """Return an image of the hills, the body at some moments, and the goal."""
    scene = drop.scene
    ground, below = scene.hills()
    flag = 0.06 * np.array([[-1, 0, 0], [1, 0, 0], [0, -1, 0], [0, 1, 0], [0, 0, 12]])
    flag += np.array([*scene.goal[:2], 0.0])
    pole = np.array([[0, 2, 4], [2, 1, 4], [1, 3, 4], [3, 0, 4]])
    meshes = [(ground, below, GROUND), (flag, pole, GOAL)]
    meshes += [(state, skin(scene.nodes), BODY) for state in states]
    starts = np.cumsum([0] + [len(one[0]) for one in meshes])
    faces = np.concatenate([one[1] + first for one, first in zip(meshes, starts, strict=False)])
    colours = np.concatenate([np.tile(one[2], (len(one[1]), 1)) for one in meshes])
    vertices = np.concatenate([one[0] for one in meshes]).astype(np.float32)
    mesh = dt.geometry.Mesh(vertices, faces, signed=False)
    eye, target = (0.6, -4.2, 2.6), (0.0, -0.1, 0.35)
    camera = dt.render.Cameras.look_at(eye, target, *SIZE, fov=60.0, up=(0, 0, 1))
    raster = dt.render.rasterize(mesh, camera)
    image = dt.zeros((1, SIZE[1], SIZE[0]), dt.vec(3))
    shade(raster, dt.from_numpy(colours, dtype=dt.vec(3)), tuple(LIGHT.tolist()), image)
    return raster.antialias(image).to_numpy()[0]


def main(argv: Sequence[str] | None = None) -> int:
    """Run the demo; return the exit code."""
    parser = make_parser("soft-drop", __doc__, steps=600, iterations=40)
    options = start(parser, argv)
    scene = DropScene()
    if options.check:
        low = DropScene(start=(-1.3, -1.2, 0.15))
        return print_check(SoftDrop(low, min(options.steps, CHECKED), ti.f64), "throw")

    drop = SoftDrop(scene, options.steps)
    before = watch(drop)
    optimiser = dt.optim.Adam(drop.parameters, LEARNING_RATE)
    training = train(drop, optimiser, options.iterations, "throwing", memory=options.memory)
    if not training.losses:
        return 130  # interrupted before there was anything to show
    after = watch(drop)
    print(training)
    missed = [np.sqrt(2 * loss) for loss in (training.losses[0], min(training.losses))]
    throw = ", ".join(f"{v:.2f}" for v in training.best["throw"])
    print(
        f"thrown with ({throw}) m/s it misses the goal by {missed[1]:.3f} m, {missed[0]:.3f} first"
    )
    if not options.no_pictures:
        draw(options.out, drop, before, after, training.losses)
        print(f"pictures in {options.out}")
    return 0


def draw(
    out: Path, drop: SoftDrop, before: np.ndarray, after: np.ndarray, losses: Sequence[float]
) -> None:
    """Write the pictures: the loss, and the body at some moments of both runs."""
    save_loss_curve(out / "loss.png", losses, "half the squared miss [m²]", "log")
    titled = ("first throw", before), ("found throw", after)
    rows = [(title, [Panel("", picture(drop, states).clip(0, 1))]) for title, states in titled]
    save_images(out / "throws.png", rows)


if __name__ == "__main__":
    sys.exit(main())
