"""Paths of light in a box: hits, light of the lamp, the replay, and the demo."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
import taichi as ti

import difftile as dt
from demos.path_replay import main
from scenes.box import (
    BALLS,
    LAMP,
    LEFT,
    NOTHING,
    OTHER,
    RIGHT,
    PathReplay,
    from_lamp,
    make_scene,
    meet,
    photograph,
    radiance,
    replayed,
    scattered,
    uniform2,
)


def test_rays_meet_what_is_there() -> None:
    scene = make_scene(4)
    box = PathReplay(scene, dtype=ti.f64)
    near, far = scene.balls
    up = np.array([0.0, 1.0, 0.0])
    to_ball = near[:3] - [0.0, 0.0, 3.4]
    away = np.linalg.norm(to_ball)
    rows = [  # from, towards, the surface, the point, the normal there
        ([0, 0.2, 0], [-1, 0, 0], LEFT, [-1, 0.2, 0], [1, 0, 0]),
        ([0, 0.2, 0], [1, 0, 0], RIGHT, [1, 0.2, 0], [-1, 0, 0]),
        ([0.8, 0, 0], [0, -1, 0], OTHER, [0.8, -1, 0], [0, 1, 0]),
        ([0.8, 0, 0], [0, 1, 0], OTHER, [0.8, 1, 0], [0, -1, 0]),
        ([0.1, 0, 0.1], [0, 1, 0], LAMP, [0.1, 1, 0.1], [0, -1, 0]),
        ([0, 0.5, 3.4], [0, 0, -1], OTHER, [0, 0.5, -1], [0, 0, 1]),
        ([0, 0.5, 0], [0, 0, 1], NOTHING, [0, 0.5, 1], [0, 0, -1]),
        ([0, 0, 3.4], to_ball / away, BALLS, near[:3] - near[3] * to_ball / away, -to_ball / away),
        ([far[0], 0.9, far[2]], [0, -1, 0], BALLS + 1, far[:3] + far[3] * up, up),
    ]
    vec3 = dt.vec(3, ti.f64)
    starts, ways = (dt.from_numpy(np.array([r[k] for r in rows], float), vec3) for k in (0, 1))
    found, places = dt.zeros(len(rows), ti.i32), dt.zeros((2, len(rows)), vec3)

    @dt.kernel
    def look(box, starts, ways, found, places):
        for i in found:
            found[i], places[0, i], places[1, i] = meet(box, starts[i], ways[i])

    look(box, starts, ways, found, places)
    assert found.to_numpy().tolist() == [row[2] for row in rows]
    for k in (0, 1):
        expected = np.array([row[3 + k] for row in rows], float)
        np.testing.assert_allclose(places.to_numpy()[k], expected, atol=1e-12)


def test_lamp_lights_as_the_integral_over_it_says() -> None:
    scene = make_scene(4)
    box = PathReplay(scene, dtype=ti.f64)
    p, n = np.array([0.7, 0.1, 0.6]), np.array([-0.6, 0.8, 0.0])
    side = scene.lamp * (2 * (np.arange(400) + 0.5) / 400 - 1.0)
    x, z = np.meshgrid(side, side)
    to = np.stack([x, np.ones_like(x), z], axis=-1) - p
    far = np.linalg.norm(to, axis=-1)
    cosines = to @ n * to[..., 1] / far**2
    white = np.mean(cosines / far**2) * 4 * scene.lamp**2 / np.pi
    lit, slopes = dt.zeros((), dt.vec(3, ti.f64)), dt.zeros((), dt.vec(3, ti.f64))
    place, normal = (dt.full((), tuple(v), dt.vec(3, ti.f64)) for v in (p, n))

    @dt.kernel
    def light(box, place, normal, lit, slopes):
        for k in range(100_000):
            draw = uniform2(ti.u32(7), k)
            lit[None] += from_lamp(box, place[None], normal[None], draw) / 100_000
            slopes[None] += scattered(normal[None], draw) / 100_000

    light(box, place, normal, lit, slopes)
    np.testing.assert_allclose(lit[None], white * scene.emission, rtol=2e-3)
    np.testing.assert_allclose(slopes[None], 2 / 3 * n, atol=5e-3)  # the mean cosine is 2/3


def test_replay_is_the_derived_adjoint() -> None:
    scene = make_scene(12)
    target = photograph(scene)
    found = []
    for light in (replayed, radiance):
        paths = PathReplay(scene, light=light, dtype=ti.f64)
        paths.bounces = 150  # with few, the demo itself compares both
        paths.target.from_numpy(target)
        with dt.Tape(paths.loss) as tape:
            paths.run()
        assert tape.peak_nbytes == 0
        found.append((paths.loss[None], paths.albedo.grad.to_numpy()))
    assert found[0][0] == pytest.approx(found[1][0], rel=1e-12)
    np.testing.assert_allclose(found[0][1], found[1][1], rtol=1e-9)


def test_demo_finds_the_colours_and_writes_its_pictures(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("scenes.box.MANY", 16)
    assert main(["--resolution", "32", "--iterations", "51", "--out", str(tmp_path)]) == 0
    printed = capsys.readouterr().out
    differ = re.search(r"the replay and the derived adjoint differ by (\S+);", printed)
    assert differ is not None and float(differ[1]) < 1e-3  # in single precision
    off = dict(re.findall(r"after +(\d+) iterations the red wall is at most (\S+) off", printed))
    assert float(off["30"]) <= 0.06 and float(off["50"]) <= 0.03
    assert {path.name for path in tmp_path.iterdir()} == {"strip.png", "curve.png", "box.gif"}


@pytest.mark.slow
def test_demo_finds_the_colours_closely(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--no-pictures", "--iterations", "51"]) == 0
    printed = capsys.readouterr().out
    off = dict(re.findall(r"after +(\d+) iterations the red wall is at most (\S+) off", printed))
    assert float(off["30"]) <= 0.045 and float(off["50"]) <= 0.024


@pytest.mark.parametrize("derived", [[], ["--derived"]])
def test_demo_checks_its_gradient(derived: list[str]) -> None:
    assert main(["--check", "--resolution", "16", *derived]) == 0
