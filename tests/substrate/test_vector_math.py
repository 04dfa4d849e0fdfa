"""Functions that loops compute as vectors: their errors, and their values at special arguments."""

from __future__ import annotations

import math
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import difftile as dt
from difftile.substrate.family import vector_math
from difftile.substrate.vector_functions import FUNCTIONS
from tests.vector_functions import EXACT, arguments, compiled, computed, limit_of, ulps

pytestmark = pytest.mark.compiled

INF, NAN = math.inf, math.nan
LARGEST = "the largest number"
PRECISIONS: list[Any] = [np.float32, np.float64]


def test_each_function_exists_and_has_an_oracle() -> None:
    assert set(FUNCTIONS) == set(EXACT) == set(vector_math.__all__)


@pytest.mark.always
@pytest.mark.parametrize("dtype", PRECISIONS)
@pytest.mark.parametrize("fast_math", [True, False])
def test_errors_are_at_most_two_units_in_the_last_place(dtype: Any, fast_math: bool) -> None:
    dt.init(arch="cpu", fast_math=fast_math)
    given = {name: arguments(name, dtype, 60) for name in FUNCTIONS}
    for name, found in computed(given).items():
        errors = ulps(name, given[name], found)
        worst = int(np.argmax(errors))
        at = [x[worst] for x in given[name]]
        assert errors[worst] <= 2, f"{name} of {at} is {found[worst]}: {errors[worst]:.2f} units"


LOOPS = """
import numpy as np
import difftile as dt
from difftile.substrate.vector_functions import FUNCTIONS
from tests.vector_functions import compiled

dt.init(
    arch="cpu", offline_cache=False, cpu_max_num_threads=1, print_kernel_llvm_ir_optimized=True
)
compiled(tuple(FUNCTIONS), np.{dtype})
"""


@pytest.mark.parametrize("dtype", PRECISIONS)
def test_loops_have_vector_instructions_and_no_calls(dtype: Any, tmp_path: Path) -> None:
    root = Path(__file__).parents[2]
    program = tmp_path / "loops.py"
    program.write_text(LOOPS.format(dtype=np.dtype(dtype).name))
    environment = {"PYTHONPATH": str(root), "HOME": str(tmp_path), "PATH": ""}
    command = [sys.executable, str(program)]
    subprocess.run(command, cwd=tmp_path, env=environment, check=True, capture_output=True)
    (code,) = [file.read_text() for file in tmp_path.glob("*.ll")]
    bodies = re.findall(r"^vector\.body\d*:.*?^  br i1", code, re.M | re.S)
    assert len(bodies) == len(FUNCTIONS)
    for body in bodies:
        assert not re.findall(r"call [^@\n]*@(?!llvm\.)\S+", body)
    kind = {4: "float", 8: "double"}[np.dtype(dtype).itemsize]
    assert all(f" x {kind}>" in body for body in bodies)
    # Only two functions of single precision are computed in double precision.
    assert sum(" x double>" in body for body in bodies) == (2 if kind == "float" else len(bodies))


@pytest.mark.parametrize(
    ("dtype", "formula"), [(np.float32, "{0} * {dtype}(0.7)"), (np.float64, "{0} + {dtype}(1.0)")]
)
def test_arguments_are_rounded_before_functions_see_them(dtype: Any, formula: str) -> None:
    """Fast math may not join the steps of an argument with those of a function."""
    names = [name for name, count in FUNCTIONS.items() if count == 1]
    inside = {name: f"vector_math.{name}({formula}, {{dtype}})" for name in names}
    launcher = compiled(names, dtype, inside)
    given = {name: arguments(name, dtype, 40) for name in names}
    for name, (x,) in given.items():
        given[name] = (x[np.abs(x) < 0.9 * min(limit_of(name, dtype), 1e30)],)
    rounded = {
        name: (x * dtype(0.7) if "*" in formula else x + dtype(1),) for name, (x,) in given.items()
    }
    found, wanted = computed(given, launcher), computed(rounded)
    for name in names:
        np.testing.assert_array_equal(found[name], wanted[name], err_msg=name)


# Taichi sets its threads, and that which starts it, to flush subnormal numbers to 0; threads that
# are there before that do not.
UNFLUSHED = """
import threading
import numpy as np

started = threading.Event()

def check():
    started.wait()
    from tests.vector_functions import FUNCTIONS, arguments, computed, ulps
    product = np.array([1e-40], np.float32) * np.float32(0.5)
    print("kept" if product.view(np.int32)[0] else "flushed")
    for dtype in (np.float32, np.float64):
        given = {name: arguments(name, dtype, 25) for name in FUNCTIONS}
        for name, found in computed(given).items():
            error = ulps(name, given[name], found, flushed=False).max()
            if error > 2:
                print(name, dtype.__name__, error)

thread = threading.Thread(target=check)
thread.start()
import difftile as dt
dt.init(arch="cpu", cpu_max_num_threads=1)
started.set()
thread.join()
"""


def test_subnormal_results_are_rounded_where_the_processor_keeps_them(tmp_path: Path) -> None:
    program = tmp_path / "unflushed.py"
    program.write_text(UNFLUSHED)
    root = Path(__file__).parents[2]
    environment = {"PYTHONPATH": str(root), "HOME": str(tmp_path), "PATH": ""}
    command = [sys.executable, "-W", "ignore", str(program)]
    done = subprocess.run(command, env=environment, check=True, capture_output=True, text=True)
    lines = [line for line in done.stdout.splitlines() if not line.startswith("[Taichi]")]
    if lines == ["flushed"]:
        pytest.skip("threads flush subnormal numbers to 0 from the beginning here")
    assert lines == ["kept"], done.stderr


# Arguments, and the result: the same in both precisions, to the bit. TINY is the least number.
TINY = "tiny"
SPECIAL: dict[str, list[tuple[Any, ...]]] = {
    "sin": [(0.0, 0.0), (-0.0, -0.0), (TINY, TINY)],
    "cos": [(0.0, 1.0), (-0.0, 1.0), (TINY, 1.0)],
    "tan": [(0.0, 0.0), (-0.0, -0.0), (TINY, TINY)],
    "exp": [(0.0, 1.0), (-0.0, 1.0), (INF, INF), (-INF, 0.0), (NAN, NAN), (TINY, 1.0)],
    "exp2": [(0.0, 1.0), (-1.0, 0.5), (10.0, 1024.0), (INF, INF), (-INF, 0.0), (NAN, NAN)],
    "expm1": [(0.0, 0.0), (-0.0, -0.0), (INF, INF), (-INF, -1.0), (NAN, NAN), (TINY, TINY)],
    "log": [
        (1.0, 0.0),
        (0.0, -INF),
        (-0.0, -INF),
        (INF, INF),
        (-1.0, NAN),
        (-INF, NAN),
        (NAN, NAN),
    ],
    "log2": [
        *((1.0, 0.0), (0.0, -INF), (-0.0, -INF), (INF, INF), (-1.0, NAN), (-INF, NAN), (NAN, NAN)),
        *((8.0, 3.0), (2.0**-100, -100.0)),
    ],
    "log10": [(1.0, 0.0), (0.0, -INF), (-0.0, -INF), (INF, INF), (-1.0, NAN), (NAN, NAN)],
    "log1p": [
        *((0.0, 0.0), (-0.0, -0.0), (-1.0, -INF), (INF, INF), (-2.0, NAN), (-INF, NAN)),
        *((NAN, NAN), (TINY, TINY)),
    ],
    "logit": [
        *((0.5, 0.0), (0.0, -INF), (-0.0, -INF), (1.0, INF), (1.5, NAN), (-0.5, NAN), (INF, NAN)),
        *((-INF, NAN), (NAN, NAN)),
    ],
    "tanh": [(0.0, 0.0), (-0.0, -0.0), (INF, 1.0), (-INF, -1.0), (NAN, NAN), (TINY, TINY)],
    "sigmoid": [(0.0, 0.5), (-0.0, 0.5), (INF, 1.0), (-INF, 0.0), (NAN, NAN), (TINY, 0.5)],
    "log1pexp": [(INF, INF), (-INF, 0.0), (NAN, NAN), (1e30, 1e30), (-1e30, 0.0)],
    "asin": [
        (0.0, 0.0),
        (-0.0, -0.0),
        (TINY, TINY),
        (1.5, NAN),
        (-INF, NAN),
        (INF, NAN),
        (NAN, NAN),
    ],
    "acos": [(1.0, 0.0), (1.5, NAN), (-INF, NAN), (INF, NAN), (NAN, NAN)],
    "atan": [(0.0, 0.0), (-0.0, -0.0), (TINY, TINY), (NAN, NAN)],
    "atan2": [
        *((0.0, 1.0, 0.0), (-0.0, 1.0, -0.0), (0.0, 0.0, 0.0), (-0.0, 0.0, -0.0), (1.0, INF, 0.0)),
        *((-1.0, INF, -0.0), (0.0, INF, 0.0), (NAN, 1.0, NAN), (1.0, NAN, NAN), (NAN, INF, NAN)),
    ],
    "rsqrt": [
        *((4.0, 0.5), (0.0, INF), (-0.0, -INF), (INF, 0.0), (-1.0, NAN), (-INF, NAN), (NAN, NAN)),
    ],
    "erf": [(0.0, 0.0), (-0.0, -0.0), (INF, 1.0), (-INF, -1.0), (10.0, 1.0), (NAN, NAN)],
    "erfc": [(0.0, 1.0), (-0.0, 1.0), (INF, 0.0), (-INF, 2.0), (30.0, 0.0), (NAN, NAN)],
    # C99, F.9.4.4.
    "pow": [
        *((0.0, -1.0, INF), (-0.0, -1.0, -INF), (-0.0, -3.0, -INF), (0.0, -2.0, INF)),
        *((-0.0, -2.0, INF), (-0.0, -0.5, INF), (0.0, -INF, INF), (-0.0, -INF, INF)),
        *((0.0, 1.0, 0.0), (-0.0, 1.0, -0.0), (-0.0, 3.0, -0.0), (0.0, 2.0, 0.0)),
        *((-0.0, 2.0, 0.0), (-0.0, 0.5, 0.0), (0.0, INF, 0.0), (-0.0, INF, 0.0), (0.0, 1e-30, 0.0)),
        *((-1.0, INF, 1.0), (-1.0, -INF, 1.0), (1.0, INF, 1.0), (1.0, NAN, 1.0), (1.0, -2.5, 1.0)),
        *((NAN, 0.0, 1.0), (NAN, -0.0, 1.0), (INF, 0.0, 1.0), (-2.0, 0.0, 1.0), (0.0, 0.0, 1.0)),
        *((-2.0, 0.5, NAN), (-2.0, 1e-30, NAN), (-0.5, 2.5, NAN), (NAN, 1.0, NAN), (2.0, NAN, NAN)),
        *((0.5, -INF, INF), (-0.5, -INF, INF), (2.0, -INF, 0.0), (-2.0, -INF, 0.0)),
        *((0.5, INF, 0.0), (-0.5, INF, 0.0), (2.0, INF, INF), (-2.0, INF, INF)),
        *((-INF, -3.0, -0.0), (-INF, -2.0, 0.0), (-INF, -0.5, 0.0), (-INF, -INF, 0.0)),
        *((-INF, 3.0, -INF), (-INF, 2.0, INF), (-INF, 0.5, INF), (-INF, INF, INF)),
        *((INF, -1.0, 0.0), (INF, -INF, 0.0), (INF, 1.0, INF), (INF, INF, INF), (INF, 1e-30, INF)),
        *(
            (2.0, 3.0, 8.0),
            (LARGEST, 1.0, LARGEST),
            (-2.0, 3.0, -8.0),
            (-2.0, 4.0, 16.0),
            (-2.0, -1.0, -0.5),
            (4.0, 0.5, 2.0),
        ),
        *((-1.0, 1e30, 1.0), (-1.0, 8388607.0, -1.0), (-1.0, 8388608.0, 1.0)),
        *((2.0, 1e30, INF), (2.0, -1e30, 0.0), (0.5, 1e30, 0.0), (-2.0, 8388607.0, -INF)),
    ],
}

# Arguments whose results are those of Python, rounded.
ANGLES = {
    "asin": [(1.0,), (-1.0,), (0.5,)],
    "acos": [(-1.0,), (0.0,), (-0.0,), (TINY,)],
    "atan": [(1.0,), (-1.0,), (INF,), (-INF,)],
    "atan2": [
        *((0.0, -0.0), (-0.0, -0.0), (0.0, -1.0), (-0.0, -1.0), (0.0, -INF), (-0.0, -INF)),
        *((1.0, 0.0), (1.0, -0.0), (-1.0, 0.0), (-1.0, -0.0), (TINY, 0.0), (-1.0, -INF)),
        *((INF, INF), (INF, -INF), (-INF, INF), (-INF, -INF), (INF, 1.0), (-INF, -1.0)),
        *((TINY, TINY), (TINY, -1.0), (1.0, 1.0), (-1.0, 1.0), (1.0, -1.0), (-1.0, -1.0)),
    ],
}


def _number(value: Any, dtype: Any) -> Any:
    if value is LARGEST:
        return np.finfo(dtype).max
    return np.finfo(dtype).smallest_subnormal if value == TINY else dtype(value)


@pytest.mark.parametrize("dtype", PRECISIONS)
@pytest.mark.parametrize("fast_math", [True, False])
def test_special_arguments_have_their_results_to_the_bit(dtype: Any, fast_math: bool) -> None:
    dt.init(arch="cpu", fast_math=fast_math)
    whole = np.int64 if dtype == np.float64 else np.int32
    given: dict[str, Any] = {}
    for name, cases in SPECIAL.items():
        # Enough of each for the vectors, and one for what is left over.
        rows = [[_number(value, dtype) for value in case[:-1]] for case in cases] * 17
        given[name] = tuple(np.array(column, dtype) for column in zip(*rows, strict=True))
    assert set(SPECIAL) == set(FUNCTIONS)
    for name, found in computed(given).items():
        for k, value in enumerate(found):
            *at, wanted = SPECIAL[name][k % len(SPECIAL[name])]
            if wanted is NAN:
                assert np.isnan(value), f"{name} of {at} is {value}"
            else:
                bits = _number(wanted, dtype).view(whole)
                assert value.view(whole) == bits, f"{name} of {at} is {value}, not {wanted}"


@pytest.mark.parametrize("dtype", PRECISIONS)
def test_angles_of_the_axes_and_diagonals_are_nearest(dtype: Any) -> None:
    given = {
        name: tuple(
            np.array([_number(value, dtype) for value in column], dtype)
            for column in zip(*cases, strict=True)
        )
        for name, cases in ANGLES.items()
    }
    for name, found in computed(given).items():
        for k, case in enumerate(ANGLES[name]):
            at = [float(np.finfo(np.float64).tiny) if value == TINY else value for value in case]
            wanted = dtype(getattr(math, name)(*at))
            assert found[k] == wanted, f"{name} of {case} is {found[k]}"
            assert np.signbit(found[k]) == np.signbit(wanted), f"{name} of {case} is {found[k]}"


@pytest.mark.parametrize("dtype", PRECISIONS)
def test_results_stay_in_their_ranges(dtype: Any) -> None:
    ranges = {"sin": (-1, 1), "cos": (-1, 1), "tanh": (-1, 1), "sigmoid": (0, 1), "exp": (0, INF)}
    half, whole = float(dtype(math.pi / 2)), float(dtype(math.pi))
    ranges |= {"asin": (-half, half), "acos": (0, whole), "atan": (-half, half)}
    ranges |= {"erf": (-1, 1), "erfc": (0, 2), "log1pexp": (0, INF)}
    given = {name: arguments(name, dtype, 3000, seed=6) for name in ranges}
    for name, found in computed(given).items():
        low, high = ranges[name]
        known = found[~np.isnan(found)]
        assert known.min() >= low, name
        assert known.max() <= high, name
