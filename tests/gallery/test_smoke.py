"""The smoke against NumPy, and its demo."""

from functools import partial
from pathlib import Path

import numpy as np
import pytest
import taichi as ti

import difftile as dt
from demos.smoke import main
from demos.support.training import slope
from scenes.smoke import Smoke, make_scene
from tests.gallery import reference_smoke as reference


@pytest.mark.parametrize(
    ("n", "steps", "relaxations", "original"),
    [
        (16, 7, 3, False),
        (16, 7, 3, True),
        (16, 7, 4, True),
        (16, 7, None, False),
        pytest.param(128, 100, 10, False, marks=pytest.mark.slow),
        pytest.param(128, 100, 10, True, marks=pytest.mark.slow),
    ],
)
def test_loss_and_gradient_agree_with_numpy(
    n: int, steps: int, relaxations: int | None, original: bool
) -> None:
    scene = make_scene(n, steps, relaxations, tolerance=1e-13)
    smoke = Smoke(scene, original, ti.f64)
    v0 = 0.8 * np.random.default_rng(3).standard_normal((n, n, 2))
    smoke.v0.from_numpy(v0)
    with dt.Tape(smoke.loss) as tape:
        smoke.run()
    loss = partial(
        reference.loss,
        smoke=scene.smoke,
        target=scene.target,
        steps=steps,
        relaxations=relaxations,
        original=original,
    )
    assert smoke.loss[None] == pytest.approx(loss(v0), rel=1e-11)
    # Of a step only velocities and smoke are kept: pressures enter linearly. A solver keeps one.
    assert tape.peak_nbytes <= 8 * (3 if relaxations else 5) * n * n * steps

    gradient = smoke.v0.grad.to_numpy()
    for index in [(0, 0, 0), (n // 2, n // 3, 1), (n - 1, 1, 0), (n // 4, n - 1, 1)]:
        direction = np.zeros_like(v0)
        direction[index] = 1.0
        by_complex_step = loss(v0 + 1e-30j * direction).imag / 1e-30
        assert gradient[index] == pytest.approx(by_complex_step, rel=1e-9, abs=1e-15)
        if n < 100:  # longer runs meet kinks of the interpolation within any step
            along = partial(lambda way, change: loss(v0 + change * way), direction)
            by_differences = slope(along, 2e-6)
            assert gradient[index] == pytest.approx(by_differences, rel=1e-6, abs=1e-10)


def test_mended_projection_leaves_less_divergence() -> None:
    scene = make_scene(32, 12)
    v0 = 0.5 * np.random.default_rng(4).standard_normal((32, 32, 2))
    left = []
    for original in (False, True):
        v, _ = reference.run(v0, scene.smoke, 12, 10, original=original)
        divergence = reference.central(v[..., 0], 0) + reference.central(v[..., 1], 1)
        left.append(np.abs(divergence).mean() / np.abs(v).mean())
    assert left[0] < 0.5 * left[1]


def test_demo_stirs_smoke_and_writes_its_pictures(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    short = ["--size", "32", "--steps", "12", "--iterations", "6", "--memory", "200kB"]
    assert main([*short, "--out", str(tmp_path)]) == 0
    printed = capsys.readouterr().out
    assert "after 11 steps the smoke is 0." in printed
    assert {path.name for path in tmp_path.iterdir()} == {
        "before_after.png",
        "loss.png",
        "smoke.gif",
    }


@pytest.mark.parametrize("version", [[], ["--original"]])
def test_demo_checks_its_gradient(version: list[str]) -> None:
    assert main(["--check", "--size", "16", "--steps", "8", *version]) == 0
