"""The waves against NumPy, and their demo."""

import argparse
from pathlib import Path

import numpy as np
import pytest
import taichi as ti

import difftile as dt
from demos import wave
from demos.support.pools import FIRST_DROP, GRADIENT, Pool, view
from demos.wave import main
from difftile.viewer import App, Event, KeyDown, MouseDown, MouseMove, MouseUp
from scenes.wave import Wave, make_drop, make_scene
from tests.gallery import reference_wave as reference
from tests.viewer.aim import pixel_of


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


# The viewer


def make_pool(steps: int = 31, n: int = 24) -> Pool:
    pool = Pool(Wave(make_scene(n), steps, ti.f64))
    pool.learns = False
    pool.drops.clear()
    return pool


def play(pool: Pool, steps: int) -> None:
    for _ in range(steps):
        pool.step()


@pytest.mark.compiled
def test_gradient_step_by_step_is_that_of_one_tape() -> None:
    pool = make_pool()
    wave, last = pool.wave, pool.wave.steps - 1
    wave.initial.from_numpy(np.random.default_rng(3).standard_normal((24, 24)))
    pool.drops |= {1: [(0.5, 0.5, 0.1)], 12: [(0.3, 0.6, 0.8)]}
    pool.start()
    play(pool, 2 * last - 1)  # forwards to the end, the loss, and back to state 1
    assert (pool.t, pool.back, len(pool.gradients)) == (1, True, last)
    flat = wave.p.to_numpy()[1:-1, 1:-1] - 0.1 * make_drop(24, 0.5, 0.5)  # the water is back
    np.testing.assert_allclose(flat, 0.0, atol=1e-10)
    play(pool, 1)
    loss, gradient = wave.loss[None], wave.initial.grad.to_numpy()

    first, drop = (
        dt.from_numpy(height * make_drop(24, *place))
        for height, place in ((0.1, (0.5, 0.5)), (0.8, (0.3, 0.6)))
    )
    with dt.Tape(wave.loss):
        wave.start()
        wave.add(wave.p, wave.older, first)
        for t in range(2, wave.steps):
            wave.step()
            if t == 12:
                wave.add(wave.p, wave.older, drop)
        wave.measure()
    assert loss == wave.loss[None]
    np.testing.assert_array_equal(gradient, wave.initial.grad.to_numpy())


def test_gradient_says_what_a_drop_would_change() -> None:
    pool = make_pool()
    play(pool, 29 + 1 + 10)
    assert (pool.t, pool.back) == (20, True)
    before, pool.height = pool.wave.loss[None], 1e-4
    expected = pool.expected(0.4, 0.7)
    pool.drop(0.4, 0.7)
    pool.start()
    play(pool, 29 + 1)
    assert pool.wave.loss[None] - before == pytest.approx(expected, rel=1e-3)


def click(app: App, at: tuple[float, float], frame: int) -> list[Event]:
    place = pixel_of(app, at)
    return [MouseDown("left", *place, frame), MouseUp("left", *place, frame)]


def test_one_drops_water_and_sees_the_gradient_go_back_to_it() -> None:
    pool = make_pool()
    app = view(pool, argparse.Namespace(view="none", out=Path("out")))
    losses: list[float] = []
    app.plot = lambda name, value, log: losses.append(float(value[None]))
    pool.goal, pool.height = "flat water", -0.5
    pool.drops.clear()
    dry = (0.2, GRADIENT[3] + 0.02)  # next to the water
    events = [*click(app, (0.7, 0.3), 2), *click(app, dry, 2), *click(app, (0.3, -0.4), 2)]
    app.run(frames=8, events=events)  # four steps each
    assert pool.drops == {13: [(pytest.approx(0.7), pytest.approx(0.3), -0.5)]}
    assert len(losses) == 1 and losses[0] > 1e-5
    app.run(frames=4, events=[KeyDown("g", 1), MouseMove(200, 200, 1)])
    assert app.error is None and (pool.t, pool.back) == (12, True)
    app.run(frames=1, events=[KeyDown("space"), KeyDown("n")])
    assert pool.t == 11
    row, column = np.unravel_index(np.abs(pool.gradients[13]).argmax(), (24, 24))
    assert abs(row - 0.7 * 24) < 1.5 and abs(column - 0.7 * 24) < 1.5  # where the drop fell

    pool.learns = True
    app.run(frames=3, events=[KeyDown("space")])
    assert (pool.t, pool.back) == (2, False) and pool.wave.initial.to_numpy().any()
    app.run(frames=8)
    assert len(losses) == 2 and losses[1] < losses[0]
    app.run(frames=1, events=[KeyDown("space"), KeyDown("r")])
    assert not pool.wave.initial.to_numpy().any()
    assert pool.drops == {FIRST_DROP[0]: [FIRST_DROP[1]]}


def test_gradient_goes_back_from_where_one_wants() -> None:
    pool = make_pool()
    app = view(pool, argparse.Namespace(view="none", out=Path("out")))
    app.run(frames=3)
    pool.learns = True
    pool.turn()
    app.run(frames=1)
    assert (pool.t, pool.end, pool.back) == (9, 13, True)
    app.run(frames=3)
    assert (
        not pool.back and not pool.wave.initial.to_numpy().any()
    )  # the water learns from whole runs


def test_demo_records_what_one_would_see(tmp_path: Path) -> None:
    argv = ["--size", "16", "--steps", "12", "--iterations", "8", "--out", str(tmp_path / "out")]
    assert main([*argv, "--record", str(tmp_path / "frames")]) == 0
    assert len(list((tmp_path / "frames").iterdir())) == 8
