"""The demo `policy`, headless and short."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import taichi as ti

from demos import mass_spring
from demos.policy import Walker, learn, main, make_policy, view
from scenes.mass_spring import CLOCK_GAIN, make_network, make_scene

torch: Any = pytest.importorskip("torch")


def test_demo_learns_saves_its_policy_and_walks_with_it_again(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "pictures"
    assert main(["--steps", "60", "--iterations", "2", "--out", str(out)]) == 0
    said = capsys.readouterr().out.splitlines()
    assert "at best" in said[-3]
    names = {"before_after.png", "loss.png", "policy.pt", "walk.gif"}
    assert {path.name for path in out.iterdir()} == names
    again = ["--steps", "60", "--policy", str(out / "policy.pt"), "--no-pictures", "--seed", "5"]
    assert main(again) == 0
    walked = capsys.readouterr().out.splitlines()[-1]
    assert walked.split(";")[0] == said[-2].split(";")[0]  # as far as when it was saved


def test_a_file_that_is_no_policy_of_the_robot_is_one_line_and_code_2(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    other, text = tmp_path / "A.pt", tmp_path / "text.pt"
    torch.save(make_policy(make_scene("A"), 0).state_dict(), other)
    text.write_text("no policy")
    for file, reason in (
        (other, "not a policy of this robot"),
        (text, "not a policy of this robot"),
        (tmp_path / "none.pt", "No such file or directory"),
    ):
        with pytest.raises(SystemExit) as ended:
            main(["--policy", str(file), "--no-pictures"])
        assert ended.value.code == 2
        said = capsys.readouterr().err
        assert said == f"difftile demo policy: error: argument --policy: {file}: {reason}\n"


def test_without_torch_the_demo_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(SystemExit, match=r"install it with \"pip install 'difftile\[torch\]'\"$"):
        main(["--no-pictures"])


def test_demo_checks_its_gradient(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--check", "--steps", "100"]) == 0
    assert "gradient by tape" in capsys.readouterr().out


def test_the_robot_is_that_of_mass_spring() -> None:
    scene = make_scene("C")
    other = mass_spring.Walker(scene, make_network(scene), 60, ti.f64)
    walker = Walker(scene, make_policy(scene, 0).double(), 60, ti.f64)
    other.start()
    walker.start()
    for t in range(60):
        other.step(t)
        walker.commands.from_numpy(other.activation.to_numpy()[walker.muscles])
        walker.step()
    np.testing.assert_allclose(walker.x.to_numpy(), other.x.to_numpy(), rtol=0, atol=1e-12)


def test_a_blind_policy_sees_only_the_clock() -> None:
    scene = make_scene("A")
    walker = Walker(scene, make_policy(scene, 0), 10, blind=True)
    walker.start()
    walker.sense(0.5 * np.pi)
    np.testing.assert_allclose(walker.senses.to_numpy()[:-2], 0.0)
    np.testing.assert_allclose(walker.senses.to_numpy()[-2:], [CLOCK_GAIN, 0.0], atol=1e-6)


def test_the_best_weights_are_left_in_the_policy() -> None:
    scene = make_scene("C")
    walker = Walker(scene, make_policy(scene, 0), 150)
    training = learn(walker, 8)
    assert min(training.losses) < training.losses[0] - 0.01
    walker.run()
    assert walker.loss[None] == pytest.approx(min(training.losses), abs=1e-6)


def test_the_view_learns_and_its_reset_forgets() -> None:
    scene = make_scene("C")
    walker = Walker(scene, make_policy(scene, 0), 100)
    weights = [one.detach().clone() for one in walker.policy.parameters()]
    app = view(walker, argparse.Namespace(view="none", memory=None, iterations=5, out=Path("out")))
    app.run(frames=2)
    assert app.error is None
    assert not torch.equal(walker.policy[0].weight, weights[0])
    app.restart()
    assert app.error is None
    for one, first in zip(walker.policy.parameters(), weights, strict=True):
        assert torch.equal(one, first)


def test_a_shove_is_a_speed_of_all_masses() -> None:
    scene = make_scene("A")
    walker = Walker(scene, make_policy(scene, 0), 10)
    walker.start()
    walker.shove(-2.0)
    assert {tuple(v) for v in walker.v.to_numpy().tolist()} == {(-2.0, 0.0)}
