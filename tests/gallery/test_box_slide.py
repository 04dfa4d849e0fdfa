"""The thrown box, and its demo `box-friction`."""

import re
from pathlib import Path

import numpy as np
import pytest

import difftile as dt
from demos.box_friction import main
from difftile import worlds
from scenes.box_slide import BODY, GEOM, MODEL, NOISE, make_boxes, width


def test_a_box_of_another_mass_is_the_model_of_that_mass() -> None:
    """Inertia and the constants of contacts too, as `refresh_constants` computes them."""
    model = worlds.load_arrays(MODEL)
    inertia = dt.zeros((), dt.vec(3, dt.ti.f64))
    inertia.from_numpy(model.body_inertia[BODY] / model.body_mass[BODY])
    numbers = np.array([[0.3, 1.7], [0.6, 0.4]])
    m = worlds.Worlds(
        model,
        2,
        dtype=dt.ti.f64,
        per_world=("geom_friction", "body_mass", "body_inertia", "body_invweight0"),
    ).m
    made = m.geom_friction, m.body_mass, m.body_inertia, m.body_invweight0
    make_boxes(dt.from_numpy(np.log(numbers)), inertia, *made)
    for world, (friction, mass) in enumerate(numbers):
        other = worlds.load_arrays(MODEL)
        other.geom_friction[GEOM, 0] = friction
        other.body_inertia[BODY] *= mass / other.body_mass[BODY]
        other.body_mass[BODY] = mass
        worlds.refresh_constants(other)
        for field in ("geom_friction", "body_mass", "body_inertia", "body_invweight0"):
            np.testing.assert_allclose(
                getattr(m, field).to_numpy()[world], getattr(other, field), rtol=1e-12
            )


def test_the_width_is_the_spread_of_fits_of_noisy_lines() -> None:
    """For tracks that are linear in the numbers, least squares scatter by the covariance."""
    draw = np.random.default_rng(0)
    jacobian = draw.normal(size=(5, 4, 3, 2))
    rows = jacobian.reshape(-1, 2)
    noise = NOISE * draw.normal(size=(len(rows), 4000))
    fits = np.linalg.lstsq(rows, noise, rcond=None)[0]
    np.testing.assert_allclose(np.cov(fits), width(jacobian), rtol=0.1, atol=1e-8)


@pytest.mark.slow  # the gradient of worlds is compiled
def test_demo_finds_both_numbers_within_a_percent(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["--out", str(tmp_path)]) == 0
    said = capsys.readouterr().out
    line = next(line for line in said.splitlines() if line.startswith("d0 = 0:"))
    errors = [float(text.split("%")[0]) for text in line.split("(")[1:]]
    assert len(errors) == 2 and max(map(abs, errors)) < 1.0
    found = re.search(r"within 1 % after (\d+) gradients", said)
    assert found is not None and int(found[1]) <= 50
    for name in ("strip.png", "found.png"):
        assert (tmp_path / name).stat().st_size > 10_000


@pytest.mark.slow  # the gradient of worlds is compiled
def test_gradient_of_the_misfit_is_that_of_differences() -> None:
    assert main(["--check"]) == 0


@pytest.mark.slow  # the gradient of worlds is compiled
def test_the_viewer_throws_and_learns(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "boxes.webp"
    assert main(["--throws", "2", "--iterations", "4", "--record", str(file)]) == 0
    assert file.stat().st_size > 1000
