"""Loops on the CPU are compiled to vector instructions."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import taichi as ti

import difftile as dt
from difftile.schedule.schedule import Schedule
from difftile.substrate import variants
from difftile.substrate.emit import emit
from tests import harness
from tests.emitting import emitted

ROOT = Path(__file__).parents[2]

# Taichi leaves the optimised code of each task in a file of the folder where it was started.
KERNELS = """
import numpy as np
import taichi as ti
import difftile as dt

dt.init(
    arch="cpu", default_fp=ti.{scalar}, cpu_max_num_threads={threads}, offline_cache=False,
    print_kernel_llvm_ir_optimized=True,
)

@dt.kernel
def scaled(x, y):
    for i in x:
        y[i] += 2.0 * x[i]

@dt.kernel
def stencil(x, y, z):
    for i, j in ti.ndrange((1, x.shape[0] - 1), (1, x.shape[1] - 1)):
        around = x[i - 1, j] + x[i + 1, j] + x[i, j - 1] + x[i, j + 1]
        y[i, j] = z[i, j] + 0.2 * (around - 4.0 * x[i, j])

@dt.kernel
def squares(x, total):
    for i in x:
        total[None] += x[i] * x[i]

@dt.kernel
def clipped(x, y):
    for i in x:
        y[i] = x[i] * x[i] if x[i] > 0.5 else 0.0

@dt.kernel
def waves(x, y):
    for i in x:
        y[i] = ti.sin(x[i]) * ti.cos(2.0 * x[i]) * ti.exp(-x[i])

@dt.kernel
def looked_up(x, at, v):
    for i in v:
        v[i] += 0.5 * x[at[i]]

@dt.kernel
def normalised(u, w):
    for i in u:
        w[i] = u[i] / ti.sqrt(1.0 + u[i].dot(u[i]))

@dt.kernel
def squashed(x, y):
    for i in x:
        if x[i] > 0.25:
            y[i] = ti.tanh(x[i]) * ti.exp(-x[i])
        else:
            y[i] = ti.log(1.5 + x[i])

@dt.kernel
def chained(x, y):
    for i in x:
        angle = x[i]
        for k in range(2):
            angle += 0.5 * ti.sin(angle)
        y[i] = ti.cos(angle) if x[i] > 0.0 else angle

@dt.kernel
def in_turn(x, y, n: int):
    ti.loop_config(serialize=True)
    for t in range(n):
        for i in range(x.shape[0]):
            y[i] = y[i] + 0.1 * x[i]
        for i in range(x.shape[0]):
            x[i] = x[i] - 0.1 * y[i]

values = np.random.default_rng(3).uniform(-1.0, 1.0, 3_000_000)
x, y = (dt.from_numpy(values, ti.{scalar}, grad=True) for _ in range(2))
a, b, c = (dt.from_numpy(values[:1_000_000].reshape(1000, 1000), ti.{scalar}, grad=True)
    for _ in range(3))
total = dt.zeros((), ti.{scalar}, grad=True)
at = dt.from_numpy(np.arange(3_000_000, dtype=np.int32)[::-1].copy())
v = dt.ones(3_000_000, ti.{scalar})
looked_up(x, at, v)
u = dt.from_numpy(values.reshape(1_000_000, 3), dt.vec(3, ti.{scalar}))
normalised(u, dt.zeros(1_000_000, dt.vec(3, ti.{scalar})))
with dt.Tape() as tape:
    scaled(x, y)
    stencil(a, b, c)
    squares(y, total)
    clipped(x, y)
    waves(x, y)
    squashed(x, y)
    chained(x, y)
tape.backward({{total: 1.0, b: np.ones((1000, 1000)), y: np.ones(3_000_000)}})
in_turn(x, y, 3)
"""


@pytest.mark.parametrize(("scalar", "threads"), [("f32", 1), ("f64", 2)])
def test_loops_have_vector_instructions(scalar: str, threads: int, tmp_path: Path) -> None:
    program = tmp_path / "kernels.py"
    program.write_text(KERNELS.format(scalar=scalar, threads=threads))
    command = [sys.executable, str(program)]
    environment = {"PYTHONPATH": str(ROOT), "HOME": str(tmp_path), "PATH": ""}
    subprocess.run(command, cwd=tmp_path, env=environment, check=True, capture_output=True)
    codes = [file.read_text() for file in tmp_path.glob("*.ll")]
    kind = {"f32": "float", "f64": "double"}[scalar]
    functions = ["waves", "squashed", "chained"]
    if not any(
        re.search(r"= fmul [a-z ]*<(8|16) x float>|= fmul [a-z ]*<[48] x double>", code)
        for code in codes
    ):
        # LLVM 15 knows no processor of AMD's family 26, and takes it for one with vectors of 128
        # bits that neither round nor store under a mask: branches are not worth it there.
        functions.remove("squashed")
    taped = ["scaled", "stencil", "squares", "clipped", *functions]
    wanted = [*taped, *(f"{name}_adjoint" for name in taped), "in_turn", "looked_up", "normalised"]
    for name in wanted:
        own = [code for code in codes if re.search(rf"^define [^@]*@{name}_c\d+_", code, re.M)]
        assert own, name
        vector = rf"= f(add|sub|mul|neg) [a-z ]*<\d+ x {kind}>"
        # Of polynomials, and not only of their arguments.
        least = 10 if name.removesuffix("_adjoint") in functions else 1
        assert max(len(re.findall(vector, code)) for code in own) >= least, name
        # Elements of vectors in a row are not found one by one.
        assert name != "normalised" or not any("masked.gather" in code for code in own)


@dt.kernel
def doubled(x, y):
    for i in x:
        y[i] = 2.0 * x[i]


@dt.kernel
def tripled(x, y):
    for i in x:
        y[i] = 3.0 * x[i]


def test_kernels_that_differ_only_inside_functions_are_two_kernels() -> None:
    """Taichi's cache knows the statements of a kernel, but not those of functions it calls."""
    x, y = dt.ones(20_000), dt.zeros(20_000)
    for kernel, value in ((doubled, 2.0), (tripled, 3.0), (doubled, 2.0)):
        kernel(x, y)
        np.testing.assert_array_equal(y.to_numpy(), value)


ON_DISK = """
import difftile as dt
dt.init(arch="cpu", cpu_max_num_threads=1, offline_cache=True, offline_cache_file_path={folder!r})

@dt.kernel
def scaled(x, y):
    for i in x:
        y[i] = {factor} * x[i]

x, y = dt.ones(20_000), dt.zeros(20_000)
scaled(x, y)
print(y.to_numpy().min(), y.to_numpy().max())
"""


def test_code_on_disk_is_not_taken_for_a_function_that_has_changed(tmp_path: Path) -> None:
    folder = tmp_path / "kept"
    for factor in ("2.0", "5.0"):
        program = tmp_path / "program.py"
        program.write_text(ON_DISK.format(folder=str(folder), factor=factor))
        environment = {"PYTHONPATH": str(ROOT), "HOME": str(tmp_path), "PATH": ""}
        command = [sys.executable, str(program)]
        done = subprocess.run(command, env=environment, check=True, capture_output=True, text=True)
        assert done.stdout.split() == [factor, factor]
    assert any(folder.rglob("*"))


COMPILED_AGAIN = """
import taichi as ti
import difftile as dt
dt.init(arch="cpu", cpu_max_num_threads=2, offline_cache=True, offline_cache_file_path={folder!r})

def scaled(x, y):
    for i in x:
        y[i] = 2.0 * x[i]
    for i in y:
        total = 0.0
        for j in range(y.shape[0] // 1000):
            total += y[j]
        x[i] = ti.max(total, y[i])

x, y = dt.ones(20_000), dt.zeros(20_000)
for _ in range({times}):
    dt.kernel(scaled)(x, y)
"""


@pytest.mark.taichi
def test_equal_functions_are_one_on_disk(tmp_path: Path) -> None:
    folder, program = tmp_path / "kept", tmp_path / "program.py"
    environment = {"PYTHONPATH": str(ROOT), "HOME": str(tmp_path), "PATH": ""}
    kept: list[set[Path]] = []
    for times in (1, 20):
        program.write_text(COMPILED_AGAIN.format(folder=str(folder), times=times))
        subprocess.run([sys.executable, str(program)], env=environment, check=True)
        kept.append({*folder.rglob("*.tic")})
    assert kept[0] == kept[1] != set()


@dt.kernel
def of_a_vector(x, y, count):
    n = count[None]
    shift = ti.Vector([1.0, 2.0]) * y[0]
    for i in range(n):
        x[i] = x[i] * n + shift
    for i in range(n - 1):
        y[i + 1] = 2.0 * y[i + 1] + n


def test_functions_are_given_numbers_and_not_vectors() -> None:
    x, y, count = dt.ones(4, dtype=ti.math.vec2), dt.ones(4), dt.zeros((), ti.i32)
    count.fill(3)
    with harness.many_threads(), harness.vectors():
        of_a_vector(x, y, count)
    np.testing.assert_array_equal(x.to_numpy(), [[4.0, 5.0]] * 3 + [[1.0, 1.0]])
    np.testing.assert_array_equal(y.to_numpy(), [1.0, 5.0, 5.0, 1.0])
    latest = of_a_vector._latest
    assert latest is not None
    (stage,) = latest.stages
    text = emitted(stage.primal.code.program, Schedule(outlined=True), threads=2).text
    functions = dict(re.findall(r"^def (\w+)\((.*)\):", text, re.M))
    assert functions.pop("of_a_vector") == "x: vec2_f32_1d, y: f32_1d, count: i32_1d"
    assert list(functions.values()) == ["y: f32_1d, n: ti.i32, part_1: ti.i32"]


def test_little_work_is_not_worth_the_time_to_compile_vectors() -> None:
    sources: list[bool] = []

    def noted(made: Any, schedule: Schedule, *args: Any, **options: Any) -> Any:
        sources.append(schedule.outlined)
        return emit(made, schedule, *args, **options)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(variants, "emit", noted)

        @dt.kernel
        def scaled(x, y):
            for i in x:
                y[i] = 4.0 * x[i]

        for n in (10, 20, 100_000, 30):
            x, y = dt.ones(n), dt.zeros(n)
            scaled(x, y)
            np.testing.assert_array_equal(y.to_numpy(), 4.0)
    assert sources == [False, True]
