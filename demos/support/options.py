"""The arguments that all demos take."""

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path

import difftile as dt
from difftile.announcing import announce
from difftile.arguments import Parser, positive_int
from difftile.compiling import watch_compiling
from difftile.progress import is_first, show_status

ARCHS = ("cpu", "cuda", "vulkan", "metal", "gpu")
_ROOT = Path(__file__).parents[2]
_LARGEST_SEED = 2**32 - 1  # the range of NumPy's generators


def make_parser(
    name: str,
    description: str | None,
    *,
    steps: int | None = None,
    iterations: int,
    memory: bool = True,
    limit: str | None = None,
) -> Parser:
    """Return a parser with the options that all demos have.

    Args:
        name: The demo, as the command line calls it.
        description: What `--help` begins with.
        steps: Default number of simulation steps; without it the option is left out.
        iterations: Default number of iterations of the optimisation.
        memory: Whether the tape may be given a limit.
        limit: What it is by default.
    """
    parser = Parser(f"difftile demo {name}", description)
    folder = Path("out") / name.replace("-", "_")
    say = "default: %(default)s"
    if steps is not None:
        parser.add_argument("--steps", type=positive_int, default=steps, help=f"of a run; {say}")
    parser.add_argument(
        "--iterations", type=positive_int, default=iterations, help=f"of the optimisation; {say}"
    )
    parser.add_argument("--seed", type=_seed, default=0, help=f"of random numbers; {say}")
    parser.add_argument("--arch", choices=ARCHS, default="cpu", help=f"device; {say}")
    if memory:
        parser.add_argument(
            "--memory",
            type=_memory,
            default=limit,
            help=f"limit of the tape for old values, such as 64MB; default: {limit or 'none'}",
        )
    parser.add_argument("--out", type=Path, default=folder, help=f"folder for pictures; {say}")
    parser.add_argument("--no-pictures", action="store_true", help="write no pictures")
    parser.add_argument(
        "--check", action="store_true", help="compare a gradient with differences and exit"
    )
    return parser


def start(parser: Parser, argv: Sequence[str] | None) -> argparse.Namespace:
    """Parse the arguments, start difftile, and make the folder for the pictures.

    Raises:
        SystemExit: With code 2, after one line that names the error in the arguments.
    """
    options = parser.parse_args(argv)
    summary, *_ = (parser.description or "").splitlines()
    announce(parser.prog.split()[-1], summary, _ROOT)
    watch_compiling(_show_compiling)
    if not is_first():  # rank 0 prints and draws for all
        options.no_pictures = True
        sys.stdout = open(os.devnull, "w")
    try:
        start_on(options.arch)
    except dt.FieldError as error:
        parser.error(f"argument --arch: {error}")
    if not (options.no_pictures or options.check):
        try:
            options.out.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            parser.error(f"argument --out: {options.out}: {error.strerror}")
    return options


def start_on(arch: str) -> None:
    """Start difftile; tests, which run many demos in a process, keep the running one."""
    dt.init(arch=arch)


def _show_compiling(what: str, compiled: int) -> None:
    show_status(f"{what} ({compiled} programs compiled)" if what else "")


def _memory(text: str) -> str:
    try:
        dt.Tape(memory=text)
    except dt.TapeError as error:
        raise argparse.ArgumentTypeError(str(error)) from None
    return text


def _seed(text: str) -> int:
    try:
        number = int(text)
    except ValueError:
        number = -1
    if not 0 <= number <= _LARGEST_SEED:
        raise argparse.ArgumentTypeError(f"expected a whole number of 0 or more, not {text!r}")
    return number
