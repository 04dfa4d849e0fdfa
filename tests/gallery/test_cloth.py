"""The cloth against NumPy, and its demo."""

import argparse
from pathlib import Path

import numpy as np
import pytest
import taichi as ti

import difftile as dt
from demos.cloth import main, observe
from demos.support.drapes import BALL_SPEED, STRETCH, Fall, view
from demos.support.training import fit, slope, write
from difftile.viewer import KeyDown, MouseDown, MouseMove, MouseUp
from scenes.cloth import (
    FallingCloth,
    choose_masses,
    draw_parameters,
    guess_parameters,
    make_cloth,
    make_scene,
)
from tests.gallery import reference_cloth as reference
from tests.viewer.aim import pixel_of


def make_falling(
    rows: int, columns: int, steps: int, every: int, **changes: object
) -> FallingCloth:
    """A cloth with parameters between the hidden ones and the guess."""
    scene = make_scene(rows, columns, **changes)
    hidden, masses = draw_parameters(1), choose_masses(scene.cloth, 2)
    cloth = FallingCloth(scene, hidden, masses, every, steps, ti.f64)
    observe(cloth, noise=1e-3)
    write(cloth, {"wind": 0.6 * hidden.wind, "stiffness": 0.9 * hidden.stiffness})
    return cloth


def reference_loss(cloth: FallingCloth, wind: np.ndarray, stiffness: np.ndarray) -> complex | float:
    track = reference.run(cloth.scene, wind, stiffness, cloth.steps)
    return reference.loss(track, cloth.masses.to_numpy(), cloth.every, cloth.places.to_numpy())


@pytest.mark.parametrize(
    ("rows", "columns", "steps"),
    [(7, 9, 240), pytest.param(25, 25, 560, marks=pytest.mark.slow)],
)
def test_loss_and_gradient_agree_with_numpy(rows: int, columns: int, steps: int) -> None:
    # Masses touch, slide and stick within the steps.
    cloth = make_falling(rows, columns, steps, steps // 5)
    with dt.Tape(cloth.loss):
        cloth.run()
    values = {name: field.to_numpy() for name, field in cloth.parameters.items()}
    assert cloth.loss[None] == pytest.approx(reference_loss(cloth, **values), rel=1e-9)

    entries = [("wind", (0, 0)), ("wind", (1, 2)), ("stiffness", (0,)), ("stiffness", (2,))]
    for name, index in entries:
        gradient = cloth.parameters[name].grad.to_numpy()[index]

        def moved(change: complex, name: str = name, index: tuple = index) -> complex | float:
            turned = values[name] + np.zeros_like(values[name], dtype=type(change))
            turned[index] += change
            return reference_loss(cloth, **(values | {name: turned}))

        assert gradient == pytest.approx(moved(1e-30j).imag / 1e-30, rel=1e-6)
        if steps < 300:
            assert gradient == pytest.approx(slope(moved, 1e-5), rel=1e-6)


def test_gradient_within_a_budget_is_the_same() -> None:
    cloth, gradients = make_falling(7, 9, 240, 60), []
    for memory in (None, "30kB"):
        with dt.Tape(cloth.loss, memory=memory) as tape:
            cloth.run()
        gradients.append(cloth.wind.grad.to_numpy())
    assert tape.peak_nbytes <= 30_000
    np.testing.assert_allclose(*gradients, rtol=1e-12)


def test_no_mass_is_in_the_ball_and_none_slides_up_its_top() -> None:
    cloth = make_falling(7, 9, 400, 80, friction=10.0)
    cloth.run()
    away = np.linalg.norm(cloth.x.to_numpy() - cloth.scene.center, axis=1)
    assert away.min() == pytest.approx(cloth.scene.radius, rel=1e-3)
    assert np.linalg.norm(cloth.v.to_numpy()[away.argmin()]) < 0.2  # it sticks


def test_cells_are_covered_by_two_triangles_each() -> None:
    cloth = make_cloth(4, 6)
    a, b, c = (cloth.positions[cloth.triangles[:, k]] for k in range(3))
    areas = 0.5 * np.cross(b - a, c - a)[:, 2]
    np.testing.assert_allclose(areas, 0.5 * 0.2**2)
    assert len(areas) == 2 * 3 * 5


@pytest.mark.parametrize("name", ["wind", "stiffness"])
def test_fit_finds_what_is_hidden(name: str) -> None:
    scene, hidden = make_scene(9, 9), draw_parameters(3)
    cloth = FallingCloth(scene, hidden, choose_masses(scene.cloth, 1), 40, 400, ti.f64)
    observe(cloth)
    write(cloth, {name: getattr(guess_parameters(), name)})
    training = fit(cloth, {name: cloth.parameters[name]}, 40, "fit")
    goal = getattr(hidden, name)
    assert np.linalg.norm(training.best[name] - goal) < 0.01 * np.linalg.norm(goal)


def test_demo_prints_what_it_found_and_writes_its_pictures(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    short = ["--rows", "5", "--columns", "6", "--steps", "40", "--iterations", "2", "--looks", "4"]
    assert main([*short, "--noise", "1", "--out", str(tmp_path)]) == 0
    printed = capsys.readouterr().out
    assert "wind at 1 s [m/s]: found [" in printed
    assert "without a limit the tape would hold about 0." in printed
    assert {path.name for path in tmp_path.iterdir()} == {
        "before_after.png",
        "loss.png",
        "cloth.gif",
    }


def test_demo_checks_its_gradient(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--check", "--steps", "240", "--fit", "stiffness"]) == 0
    assert "gradient by tape" in capsys.readouterr().out


def test_a_cloth_of_one_row_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["--rows", "1", "--no-pictures"])
    assert "--rows" in capsys.readouterr().err


# The viewer

LIFTED = np.array([0.0, 0.0, 0.058])  # of the ball, so that it touches the cloth soon [m]


def make_fall(steps: int) -> Fall:
    """A small cloth that is on the ball from the third stretch on."""
    scene = make_scene(7, 9)
    places = choose_masses(scene.cloth, 1)
    fall = Fall(FallingCloth(scene, guess_parameters(), places, 16, steps, ti.f64))
    fall.settings.ball = scene.center + LIFTED
    fall.settings.east = 2.0
    fall.start()
    return fall


def test_gradient_over_stretches_is_that_of_one_tape() -> None:
    fall = make_fall(4 * STRETCH)
    cloth, ball = fall.cloth, np.array([0.0, 0.0, 0.1])

    def change(stretch: int) -> None:  # the damping, then where the ball goes
        fall.settings.damping = 60.0 if stretch else 100.0
        fall.settings.ball = ball if stretch > 1 else cloth.scene.center + LIFTED

    for k in range(4):
        change(k)
        fall.step()
    assert np.ptp(cloth.v.to_numpy()[:, 2]) > 1.0  # some of it has landed
    for _ in range(5):  # the loss, and back to the start
        fall.step()
    assert fall.back and not fall.moments
    np.testing.assert_array_equal(cloth.x.to_numpy(), cloth.scene.cloth.positions)
    fields = (cloth.x, cloth.v, cloth.wind, cloth.stiffness)
    found = [field.grad.to_numpy() for field in fields]

    fall.start()
    cloth.center.from_numpy(cloth.scene.center + LIFTED)
    with dt.Tape(cloth.loss):
        for k in range(4):
            change(k)
            cloth.damping = fall.settings.damping
            cloth.ball.from_numpy(fall.settings.ball)
            for t in range(k * STRETCH, (k + 1) * STRETCH):
                cloth.push_ball(BALL_SPEED * cloth.h)
                cloth.step(t)
        cloth.miss(fall.corner)
    for gradient, field in zip(found, fields, strict=True):
        np.testing.assert_allclose(gradient, field.grad.to_numpy(), rtol=1e-11, atol=1e-14)
        assert np.abs(gradient).max() > 0.0


def test_one_plays_with_the_cloth_and_the_wind_learns() -> None:
    fall = make_fall(4 * STRETCH)
    app, cloth = view(fall, argparse.Namespace(view="none", out=Path("out"))), fall.cloth
    off: list[float] = []
    app.plot = lambda name, value, log: off.append(float(value))

    app.run(frames=2)  # a stretch each
    x, y = pixel_of(app, fall.settings.ball)
    drag = [MouseDown("left", x, y), MouseMove(x + 30, y - 60), MouseUp("left", x + 30, y - 60)]
    before = fall.settings.ball
    app.run(frames=1, events=drag)
    moved = fall.settings.ball - before
    assert moved[2] > 0.05
    pushed = cloth.center[None] - before  # towards where it was dragged, but no faster than it can
    np.testing.assert_allclose(
        pushed, moved * STRETCH * BALL_SPEED * cloth.h / np.linalg.norm(moved), rtol=1e-5
    )
    app.run(frames=2)
    assert app.error is None and fall.back and len(off) == 1

    wind = fall.settings.wind
    app.run(frames=2, events=[KeyDown("g")])
    assert fall.wind_slope().any()
    assert (app.picture == (255, 111, 145)).all(axis=2).sum() > 30  # arrows over the cloth
    app.run(frames=3)
    assert not fall.back and (fall.settings.wind != wind).all()
    app.run(frames=5)
    assert len(off) == 2

    fall.settings.stiffness = 1e9
    with pytest.raises(FloatingPointError):
        app.run(frames=12)
    assert app.error.startswith("FloatingPointError: the cloth flew to pieces; make it softer")
    app.run(frames=1, events=[KeyDown("r")])
    assert app.error is None and fall.settings.stiffness == 10.0 and not fall.settings.wind.any()


def test_demo_records_what_one_would_see(tmp_path: Path) -> None:
    argv = ["--rows", "5", "--columns", "6", "--steps", "16", "--iterations", "3"]
    argv += ["--out", str(tmp_path / "out"), "--record", str(tmp_path / "frames")]
    assert main(argv) == 0
    assert len(list((tmp_path / "frames").iterdir())) == 3
