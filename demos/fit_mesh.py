"""The vertices and the colours of a mesh are found from pictures of another one.

A ball becomes a body with three arms, seen by eight cameras. The demo does it twice: without the
derivatives of outlines, where nothing pulls the surface outwards and it folds up, and with them, by
`raster.antialias`.
"""

import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from demos.support.images import Panel, save_images
from demos.support.options import make_parser, start
from demos.support.pictures import save_loss_curve
from demos.support.training import print_check, train
from difftile import ti
from scenes.mesh_views import Descent, MeshScene, MeshViews

SHOWN = 6  # views of the picture


def main(argv: Sequence[str] | None = None) -> int:
    """Run the demo; return the exit code."""
    parser = make_parser("fit-mesh", __doc__, iterations=200, memory=False)
    options = start(parser, argv)
    if options.check:
        small = MeshScene(squares=3, texels=4, views=2, pixels=16)
        return print_check(MeshViews(small, ti.f64), "vertices")

    rows: list[tuple[str, np.ndarray]] = []
    losses: list[float] = []
    for edges in (False, True):
        views = MeshViews(MeshScene(), edges=edges)
        before = views.miss()
        title = "with outlines" if edges else "without outlines"
        descent = Descent(views, options.iterations)
        training = train(views, descent, options.iterations, title, keep="last")
        if not training.losses:
            return 130  # interrupted before there was anything to show
        print(f"{title}: {training}")
        print(
            f"vertices are {views.miss():.4f} from the surface in the pictures, {before:.4f} first"
        )
        if not edges:
            rows.append(("pictures", views.target.to_numpy()))
        rows.append((title, views.view().to_numpy()))
        losses = training.losses
    if not options.no_pictures:
        draw(options.out, rows, losses)
        print(f"pictures in {options.out}")
    return 0


def draw(out: Path, rows: Sequence[tuple[str, np.ndarray]], losses: Sequence[float]) -> None:
    """Write the pictures: the views, and the loss with outlines."""
    save_loss_curve(out / "loss.png", losses, "mean square off the pictures", "log")
    shown = [
        (title, [Panel("", one.clip(0, 1)) for one in images[:SHOWN]]) for title, images in rows
    ]
    save_images(out / "views.png", shown)


if __name__ == "__main__":
    sys.exit(main())
