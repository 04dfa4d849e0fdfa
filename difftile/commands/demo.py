"""`difftile demo`: run a demo, list them, or print the physics of one.

A demo is a module of the package `demos` with a function `main(argv) -> int`. The package, and
`scenes` beside it, lie in the root of a checkout; a wheel carries both in the folder `_gallery`
of difftile (docs/decisions/0054), which is on the path only while a demo runs.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path

from difftile.announcing import announced
from difftile.arguments import Parser, did_you_mean, split_at_name, summary_of
from difftile.ticking import ticking

_PACKAGE = Path(__file__).parents[1]


def main(argv: Sequence[str] | None = None) -> int:
    """Run the named demo with the arguments that follow its name; return its exit code."""
    own, name, rest = split_at_name(sys.argv[1:] if argv is None else argv)
    parser = Parser(
        "difftile demo",
        "Run a demo.",
        usage="difftile demo [--help] [--list] [--source] NAME [ARGUMENTS ...]",
        epilog="'difftile demo NAME --help' explains a demo and its arguments.",
    )
    parser.add_argument("--list", action="store_true", help="list the demos and exit")
    parser.add_argument(
        "--source", action="store_true", help="print the file with its physics, to copy, and exit"
    )
    options = parser.parse_args(own)
    demos = find_demos(folder := gallery())
    if options.list:
        if name is not None:
            parser.error(f"--list takes no name; leave out {name!r}")
        width = max(map(len, demos), default=0)
        for key, path in demos.items():
            print(f"{key:{width}}  {summary_of(path.read_text(encoding='utf-8'))}".rstrip())
        return 0
    if name is None:
        parser.error("a name is missing; 'difftile demo --list' lists the demos")
    name = name.replace("_", "-")
    if name not in demos:
        hint = did_you_mean(name, demos, "'difftile demo --list' lists the demos")
        parser.error(f"unknown demo {name!r}{hint}")
    if options.source or rest == ["--source"]:
        print(source_of(demos[name]).read_text(encoding="utf-8"), end="")
        return 0
    if sys.path[0] != str(folder):  # before packages of the user that have the same names
        sys.path.insert(0, str(folder))
    helps = not {"-h", "--help"}.isdisjoint(rest)
    if helps and sys.stderr.isatty():
        print(f"{parser.prog}: loading {name} ...", file=sys.stderr, flush=True)
    # Imports take most of a second, on a busy machine several.
    summary = None if helps else summary_of(demos[name].read_text(encoding="utf-8"))
    with announced(name, summary, folder), ticking(shown=not helps):
        return import_module(f"demos.{demos[name].stem}").main(rest)


def gallery() -> Path:
    """Return the folder that has the packages `demos` and `scenes`."""
    carried = _PACKAGE / "_gallery"
    return carried if carried.is_dir() else _PACKAGE.parent


def find_demos(folder: Path) -> dict[str, Path]:
    """Return the demos in a folder's package `demos` by name, in order.

    Args:
        folder: One with the packages `demos` and `scenes`.
    """
    files = sorted((folder / "demos").glob("[!_]*.py")) if (folder / "scenes").is_dir() else []
    return {file.stem.replace("_", "-"): file for file in files}


def source_of(demo: Path) -> Path:
    """Return the file of `scenes` with the physics of a demo: the one that the demo imports.

    Args:
        demo: A file of the package `demos`.
    """
    found = re.search(
        r"^from scenes\.(\w+) import ", demo.read_text(encoding="utf-8"), re.MULTILINE
    )
    return demo.parents[1] / "scenes" / f"{found[1]}.py" if found else demo
