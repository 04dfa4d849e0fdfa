"""`difftile cache`: the folder of compiled kernels, its size, and how to empty it."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import Any

from difftile.arguments import Parser

_ABOUT = """\
Show the folder of compiled kernels and its size, or empty it.

Programs that run meanwhile go on; kernels are compiled again when a program next launches them.
"""


def main(argv: Sequence[str] | None = None) -> int:
    """Print the folder, and empty it if that is asked for; return the exit code."""
    parser = Parser("difftile cache", _ABOUT)
    parser.add_argument("--clear", action="store_true", help="remove all files in it")
    options = parser.parse_args(argv)
    substrate: Any = import_module("difftile.substrate")
    folder = Path(substrate.cache_folder())
    files = files_in(folder)
    text = described(folder, files)
    if not options.clear:
        print(text)
        return 0
    failed = [path for path in files if not _removed(path)]
    if failed:
        parser.exit(1, f"difftile cache: error: {failed[0]} cannot be removed\n")
    print(f"removed: {text}")
    return 0


def files_in(folder: Path) -> list[Path]:
    """Return the files in a folder and below it."""
    return [path for path in folder.rglob("*") if path.is_file()]


def described(folder: Path, files: Sequence[Path]) -> str:
    """Return a folder and the size of its files, some of which may be gone by now."""
    total = 0
    for path in files:
        with suppress(OSError):
            total += path.stat().st_size
    return f"{folder}, {total / 2**20:.1f} MiB in {len(files)} files"


def _removed(path: Path) -> bool:
    try:
        path.unlink(missing_ok=True)
    except OSError:
        return False
    return True
