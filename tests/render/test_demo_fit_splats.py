"""A knot of gaussians is found from pictures of it."""

import argparse
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import difftile as dt
from demos.fit_splats import GOALS, main, view
from demos.support.splat_view import COARSE, FINE, MODES, SplatView, frusta, nearest, resized
from difftile.viewer import KeyDown, MouseDown, MouseMove, MouseUp, Orbit
from difftile.viewer.controls import Buttons, Checkbox, Choice, Slider
from scenes.torus_knot import AROUND_TUBE, TUBE, Reconstruction, look_from, make_knot, make_scene


def reached(out: str) -> float:
    """Return the PSNR that the demo printed for the pictures that are held out [dB]."""
    return float(out.split("pictures reach ")[1].split(" dB", maxsplit=1)[0])


def test_the_discs_of_the_knot_lie_flat_on_a_tube() -> None:
    scene = make_scene()
    w, x, y, z = scene.quaternions.T
    out = np.stack([2 * (x * z + w * y), 2 * (y * z - w * x), 1 - 2 * (x * x + y * y)], axis=1)
    centres = scene.means - TUBE * out
    rings = centres.reshape(-1, AROUND_TUBE, 3)
    np.testing.assert_allclose(rings, rings[:, :1].repeat(AROUND_TUBE, axis=1), atol=1e-12)
    np.testing.assert_allclose(np.linalg.norm(scene.quaternions, axis=1), 1.0, atol=1e-12)
    apart = np.linalg.norm(scene.eyes[:, None] - scene.held_out, axis=2)
    assert apart.min() > 0.5  # no picture that is held out is nearly one that is given


def test_demo_reconstructs_and_writes_its_pictures(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("demos.fit_splats.FRAMES", 3)
    short = ["--gaussians", "150", "--views", "8", "--iterations", "25"]
    assert main([*short, "--out", str(tmp_path)]) == 0
    assert reached(capsys.readouterr().out) > 21.0
    assert {path.name for path in tmp_path.iterdir()} == {
        "strip.png",
        "curve.png",
        "turn.gif",
        "knot.ply",
    }
    assert len(dt.datasets.read_splats(tmp_path / "knot.ply")) == 150


@pytest.mark.slow  # a minute
def test_the_knot_is_found_as_well_as_by_others(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--no-pictures"]) == 0
    assert reached(capsys.readouterr().out) > GOALS[300]


def test_demo_checks_its_gradient() -> None:
    assert main(["--check"]) == 0


def test_the_edges_of_what_a_camera_sees_end_in_the_corners_of_its_picture() -> None:
    eyes = make_scene(10, 3).eyes
    cameras = look_from(eyes)
    edges = frusta(cameras, 0.5)
    np.testing.assert_allclose(edges[:, :4, 0], eyes[:, None].repeat(4, axis=1), atol=1e-5)
    poses, lenses = cameras.world_to_camera(), cameras.intrinsics.to_numpy()
    for pose, (fx, fy, cx, cy), edge in zip(poses, lenses, edges, strict=True):
        x, y, z = (edge[4:, 0] @ pose[:3, :3].T + pose[:3, 3]).T
        np.testing.assert_allclose(z, 0.5, atol=1e-5)
        np.testing.assert_allclose(fx * x / z + cx, [0, cameras.width, cameras.width, 0], atol=1e-3)
        height = cameras.height
        np.testing.assert_allclose(fy * y / z + cy, [0, 0, height, height], atol=1e-3)
    assert [nearest(eyes, 0.3 * eye) for eye in eyes] == [0, 1, 2]


def test_what_changes_is_drawn_small_and_what_stays_once_in_full() -> None:
    look = SplatView(make_knot(make_scene(10, 2)))
    drawn: list[int] = []
    inner = look._draw

    def count(view: dt.viewer.View) -> tuple[np.ndarray, np.ndarray | None]:
        drawn.append(view.width * view.height)
        return inner(view)

    look._draw = count
    orbit = Orbit(distance=6.0, up=(0.0, 0.0, 1.0))
    window = orbit.view(1200, 900)
    for _ in range(5):
        picture = look(window)
        assert isinstance(picture, tuple)
        assert picture[0].dtype == np.uint8 and picture[0].shape[:2] == picture[1].shape
    assert len(drawn) == 2
    assert 0.98 * COARSE < drawn[0] <= COARSE and 0.98 * FINE < drawn[1] <= FINE
    look.version += 1
    look(window)
    look(orbit.rotated(0.1, 0.0).view(1200, 900))
    assert drawn[2:] == [drawn[0]] * 2
    # If pictures may take little of the time, updates of the Gaussians wait, but not the camera.
    look.share = 1e-9
    look(window)
    look.version += 1
    for _ in range(3):
        look(window)
    look(orbit.rotated(0.2, 0.0).view(1200, 900))
    assert drawn[4:] == [drawn[0]] * 2
    look.share = None
    # The knot is where the camera of the window sees it, as large as it is there.
    small = resized(window, 5000)
    share = small.width / window.width
    np.testing.assert_allclose(small.intrinsics, share * window.intrinsics, rtol=0.02)
    _, depth = look(small)
    covered = np.isfinite(depth)
    rows, columns = np.nonzero(covered)
    pixels, depths = orbit.project(look.gaussians.means.to_numpy(), small.width, small.height)
    np.testing.assert_allclose(
        [rows.min(), rows.max(), columns.min(), columns.max()],
        [*np.quantile(pixels[:, 1], (0, 1)), *np.quantile(pixels[:, 0], (0, 1))],
        atol=3.0,
    )
    seen = depth[covered]
    assert depths.min() - 0.3 < seen.min() < depths.min() + 0.3
    assert seen.max() < depths.max() + 0.3


def test_one_looks_on_from_any_side_while_it_learns(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("demos.support.splat_view.FINE", COARSE)
    scene = make_scene(60, 4)
    reconstruction = Reconstruction(scene)
    first = reconstruction.gaussians.means.to_numpy()
    app = view(reconstruction, scene, argparse.Namespace(view="none", out=Path("out")))
    labelled = {one.label: one for one in app._panel.controls if hasattr(one, "label")}
    pressed: dict[str, Callable[[], object]] = {
        key.text(): key.press
        for one in app._panel.controls
        if isinstance(one, Buttons)
        for key in one.keys
    }
    show, level, eyes = labelled["show"], labelled["size of ellipsoids [std]"], labelled["cameras"]
    assert isinstance(show, Choice) and isinstance(level, Slider) and isinstance(eyes, Checkbox)

    def picture(*events: KeyDown | MouseDown | MouseMove | MouseUp) -> np.ndarray:
        app.run(frames=2, events=events)
        assert app.error is None
        assert app.picture is not None
        return app.picture[50:460, :720].astype(int)

    def differ(one: np.ndarray, other: np.ndarray, least: float = 0.3) -> bool:
        return bool(np.abs(one - other).mean() > least)

    app.run(frames=21)
    (series,) = app._panel.series.values()
    qualities = list(series.values)
    assert len(qualities) == 3 and qualities[-1] > qualities[0] + 2.0

    app.playing, seen = False, []
    for mode in MODES:
        show.value = mode
        seen.append(picture())
    for k, one in enumerate(seen):
        assert all(differ(one, other) for other in seen[k + 1 :]), MODES[k]
    assert differ(seen[-1], picture(KeyDown("g")))  # arrows at the centres
    picture(KeyDown("g"))
    show.value, level.value = "ellipsoids", 0.7
    assert differ(seen[3], picture())
    level.value = 1.5
    assert not differ(seen[3], picture())
    eyes.value = False
    assert differ(seen[3], picture(), 0.05)

    before = app.orbit.eye()
    drag = [MouseDown("left", 300, 300), MouseMove(400, 300), MouseUp("left", 400, 300)]
    assert differ(seen[3], picture(*drag))
    assert np.linalg.norm(app.orbit.eye() - before) > 1.0
    for eye in scene.eyes[:2]:
        pressed["look through the next camera"]()
        picture()
        np.testing.assert_allclose(app.orbit.eye(), eye, atol=1e-9)
    pressed["look from afar"]()
    picture(KeyDown("r"))
    np.testing.assert_allclose(app.orbit.eye(), before, atol=1e-9)
    np.testing.assert_array_equal(reconstruction.gaussians.means.to_numpy(), first)
    assert not list(series.values)


def test_demo_records_what_one_would_see(tmp_path: Path) -> None:
    short = ["--gaussians", "60", "--views", "4", "--iterations", "2", "--no-pictures"]
    assert main([*short, "--record", str(tmp_path / "frames")]) == 0
    assert len(list((tmp_path / "frames").iterdir())) == 2
