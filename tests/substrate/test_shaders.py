"""What devices of SPIR-V cannot do is refused at the user's line, or written in another way.

The text is for Vulkan and Metal; a device of Vulkan runs programs where there is one, which may be
a driver that computes on the CPU, in a process of its own.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import taichi as ti

import difftile as dt
from difftile.diagnostics import CompileError, FieldError
from difftile.ir.nodes import Alloc, Program, Store
from difftile.ir.types import BOOL, F32, F64
from difftile.ir.walk import walk
from difftile.ops.check import check
from difftile.schedule.grids import Grids
from difftile.substrate import compile as compiling
from difftile.substrate import shaders
from difftile.substrate.shaders import check_element, for_shaders
from difftile.substrate.spellings import SHADER_SPELLINGS
from tests.emitting import emitted

ROOT = Path(__file__).parents[2]
ONLY_CUDA = ("warps.", "predicates.native", "block.", "simt")


def searches(x, y):
    for i in y:
        found, best = False, 0.0
        for j in range(x.shape[0]):
            if not found and x[j] > 0.5:
                best = x[j] * x[i]
                found = True
        y[i] += best**2.5 + ti.sin(x[i])


def noted_programs(monkeypatch: pytest.MonkeyPatch) -> list[Program]:
    """Return a list to which each program is added as it is compiled."""
    made: list[Program] = []
    init = compiling.CompiledProgram.__init__

    def noted(self: Any, program: Program, *more: Any, **options: Any) -> None:
        made.append(program)
        init(self, program, *more, **options)

    monkeypatch.setattr(compiling.CompiledProgram, "__init__", noted)
    return made


def programs(dtype: Any, monkeypatch: pytest.MonkeyPatch) -> list[Program]:
    """Return the programs of a launch and its reverse, compiled for this type alone."""
    made = noted_programs(monkeypatch)
    kernel = dt.kernel(searches)
    x, y = dt.full(40, 0.3, dtype, grad=True), dt.zeros(40, dtype, grad=True)
    with dt.Tape() as tape:
        kernel(x, y)
    tape.backward({y: 1.0})
    assert len(made) >= 2
    return made


@pytest.mark.parametrize("device", ["vulkan", "metal"])
def test_programs_of_singles_have_no_flags_in_memory(
    device: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = programs(ti.f32, monkeypatch)
    flags = 0
    for program in before:
        after = for_shaders(program, device)
        check(after)
        allocated = [s.array for s in walk(after.body) if isinstance(s, Alloc)]
        assert all(array.type.element != BOOL for array in allocated)
        flags += after is not program
        assert all(s.value.type != BOOL for s in walk(after.body) if isinstance(s, Store))
        text = emitted(after, grids=Grids.on(32), guarded=True, spellings=SHADER_SPELLINGS).text
        assert not any(word in text for word in ONLY_CUDA)
        assert "ti.pow" not in text
        assert "f64" not in text
    assert flags, "an adjoint that keeps conditions was expected"


@pytest.mark.parametrize(
    ("device", "said"),
    [
        ("vulkan", "Vulkan has 'sin' in single precision only."),
        ("metal", "Metal has no double precision, which 'x' of 'searches' has."),
    ],
)
def test_functions_of_doubles_are_refused(
    device: str, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = programs(ti.f64, monkeypatch)[0]
    with pytest.raises(CompileError, match="precision") as caught:
        for_shaders(program, device)
    assert "use ti.f32 fields" in str(caught.value)
    if device == "metal":
        assert said in str(caught.value)
    else:
        assert "^" in str(caught.value)


def test_memory_of_doubles_is_refused_on_metal() -> None:
    check_element(F32, "metal")
    check_element(F64, "vulkan")
    with pytest.raises(FieldError, match=r"Metal has no double precision: use ti\.f32"):
        check_element(F64, "metal")


def test_powers_on_vulkan(tmp_path: Path) -> None:
    program = tmp_path / "powers.py"
    program.write_text(_POWERS)
    paths = os.pathsep.join([str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])])
    environment = {**os.environ, "PYTHONPATH": paths}  # without an installation
    command = [sys.executable, str(program)]
    done = subprocess.run(command, env=environment, capture_output=True, check=False)
    if b"not available" in done.stderr:
        pytest.skip("needs a device of Vulkan, or a driver that computes on the CPU")
    assert not done.returncode, done.stderr.decode()
    x, y, found = np.load(tmp_path / "found.npy")
    with np.errstate(all="ignore"):
        np.testing.assert_allclose(found, x**y, rtol=1e-4)


_POWERS = """
import itertools
from pathlib import Path
import numpy as np
import difftile as dt

@dt.kernel
def powers(x, y, z):
    for i in x:
        z[i] = x[i] ** y[i]

dt.init(arch="vulkan")
bases = [0.0, -0.0, 1.0, -1.0, 2.5, -2.5, 3.0, float("nan")]
exponents = [0.0, 1.0, -1.0, 2.0, 3.0, 0.5, -0.5, -3.0, -2.0]
x, y = np.array(list(itertools.product(bases, exponents)), np.float32).T
z = dt.zeros(len(x))
powers(dt.from_numpy(x), dt.from_numpy(y), z)
np.save(Path(__file__).with_name("found.npy"), [x, y, z.to_numpy()])
"""


def highest(x, m):
    for i in x:
        ti.atomic_max(m[None], x[i])


def test_maxima_are_refused_on_vulkan_of_taichi(monkeypatch: pytest.MonkeyPatch) -> None:
    made = noted_programs(monkeypatch)
    x, m = dt.full(4, 0.3, grad=True), dt.zeros((), grad=True)
    with dt.Tape() as tape:
        dt.kernel(highest)(x, m)
    tape.backward(m)
    monkeypatch.setattr(shaders, "chosen", lambda: "taichi")
    with pytest.raises(CompileError, match="Taichi on Vulkan computes wrong gradients"):
        for program in made:
            for_shaders(program, "vulkan")
    monkeypatch.setattr(shaders, "chosen", lambda: "quadrants")
    for program in made:
        for_shaders(program, "vulkan")
