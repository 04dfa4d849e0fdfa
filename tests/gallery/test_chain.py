"""The chain that follows a goal, and its demo."""

from pathlib import Path

import numpy as np
import pytest

import difftile as dt
from demos.chain_drape import main
from difftile import worlds
from scenes.chain import LINK, MODEL, POST, RADIUS, TOP, Follower, swing


def test_the_constants_of_the_scene_are_those_of_the_model() -> None:
    model = worlds.load_arrays(MODEL)
    post = model.id("geom", "post")
    np.testing.assert_allclose(
        [*model.geom_pos[post, [0, 2]], model.geom_size[post, 0]], POST, rtol=1e-12
    )
    assert model.body_pos[1, 2] == TOP
    np.testing.assert_allclose(model.body_pos[2:, 2], -LINK)
    np.testing.assert_allclose(model.geom_size[2:, 0], RADIUS)


@pytest.mark.slow
def test_the_tip_follows_the_goal_past_the_post(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    follower = Follower()
    follower.start()
    follower.aim(swing(0.0))
    for _ in range(100):
        follower.improve()
        follower.step(2)
    # The kernel of the loss and the frames of the bodies, which know nothing of each other.
    with dt.Tape(follower.loss):
        follower.run()
    follower.sim.sense()
    np.testing.assert_allclose(
        follower.joints()[:-1], follower.sim.xpos.to_numpy()[0, 1:][:, [0, 2]], atol=1e-5
    )
    for k in range(150):
        follower.aim(swing(0.02 * k))
        follower.improve()
        follower.step(2)
    assert np.linalg.norm(follower.joints()[-1] - follower.aimed) < 0.15
    assert np.linalg.norm(follower.joints() - POST[:2], axis=1).min() > POST[2] + 0.5 * RADIUS

    assert main(["--iterations", "40", "--out", str(tmp_path)]) == 0
    assert "off the goal" in capsys.readouterr().out
    assert (tmp_path / "chain.png").stat().st_size > 10_000
    assert main(["--check", "--steps", "4"]) == 0
