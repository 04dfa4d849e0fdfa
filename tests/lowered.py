"""Programs as the frontend makes them of kernels."""

from __future__ import annotations

import numpy as np
import pytest

import difftile as dt
from difftile.ad.derive import derive
from difftile.compile import compile_function as compiling
from difftile.ir.nodes import Program
from difftile.ir.types import F64
from tests import harness


def from_the_frontend(one: harness.Program, monkeypatch: pytest.MonkeyPatch) -> list[Program]:
    """Return the programs that the frontend makes of a kernel, without compiling them."""
    made: list[Program] = []

    def noted(program: Program) -> Program:
        made.append(program)
        return derive(program)

    with monkeypatch.context() as patch:
        patch.setattr(compiling, "derive", noted)
        values = harness.drawn(one, np.random.default_rng(7))
        fields = harness._fields(one, values, F64)
        dt.kernel(one.function)._ready((), harness.arguments(one, fields))
    return made
