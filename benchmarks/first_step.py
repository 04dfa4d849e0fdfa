"""Time before the first step of worlds, and its gradient: processor time, and size of the code.

Each model runs in processes of its own, first with an empty folder of compiled kernels (cold), then
with that which the first one has filled (warm): four worlds make a step, or a step with the
gradient by their controls. 'start' is up to the end of imports and of `dt.init`, 'load' the model
and the fields of the worlds, 'compiler' what the compiler takes for the emitted source, or to load
what it has kept, and 'ours' the rest. 'lines' are those of the emitted source of the step, and of
its adjoint.

Models are those of the tests, by name, or files of MJCF; what worlds do not support is left out.
"""

from __future__ import annotations

import importlib
import json
import os
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks.first_gradient import ROOT, STATES, seconds, watched
from difftile.arguments import Parser

NAMES = ("cartpole", "hopper", "ant")
KINDS = ("step", "gradient")
PARTS = ("start", "load", "compiler", "ours", "total")


def measured(name: str, kind: str) -> dict[str, Any]:
    """Run a model to its first step, or gradient; return its times and sizes."""
    dt: Any = importlib.import_module("difftile")
    worlds: Any = importlib.import_module("difftile.worlds")
    dt.init(arch="cpu", substrate="taichi")
    taken = watched(importlib.import_module("taichi._lib").core.Program)
    start = seconds()
    model = _model(worlds, name)
    sim = worlds.Worlds(model, 4)
    sim.ctrl.fill(0.1)
    loaded, before = seconds(), sum(taken)
    if kind == "gradient":
        rows: Any = importlib.import_module("benchmarks.first_rows.of_worlds")
        loss = dt.zeros((), grad=True)
        with dt.Tape(loss):
            sim.step()
            rows.kinetic(sim.qvel, loss)
        sim.ctrl.grad.to_numpy()
    else:
        sim.step()
    sim.qvel.to_numpy()
    total, spent = seconds(), sum(taken) - before
    times = (start, loaded - start, spent, total - loaded - spent, total)
    return {
        "parts": dict(zip(PARTS, times, strict=True)),
        "sizes": [model.sizes.nv, model.sizes.nslot],
        "lines": _lines(sim, kind),
    }


def _model(worlds: Any, name: str) -> Any:
    if name in NAMES:
        return importlib.import_module("tests.worlds.conformance").model(name)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return worlds.load(name, collisions="skip", sensors="skip", allow_outside=True)


def _lines(sim: Any, kind: str) -> int:
    kernel = sim._take_step if sim._runge_kutta is None else sim._accelerate
    return kernel.source("adjoint" if kind == "gradient" else "forward").count("\n")


def apart(name: str, kind: str, cache: str) -> dict[str, Any]:
    """Measure a model in a process of its own, with a folder of compiled code."""
    environment = {**os.environ, "XDG_CACHE_HOME": cache, "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-m", "benchmarks.first_step", "--inside", name, kind]
    done = subprocess.run(
        command, cwd=ROOT, env=environment, capture_output=True, check=False, text=True
    )
    if done.returncode:
        raise SystemExit(f"{name}, {kind}:\n{done.stderr}")
    return json.loads(done.stdout.splitlines()[-1])


def lines_of(name: str) -> list[str]:
    """Measure a model; return its lines of the table."""
    found: list[str] = []
    for kind in KINDS:
        with tempfile.TemporaryDirectory() as cache:
            runs = {state: apart(name, kind, cache) for state in STATES}
        for state, run in runs.items():
            nv, slots = run["sizes"]
            line = f"{Path(name).stem:16.16}{nv:4}{slots:7}{kind:>10}{run['lines']:7}{state:>6}"
            found.append(line + "".join(f"{run['parts'][part]:9.2f}" for part in PARTS))
    return found


def main(argv: Sequence[str] | None = None) -> int:
    """Run the benchmark; return the exit code, which does not depend on the figures."""
    parser = Parser("python -m benchmarks.first_step", __doc__)
    parser.add_argument("models", nargs="*", metavar="MODEL", help="names of tests, or files")
    parser.add_argument("--inside", nargs=2, metavar=("MODEL", "KIND"), help="for itself")
    options = parser.parse_args(argv)
    if options.inside:
        print(json.dumps(measured(*options.inside)))
        return 0
    head = f"{'':16}{'nv':>4}{'slots':>7}{'':>10}{'lines':>7}{'':>6}"
    print(head + "".join(f"{part:>9}" for part in PARTS), flush=True)
    for name in options.models or NAMES:
        print("\n".join(lines_of(name)), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
