"""Rays that meet a torus against NumPy, the derivative by the implicit rule, and the demo."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
import taichi as ti

from demos.sdf_torus import differentiate, main
from scenes.torus import FAR, SdfTorus, Torus, implicit, make_scene, photograph, unrolled


def distances(p: np.ndarray, torus: Torus) -> np.ndarray:
    """Return signed distances of points to a torus, by turning the points."""
    c, s = np.cos(torus.tilt), np.sin(torus.tilt)
    q = (p - torus.centre) @ np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])
    ring = np.hypot(q[..., 0], q[..., 2]) - torus.radii[0]
    return np.hypot(ring, q[..., 1]) - torus.radii[1]


def test_rays_meet_where_a_fine_walk_meets() -> None:
    scene = make_scene(12)
    found = SdfTorus(scene, scene.torus, ti.f64)
    found.trace()
    n, spacing = 30_001, FAR / 30_000
    t = np.linspace(0.0, FAR, n)
    side = scene.spread * ((2 * np.arange(12) + 1) / 12 - 1.0)
    met, closest = found.met.to_numpy(), found.closest.to_numpy()
    assert 20 < np.sum(met > 0) < met.size - 20
    for view, i, j in np.ndindex(met.shape):
        way = np.array([side[j], side[i], 1.0]) @ scene.frames[view]
        f = distances(scene.eyes[view] + t[:, None] * (way / np.linalg.norm(way)), scene.torus)
        assert f[round(closest[view, i, j] / spacing)] == pytest.approx(f.min(), abs=1e-6)
        if f.min() < 0.0:
            assert met[view, i, j] == pytest.approx(t[np.argmax(f < 0.0)], abs=2 * spacing)
        else:
            assert met[view, i, j] == -1.0


def test_gradient_through_the_loop_is_near_that_of_the_rule() -> None:
    scene = make_scene(48)
    torus = SdfTorus(scene, scene.guess, ti.f64)
    torus.target.from_numpy(photograph(scene))
    rule, _ = differentiate(torus, implicit)
    loss = torus.loss[None]
    loop, _ = differentiate(torus, unrolled)
    assert torus.loss[None] == pytest.approx(loss, rel=1e-2)  # it stops before it is there
    off = np.abs(rule - loop).max() / np.abs(rule).max()
    assert 1e-3 < off < 0.1


def parameters_off(printed: str) -> dict[str, float]:
    """Return the largest error of a parameter by the number of iterations."""
    found = re.findall(r"after +(\d+) iterations a parameter is at most (\S+) off", printed)
    return {k: float(v) for k, v in found}


def test_demo_finds_the_torus_and_writes_its_pictures(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["--resolution", "64", "--iterations", "60", "--out", str(tmp_path)]) == 0
    printed = capsys.readouterr().out
    assert "by the implicit rule" in printed
    assert parameters_off(printed)["50"] <= 0.0465
    assert {path.name for path in tmp_path.iterdir()} == {"strip.png", "curve.png", "torus.gif"}


@pytest.mark.slow
def test_demo_finds_the_torus_closely(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--no-pictures", "--iterations", "201"]) == 0
    off = parameters_off(capsys.readouterr().out)
    assert off["50"] <= 0.0465 and off["100"] <= 0.0041 and off["200"] <= 0.0015


def test_demo_checks_its_gradients() -> None:
    assert main(["--check", "--resolution", "48"]) == 0
