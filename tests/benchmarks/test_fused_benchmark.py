"""`benchmarks/fused.py` measures a row in a process of its own, and finds wrong gradients."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks import fused
from benchmarks.peers.runs import Clock, Times


class Answer:
    """A program that is done, with this loss and gradient."""

    def __init__(self, loss: float, gradient: float) -> None:
        self._loss, self._gradient = loss, np.array([1.0, gradient])

    def turn(self, clock: Clock) -> Times:
        return Times(1.0, 1.0, 1.0)

    def loss(self) -> float:
        return self._loss

    def gradients(self) -> dict[str, np.ndarray]:
        return {"x": self._gradient}


@pytest.mark.taichi
def test_a_row_agrees_with_plain_taichi(capsys: pytest.CaptureFixture[str]) -> None:
    argv = ["--quick", "--turns", "1", "--rows", "pendula", "--peers", "taichi"]
    assert fused.main(argv) == 0
    said = capsys.readouterr().out
    assert "Taichi  " in said
    assert "another loss" not in said


@pytest.mark.parametrize(
    ("loss", "gradient", "apart"),
    [(2.0, 1.0, 0.0), (2.2, 1.0, 0.1), (2.0, 0.0, 2**-0.5), (2.0, np.nan, np.nan)],
)
def test_programs_are_apart_by_loss_or_gradient(loss: float, gradient: float, apart: float) -> None:
    programs = {
        "difftile": fused.Measured(Answer(2.0, 1.0)),
        "other": fused.Measured(Answer(loss, gradient)),
    }
    fused.compare(programs)
    assert programs["other"].apart == pytest.approx(apart, nan_ok=True)
