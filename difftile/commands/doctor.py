"""`difftile doctor`: report versions, substrates, working devices and missing packages."""

from __future__ import annotations

import json
import os
import platform
import shutil
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any

from difftile.arguments import Parser
from difftile.commands.cache import described, files_in
from difftile.diagnostics import RankError
from difftile.releases import ARCH_VARIABLE, RELEASES, VARIABLE, Release, preferred, refusal

_SECONDS = 120.0  # limit of a self-test: a driver may hang
_ABOUT = """\
Show versions, which substrates and devices work here, the caches, and optional packages.

Each device of each installed substrate starts in a process of its own, which compares the gradient
of a small program with the exact one. The times are those until the result of the first launch is
there, without a cache, and of each later launch. The exit code is 0 if the gradient is right on the
CPU, with the substrate that programs get, else 1.
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
    "mpi4py": _Optional("dt.distributed by MPI", "mpi"),
    "mujoco": _Optional("difftile.worlds.load, models in MJCF", "worlds"),
    "gymnasium": _Optional("worlds.Environment.as_gymnasium", "gymnasium"),
    "trimesh": _Optional("dt.geometry.load, files of meshes", "meshes"),
    "zstandard": _Optional("dt.datasets, .spz files of version 4", "splats"),
}


@dataclass(frozen=True, slots=True)
class Outcome:
    """The outcome of the self-test of a device.

    Args:
        works: The gradient was right.
        text: A description.
        cache: The folder of compiled kernels, if known.
        first: The time until the result of the first launch was there [s].
        launch: The time of each later launch [s].
    """

    works: bool
    text: str
    cache: str = ""
    first: float | None = None
    launch: float | None = None


def main(argv: Sequence[str] | None = None) -> int:
    """Print the report; return the exit code."""
    Parser("difftile doctor", _ABOUT).parse_args(argv)
    print(f"difftile {_version('difftile')}, {Path(__file__).parents[1]}", flush=True)
    devices = sum(len(r.devices) for r in RELEASES.values() if not r.complaint)
    if sys.stderr.isatty():
        print(f"testing the window and {devices} devices ...", file=sys.stderr, flush=True)
    print(f"Python   {platform.python_version()}, {sys.executable}")
    print(f"NumPy    {_version('numpy')}")
    print(f"System   {platform.platform()}, {os.cpu_count()} threads")
    print(f"Window   {window()}")
    # These change what the compilers do, regardless of a program's settings.
    prefixes = (VARIABLE, ARCH_VARIABLE, *(release.prefix for release in RELEASES.values()))
    for name in sorted(name for name in os.environ if name.startswith(prefixes)):
        print(f"Environment  {name}={os.environ[name]}")
    chosen = preferred()
    print("\nSubstrates")
    for name, release in RELEASES.items():
        print(f"  {name:9}  {_state(release, name == chosen)}")
    print(f"  {'python':9}  needs no compiler: dt.init(arch='python')")
    outcomes = _report_devices()
    caches = sorted({outcome.cache for outcome in outcomes.values() if outcome.cache})
    if caches:
        print("\nCache of compiled kernels")
    for cache in caches:
        print(f"  {described(Path(cache), files_in(Path(cache)))}")
        for line in measured_costs(Path(cache)):
            print(f"  {line}")
    print("\nRanks, the processes of dt.distributed")
    for line in engines_of_ranks():
        print(f"  {line}")
    print("\nOptional packages")
    width = max(map(len, OPTIONAL))
    for name, row in OPTIONAL.items():
        got = _version(name)
        if got == "not installed":
            got += f" (pip install {f'difftile[{row.extra}]' if row.extra else name})"
        print(f"  {name:{width}}  {got}: {row.purpose}")
    refused = refusal(chosen)
    if refused:
        print(f"\n{refused}")
    elif not outcomes[chosen, "cpu"].works:
        print(f"\nThe CPU does not work with {RELEASES[chosen].title}: nothing of difftile does.")
    return 0 if not refused and outcomes[chosen, "cpu"].works else 1


def _state(release: Release, is_chosen: bool) -> str:
    """Return the version of a compiler, or what keeps it from use."""
    if not release.is_installed:
        return f"not installed: {release.advice}"
    if not release.fits:
        return f"{release.installed}, but difftile needs {release.wanted}: {release.advice}"
    got = release.installed or "of an unknown version"
    return f"{got}, used unless a program names another" if is_chosen else got


def _report_devices() -> dict[tuple[str, str], Outcome]:
    """Test each device of each substrate that can be used, and print the outcomes as a table."""
    outcomes: dict[tuple[str, str], Outcome] = {}
    for name, release in RELEASES.items():
        for device in () if release.complaint else release.devices:
            if not outcomes:
                print("\nDevices, each with a gradient that is known")
                print("  substrate  device  first launch      launch  result")
            outcomes[name, device] = outcome = self_test(name, device)
            first, launch = _duration(outcome.first), _duration(outcome.launch)
            row = f"  {name:9}  {device:6}  {first:>12}  {launch:>10}  {outcome.text}"
            print(row, flush=True)
    return outcomes


def _duration(seconds: float | None) -> str:
    """Return a time with a unit that suits it; '' if it is not known."""
    if seconds is None:
        return ""
    if seconds < 1e-3:
        return f"{seconds * 1e6:.1f} us"
    return f"{seconds * 1e3:.1f} ms" if seconds < 0.1 else f"{seconds:.2f} s"


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


def engines_of_ranks() -> list[str]:
    """Return a line for each engine that connects ranks, and one on this process's place."""
    ranks: Any = import_module("difftile.ranks.choice")  # loads NumPy, which --help does without
    lines: list[str] = []
    for name, engine in ranks.ENGINES.items():
        if not engine.package:
            continue
        program: str = engine.launcher.partition(" ")[0]
        beside = Path(sys.executable).parent / program
        found: str | None = str(beside) if beside.exists() else shutil.which(program)
        state = _version(engine.package)
        if state == "not installed":
            state = f"no {engine.package} (pip install difftile[{engine.extra}])"
        elif found is None:
            state = f"{engine.package} {state}, but no {program}, which starts ranks"
        else:
            state = f"{engine.package} {state}, {found}: {engine.launcher}"
        lines.append(f"{name:5}  {state}")
    try:
        here = ranks.place()
    except RankError as error:
        return [*lines, str(error)]
    if here is not None:
        lines.append(f"this process is rank {here.rank} of {here.size}, started by {here.launcher}")
    return lines


def _version(distribution: str) -> str:
    try:
        return version(distribution)
    except PackageNotFoundError:
        return "not installed"


def self_test(substrate: str, device: str) -> Outcome:
    """Run the self-test of a device, in a process that may crash."""
    if device == "metal" and sys.platform != "darwin":
        return Outcome(False, "not available")
    command = f"from difftile.commands.selftest import main; main({substrate!r}, {device!r})"
    try:
        done = _run(command, {VARIABLE: substrate, ARCH_VARIABLE: "cpu"})
    except subprocess.TimeoutExpired:
        return Outcome(False, f"no answer within {_SECONDS:.0f} s")
    return read_outcome(done.returncode, done.stdout, done.stderr)


def window() -> str:
    """Return a line on the window that apps get; a process of its own asks the display."""
    try:
        done = _run("from difftile.viewer.backends.native_window import described as d; print(d())")
    except subprocess.TimeoutExpired:
        return f"unknown, since the display did not answer within {_SECONDS:.0f} s"
    if done.returncode:
        said = done.stderr.strip().rpartition("\n")[2]
        end = f": {said}" if said else ""
        return f"unknown, since asking the display ended with exit code {done.returncode}{end}"
    return done.stdout.strip().rpartition("\n")[2]


def _run(command: str, environment: Mapping[str, str] | None = None) -> CompletedProcess[str]:
    """Run a line of Python in a process of its own, with the import paths of this one."""
    return subprocess.run(
        [sys.executable, "-c", f"import sys; sys.path[:] = {sys.path!r}\n{command}"],
        capture_output=True,
        text=True,
        errors="replace",
        timeout=_SECONDS,
        check=False,
        env={**os.environ, **(environment or {})},
    )


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
        return Outcome(True, "works", found["cache"], found["first"], found["launch"])
    said = err.strip().rpartition("\n")[2] or "nothing on stderr"
    end = f"ended with exit code {code}"
    if code < 0:
        known = {one.value: one.name for one in signal.Signals}
        end = f"crashed with {known.get(-code, f'signal {-code}')}"
    return Outcome(False, f"{end}: {said}")
