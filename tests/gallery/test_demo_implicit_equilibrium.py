"""The demo of the hanging strip, headless and short."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from demos import implicit_equilibrium
from demos.implicit_equilibrium import by_iterations, by_rule, check, fit, main
from scenes.hanging_strip import Strip, make_strip


def test_demo_prints_its_figures_and_writes_its_pictures(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "pictures"
    assert main(["--columns", "6", "--steps", "4000", "--iterations", "2", "--out", str(out)]) == 0
    printed = capsys.readouterr().out
    assert "implicit rule" in printed and "4000 iterations on the tape" in printed
    assert "the gradients agree to" in printed and "as they should" in printed
    assert sorted(path.name for path in out.iterdir()) == ["gradients.png", "loss.png", "strip.png"]


def test_demo_says_that_iterations_have_not_converged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    few = ["--columns", "4", "--steps", "300", "--iterations", "1", "--no-pictures"]
    assert main(few) == 0
    assert "the iterations have not converged: " in capsys.readouterr().out
    assert not list(tmp_path.iterdir())


def test_demo_checks_its_gradient(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--check", "--columns", "6", "--steps", "1000"]) == 0
    assert "gradient by the rule" in capsys.readouterr().out


def test_mistake_in_an_argument_is_one_line_and_code_2(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["--columns", "0"])
    assert ended.value.code == 2
    complaint = "difftile demo implicit-equilibrium: error: argument --columns: expected a whole"
    assert capsys.readouterr().err.startswith(complaint)


def test_rule_and_iterations_give_the_gradient_of_differences() -> None:
    strip = Strip(make_strip(6))
    by_root, by_differences = check(strip, 1000)
    assert by_root == pytest.approx(by_differences, rel=1e-7)
    found = []
    for method, steps in ((by_rule, 1000), (by_iterations, 400), (by_iterations, 6000)):
        strip.straighten()
        found.append(method(strip, steps))
    rule, few, many = found
    assert many.apart(rule) < 1e-9 and few.apart(rule) > 1e-2
    assert np.max(np.abs(rule.gradient)) == pytest.approx(abs(by_root), rel=1e-9)
    assert 100 * rule.nbytes < few.nbytes < many.nbytes / 10


def test_strip_comes_to_hang_straight() -> None:
    strip = Strip(make_strip(8))
    strip.straighten()
    losses, bend = fit(strip, 2000, 14)
    assert min(losses) < 1e-3 * losses[0]
    assert np.degrees(bend.sum()) == pytest.approx(40.0, abs=3.0)


def test_interrupt_keeps_what_was_found(monkeypatch: pytest.MonkeyPatch) -> None:
    runs = []

    def run_twice_and_interrupt(strip: Strip, steps: int) -> implicit_equilibrium.Measured:
        runs.append(None)
        if len(runs) == 3:
            raise KeyboardInterrupt
        return by_rule(strip, steps)

    strip = Strip(make_strip(4))
    monkeypatch.setattr(implicit_equilibrium, "by_rule", run_twice_and_interrupt)
    losses, _ = fit(strip, 500, 9)
    assert len(losses) == 2


def test_scene_weighs_what_it_should_and_turns_its_triangles_one_way() -> None:
    scene = make_strip(5, rows=4)
    a, b, c = (scene.straight[scene.triangles[:, k]] for k in range(3))
    (ux, uy), (vx, vy) = (b - a).T, (c - a).T
    areas = 0.5 * (ux * vy - uy * vx)
    assert np.all(areas > 0) and areas.sum() == pytest.approx(0.4 * 0.04)
    whole = scene.density * scene.thickness * areas.sum() * scene.gravity
    assert whole < scene.weights[:, 1].sum() < 0.85 * whole  # the wall carries the rest
    assert scene.length == pytest.approx(0.4)
