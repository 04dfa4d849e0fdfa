"""The bipeds that keep their balance, and their demo."""

from pathlib import Path

import numpy as np
import pytest

import difftile as dt
from demos.biped_balance import main
from difftile import worlds
from scenes.balance import LOWEST, MODEL, REACH, TRUNK, Bipeds, sway

JOINTS = "left hip", "left knee", "left ankle"


def test_the_keyframe_stands_on_level_feet() -> None:
    model = worlds.load_arrays(MODEL)
    qpos = model.key_qpos[model.id("key", "stand")]
    assert qpos[2] == TRUNK[2]
    hip, knee, ankle = (qpos[model.jnt_qposadr[model.id("joint", n)]] for n in JOINTS)
    assert hip + knee + ankle == pytest.approx(0.0)
    thigh, shin = (-model.body_pos[model.id("body", f"left {n}"), 2] for n in ("shin", "foot"))
    foot = model.id("geom", "left foot")
    under = thigh * np.cos(hip) + shin * np.cos(hip + knee) + model.geom_size[foot, 2]
    under -= model.geom_pos[foot, 2] + model.body_pos[model.id("body", "left thigh"), 2]
    assert 0.0 < under - qpos[2] < 0.02  # the contacts are pressed a little
    assert model.geom_solimp[foot, 0] == 0.0


def test_the_goal_sways_within_reach() -> None:
    goals = np.array([sway(t) for t in np.linspace(0.0, 20.0, 200)])
    assert (np.abs(goals - TRUNK) <= REACH).all()
    assert (np.ptp(goals, axis=0) > 0.05).all()


@pytest.mark.slow  # the gradient of worlds is compiled
def test_a_pushed_biped_stands_by_gradients_alone(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Two of four are pushed ahead; one of both pairs holds its servos."""
    bipeds = Bipeds(4)
    bipeds.learns.from_numpy(np.array([1.0, 0.0, 1.0, 0.0], np.float32))
    for k in range(150):
        bipeds.push[:2, 0] = 50.0 if 20 <= k < 26 else 0.0
        bipeds.improve()
        bipeds.step(4)
    assert bipeds.fallen().tolist() == [False, True, False, False]
    off = np.linalg.norm(bipeds.trunks()[::2] - bipeds.goal.to_numpy(), axis=1)
    assert (off < 0.02).all()
    bipeds.start(dt.from_numpy(np.array([0, 1, 0, 0], np.int32)))
    assert bipeds.trunks()[1, 2] == pytest.approx(TRUNK[2])
    np.testing.assert_allclose(bipeds.servos.to_numpy()[1], bipeds.ease, rtol=1e-6)
    assert (np.abs(bipeds.servos.to_numpy()[0] - bipeds.ease) > 1e-3).any()
    bipeds.aim(np.array([9.0, 0.0, LOWEST]))
    np.testing.assert_allclose(bipeds.goal.to_numpy()[0], TRUNK[0] + REACH[0], rtol=1e-6)

    assert main(["--iterations", "140", "--out", str(tmp_path)]) == 0
    assert "with gradients: " in capsys.readouterr().out
    for name in ("strip.png", "curve.png"):
        assert (tmp_path / name).stat().st_size > 10_000


@pytest.mark.slow  # a gradient in double precision is compiled
def test_gradient_of_a_rollout_is_that_of_differences() -> None:
    assert main(["--check", "--steps", "4"]) == 0
