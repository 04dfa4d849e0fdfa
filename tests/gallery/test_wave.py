"""The waves against NumPy, and their demo."""

from pathlib import Path

import numpy as np
import pytest
import taichi as ti

import difftile as dt
from demos import wave
from demos.wave import Wave, main
from scenes.wave import make_scene
from tests.gallery import reference_wave as reference


@pytest.mark.parametrize(("n", "steps"), [(24, 2), (24, 31), (256, 256)])
def test_loss_and_gradient_agree_with_numpy(n: int, steps: int) -> None:
    scene = make_scene(n)
    initial = np.random.default_rng(5).standard_normal((n, n))
    wave = Wave(scene, steps, ti.f64)
    wave.initial.from_numpy(initial)
    with dt.Tape(wave.loss) as tape:
        wave.run()
    assert tape.peak_nbytes == 0  # linear: no old value is needed
    assert wave.loss[None] == pytest.approx(reference.loss(initial, scene.target, steps), rel=1e-12)

    gradient = wave.initial.grad.to_numpy()
    for index in [(0, 0), (n // 2, n // 3), (n - 1, 1), (n // 4, n - 1)]:
        losses = []
        for change in (1.0, -1.0):
            moved = initial.copy()
            moved[index] += change
            losses.append(reference.loss(moved, scene.target, steps))
        assert gradient[index] == pytest.approx((losses[0] - losses[1]) / 2.0, rel=1e-6, abs=1e-13)


def test_demo_raises_waves_and_writes_its_pictures(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(wave, "FRAMES", 4)
    short = ["--size", "32", "--steps", "20", "--iterations", "6", "--memory", "64kB"]
    assert main([*short, "--out", str(tmp_path)]) == 0
    assert "step 19 shows " in capsys.readouterr().out
    assert {path.name for path in tmp_path.iterdir()} == {
        "before_after.png",
        "loss.png",
        "wave.gif",
    }


def test_demo_checks_its_gradient() -> None:
    assert main(["--check", "--size", "16", "--steps", "12"]) == 0
