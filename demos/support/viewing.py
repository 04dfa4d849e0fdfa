"""Demos that one looks at while they run, or that record what one would see."""

import argparse
import sys
from pathlib import Path

import difftile as dt
from difftile.arguments import Parser

VIEWS = ("window", "web", "none")


def add_view_options(parser: Parser) -> None:
    """Add `--view` and `--record`."""
    parser.add_argument(
        "--view", choices=VIEWS, default="none", help="look on and take part; default: %(default)s"
    )
    parser.add_argument(
        "--record",
        type=Path,
        metavar="FILE",
        help="what is seen as .gif, .webp, .mp4 or a folder; without a view --iterations pictures",
    )


def is_viewed(options: argparse.Namespace) -> bool:
    """Return whether someone looks on, or wants a record of what would be seen."""
    return options.view != "none" or options.record is not None


def make_app(
    title: str,
    options: argparse.Namespace,
    view: tuple[float, float, float, float] = (0.0, 0.0, 1.0, 1.0),
    speed: float | None = None,
) -> dt.viewer.App:
    """Return the app that `show` will run; `view` and `speed` are those of `dt.viewer.App`.

    Raises:
        SystemExit: A library is missing; it says which.
    """
    backend = "null" if options.view == "none" else options.view
    try:
        return dt.viewer.App(
            title, backend=backend, view=view, speed=speed, screenshots=options.out
        )
    except dt.ViewerError as error:
        raise SystemExit(str(error)) from None


def show(app: dt.viewer.App, options: argparse.Namespace) -> int:
    """Run an app until it is closed, or headless for `--iterations` pictures; return a code."""
    frames = options.iterations if options.view == "none" else None
    try:
        app.run(frames=frames, record=options.record)
    except dt.ViewerError as error:
        print(error, file=sys.stderr)
        return 1
    if app.error is not None:
        print(app.error, file=sys.stderr)
        return 1
    if options.record is not None:
        print(f"recorded {options.record}")
    return 0
