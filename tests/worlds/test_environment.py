"""Environments: gradients of returns, ends of episodes, starts, numbers and wrong use."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import difftile as dt
from difftile import ti, worlds
from difftile.worlds.tasks import NAMES, named

TASK = named("cartpole_swingup")
SHORT = replace(TASK, episode=3)
STEPS = 4  # longer than the short episodes


@dt.kernel
def add(reward, obs, final_obs, total):
    """Everything that learners use: rewards, what is seen, and what was seen at the end."""
    for n in reward:
        total[None] += (n + 1.0) * reward[n]
    for n, i in obs:
        total[None] += 0.01 * (i + 1.0) * (obs[n, i] + 0.5 * final_obs[n, i] ** 2)


def decided(env: worlds.Environment, steps: int, seed: int = 0) -> list[dt.Field]:
    shape = steps, env.worlds, env.actions
    drawn = np.random.default_rng(seed).uniform(-0.9, 0.9, shape)
    return [dt.from_numpy(one, dtype=env.dtype, grad=True) for one in drawn]


def play(env: worlds.Environment, actions: list[dt.Field], total: dt.Field) -> None:
    env.seed(5)
    env.reset()
    total.fill(0.0)
    for one in actions:
        env.step(one)
        add(env.reward, env.obs, env.final_obs, total)


def check_gradient(env: worlds.Environment, steps: int, width: float = 1e-5) -> None:
    """Compare the gradient of a return along a direction of each action's own with differences."""
    actions, total = decided(env, steps), dt.zeros((), ti.f64, grad=True)
    with dt.Tape(total):
        play(env, actions, total)
    for k, one in enumerate(actions):
        way = np.random.default_rng(k + 9).normal(size=one.shape)
        value, found = one.to_numpy(), []
        for side in (2.0, 1.0, -1.0, -2.0):
            one.from_numpy(value + side * width * way)
            play(env, actions, total)
            found.append(total[None])
        one.from_numpy(value)
        slope = (8.0 * (found[1] - found[2]) - (found[0] - found[3])) / (12.0 * width)
        assert np.vdot(one.grad.to_numpy(), way) == pytest.approx(slope, rel=1e-6, abs=1e-8)


@pytest.fixture(scope="module")
def env() -> worlds.Environment:
    return worlds.environment(SHORT, worlds=3, dtype=ti.f64)


def test_gradients_of_returns_over_the_ends_of_episodes(env: worlds.Environment) -> None:
    check_gradient(env, STEPS)


def test_a_gradient_ends_with_the_episode(env: worlds.Environment) -> None:
    actions, total = decided(env, STEPS), dt.zeros((), ti.f64, grad=True)
    env.reset()
    with dt.Tape(total):
        for k, one in enumerate(actions):
            env.step(one)
            if k == STEPS - 1:
                add(env.reward, env.obs, env.final_obs, total)
    slopes = [np.abs(one.grad.to_numpy()).max() for one in actions]
    assert slopes[: SHORT.episode] == [0.0] * SHORT.episode
    assert slopes[-1] > 0.0


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in NAMES if name != TASK.name])
@pytest.mark.filterwarnings("ignore:A gradient passes contacts")
def test_gradients_of_the_returns_of_all_tasks(name: str) -> None:
    env = worlds.environment(replace(named(name), episode=3), worlds=2, dtype=ti.f64)
    check_gradient(env, 4, 1e-6)


def test_time_truncates_and_failure_ends(env: worlds.Environment) -> None:
    env.reset()
    qpos = env.sim.qpos.to_numpy()
    qpos[1, 0] = 1.9999  # and pushed off the rail
    qpos[1, 1] = 0.0
    env.sim.qpos.from_numpy(qpos)
    qvel = env.sim.qvel.to_numpy()
    qvel[1] = 3.0, 0.0
    env.sim.qvel.from_numpy(qvel)
    ends = []
    for _ in range(4):
        env.action.fill(0.5)
        env.step()
        ends.append((env.done.to_numpy().tolist(), env.truncated.to_numpy().tolist()))
        last = env.final_obs.to_numpy(), env.obs.to_numpy()
        assert (last[0] == last[1]).all(axis=1).tolist() == (env.over.to_numpy() == 0).tolist()
    # World 1 fails at once and, begun anew, has its third decision one later than the others.
    none = [0, 0, 0]
    assert ends == [([0, 1, 0], none), (none, none), (none, [1, 0, 1]), (none, [0, 1, 0])]
    assert env.age.to_numpy().tolist() == [1, 0, 1]
    assert np.allclose(env.time.to_numpy(), [env.decision, 0.0, env.decision])


def test_failure_at_the_last_moment_is_no_truncation(env: worlds.Environment) -> None:
    env.reset()
    for _ in range(3):
        env.action.fill(0.0)
        if env.age[0] == 2:
            env.sim.qpos[0, 0] = 2.5
        env.step(renew=False)
    assert env.done.to_numpy().tolist() == [1, 0, 0]
    assert env.truncated.to_numpy().tolist() == [0, 1, 1]
    assert abs(env.obs[0, 0]) > 2.0  # it stays where it failed


def test_a_world_that_breaks_has_failed_and_stops_no_other(env: worlds.Environment) -> None:
    env.reset()
    actions, total = decided(env, 1), dt.zeros((), ti.f64, grad=True)
    env.sim.qvel[2, 0] = np.nan
    with dt.Tape(total):
        env.step(actions[0])
        add(env.reward, env.obs, env.final_obs, total)
    assert env.done.to_numpy().tolist() == [0, 0, 1]
    assert env.reward[2] == 0.0
    for one in (env.obs, env.final_obs, env.sim.qvel):
        assert np.isfinite(one.to_numpy()).all()
    others = actions[0].grad.to_numpy()[:2]
    assert np.isfinite(others).all() and (others != 0.0).all()


def test_seeds_say_how_episodes_begin_and_worlds_do_not_matter(env: worlds.Environment) -> None:
    def run(one: worlds.Environment, seed: int) -> list[np.ndarray]:
        one.seed(seed)
        one.reset()
        seen = [one.obs.to_numpy()]
        for k in range(5):  # with a new episode on the way
            one.action.fill(0.3 - 0.1 * k)
            one.step()
            seen.append(one.obs.to_numpy())
        return seen

    first, again, other = run(env, 7), run(env, 7), run(env, 8)
    assert all((a == b).all() for a, b in zip(first, again, strict=True))
    assert not (first[0] == other[0]).any()
    # World n of seed s is world 0 of seed s + n, alone.
    alone = run(worlds.environment(SHORT, worlds=1, dtype=ti.f64), 8)
    for a, b in zip(first, alone, strict=True):
        assert (a[1] == b[0]).all()
    assert (first[0][1] != first[-2][1]).any()


def test_starts_are_uniform_in_their_ranges() -> None:
    task = replace(TASK, spread={"rail": (0.1, 0.3)}, speeds=0.5, goal=((1.0,), (3.0,)))
    env = worlds.environment(task, worlds=4000, dtype=ti.f64)
    qpos, qvel, goal = (x.to_numpy() for x in (env.sim.qpos, env.sim.qvel, env.goal))
    upright = np.pi * np.ones(4000)
    assert (qpos[:, 1] == upright).all()
    columns = [qpos[:, 0] * 10 - 1, qvel[:, 0] * 2 + 1, qvel[:, 1] * 2 + 1, goal[:, 0] - 1]
    for one in columns:  # each in [0, 2]
        assert 0.0 <= one.min() < 0.01 and 1.99 < one.max() <= 2.0
        assert np.abs(np.histogram(one, 10, (0.0, 2.0))[0] - 400).max() < 100  # 5 deviations
    assert np.abs(np.corrcoef(columns) - np.eye(4)).max() < 0.08
    neighbours = np.corrcoef(columns[0][1:], columns[0][:-1])[0, 1]
    assert abs(neighbours) < 0.08


def test_a_mask_resets_its_worlds_alone(env: worlds.Environment) -> None:
    env.reset()
    env.action.fill(0.4)
    env.step()
    before = [x.to_numpy() for x in (env.sim.qpos, env.sim.qvel, env.obs, env.age, env.time)]
    env.reset(np.array([0, 1, 0]))
    after = [x.to_numpy() for x in (env.sim.qpos, env.sim.qvel, env.obs, env.age, env.time)]
    for old, new in zip(before, after, strict=True):
        assert (old[[0, 2]] == new[[0, 2]]).all()
        assert (old[1] != new[1]).any()
    env.reset(stagger=True)
    assert env.age.to_numpy().tolist() == [0, 1, 2]


def test_numbers_are_the_memory_of_the_fields() -> None:
    for numbers in ("numpy", "torch", "jax"):
        if numbers != "numpy":
            pytest.importorskip(numbers)
        env = worlds.environment(SHORT, worlds=3, numbers=numbers)
        actions: Any = np.full((3, 1), 0.25, np.float32)
        if numbers == "torch":
            actions = pytest.importorskip("torch").from_numpy(actions)
        found = env.step(actions)
        assert all(type(one).__module__.startswith(numbers[:3]) for one in found), found
        for name, one in found._asdict().items():
            field = getattr(env, name)
            assert (np.asarray(one) == field.to_numpy()).all()
            at = one.data_ptr() if numbers == "torch" else np.from_dlpack(one).ctypes.data
            assert at == np.from_dlpack(field).ctypes.data


@pytest.mark.parametrize(
    ("actions", "said"),
    [
        (np.zeros((2, 1)), r"shape \(2, 1\); expected \(3, 1\), for 3 worlds with 1 actuators"),
        (np.zeros((3, 1), np.float32), "actions are float32 and the environment is float64"),
        ([[0.0]] * 3, "list; expected"),
        (np.array([[0.1], [np.nan], [0.2]]), "world 1 was given an action that is not a number at"),
    ],
)
def test_actions_that_do_not_fit(env: worlds.Environment, actions: Any, said: str) -> None:
    env.reset()
    before = env.sim.qpos.to_numpy()
    with pytest.raises(dt.FieldError, match=said):
        env.step(actions)
    assert (env.sim.qpos.to_numpy() == before).all()  # nothing is lost
    env.reset()
    env.step(np.zeros((3, 1)))


def test_nan_is_found_later_without_checks() -> None:
    env = worlds.environment(TASK, worlds=3, dtype=ti.f64, check=False)
    for k in range(3):
        actions = np.zeros((3, 1))
        actions[2] = np.nan if k else 0.0
        env.step(actions)
    with pytest.raises(dt.FieldError, match=r"world 2 was .* at step 2, and 1 of 3 worlds"):
        env.check()


def with_goal(qpos, obs, target):
    obs[0] = qpos[0] - target[0]


def test_tasks_that_do_not_fit() -> None:
    with pytest.raises(ValueError, match=r"Task\(observe=...\) has a parameter 'target'"):
        replace(TASK, observe=dt.kernel(with_goal))
    with pytest.raises(TypeError, match=r"is a kernel of one world"):
        replace(TASK, reward=with_goal)
    with pytest.raises(ValueError, match=r"Task\(reward=...\) has no parameter 'reward'"):
        replace(TASK, reward=dt.kernel(only_sees))
    with pytest.raises(ValueError, match=r"episode=...\) is at least 1, not 0"):
        replace(TASK, episode=0)
    with pytest.raises(ValueError, match="a lowest and a highest goal"):
        replace(TASK, goal=((1.0,), (0.0,)))
    with pytest.raises(KeyError, match="has no task 'runner'; it has cartpole_swingup"):
        worlds.environment("runner")
    with pytest.raises(TypeError, match="takes a task, or a model and a task"):
        worlds.environment(TASK.load())
    with pytest.raises(ValueError, match='"fields", "numpy", "torch", "jax", not \'cupy\''):
        worlds.environment(TASK, worlds=1, numbers="cupy")
    other = worlds.load(
        '<mujoco><worldbody><body><joint name="lid"/><geom size="1"/></body></worldbody>'
        '<actuator><motor joint="lid"/></actuator></mujoco>'
    )
    with pytest.raises(ValueError, match=r"'cartpole_swingup' is of another model: .*'rail'"):
        worlds.environment(other, TASK)
    with pytest.raises(dt.DifftileError, match="Index out of range: 'obs'"):
        worlds.environment(replace(TASK, observations=3), worlds=1)
    for spread, said in (({"rail": -1.0}, "half a width"), ({"rail": (1, 2, 3)}, "half a width")):
        with pytest.raises(ValueError, match=f"spread of joint 'rail' is {said}"):
            worlds.environment(replace(TASK, spread=spread), worlds=1)


def only_sees(qpos, action):
    action[0] = qpos[0]


def test_rotations_have_no_spread() -> None:
    ball = worlds.load(
        '<mujoco><worldbody><body><joint name="ball" type="ball"/><geom size="1"/></body>'
        "</worldbody>"
        '<actuator><motor joint="ball"/></actuator></mujoco>'
    )
    with pytest.raises(ValueError, match="a spread of joint 'ball' would give no rotation"):
        worlds.environment(ball, replace(TASK, spread={"ball": 0.1}), worlds=1)
    spin = (0.0, 0.0, 1.0), (0.0, 0.5, 2.0)
    given = {"spread": {}, "observe": dt.kernel(sees_turns), "reward": dt.kernel(earns_nothing)}
    env = worlds.environment(ball, replace(TASK, speeds={"ball": spin}, **given), worlds=50)
    qvel = env.sim.qvel.to_numpy()
    assert (qvel >= spin[0]).all() and (qvel <= spin[1]).all() and np.ptp(qvel[:, 2]) > 0.8
    assert (env.obs.to_numpy()[:, :3] == qvel).all()
    with pytest.raises(ValueError, match="speeds of joint 'ball' is 3 half widths, or two such"):
        worlds.environment(ball, replace(TASK, speeds={"ball": (1.0, 1.0)}, **given), worlds=1)


def sees_turns(qvel, obs):
    for i in range(3):
        obs[i] = qvel[i]


def earns_nothing(qvel, reward):
    reward[None] = 0.0
