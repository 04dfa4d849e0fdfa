"""`difftile train`: its arguments; the training itself is imported after they are parsed."""

from __future__ import annotations

import argparse
import importlib
import math
from collections.abc import Sequence
from pathlib import Path

from difftile.arguments import Parser, positive_int
from difftile.training.options import MASKS, MISSING, STRATEGIES, Options

_COLOURS = {"black": (0.0, 0.0, 0.0), "white": (1.0, 1.0, 1.0)}
_ABOUT = """\
Train gaussian splats on pictures of a scene.

DATASET is a folder with a COLMAP model (sparse/0), a transforms.json of nerfstudio, or the
transforms_train.json of a synthetic Blender scene.
"""
_SPLATS = "splats to start from: .ply, .spz, .sog, .ksplat or .splat"
_RESULTS = """\
Writes point_cloud.ply, metrics.json, held_out.png, curve.png, and checkpoints/, which --resume
continues from, into the folder given by --out. Whatever ends a run, a checkpoint is saved.
"""


def main(argv: Sequence[str] | None = None) -> int:
    """Train as the arguments say; return the exit code."""
    parser = _parser()
    given = vars(parser.parse_args(argv))
    # Imported late, since it starts Taichi: --help and mistakes are answered at once.
    run = importlib.import_module("difftile.training.run")
    return run.run(given, parser)


def _parser() -> Parser:
    """Return the parser; its result has only the options of training that are given."""
    parser = Parser("difftile train", _ABOUT, epilog=_RESULTS)
    parser.add_argument(
        "dataset", metavar="DATASET", type=Path, help="the folder with the pictures"
    )
    parser.add_argument("--out", type=Path, required=True, metavar="DIR", help="folder for results")
    parser.add_argument("--resume", action="store_true", help="resume the run in that folder")

    _add_run(parser)
    _add_training(parser)
    return parser


def _add_run(parser: Parser) -> None:
    run = parser.add_argument_group("the run")
    run.add_argument("--arch", choices=("cpu", "cuda"), default="cpu", help="device to train on")
    run.add_argument(
        "--threads",
        type=positive_int,
        help="threads of the CPU; with 1, runs with the same seed are the same to the last bit",
    )
    run.add_argument(
        "--save-every", type=positive_int, default=5000, metavar="N", help="steps; default: 5000"
    )
    run.add_argument(
        "--allow-outside",
        action="store_true",
        help="read pictures outside the folder of the data set, named or linked in it",
    )
    run.add_argument("--no-pictures", action="store_true", help="write no pictures")


def _add_training(parser: Parser) -> None:
    default, how = Options(), parser.add_argument_group("the training")

    def add(name: str, **more: object) -> None:
        attribute = name.removeprefix("--").replace("-", "_")
        said = getattr(default, attribute)
        more["help"] = f"{more['help']}; default: {more.pop('said', said)}"
        how.add_argument(name, default=argparse.SUPPRESS, dest=attribute, **more)

    add("--steps", type=positive_int, metavar="N", help="number of steps")
    add("--batch", type=positive_int, metavar="N", help="images in a step")
    add("--downscale", type=positive_int, metavar="N", help="factor by which pictures are reduced")
    add("--images", metavar="NAME", help="folder of the pictures of a COLMAP model")
    add("--model", said="the largest", metavar="NAME", help="model of COLMAP, as sparse/1")
    add("--missing", choices=MISSING, help="views without a picture: an error, or left out")
    add("--masks", choices=MASKS, help="what becomes of pixels that masks exclude")
    add("--hold-out", type=_count, metavar="N", help="hold out every N-th view, 0 for none")
    add("--strategy", choices=STRATEGIES, help="strategy to add and remove gaussians")
    add("--most", type=positive_int, metavar="N", help="largest number of gaussians")
    add("--start", said="points", metavar="FILE", help=_SPLATS)
    add("--points", type=positive_int, metavar="N", help="initial gaussians, without points")
    add(
        "--sh-degree",
        type=int,
        choices=range(4),
        said="3, or that of --start",
        help="harmonics of the colours",
    )
    add("--background", type=_colour, said="black", metavar="COLOUR", help="black, white or r,g,b")
    add("--seed", type=_count, metavar="N", help="seed of the random numbers")
    flags = {
        "--antialiased": "lower the opacity of small gaussians by as much as the blur adds to them",
        "--optimise-poses": "correct the poses of the cameras by small motions",
        "--exposure": "correct the colours of each picture by a matrix of its own",
    }
    for name, said in flags.items():
        how.add_argument(name, action="store_true", default=argparse.SUPPRESS, help=said)
    add(
        "--depth",
        type=_weight,
        nargs="?",
        const=1.0,
        said="off",
        metavar="WEIGHT",
        help="learn from the depth maps of the data set too, with a weight, 1 unless given",
    )


def _count(text: str) -> int:
    if not text.isdecimal() or int(text) >= 2**32:
        raise argparse.ArgumentTypeError(f"expected a whole number from 0, not {text!r}")
    return int(text)


def _weight(text: str) -> float:
    try:
        weight = float(text)
    except ValueError:
        raise argparse.ArgumentTypeError(
            f"expected a number, not {text!r}; without one, --depth goes after DATASET"
        ) from None
    if not 0.0 < weight <= 1e6:
        raise argparse.ArgumentTypeError(f"expected a number above 0, up to 1e6, not {text!r}")
    return weight


def _colour(text: str) -> tuple[float, float, float]:
    if text in _COLOURS:
        return _COLOURS[text]
    try:
        red, green, blue = (float(word) for word in text.split(","))
    except ValueError:
        red = green = blue = math.nan
    if not all(0.0 <= part <= 1.0 for part in (red, green, blue)):
        raise argparse.ArgumentTypeError(
            f"expected black, white or three numbers from 0 to 1 as 0.5,0.5,0.5, not {text!r}"
        )
    return red, green, blue
