"""First lines and first pictures of demos and commands: how long a newcomer looks at nothing.

Each demo and each command runs in a process of its own at a terminal of its own, with an empty
folder of compiled kernels. 'first line' is the time from the start of the process to its first
output, 'silence' the longest time without any up to the end, 'picture' the processor time up to the
first picture, and 'total' that of all; '>' says that the process was stopped at the limit. With
`--until picture` demos are stopped at their first picture. Lines of what misses a goal end with a
star.

`--record` writes the totals to `demos/support/durations.txt`, from which `difftile demo` says how
long a demo takes.
"""

from __future__ import annotations

import fcntl
import os
import select
import struct
import subprocess
import sys
import tempfile
import termios
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from difftile.announcing import DURATIONS, durations
from difftile.arguments import Parser, positive_float

ROOT = Path(__file__).parents[1]
COMMANDS = (
    "--help",
    "cache",
    "doctor",
    "demo --list",
    "demo wave --help",
    "explain scenes/wave.py",
    "explain scenes/wave.py:step",
    "train",
    "bench --list",
)
FIRST_LINE = 1.0  # goals [s]
FIRST_PICTURE = 20.0
_TICKS = os.sysconf("SC_CLK_TCK") if hasattr(os, "sysconf") else 100


@dataclass(frozen=True)
class Course:
    """What a process showed, and when.

    Attributes:
        line: Wall-clock time up to the first output [s].
        silence: The longest wall-clock time without output [s].
        picture: Processor time up to the first picture [s]; None if there is none.
        total: Processor time of all of it [s].
        ended: The process ended by itself.
    """

    line: float
    silence: float
    picture: float | None
    total: float
    ended: bool


def watch(arguments: Sequence[str], limit: float, until: str, folder: Path) -> Course:
    """Run `difftile` in a folder, and return what it shows.

    Args:
        arguments: Those of the command line.
        limit: Processor time after which the process is stopped [s].
        until: "end", or "picture" to stop at the first one.
        folder: Where it runs; pictures go to `out/` in it, and compiled kernels to `caches/`.
    """
    terminal, inner = os.openpty()
    fcntl.ioctl(inner, termios.TIOCSWINSZ, struct.pack("4H", 24, 80, 0, 0))  # new ones have 0 x 0
    kept = os.environ.get("MPLCONFIGDIR", str(Path(tempfile.gettempdir()) / "first_minutes_fonts"))
    paths = os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])
    places = {"XDG_CACHE_HOME": str(folder / "caches"), "MPLCONFIGDIR": kept, "PYTHONPATH": paths}
    started = latest = time.perf_counter()
    process = subprocess.Popen(
        [sys.executable, "-m", "difftile", *arguments],
        cwd=folder,
        stdin=subprocess.DEVNULL,
        stdout=inner,
        stderr=inner,
        env={**os.environ, **places},
    )
    os.close(inner)
    line = picture = None
    silence = total = 0.0
    ended = False
    while not ended:
        ready, _, _ = select.select([terminal], [], [], 0.05)
        said = _read(terminal) if ready else b""
        now = time.perf_counter()
        if said:
            line = now - started if line is None else line
            silence, latest = max(silence, now - latest), now
        total = _seconds(process.pid) or total
        if picture is None and any((folder / "out").rglob("*.[pg][ni][gf]")):
            picture = total
        ended = process.poll() is not None
        if not ended and (total > limit or (until == "picture" and picture is not None)):
            break
    silence = max(silence, time.perf_counter() - latest)
    if not ended:
        process.kill()
        process.wait()
    os.close(terminal)
    return Course(silence if line is None else line, silence, picture, total, ended)


def _read(terminal: int) -> bytes:
    try:
        return os.read(terminal, 65536)
    except OSError:  # Linux says so where the other end has closed
        return b""


def _seconds(process: int) -> float:
    """Return the processor time of a process and of those that it waited for [s]; 0 if it ended."""
    try:
        text = Path(f"/proc/{process}/stat").read_text(encoding="ascii")
    except OSError:
        return 0.0
    return sum(map(int, text.rpartition(")")[2].split()[11:15])) / _TICKS


def row(name: str, course: Course, *, draws: bool) -> str:
    """Return a line of the table."""
    total = f"{'' if course.ended else '>'}{course.total:.0f}"
    drawn = course.picture if course.picture is not None else course.total
    picture = "" if not draws else f"{drawn:.1f}" if course.picture is not None else f">{drawn:.0f}"
    missed = course.line > FIRST_LINE or (draws and drawn > FIRST_PICTURE)
    end = "  *" if missed else ""
    return f"{name:28} {course.line:10.2f} {course.silence:8.1f} {picture:>8} {total:>6}{end}"


def main(argv: Sequence[str] | None = None) -> int:
    """Measure, and print the table; return the exit code."""
    parser = Parser("difftile bench first_minutes", __doc__)
    parser.add_argument("--demos", help="names, with commas; default: all")
    parser.add_argument("--no-commands", action="store_true", help="measure demos only")
    parser.add_argument(
        "--until", choices=("end", "picture"), default="end", help="stop demos at the first picture"
    )
    parser.add_argument(
        "--limit",
        type=positive_float,
        default=60.0,
        help="processor time [s]; default: %(default)s",
    )
    parser.add_argument("--record", action="store_true", help="write the totals, for the demos")
    options = parser.parse_args(argv)
    files = sorted((ROOT / "demos").glob("[!_]*.py"))
    demos = [file.stem.replace("_", "-") for file in files]
    chosen = options.demos.split(",") if options.demos is not None else demos
    print(f"measuring {len(chosen)} demos, up to {options.limit:.0f} s each", flush=True)
    print(
        f"{'':28} {'first line':>10} {'silence':>8} {'picture':>8} {'total':>6}   [s]", flush=True
    )
    for text in () if options.no_commands else COMMANDS:
        with tempfile.TemporaryDirectory() as folder:
            words = [
                str(ROOT / word) if word.startswith("scenes/") else word for word in text.split()
            ]
            course = watch(words, options.limit, "end", Path(folder))
        print(row(text, course, draws=False), flush=True)
    found = durations(ROOT)
    for name in chosen:
        with tempfile.TemporaryDirectory() as folder:
            course = watch(["demo", name], options.limit, options.until, Path(folder))
        print(row(name, course, draws=True), flush=True)
        if options.until == "end":
            found[name] = f"{course.total:.0f}" if course.ended else f">{course.total:.0f}"
    if options.record:
        lines = [f"{name} {found[name]}\n" for name in demos if name in found]
        (ROOT / DURATIONS).write_text("".join(lines), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
