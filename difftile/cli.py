"""The command line: ``difftile demo NAME``, ``difftile doctor`` and the other commands.

A command is imported only when it runs, so that ``--help`` is immediate.
"""

import os
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version

from difftile.arguments import Parser, did_you_mean, split_at_name

_INTERRUPTED = 130  # the exit code of shells after SIGINT: 128 + 2
_UNREAD = 141  # and after SIGPIPE: 128 + 13


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line.

    Args:
        argv: The arguments; None for the arguments of the process.

    Returns:
        The exit code.

    Raises:
        SystemExit: With code 2 after a mistake in the arguments, with 0 after ``--help`` or
            ``--version``.
    """
    own, name, rest = split_at_name(sys.argv[1:] if argv is None else argv)
    width = max(map(len, _COMMANDS))
    commands = "\n".join(f"  {key:{width}}  {row.summary}" for key, row in _COMMANDS.items())
    parser = Parser(
        "difftile",
        "A differentiable simulation and rendering language embedded in Python.",
        usage="difftile [--help] [--version] COMMAND ...",
        epilog=f"commands:\n{commands}\n\n'difftile COMMAND --help' explains a command.",
    )
    parser.add_argument("--version", action="version", version=f"difftile {_version()}")
    parser.parse_args(own)
    if name is None:
        parser.error("a command is missing; 'difftile --help' lists them")
    if name not in _COMMANDS:
        hint = did_you_mean(name, _COMMANDS, "'difftile --help' lists the commands")
        parser.error(f"unknown command {name!r}{hint}")
    try:
        code = _COMMANDS[name].run(rest)
        sys.stdout.flush()
    except KeyboardInterrupt:
        return _INTERRUPTED
    except BrokenPipeError:  # the reader of the output has ended, as `head` does
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # for the flush at the end
        return _UNREAD
    return code


def _by(module: str) -> Callable[[Sequence[str]], int]:
    """Return a command that imports a module and runs its `main`."""

    def run(argv: Sequence[str]) -> int:
        return import_module(module).main(argv)

    return run


@dataclass(frozen=True, slots=True)
class _Command:
    summary: str
    run: Callable[[Sequence[str]], int]


_COMMANDS = {
    "demo": _Command("run a demo, or list them with --list", _by("difftile.commands.demo")),
    "train": _Command(
        "train gaussian splats on pictures of a scene", _by("difftile.training.command")
    ),
    "learn": _Command(
        "learn a task of robots, with gradients or without", _by("difftile.commands.learn")
    ),
    "worlds": _Command(
        "check which models of robots load, below a folder", _by("difftile.commands.worlds")
    ),
    "explain": _Command("explain a kernel and its adjoint", _by("difftile.commands.explain")),
    "doctor": _Command("show versions and which backends work", _by("difftile.commands.doctor")),
    "cache": _Command(
        "show the folder of compiled kernels, or empty it", _by("difftile.commands.cache")
    ),
    "bench": _Command("run benchmarks of a source checkout", _by("difftile.commands.bench")),
}


def _version() -> str:
    try:
        return version("difftile")
    except PackageNotFoundError:  # a source tree that is not installed
        return "(not installed)"
