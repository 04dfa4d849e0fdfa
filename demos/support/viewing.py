"""Demos that are watched while they run, or recorded."""

import argparse
import sys
from pathlib import Path

import difftile as dt
from difftile.arguments import Parser

VIEWS = ("window", "web", "none")
RECORDS = (".gif", ".webp", ".mp4", "")  # endings; a name without one is a folder


def add_view_options(parser: Parser) -> None:
    """Add `--view` and `--record`."""
    parser.add_argument(
        "--view", choices=VIEWS, default="none", help="watch and interact; default: %(default)s"
    )
    parser.add_argument(
        "--record",
        type=_recorded,
        metavar="FILE",
        help="record as .gif, .webp, .mp4 or a folder; without a view, --iterations pictures",
    )


def is_viewed(options: argparse.Namespace) -> bool:
    """Return whether a viewer or a recording is requested."""
    return options.view != "none" or options.record is not None


def make_app(
    title: str,
    options: argparse.Namespace,
    view: tuple[float, float, float, float] = (0.0, 0.0, 1.0, 1.0),
    speed: float | None = None,
) -> dt.viewer.App:
    """Return the app that `show` will run; `view` and `speed` are passed to `dt.viewer.App`.

    Raises:
        SystemExit: A library is missing; the message names it.
    """
    backend = "null" if options.view == "none" else options.view
    try:
        return dt.viewer.App(
            title, backend=backend, view=view, speed=speed, screenshots=options.out
        )
    except dt.ViewerError as error:
        raise SystemExit(_said(error)) from None


def show(app: dt.viewer.App, options: argparse.Namespace) -> int:
    """Run an app until it is closed, or headless for `--iterations` pictures; return a code."""
    frames = options.iterations if options.view == "none" else None
    try:
        app.run(frames=frames, record=options.record)
    except dt.ViewerError as error:
        print(_said(error), file=sys.stderr)
        return 1
    if options.record is not None:
        print(f"recorded {options.record}")
    return 0


def _recorded(text: str) -> Path:
    file = Path(text)
    if file.suffix.lower() not in RECORDS:
        raise argparse.ArgumentTypeError(
            f"cannot record {file.name!r}: take .gif, .webp, .mp4, or a folder (no ending)"
        )
    return file


def _said(error: dt.ViewerError) -> str:
    """Return the message, with the option of demos in place of the library's variable."""
    names_it = "DIFFTILE_VIEWER" in str(error)
    return f"{error}; demos take --view web or none" if names_it else str(error)
