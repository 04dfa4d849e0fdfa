"""`difftile bench`: run the benchmarks of a source checkout."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from difftile.arguments import Parser, did_you_mean, summary_of

_ROOT = Path(__file__).parents[2]
_ABOUT = """\
Run benchmarks of a source checkout, all if none is named.

ARGUMENTS begin with the first option after the names, and go to each of the benchmarks.
"""


def main(argv: Sequence[str] | None = None) -> int:
    """Run the named benchmarks; return the exit code, 0 if none of them failed."""
    given = list(sys.argv[1:] if argv is None else argv)
    start = next((k for k, word in enumerate(given) if not word.startswith("-")), len(given))
    end = next((k for k in range(start, len(given)) if given[k].startswith("-")), len(given))
    own, names, rest = given[:start], given[start:end], given[end:]
    parser = Parser(
        "difftile bench",
        _ABOUT,
        usage="difftile bench [--help] [--list] [NAME ...] [ARGUMENTS ...]",
        epilog="'difftile bench NAME --help' explains a benchmark and its arguments.",
    )
    parser.add_argument("--list", action="store_true", help="list the benchmarks and exit")
    options = parser.parse_args(own)
    known = find_benchmarks(_ROOT)
    if not known:
        parser.error(
            f"there are no benchmarks in {_ROOT}; clone the repository of difftile and install it "
            "with 'pip install -e .'"
        )
    if options.list:
        if names:
            parser.error(f"--list takes no names; leave out {names[0]!r}")
        width = max(map(len, known))
        for name, path in known.items():
            print(f"{name:{width}}  {summary_of(path.read_text(encoding='utf-8'))}".rstrip())
        return 0
    for name in names:
        if name not in known:
            hint = did_you_mean(name, known, "'difftile bench --list' lists the benchmarks")
            parser.error(f"unknown benchmark {name!r}{hint}")
    codes: dict[str, int] = {}
    chosen = names or list(known)
    for name in chosen:  # each in a process of its own, which starts Taichi in its own way
        if len(chosen) > 1:
            print(f"== {name}", flush=True)
        command = [sys.executable, "-m", f"benchmarks.{name}", *rest]
        codes[name] = exit_code(subprocess.run(command, cwd=_ROOT, check=False).returncode)
    failed = [name for name, code in codes.items() if code]
    if failed and len(chosen) > 1:
        print(f"difftile bench: failed: {', '.join(failed)}", file=sys.stderr)
    return max(codes.values(), default=0)


def find_benchmarks(root: Path) -> dict[str, Path]:
    """Return the benchmarks of a checkout by name: the modules with a function `main`.

    Args:
        root: The folder that `difftile` is in.
    """
    if not (root / "pyproject.toml").is_file():  # not a checkout of difftile
        return {}
    found: dict[str, Path] = {}
    for path in sorted((root / "benchmarks").glob("*.py")):
        # As text: a start that only lists them has no time to parse each one.
        if "\ndef main(" in "\n" + path.read_text(encoding="utf-8"):
            found[path.stem] = path
    return found


def exit_code(code: int) -> int:
    """Return the exit code of a process as shells report it: 128 plus the number of a signal."""
    return code if code >= 0 else 128 - code
