"""Programs whose fields are in memory of the device, as on a GPU, though the device is the CPU."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np

import difftile as dt
from difftile import ti
from difftile.substrate import current_session
from difftile.substrate.backend import Device
from difftile.substrate.compiler import backend
from tests import harness, programs
from tests.taichi_names import name_taichi

_SHARE = 40  # of how many programs one is run
_start = backend().devices.start


def _start_off_host(*given: Any) -> Device:
    return dataclasses.replace(_start(*given), on_host=False)


def exchange() -> None:
    """Read and write from Python: whole fields, elements, parts, rows, gradients."""
    x = dt.from_numpy(np.arange(6.0), grad=True)
    x[1], x[4:] = 7.0, -1.0
    assert x.to_numpy().tolist() == [0, 7, 2, 3, -1, -1]
    v = dt.zeros(3, dtype=ti.math.vec3)
    v.fill(2)
    v[1] = [1, 2, 3]
    assert v[1].tolist() == [1, 2, 3]
    assert v.to_numpy().sum() == 18
    copy = dt.zeros_like(v)
    copy.copy_from(v)
    assert (copy.to_numpy() == v.to_numpy()).all()
    assert dt.full(2, 2**60 + 1, ti.i64).to_numpy().tolist() == [2**60 + 1] * 2
    rows = dt.Rows(x=x)
    rows.take([1, 3])
    assert rows.x.to_numpy().tolist() == [7, 3]
    rows.x.grad.add_numpy([1.0, 2.0])
    assert rows.x.grad.to_numpy().tolist() == [1, 2]


def main() -> None:
    """Run a share of the programs through every check."""
    backend().devices.start = _start_off_host
    dt.init()
    assert not current_session().on_host
    assert dt.ones(3).storage.buffer.view is None
    exchange()
    name_taichi()
    programs.load()
    for one in harness.PROGRAMS[::_SHARE]:
        try:
            harness.check(one)
        except dt.FieldError as error:
            if "reshaped on the CPU" not in str(error):
                raise


if __name__ == "__main__":
    main()
