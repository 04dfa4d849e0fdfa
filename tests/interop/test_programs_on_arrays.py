"""The programs of `tests/programs/` on arrays of NumPy instead of fields, with the same results."""

from __future__ import annotations

from typing import Any
from unittest import mock
from zlib import crc32

import numpy as np
import numpy.testing as npt
import pytest

import difftile as dt
from difftile.ir.types import F32, Scalar, shaped
from difftile.launch import prepared_launch as launches
from difftile.launch.streams import Streams
from tests import harness, programs

programs.load()

_SHARE = 12  # of the programs, one in so many is run each time


class _NoArray(Exception):
    """An argument that no array can stand for."""


def _arrays(one: harness.Program, values: harness.Values) -> dict[str, Any]:
    """Return an array for each field of numbers, and fields over arrays for vectors."""
    made: dict[str, Any] = {}
    for name, argument in one.leaves.items():
        given = harness.whole(one, name)
        if isinstance(given, harness.Same):
            made[name] = made[given.name]
        elif isinstance(argument, harness.Part) and isinstance(argument.of, str):
            made[name] = made[argument.of]
        elif not isinstance(given, (harness.Floats, harness.Given)):
            made[name] = given
        else:
            floats = values[name].dtype.kind == "f"
            array = values[name].astype(np.float32) if floats else values[name].copy()
            element = shaped(given.element, F32 if floats else Scalar("i32"))
            made[name] = dt.from_dlpack(array, element) if given.element else array
    return made


def _argument(name: str, given: Any, arrays: dict[str, Any]) -> Any:
    if isinstance(given, harness.Structs):
        if given.make is None:
            raise _NoArray("fields of structs are made of fields")
        members = {k: _argument(f"{name}.{k}", one, arrays) for k, one in given.members.items()}
        return given.make(**members)
    if not isinstance(given, harness.Part):
        return arrays[name]
    try:
        picked = given.pick(arrays[name])
    except (AttributeError, TypeError, ValueError):
        raise _NoArray("a view that arrays have not") from None
    if isinstance(picked, np.generic):
        raise _NoArray("an element and not a part")
    return picked


def check(one: harness.Program) -> bool:
    """Compare a program on arrays with the same on fields; return False if there are no arrays."""
    values = harness.drawn(one, np.random.default_rng(7))
    kernel = dt.kernel(one.function)
    fields = harness._fields(one, values, F32)
    arrays = _arrays(one, values)
    if not any(isinstance(array, np.ndarray) for array in arrays.values()):
        return False
    try:
        given = {name: _argument(name, part, arrays) for name, part in one.arguments.items()}
    except _NoArray:
        return False
    for arguments in (harness.arguments(one, fields), given):
        with mock.patch.object(launches, "STREAMS", Streams()):
            for _ in range(one.launches):
                kernel(**arguments)
    for name in values:
        found = arrays[name] if isinstance(arrays[name], np.ndarray) else arrays[name].to_numpy()
        wanted = fields[name].to_numpy()
        # Other strides are other code, which may round otherwise.
        tolerance = {"rtol": 1e-6, "atol": 1e-6} if wanted.dtype.kind == "f" else {"rtol": 0}
        npt.assert_allclose(found, wanted, **tolerance, err_msg=f"{one.name}: {name}")
    return True


def test_some_programs() -> None:
    some = [one for one in harness.PROGRAMS if crc32(one.name.encode()) % _SHARE == 0]
    assert sum(map(check, some)) > len(some) // 2


@pytest.mark.slow
def test_all_programs() -> None:
    assert sum(map(check, harness.PROGRAMS)) > len(harness.PROGRAMS) // 2
