"""Fields that go on in other memory, since a tape keeps what they had."""

from __future__ import annotations

from typing import Any

import pytest
import taichi as ti

import difftile as dt


@dt.kernel
def square(x, y):
    for i in x:
        y[i] = x[i] * x[i]


def test_a_field_of_zeros_that_a_tape_keeps_is_cleared_in_its_new_memory(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    dt.init(arch="python")
    x, y = dt.zeros(5, ti.f64, grad=True), dt.zeros(5, ti.f64, grad=True)
    kind = type(x.buffer)
    fresh = kind.empty_like

    def used_before(buffer: Any) -> Any:
        made = fresh(buffer)
        made.array()[...] = 7.0
        return made

    with dt.Tape() as tape:
        square(x, y)  # keeps the contents of x
        kept = x.buffer
        monkeypatch.setattr(kind, "empty_like", used_before)
        x.fill(0.0)
        assert x.buffer is not kept
        assert x.to_numpy().tolist() == [0.0] * 5
    tape.backward({y: 1.0})
