"""A knot of gaussians is found from pictures of it."""

from pathlib import Path

import numpy as np
import pytest

import difftile as dt
from demos.fit_splats import GOALS, main
from scenes.torus_knot import AROUND_TUBE, TUBE, make_scene


def reached(out: str) -> float:
    """Return the PSNR that the demo printed for the pictures that are held out [dB]."""
    return float(out.split("come out to ")[1].split(" dB", maxsplit=1)[0])


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
