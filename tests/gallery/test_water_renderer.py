"""The pool against NumPy, and its demo."""

from pathlib import Path

import numpy as np
import pytest
import taichi as ti

import difftile as dt
from demos import wave
from demos.support.training import slope
from demos.water_renderer import main
from scenes.wave import WaterRenderer, make_pool
from tests.gallery import reference_water as reference


@pytest.mark.parametrize(("n", "steps"), [(16, 12), (256, 256)])
def test_loss_and_gradient_agree_with_numpy(n: int, steps: int) -> None:
    scene, rng = make_pool(n), np.random.default_rng(3)
    y, x = np.mgrid[:n, :n] / n
    initial = 1.6 / steps * np.sin(7 * y + 5 * x) + 0.002 * rng.standard_normal((n, n))
    renderer = WaterRenderer(scene, steps, ti.f64)
    renderer.wave.initial.from_numpy(initial)
    with dt.Tape(renderer.loss):
        renderer.run()
    assert renderer.loss[None] == pytest.approx(reference.loss(initial, scene, steps), rel=1e-10)
    np.testing.assert_allclose(
        renderer.image.to_numpy(), reference.render(initial, scene, steps), atol=1e-10
    )

    gradient = renderer.wave.initial.grad.to_numpy()
    direction = rng.standard_normal((n, n))
    along = reference.derivative(initial, direction, scene, steps)
    assert np.sum(gradient * direction) == pytest.approx(along, rel=1e-9)
    for index in [(n // 2, n // 3), (1, n // 2), (n - 3, n - 2)]:

        def loss(change: float, index: tuple[int, int] = index) -> float:
            moved = initial.copy()
            moved[index] += change
            return reference.loss(moved, scene, steps)

        assert gradient[index] == pytest.approx(slope(loss, 1e-6), rel=1e-6, abs=1e-12)


def test_demo_makes_waves_and_writes_its_pictures(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(wave, "FRAMES", 4)
    short = ["--size", "32", "--steps", "20", "--iterations", "6"]
    assert main([*short, "--out", str(tmp_path)]) == 0
    assert "the waves remove" in capsys.readouterr().out
    assert {path.name for path in tmp_path.iterdir()} == {
        "before_after.png",
        "loss.png",
        "water.gif",
    }


def test_demo_checks_its_gradient() -> None:
    assert main(["--check", "--size", "16", "--steps", "12"]) == 0
