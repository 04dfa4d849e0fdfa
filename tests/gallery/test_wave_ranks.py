"""The waves on several ranks: the gradient equals that of the scene in one process."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import difftile as dt
from demos.wave_ranks import main
from difftile import ti
from scenes.wave import Wave, WaveOnRanks, make_scene
from tests.ranks import ranks


def gradient(n: int, steps: int, memory: str | None) -> tuple[float, Any, float]:
    """Return the loss, the gradient of the whole square, and bytes of old values."""
    wave = WaveOnRanks(make_scene(n), steps, ti.f64)
    wave.initial.from_global(np.sin(np.arange(n * n)).reshape(n, n))
    with dt.Tape(wave.loss, memory=memory) as tape:
        wave.run()
    return float(wave.loss[None]), wave.initial.grad.to_global(), tape.peak_nbytes


@pytest.mark.parametrize(("size", "memory"), [(1, None), (3, None), (4, "100KB")])
def test_gradient_equals_that_of_one_process(size: int, memory: str | None) -> None:
    n, steps = 22, 17
    whole = Wave(make_scene(n), steps, ti.f64)
    whole.initial.from_numpy(np.sin(np.arange(n * n)).reshape(n, n))
    with dt.Tape(whole.loss):
        whole.run()
    expected = whole.initial.grad.to_numpy()
    for loss, found, kept in ranks(size).run(gradient, n, steps, memory):
        assert loss == pytest.approx(float(whole.loss[None]), rel=1e-13)
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-12 * np.max(np.abs(expected)))
        assert memory or kept <= 8 * size  # the equation is linear; the loss of each rank is kept


def test_demo_checks_its_gradient() -> None:
    assert main(["--check", "--size", "16", "--steps", "12"]) == 0


def test_demo_shows_the_whole_square(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["--size", "24", "--steps", "20", "--iterations", "2", "--out", str(tmp_path)]
    assert main(arguments) == 0
    assert "1 ranks, 1 x 1 boxes of (24, 24) cells" in capsys.readouterr().out
    assert {path.name for path in tmp_path.iterdir()} == {"after.png", "loss.png"}
