"""The sides of a room are found from the lengths of its echoes.

Rays go from a loudspeaker to a microphone by way of up to three walls of a mesh, in a loop with
state. The gradient of their lengths by the position of the walls is that of mirror images in closed
form, which the demo prints beside it, and L-BFGS follows it to the room that was heard.
"""

import sys
from collections.abc import Sequence
from pathlib import Path

import matplotlib
import numpy as np
from matplotlib.figure import Figure

import difftile as dt
from demos.support.options import make_parser, start
from demos.support.pictures import save_loss_curve
from demos.support.training import fit, print_check
from difftile import ti
from scenes.echoes import Echoes, EchoScene

SHOWN = 16  # paths of a picture, the shortest ones that stay below a height
COLOURS = ("#1f6f78", "#d08c3c", "#9aa3ad")  # of paths with one, two and three bounces


def closed_form(scene: EchoScene, size: np.ndarray, heard: np.ndarray) -> np.ndarray:
    """Return the gradient of the loss by the sides of the room, by mirror images [m]."""
    orders, at = scene.orders(), np.array(scene.microphone)
    odd = orders % 2 != 0
    away = orders * size + np.where(odd, size - at, at) - np.array(scene.speaker)
    lengths = np.linalg.norm(away, axis=1)
    return ((lengths - heard) / lengths) @ (away * (orders + odd))


def differentiate(echoes: Echoes) -> np.ndarray:
    """Return the gradient of the loss by the sides of the room, by rays [m]."""
    dt.zero_grads(echoes.size)
    with dt.Tape(echoes.loss):
        echoes.run()
    return echoes.size.grad.to_numpy()


def paths(echoes: Echoes) -> np.ndarray:
    """Return where all paths meet walls, in the room as it is, shape (paths, bounces, 3) [m]."""
    echoes.run()
    return echoes.stops.to_numpy()


def main(argv: Sequence[str] | None = None) -> int:
    """Run the demo; return the exit code."""
    parser = make_parser("echoes", __doc__, iterations=40, memory=False)
    options = start(parser, argv)
    scene = EchoScene()
    if options.check:
        return print_check(Echoes(scene, ti.f64), "size")

    exact = Echoes(scene, ti.f64)
    by_rays = differentiate(exact)
    by_images = closed_form(scene, np.array(scene.guess), exact.heard.to_numpy())
    print(f"gradient by rays {by_rays.round(9)}\nby mirror images {by_images.round(9)}")
    before = paths(exact)
    training = fit(exact, exact.parameters, options.iterations, "listening")
    if not training.losses:
        return 130  # interrupted before there was anything to show
    found = exact.size.to_numpy()
    print(training)
    print(f"sides {found.round(6)} m, of a room of {scene.size} m")
    if not options.no_pictures:
        rooms = [("guess", np.array(scene.guess), before), ("found", found, paths(exact))]
        draw(options.out, scene, training.losses, rooms)
        print(f"pictures in {options.out}")
    return 0


def draw(
    out: Path,
    scene: EchoScene,
    losses: Sequence[float],
    rooms: Sequence[tuple[str, np.ndarray, np.ndarray]],
) -> None:
    """Write the pictures: the loss, and both rooms from above with paths and the true walls."""
    save_loss_curve(out / "loss.png", losses, "squared errors of lengths [m²]", "log")
    orders = scene.orders()
    flat = np.flatnonzero(orders[:, 2] == 0)[:SHOWN]
    with matplotlib.rc_context({"font.size": 9}):
        figure = Figure(figsize=(8, 3.6), layout="constrained")
        for axes, (title, size, stops) in zip(figure.subplots(1, 2), rooms, strict=True):
            axes.set_title(f"{title}: {size[0]:.2f} x {size[1]:.2f} x {size[2]:.2f} m")
            for k in flat[::-1]:
                count = int(np.abs(orders[k]).sum())
                line = np.stack([scene.speaker, *stops[k, :count], scene.microphone])
                axes.plot(line[:, 0], line[:, 1], color=COLOURS[count - 1], lw=1)
            for sides, style in ((size, "k-"), (np.array(scene.size), "k:")):
                x, y = sides[0] * np.array([0, 1, 1, 0, 0]), sides[1] * np.array([0, 0, 1, 1, 0])
                axes.plot(x, y, style, lw=2)
            for at, mark in ((scene.speaker, "s"), (scene.microphone, "o")):
                axes.plot(at[0], at[1], mark, color="k", ms=7)
            axes.set(xlim=(-0.2, 6.4), ylim=(-0.2, 4.4), aspect="equal", xlabel="m")
        figure.savefig(out / "rooms.png", dpi=100)


if __name__ == "__main__":
    sys.exit(main())
