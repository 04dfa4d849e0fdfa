"""The costs of adding to elements that threads share, measured once on this machine.

The figures are medians of the faster half of some runs, as other processes only make them longer.
They are kept in the folder of compiled kernels, in a file for each number of threads. A file that
cannot be read or written, or has implausible numbers, is ignored.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import platform
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any

import numpy as np

from difftile.ir.nodes import Array, Program
from difftile.ir.parse import parse
from difftile.passes.privatise import ScatterPlan, privatise, scatters_of
from difftile.schedule.apply import Applied, Memory
from difftile.schedule.costs import DEFAULT, Costs
from difftile.schedule.schedule import Schedule
from difftile.schedule.target import Target
from difftile.substrate.backend import Backend, Launcher
from difftile.substrate.emit import emit
from difftile.substrate.lock import LOCK
from difftile.substrate.memory import Buffer
from difftile.substrate.pool import Pool

_VERSION = 3  # of the measurements
_RUNS = 10
_PLAUSIBLE = 16.0  # times as much or as little as by default


_known: dict[int, Costs] = {}


def costs_on(backend: Backend, threads: int) -> Costs:
    """Return the costs with so many threads, which are measured if they are not known."""
    with LOCK:
        found = _known.get(threads)
        if found is None:
            file = _file(backend.devices.cache_folder(), threads)
            found = read_costs(file)
            if found is None:
                found = plausible(_measured(backend, threads))
                write_costs(file, found)
            _known[threads] = found
        return found


def _file(folder: Path, threads: int) -> Path:
    machine = f"{platform.node()} {platform.machine()} {_processor()} {os.cpu_count()} {_VERSION}"
    digest = hashlib.sha256(machine.encode()).hexdigest()[:12]
    return folder / f"costs-{digest}-{threads}.json"


def _processor() -> str:
    """Return the model of the processor, where the system tells."""
    with contextlib.suppress(OSError, UnicodeError):
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                return line
    return platform.processor()


def read_costs(file: Path) -> Costs | None:
    """Return the costs in a file; None if it has no plausible ones."""
    try:
        given: Any = json.loads(file.read_text(encoding="utf-8"))
        found = Costs(**{field.name: float(given[field.name]) for field in fields(Costs)})
    except (OSError, ValueError, TypeError, KeyError, RecursionError):
        return None
    return found if found == plausible(found) else None


def write_costs(file: Path, costs: Costs) -> None:
    """Keep costs in a file, whole or not at all."""
    with contextlib.suppress(OSError):
        file.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(dir=file.parent, suffix=".tmp")
        try:
            with os.fdopen(handle, "w", encoding="utf-8") as stream:
                json.dump(asdict(costs), stream)
            os.replace(name, file)
        except OSError:
            os.unlink(name)


def plausible(costs: Costs) -> Costs:
    """Return costs of which none is far from the default, as a busy machine makes them."""
    default = asdict(DEFAULT)
    return Costs(
        **{
            name: min(max(cost, default[name] / _PLAUSIBLE), default[name] * _PLAUSIBLE)
            if cost == cost  # noqa: PLR0124 - NaN
            else default[name]
            for name, cost in asdict(costs).items()
        }
    )


_SCATTER = """
program scatter(k: field<i32, 1>, y: field<f32, 1>)
  n = shape(k, 0)
  parallel for i in 0:i32..n:
    at: i32 = k[i]
    y[at] += 1.0:f32
"""
_MANY = 1 << 15  # additions
_FAR = 1 << 24  # bytes of a target
_COPIES = 1 << 22  # bytes of copies, at least


def _measured(backend: Backend, threads: int) -> Costs:
    """Measure."""
    program = parse(_SCATTER)
    (scatter,) = scatters_of(program)
    copied, (copies,) = privatise(program, ScatterPlan(copied=(scatter,)), threads)
    pool = Pool(None)

    def field(values: Any) -> Buffer:
        array = np.ascontiguousarray(values)
        param = program.params[0] if array.dtype == np.int32 else program.params[1]
        assert isinstance(param, Array)
        buffer = pool.allocate(param.type.element, array.shape)
        buffer.write(array)
        return buffer

    def zeros(size: int) -> Buffer:
        return field(np.zeros(size, np.float32))

    rng = np.random.default_rng(0)
    own = np.arange(_MANY)
    one = field(np.zeros(1, np.int32))
    # Each thread in regions of its own, which it knows by then.
    apart = field((own // 512 * 512 + rng.integers(0, 512, _MANY)).astype(np.int32))
    close = field(rng.integers(0, 16, _MANY, np.int32))
    spread = field(rng.integers(0, 1 << 12, _MANY, np.int32))
    y = zeros(_MANY)
    wide = field(rng.integers(0, _FAR // 4, _MANY, np.int32))
    large = zeros(_FAR // 4)

    atomic = _compiled(backend, program, threads)
    serial = _compiled(backend, program, 0)
    waking = _time(atomic, [one, y]) - _time(serial, [one, y])
    plain = _time(serial, [spread, y])
    far = _time(serial, [wide, large])
    uncontended = _time(atomic, [apart, y]) - waking
    contended = _time(atomic, [close, y]) - waking
    part = zeros(_COPIES // threads // 4 + 4096)
    memory = zeros(copies.count(part.shape))
    copying = _time(_compiled(backend, copied, threads), [one, part, memory]) - 2 * waking
    return Costs(
        waking=waking,
        plain=plain / _MANY,
        far=far / _MANY,
        atomic=uncontended * threads / _MANY,
        contended=contended / _MANY,
        copying=copying / memory.nbytes,
    )


def _compiled(backend: Backend, program: Program, threads: int) -> Launcher:
    """Compile a program for a number of threads, or without atomics for one."""
    target = Target(threads=threads)
    schedule = Schedule(serial=not threads, outlined=True)
    made = Applied(program, Memory(), {})
    emitted = emit(made, schedule, target, spellings=backend.spellings)
    params = (*program.params, *program.temps)
    written = range(1, len(params))
    return backend.compile(
        emitted, program, params, written=written, on_host=True, as_written=False
    )


def _time(launcher: Launcher, args: Sequence[Buffer]) -> float:
    """Return the nanoseconds of a launch, not counting the first."""
    launcher.launch(args)
    times = sorted(_timed(lambda: launcher.launch(args)) for _ in range(_RUNS))
    return float(np.median(times[: _RUNS // 2]))


def _timed(run: Callable[[], None]) -> float:
    started = time.perf_counter_ns()
    run()
    return float(time.perf_counter_ns() - started)
