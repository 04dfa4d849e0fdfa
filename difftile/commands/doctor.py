"""`difftile doctor`: report versions, working backends and missing packages."""

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
_SECONDS = 120.0  # limit of a self-test: a driver may hang
_ABOUT = """\
Show versions, which backends work here, the cache, and optional packages.

Each backend starts in a process of its own, which compares the gradient of a small program with
the exact one. The exit code is 0 if that is right on the CPU, else 1.
"""


@dataclass(frozen=True, slots=True)
class _Optional:
    """An optional package: its purpose, and the extra of difftile that installs it."""

    purpose: str
    extra: str = ""


# By name of the distribution.
OPTIONAL = {
    "scipy": _Optional("dt.optim.scipy_minimize", "scipy"),
    "scikit-image": _Optional("the photographs that demos begin with", "demo"),
    "imageio-ffmpeg": _Optional('app.run(record="run.mp4")', "video"),
    "viser": _Optional('dt.viewer.App(backend="web")', "viewer"),
    "torch": _Optional("dt.torch, and peers of benchmarks", "torch"),
    "jax": _Optional("dt.jax, and peers of benchmarks", "jax"),
}


@dataclass(frozen=True, slots=True)
class Outcome:
    """The outcome of the self-test of a backend.

    Args:
        works: The gradient was right.
        text: A description.
        cache: The folder of compiled kernels, if known.
    """

    works: bool
    text: str
    cache: str = ""


def main(argv: Sequence[str] | None = None) -> int:
    """Print the report; return the exit code."""
    Parser("difftile doctor", _ABOUT).parse_args(argv)
    taichi, pinned = _version("taichi"), _pinned_taichi()
    unlike = "" if pinned in ("", taichi) else f", but difftile needs {pinned}"
    print(f"difftile {_version('difftile')}, {Path(__file__).parents[1]}")
    print(f"Python   {platform.python_version()}, {sys.executable}")
    print(f"Taichi   {taichi}{unlike}")
    print(f"NumPy    {_version('numpy')}")
    print(f"System   {platform.platform()}, {os.cpu_count()} threads")
    # These change what Taichi does, regardless of a program's settings.
    for name in sorted(name for name in os.environ if name.startswith("TI_")):
        print(f"Environment  {name}={os.environ[name]}")
    print("\nBackends, each with a gradient that is known")
    outcomes: dict[str, Outcome] = {}
    for arch in ARCHS:
        outcomes[arch] = outcome = self_test(arch)
        print(f"  {arch:8} {outcome.text}", flush=True)
    if outcomes["cpu"].cache:
        files = [path for path in Path(outcomes["cpu"].cache).rglob("*") if path.is_file()]
        size = sum(path.stat().st_size for path in files) / 2**20
        print("\nCache of compiled kernels")
        print(f"  {outcomes['cpu'].cache}, {size:.1f} MiB in {len(files)} files")
        for line in measured_costs(Path(outcomes["cpu"].cache)):
            print(f"  {line}")
    print("\nOptional packages")
    width = max(map(len, OPTIONAL))
    for name, row in OPTIONAL.items():
        got = _version(name)
        if got == "not installed":
            got += f" (pip install {f'difftile[{row.extra}]' if row.extra else name})"
        print(f"  {name:{width}}  {got}: {row.purpose}")
    if not outcomes["cpu"].works:
        print("\nThe CPU does not work: nothing of difftile does.")
    return 0 if outcomes["cpu"].works else 1


def measured_costs(folder: Path) -> list[str]:
    """Return a line for each file with costs of sums into shared elements."""
    lines: list[str] = []
    for file in sorted(folder.glob("costs-*.json")):
        threads = file.stem.rpartition("-")[2]
        try:
            found: dict[str, float] = json.loads(file.read_text(encoding="utf-8"))
            text = ", ".join(f"{name} {round(cost, 2):g}" for name, cost in found.items())
        except (OSError, ValueError, TypeError, AttributeError, RecursionError):
            text = "unreadable, and measured again when needed"
        lines.append(f"Costs of sums into shared elements, {threads} threads [ns]: {text}")
    return lines


def _version(distribution: str) -> str:
    try:
        return version(distribution)
    except PackageNotFoundError:
        return "not installed"


def _pinned_taichi() -> str:
    """Return the release of Taichi that difftile is written for, or ''."""
    try:
        lines = requires("difftile") or []
    except PackageNotFoundError:
        return ""
    pinned = next((line[len("taichi==") :] for line in lines if line.startswith("taichi==")), "")
    return re.split(r"[\s;]", pinned)[0]


def self_test(arch: str) -> Outcome:
    """Run the self-test on a backend, in a process that may crash."""
    if arch == "metal" and sys.platform != "darwin":
        return Outcome(False, "not available")
    # With the import paths of this process.
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
    """Return the outcome of a process that ran the self-test.

    Args:
        code: Its exit code; negative for the signal that ended it.
        out: Its stdout, whose last line is the outcome.
        err: Its stderr.
    """
    last = out.strip().rpartition("\n")[2]
    if code == 0 and last.startswith("{"):
        found = json.loads(last)
        if "error" in found:
            absent = "not available" in found["error"]
            return Outcome(False, "not available" if absent else found["error"])
        return Outcome(True, f"works, {found['seconds']:.1f} s", found["cache"])
    said = err.strip().rpartition("\n")[2] or "nothing on stderr"
    end = f"ended with exit code {code}"
    if code < 0:
        known = {one.value: one.name for one in signal.Signals}
        end = f"crashed with {known.get(-code, f'signal {-code}')}"
    return Outcome(False, f"{end}: {said}")
