"""`difftile doctor`: what is installed, what works here, and what is missing."""

from __future__ import annotations

import json
import os
import platform
import re
import signal
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, requires, version
from pathlib import Path

from difftile.arguments import Parser

ARCHS = ("cpu", "cuda", "vulkan", "metal")
_SECONDS = 120.0  # that a backend may take: drivers that hang are as good as none
_ABOUT = """\
Show versions, which backends work here, the cache, and optional packages.

Each backend is started in a process of its own, where the gradient of a small program is compared
with what it must be. The exit code is 0 if that is right on the CPU, else 1.
"""


@dataclass(frozen=True, slots=True)
class _Optional:
    """A package that difftile can go without: what it is for, and the extra that brings it."""

    purpose: str
    extra: str = ""


# By name of the distribution.
OPTIONAL = {
    "scipy": _Optional("dt.optim.scipy_minimize", "scipy"),
    "scikit-image": _Optional("the photographs that demos begin with", "demo"),
    "imageio-ffmpeg": _Optional('app.run(record="run.mp4")', "video"),
    "viser": _Optional('dt.viewer.App(backend="web")', "viewer"),
    "torch": _Optional('return_type("torch"), and peers of benchmarks'),
}


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of the self-test of a backend.

    Args:
        works: The gradient was right.
        text: What to say of it.
        cache: The folder of compiled kernels, if it was learned.
    """

    works: bool
    text: str
    cache: str = ""


def main(argv: Sequence[str] | None = None) -> int:
    """Report as the module says; return the exit code."""
    Parser("difftile doctor", _ABOUT).parse_args(argv)
    _print_versions()
    print("\nBackends, each with a gradient that is known")
    outcomes: dict[str, Outcome] = {}
    for arch in ARCHS:
        outcomes[arch] = outcome = self_test(arch)
        print(f"  {arch:8} {outcome.text}", flush=True)
    _print_cache(outcomes["cpu"].cache)
    _print_optional()
    if not outcomes["cpu"].works:
        print("\nThe CPU does not work: nothing of difftile does.")
    return 0 if outcomes["cpu"].works else 1


# What is installed


def _print_versions() -> None:
    print(f"difftile {_version('difftile')}, {Path(__file__).parents[1]}")
    print(f"Python   {platform.python_version()}, {sys.executable}")
    print(f"Taichi   {_version('taichi')}{_unlike_pinned()}")
    print(f"NumPy    {_version('numpy')}")
    print(f"System   {platform.platform()}, {os.cpu_count()} threads")
    # They change what Taichi does, whatever a program asks for.
    for name in sorted(name for name in os.environ if name.startswith("TI_")):
        print(f"Environment  {name}={os.environ[name]}")


def _version(distribution: str) -> str:
    try:
        return version(distribution)
    except PackageNotFoundError:
        return "not installed"


def _unlike_pinned() -> str:
    """Return a remark where Taichi is not the release that difftile is written for."""
    try:
        lines = requires("difftile") or []
    except PackageNotFoundError:
        return ""
    pinned = next((line[len("taichi==") :] for line in lines if line.startswith("taichi==")), "")
    wanted = re.split(r"[\s;]", pinned)[0]
    return "" if wanted in ("", _version("taichi")) else f", but difftile needs {wanted}"


def _print_optional() -> None:
    print("\nOptional packages")
    width = max(map(len, OPTIONAL))
    for name, row in OPTIONAL.items():
        got = _version(name)
        if got == "not installed":
            got += f" (pip install {f'difftile[{row.extra}]' if row.extra else name})"
        print(f"  {name:{width}}  {got}: {row.purpose}")


# What works


def self_test(arch: str) -> Outcome:
    """Run the self-test on a backend, in a process that may crash."""
    if arch == "metal" and sys.platform != "darwin":
        return Outcome(False, "not available")
    # With the imports of this process, wherever they come from.
    command = f"import sys; sys.path[:] = {sys.path!r}\n"
    command += f"from difftile.commands.selftest import main; main({arch!r})"
    try:
        done = subprocess.run(
            [sys.executable, "-c", command],
            capture_output=True,
            text=True,
            errors="replace",
            timeout=_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return Outcome(False, f"no answer within {_SECONDS:.0f} s")
    return read_outcome(done.returncode, done.stdout, done.stderr)


def read_outcome(code: int, out: str, err: str) -> Outcome:
    """Return what a process says that ran the self-test.

    Args:
        code: Its exit code, below 0 the signal that ended it.
        out: What it printed; the outcome is the last line.
        err: What it said of errors.
    """
    last = out.strip().rpartition("\n")[2]
    if code == 0 and last.startswith("{"):
        found = json.loads(last)
        if "error" in found:
            absent = "not available" in found["error"]
            return Outcome(False, "not available" if absent else found["error"])
        return Outcome(True, f"works, {found['seconds']:.1f} s", found["cache"])
    said = err.strip().rpartition("\n")[2] or "nothing on stderr"
    return Outcome(False, f"{_end(code)}: {said}")


def _end(code: int) -> str:
    if code >= 0:
        return f"ended with exit code {code}"
    try:
        return f"crashed with {signal.Signals(-code).name}"
    except ValueError:  # one that Python has no name for
        return f"crashed with signal {-code}"


def _print_cache(folder: str) -> None:
    if not folder:
        return
    files = [path for path in Path(folder).rglob("*") if path.is_file()]
    size = sum(path.stat().st_size for path in files)
    print(f"\nCache of compiled kernels\n  {folder}, {size / 2**20:.1f} MiB in {len(files)} files")
