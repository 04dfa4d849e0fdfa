"""Light that passes a cloud against NumPy, and the demo that finds the cloud."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
import taichi as ti

import difftile as dt
from demos import volume_grid
from demos.volume_grid import main
from scenes.glow import LEAST_LIGHT, GlowScene, VolumeGrid, make_scene


def sample(cloud: np.ndarray, p: np.ndarray) -> np.ndarray:
    """Return the trilinear value at a point of the cube from -1 to 1, clamped at its sides."""
    at = np.flip((0.5 * p + 0.5) * len(cloud) - 0.5)
    first = np.floor(at).astype(int)
    value = np.zeros(4)
    for corner in np.ndindex(2, 2, 2):
        weight = np.prod(np.where(corner, at - first, 1.0 - (at - first)))
        value += weight * cloud[tuple(np.clip(first + corner, 0, len(cloud) - 1))]
    return value


def follow(scene: GlowScene, view: int, i: int, j: int, stride: float) -> np.ndarray:
    """Return the light that comes along the ray of a pixel."""
    half = scene.resolution / 2
    x, y = (scene.spread * ((k + 0.5) / half - 1.0) for k in (j, i))
    way = np.array([x, y, 1.0]) @ scene.frames[view]
    way /= np.linalg.norm(way)
    sides = np.sort([(-1.0 - scene.eyes[view]) / way, (1.0 - scene.eyes[view]) / way], axis=0)
    t, colour, light = sides[0].max() + 0.5 * stride, np.zeros(3), 1.0
    while t < sides[1].min() and light > LEAST_LIGHT:
        *emitted, density = sample(scene.cloud, scene.eyes[view] + t * way)
        left = np.exp(-scene.densest * density * stride)
        colour += light * (1.0 - left) * np.array(emitted)
        light *= left
        t += stride
    return colour


def test_pictures_agree_with_numpy() -> None:
    scene = make_scene(12, 10, 3)
    grid = VolumeGrid(scene, dt.Texture(scene.cloud, dtype=ti.f64), dtype=ti.f64)
    grid.render()
    image = grid.image.to_numpy()
    assert image.max() > 0.5
    for at in np.ndindex(image.shape[:3]):
        np.testing.assert_allclose(image[at], follow(scene, *at, grid.stride), atol=1e-12)


def test_demo_sees_the_cloud_from_elsewhere_and_writes_its_pictures(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(volume_grid, "FRAMES", 4)
    small = ["--size", "16", "--resolution", "24", "--iterations", "40"]
    assert main([*small, "--out", str(tmp_path)]) == 0
    assert best(capsys.readouterr().out) > 27.0
    assert {path.name for path in tmp_path.iterdir()} == {"strip.png", "curve.png", "turn.gif"}


@pytest.mark.slow
def test_demo_sees_the_cloud_from_elsewhere_closely(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--no-pictures", "--iterations", "50"]) == 0
    assert best(capsys.readouterr().out) > 34.0


def best(printed: str) -> float:
    """Return the PSNR of held-out pictures [dB]."""
    found = re.search(r"(\S+) dB at best", printed)
    assert found is not None
    return float(found[1])


def test_demo_checks_its_gradient() -> None:
    assert main(["--check", "--size", "8", "--resolution", "12"]) == 0
