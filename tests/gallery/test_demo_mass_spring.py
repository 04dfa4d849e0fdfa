"""The demo, headless and short."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import numpy as np
import pytest
import taichi as ti

import difftile as dt
from demos.mass_spring import learn, main, view, watch
from demos.support.adjoints import Notes
from demos.support.training import check, slope
from difftile.viewer import KeyDown, MouseDown, MouseMove, MouseUp
from scenes.mass_spring import Walker, make_network, make_scene
from tests.viewer.aim import pixel_of


def test_demo_prints_its_figures_and_writes_its_pictures(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "pictures"
    assert main(["--steps", "60", "--iterations", "2", "--out", str(out)]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert any(line.startswith("loss -0.2") and "at best" in line for line in lines)
    assert sorted(path.name for path in out.iterdir()) == [
        "before_after.png",
        "loss.png",
        "walk.gif",
    ]


def test_demo_without_pictures_writes_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["--steps", "20", "--iterations", "1", "--no-pictures", "--robot", "A"]) == 0
    assert not list(tmp_path.iterdir())


def test_demo_checks_its_gradient(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--check", "--steps", "100"]) == 0
    assert "gradient by tape" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("argv", "complaint"),
    [
        (["--steps", "0"], "argument --steps: expected a whole number above 0, not '0'"),
        (["--iterations", "x"], "argument --iterations: expected a whole number above 0"),
        (["--seed", "-1"], "argument --seed: expected a whole number of 0 or more, not '-1'"),
        (["--robot", "D"], "argument --robot: invalid choice: 'D'"),
        (["--arch", "abacus"], "argument --arch: invalid choice: 'abacus'"),
        (["--memory", "12x"], "argument --memory: memory is a text such as '256MB' or a number"),
        (["--view", "ear"], "argument --view: invalid choice: 'ear'"),
        (["--step", "9"], "unknown option '--step'"),
        (["--out", __file__], f"argument --out: {__file__}: File exists"),
    ],
)
def test_mistake_in_an_argument_is_one_line_and_code_2(
    argv: list[str], complaint: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        main(argv)
    assert ended.value.code == 2
    output = capsys.readouterr()
    # Folders are made after the demo has said what it shows.
    assert output.out.count("\n") == ("--out" in argv)
    assert output.err.startswith(f"difftile demo mass-spring: error: {complaint}")
    assert output.err.count("\n") == 1


@pytest.mark.parametrize("robot", ["A", "B", "C"])
def test_gradient_agrees_with_differences(robot: str) -> None:
    scene = make_scene(robot)
    by_tape, by_differences = check(Walker(scene, make_network(scene, 2), 100, ti.f64), "b2")
    assert by_tape == pytest.approx(by_differences, rel=1e-6)


def test_gradients_on_the_way_are_those_of_the_frames() -> None:
    walker = Walker(make_scene("C"), make_network(make_scene("C"), 2), 100, ti.f64)
    notes = Notes()
    with dt.Tape(walker.loss):
        watch(walker, "", notes)
        walker.miss()
    assert sorted(notes.gradients) == [0, 1, 2, 3, 4, 5]  # a frame each 20 steps, and the last

    moved = int(np.argmax(np.abs(notes.gradients[3]).sum(axis=1)))

    def loss(change: float) -> float:  # from frame 3 on, where a mass is moved
        walker.start()
        for t in range(100):
            if t == 60:
                walker.x[moved] = walker.x[moved] + [change, 0.5 * change]
            walker.step(t)
        walker.miss()
        return walker.loss[None]

    gradient = notes.gradients[3][moved] @ [1.0, 0.5]
    assert abs(gradient) > 0.1
    assert gradient == pytest.approx(slope(loss, 1e-6), rel=1e-6)


def test_gradient_descent_makes_the_robot_walk() -> None:
    scene = make_scene("C")
    walker = Walker(scene, make_network(scene), 500)
    training = learn(walker, 12)
    assert min(training.losses) < training.losses[0] - 0.08


def test_interrupt_keeps_what_was_learnt(monkeypatch: pytest.MonkeyPatch) -> None:
    scene = make_scene("C")
    walker = Walker(scene, make_network(scene), 20)
    runs = []

    def run_twice_and_interrupt() -> None:
        runs.append(None)
        if len(runs) == 3:
            raise KeyboardInterrupt
        Walker.run(walker)

    monkeypatch.setattr(walker, "run", run_twice_and_interrupt)
    assert len(learn(walker, 10).losses) == 2


def test_demo_records_what_one_would_see(tmp_path: Path) -> None:
    argv = ["--steps", "60", "--iterations", "3", "--out", str(tmp_path / "out")]
    assert main([*argv, "--record", str(tmp_path / "frames")]) == 0
    assert len(list((tmp_path / "frames").iterdir())) == 3
    with pytest.raises(SystemExit) as end:
        main([*argv, "--record", str(tmp_path / "walk.doc")])
    assert end.value.code == 2


@pytest.mark.skipif(sys.platform != "linux", reason="where a window needs DISPLAY")
def test_without_a_display_the_demo_says_which_view_to_take(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.delenv("DISPLAY", raising=False)
    monkeypatch.delenv("WAYLAND_DISPLAY", raising=False)
    argv = ["--steps", "60", "--iterations", "3", "--out", str(tmp_path / "out")]
    assert main([*argv, "--view", "window"]) == 1
    said = capsys.readouterr().err
    assert said.endswith("; demos take --view web or none\n")
    assert said.count("\n") == 1


def test_dragging_the_goal_moves_the_loss_and_reset_forgets() -> None:
    scene = make_scene("C")
    walker, network = Walker(scene, make_network(scene), 60), make_network(scene)
    options = argparse.Namespace(view="none", memory=None, out=Path("out"))
    app = view(walker, network, options)
    losses: list[float] = []
    app.plot = lambda name, value: losses.append(float(value[None]))
    x, y = pixel_of(app, walker.goal[None])
    events = [
        MouseDown("left", x, y, frame=3),
        MouseMove(x + 50, y - 20, frame=3),
        MouseUp("left", x + 50, y - 20, frame=3),
    ]
    app.run(frames=6, events=events)
    assert app.error is None
    still = app.picture
    app.run(frames=1, events=[KeyDown("space"), KeyDown("g")])
    assert (app.picture != still)[:500, :700].any(axis=2).sum() > 100  # arrows at the masses
    app.run(frames=1, events=[KeyDown("g")])
    moved = walker.goal.to_numpy() - scene.goal
    assert moved[0] > 0.02 and moved[1] > 0.01
    assert losses[3] - losses[2] == pytest.approx(moved[0], abs=0.01)
    assert not np.array_equal(walker.w1.to_numpy(), network.w1.astype(np.float32))
    app.run(frames=1, events=[KeyDown("r")])
    np.testing.assert_array_equal(walker.w1.to_numpy(), network.w1.astype(np.float32))
    np.testing.assert_allclose(walker.goal.to_numpy(), scene.goal, rtol=1e-6)
