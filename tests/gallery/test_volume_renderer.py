"""The volume renderer against NumPy, and its demo."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import taichi as ti

import difftile as dt
from demos import volume_renderer
from demos.volume_renderer import main
from scenes.volume import VolumeRenderer, VolumeScene, make_scene
from tests.gallery import reference_volume as reference


@pytest.mark.parametrize(("n", "resolution"), [(8, 12), (32, 64)])
def test_loss_and_gradient_agree_with_numpy(n: int, resolution: int) -> None:
    scene, density = turned_scene(n, resolution)
    renderer = VolumeRenderer(scene, ti.f64)
    renderer.density.from_numpy(density)
    with dt.Tape(renderer.loss) as tape:
        renderer.run()
    assert tape.peak_nbytes == 0  # linear: no old value is needed
    assert renderer.loss[None] == pytest.approx(reference.loss(density, scene), rel=1e-10)
    np.testing.assert_allclose(renderer.image.to_numpy(), reference.render(density, scene))

    gradient = renderer.density.grad.to_numpy()
    largest = np.unravel_index(np.argsort(gradient, axis=None)[[0, -1]], gradient.shape)
    for index in [*zip(*largest, strict=True), (n // 2, n // 3, n // 4), (0, n // 2, n - 1)]:
        losses = []
        for change in (1.0, -1.0):
            moved = density.copy()
            moved[index] += change
            losses.append(reference.loss(moved, scene))
        assert gradient[index] == pytest.approx((losses[0] - losses[1]) / 2.0, rel=1e-6, abs=1e-13)


def turned_scene(n: int, resolution: int) -> tuple[VolumeScene, np.ndarray]:
    """Return a scene and a cloud to start from.

    The cameras are turned, and no sample is at the centre of the cloud, so that none lies on a face
    between cells, where rounding decides.
    """
    scene = make_scene(n, resolution, views=3)
    density = np.random.default_rng(7).uniform(0.0, 1.0 / n, (n, n, n))
    return replace(scene, angles=scene.angles + 0.1234, spacing=0.0203), density


def test_a_step_is_projected_gradient_descent() -> None:
    scene, density = turned_scene(8, 12)
    renderer = VolumeRenderer(scene, ti.f64)
    renderer.density.from_numpy(density)
    descent = dt.optim.SGD(renderer.parameters, 15.0, low=0.0)
    with dt.Tape(renderer.loss):
        renderer.run()
    descent.step()
    moved = np.maximum(density - 15.0 * renderer.density.grad.to_numpy(), 0.0)
    assert (moved == 0.0).any()
    np.testing.assert_allclose(renderer.density.to_numpy(), moved)


def test_demo_finds_a_cloud_and_writes_its_pictures(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(volume_renderer, "FRAMES", 4)
    short = ["--size", "8", "--resolution", "12", "--views", "3", "--iterations", "8"]
    assert main([*short, "--out", str(tmp_path)]) == 0
    assert "of the density lies where it should" in capsys.readouterr().out
    assert {path.name for path in tmp_path.iterdir()} == {
        "before_after.png",
        "loss.png",
        "turn.gif",
    }


def test_demo_checks_its_gradient() -> None:
    assert main(["--check", "--size", "8", "--resolution", "12"]) == 0
