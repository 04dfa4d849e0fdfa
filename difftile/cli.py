"""The command line: ``difftile demo NAME``, ``difftile doctor`` and the other commands.

A demo is an entry point of the group ``difftile.demos``: a function
``main(argv: list[str] | None = None) -> int`` in a module whose docstring begins with one line of
description. Any installed package may provide demos. A demo is imported only when it runs, so that
``--help`` and ``--list`` are immediate.
"""

import os
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import import_module
from importlib.metadata import EntryPoint, PackageNotFoundError, entry_points, version
from importlib.util import find_spec

from difftile.arguments import Parser, did_you_mean, summary_of

_DEMOS = "difftile.demos"
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
    own, name, rest = _split(sys.argv[1:] if argv is None else argv)
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


def _demo(argv: Sequence[str]) -> int:
    own, name, rest = _split(argv)
    parser = Parser(
        "difftile demo",
        "Run a demo.",
        usage="difftile demo [--help] [--list] NAME [ARGUMENTS ...]",
        epilog="'difftile demo NAME --help' explains a demo and its arguments.",
    )
    parser.add_argument("--list", action="store_true", help="list the demos and exit")
    options = parser.parse_args(own)
    demos = {demo.name: demo for demo in sorted(entry_points(group=_DEMOS))}
    if options.list:
        if name is not None:
            parser.error(f"--list takes no name; leave out {name!r}")
        width = max(map(len, demos), default=0)
        for key, demo in demos.items():
            print(f"{key:{width}}  {_description(demo)}".rstrip())
        return 0
    if name is None:
        parser.error("a name is missing; 'difftile demo --list' lists the demos")
    if name not in demos:
        hint = did_you_mean(name, demos, "'difftile demo --list' lists the demos")
        parser.error(f"unknown demo {name!r}{hint}")
    run: Callable[[list[str]], int] = demos[name].load()
    return run(rest)


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
    "demo": _Command("run a demo, or list them with --list", _demo),
    "train": _Command(
        "train gaussian splats on pictures of a scene", _by("difftile.training.command")
    ),
    "explain": _Command("explain a kernel and its adjoint", _by("difftile.commands.explain")),
    "doctor": _Command("show versions and which backends work", _by("difftile.commands.doctor")),
    "bench": _Command("run benchmarks of a source checkout", _by("difftile.commands.bench")),
}


def _split(argv: Sequence[str]) -> tuple[list[str], str | None, list[str]]:
    """Split arguments into the options before the first name, that name, and the rest.

    The rest belongs to the command or demo of that name. `argparse` has ``REMAINDER`` for this,
    which is undocumented since Python 3.9 because it mishandles options.
    """
    for position, word in enumerate(argv):
        if not word.startswith("-"):
            return list(argv[:position]), word, list(argv[position + 1 :])
    return list(argv), None, []


def _description(demo: EntryPoint) -> str:
    """Return the first line of the docstring of a demo's module, without importing the module."""
    try:
        spec = find_spec(demo.module)
    except ModuleNotFoundError:  # the package of the module is missing
        spec = None
    if spec is None:
        return f"(not found: {demo.module})"
    # Only loaders of Python source have the method; a compiled module has no docstring to read.
    get_source: Callable[[str], str | None] | None = getattr(spec.loader, "get_source", None)
    return summary_of((get_source and get_source(spec.name)) or "")


def _version() -> str:
    try:
        return version("difftile")
    except PackageNotFoundError:  # a source tree that is not installed
        return "(not installed)"
