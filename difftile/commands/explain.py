"""`difftile explain`: parse the arguments; `inspection` does the work."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path

from difftile.arguments import Parser, did_you_mean

_ABOUT = """\
Explain a kernel and its adjoint: roles of fields, memory of a tape, atomics, cut gradients.
With --try, measure how its parallel loops can run, and print what is fastest.

FILE is a Python file, KERNEL the name of a kernel in it, or CLASS.METHOD. Without KERNEL the
command lists the kernels of the file, or explains the kernel if there is only one.
"""
_MORE = """\
A kernel is compiled for the types of its arguments. By default these are the types of its last
launch while FILE is imported, which skips 'if __name__ == "__main__":', or with --run while FILE
runs as a program. --args gives the types instead, and no kernel is launched:

  difftile explain wave.py:step --args "x: f32[2d] grad, v: vec3[100], h: float"

A field is an element type, its dimensions or its shape in brackets, and 'grad' if it has a
gradient; a number is float, int or a value.

--try launches copies of the fields of the kernel's last launch while FILE is imported, or with
--run while it runs: each parallel loop with all steps that kernel.schedule() can give it, in the
launch and in its adjoint. It takes seconds for each, as code is compiled, and keeps nothing.

The exit code is 1 if FILE fails, and 2 after a mistake
in the arguments.
"""


def main(argv: Sequence[str] | None = None) -> int:
    """Explain the kernels of a file; return the exit code."""
    given = list(sys.argv[1:] if argv is None else argv)
    end = given.index("--") if "--" in given else len(given)
    parser = Parser(
        "difftile explain",
        _ABOUT,
        usage="difftile explain [--help] FILE[:KERNEL] [--args TYPES] [--source] "
        "[--try] [--run [-- ARGUMENTS ...]]",
        epilog=_MORE,
    )
    parser.add_argument("target", metavar="FILE[:KERNEL]", help="a kernel, or the file of several")
    parser.add_argument("--args", metavar="TYPES", help="the types of its arguments")
    parser.add_argument("--source", action="store_true", help="print the adjoint as Taichi code")
    parser.add_argument(
        "--try", dest="measure", action="store_true", help="measure the steps of parallel loops"
    )
    parser.add_argument("--run", action="store_true", help="run FILE; its arguments follow '--'")
    options = parser.parse_args(given[:end])
    if end < len(given) and not options.run:
        parser.error("arguments of FILE after '--' need --run")
    if options.run and options.args is not None:
        parser.error("use either --run or --args: with --run the launches of FILE set the types")
    if options.measure and (options.args is not None or options.source):
        parser.error("--try measures a launch of FILE: leave --args and --source out")
    file, kernel = _target(parser, options.target)
    if options.measure or sys.stderr.isatty():
        note = f"running {file}" if options.run else f"importing {file}, which runs its top level"
        print(f"{parser.prog}: {note} ...", file=sys.stderr, flush=True)
    # Imported late, since it starts Taichi.
    inspection = import_module("difftile.commands.inspection")
    task = inspection.ExplainRequest(
        file=file,
        kernel=kernel,
        args=options.args,
        source=options.source,
        measure=options.measure,
        argv=given[end + 1 :] if options.run else None,
    )
    return inspection.inspect(task, parser)


def _target(parser: Parser, text: str) -> tuple[Path, str | None]:
    """Return the file, and the name of the kernel if there is one."""
    head, colon, tail = text.rpartition(":")
    whole = not colon or "/" in tail or "\\" in tail or Path(text).is_file()
    file, kernel = (Path(text), None) if whole else (Path(head), tail)
    if file.is_dir():
        parser.error(f"'{file}' is a folder; name a Python file in it")
    if not file.is_file():
        folder = file.parent
        near = [str(path) for path in sorted(folder.glob("*.py"))] if folder.is_dir() else []
        parser.error(f"there is no file '{file}'{did_you_mean(str(file), near)}")
    if kernel == "":
        parser.error(f"the name of a kernel is missing after '{file}:'")
    return file, kernel
