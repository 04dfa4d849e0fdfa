"""Environments as those of Gymnasium; left out where it is not installed."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import difftile as dt
from difftile import ti, worlds
from difftile.worlds.tasks import named

gymnasium: Any = pytest.importorskip("gymnasium")
TASK = replace(named("cartpole_swingup"), episode=3)


def test_the_checker_passes() -> None:
    env = worlds.environment(TASK, worlds=1).as_gymnasium(single=True, render_mode="rgb_array")
    checker = pytest.importorskip("gymnasium.utils.env_checker")
    # What it warns of: observations have no bounds, and it was not made by `gymnasium.make`.
    with pytest.warns(UserWarning) as said:
        checker.check_env(env)
    words = ("value is -infinity", "value is infinity", "environment not having a spec")
    assert all(any(word in str(one.message) for word in words) for one in said)


def test_films_are_recorded(tmp_path: Path) -> None:
    pytest.importorskip("moviepy")
    env = worlds.environment(TASK, worlds=1).as_gymnasium(single=True, render_mode="rgb_array")
    films = tmp_path / "films"
    film = gymnasium.wrappers.RecordVideo(env, str(films), episode_trigger=lambda k: True)
    film.reset(seed=1)
    pictures = [film.render()]
    while not film.step(np.ones(1, np.float32))[3]:
        pictures.append(film.render())
    film.close()
    assert [one.stat().st_size > 500 for one in films.glob("*.mp4")] == [True]
    assert all(one.shape == (320, 480, 3) and one.dtype == np.uint8 for one in pictures)
    assert all((one != 255).any() for one in pictures)
    assert (pictures[0] != pictures[-1]).any()


def test_a_vector_is_its_environment_and_a_single_one_its_world() -> None:
    vector = worlds.environment(TASK, worlds=3, dtype=ti.f64).as_gymnasium()
    alone = worlds.environment(TASK, worlds=1, dtype=ti.f64).as_gymnasium(single=True)
    assert vector.observation_space.shape == (3, 5)
    assert vector.action_space.contains(np.zeros((3, 1)))
    assert vector.metadata["autoreset_mode"] == gymnasium.vector.AutoresetMode.SAME_STEP
    seen, info = vector.reset(seed=4)
    own, _ = alone.reset(seed=5)
    assert (seen[1] == own).all() and not info
    for k in range(5):
        actions = np.array([[0.1 * k], [0.3], [-0.2]])
        seen, reward, done, truncated, info = vector.step(actions)
        own, own_reward, own_done, own_truncated, _ = alone.step(actions[1])
        assert (reward[1], done[1], truncated[1]) == (own_reward, own_done, own_truncated)
        last = info["final_obs"][1] if truncated[1] else seen[1]
        assert (last == own).all()
        assert truncated.tolist() == [k == 2] * 3
        assert info.get("_final_obs", np.zeros(3, bool)).tolist() == [k == 2] * 3
        if own_truncated:
            own, _ = alone.reset()
            assert (seen[1] == own).all()
    before = seen.copy()
    after, _ = vector.reset(options={"reset_mask": np.array([True, False, False])})
    assert (before == after).all(axis=1).tolist() == [False, True, True]
    assert (vector.reset(seed=[5, 9, 4])[0][0] == alone.reset(seed=5)[0]).all()
    assert isinstance(vector, gymnasium.vector.VectorEnv)
    vector.close()


def test_wrong_use_is_one_line() -> None:
    env = worlds.environment(TASK, worlds=65)
    with pytest.raises(dt.FieldError, match=r"single=True\) is of one world, and there are 65"):
        env.as_gymnasium(single=True)
    with pytest.raises(dt.FieldError, match="draws 64 worlds at most, and there are 65"):
        env.as_gymnasium(render_mode="rgb_array")
    with pytest.raises(ValueError, match="is \"rgb_array\" or None, not 'human'"):
        env.as_gymnasium(render_mode="human")
    with pytest.raises(dt.FieldError, match=r"the shape \(65,\); expected \(65, 1\)"):
        env.as_gymnasium().step(np.zeros(65))
