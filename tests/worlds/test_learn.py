"""Learning: the parts of its methods, its files, and the command."""

from __future__ import annotations

import csv
import importlib
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import taichi as ti

import difftile as dt
from difftile import worlds
from difftile.commands import learn as command
from difftile.worlds import learn
from difftile.worlds.learn import training
from difftile.worlds.learn.critics import choose, look_back
from difftile.worlds.learn.film import watched
from difftile.worlds.learn.networks import Networks
from difftile.worlds.learn.ppo import draw, pick, surrogate
from difftile.worlds.learn.rollouts import include, scale
from difftile.worlds.learn.run import task_of
from difftile.worlds.learn.shac import bound


def test_gradients_of_networks_are_those_of_differences() -> None:
    """More rows than a block has, and a last block that is not full."""
    count = 300
    networks = Networks((3, 4, 2), [0, 1], dtype=ti.f64)
    draw = np.random.default_rng(0)
    x = dt.from_numpy(draw.normal(size=(2 * count, 3)), grad=True)
    found, weights = networks.rows(count), draw.normal(size=(2 * count, 2))
    with dt.Tape() as tape:
        y = networks.run(x, found)
    tape.backward({y: weights})
    fields = [x, *networks.parameters.values()]
    ways = [draw.normal(size=field.shape) for field in fields]
    by_tape = sum((f.grad.to_numpy() * way).sum() for f, way in zip(fields, ways, strict=True))
    first = [field.to_numpy() for field in fields]

    def value(far: float) -> float:
        for field, at, way in zip(fields, first, ways, strict=True):
            field.from_numpy(at + far * way)
        return float((networks.run(x, found).to_numpy() * weights).sum())

    assert by_tape == pytest.approx((value(1e-6) - value(-1e-6)) / 2e-6, rel=1e-7)


def test_a_module_of_torch_decides_as_the_kernels_do() -> None:
    """The same results and gradients, also by the input, for two networks side by side."""
    pytest.importorskip("torch")
    theirs = importlib.import_module("difftile.worlds.learn.torch_networks").TorchNetworks
    count, found = 5, []
    draw = np.random.default_rng(0)
    x, weights = draw.normal(size=(2 * count, 3)), draw.normal(size=(2 * count, 2))
    for make in (Networks, theirs):
        networks = make((3, 6, 4, 2), [3, 4], 0.5, ti.f64)
        seen, results = dt.from_numpy(x, grad=True), networks.rows(count)
        with dt.Tape() as tape:
            y = networks.run(seen, results)
        tape.backward({y: weights})
        fields = [seen, *networks.parameters.values()]
        found.append([y.to_numpy(), *(field.grad.to_numpy() for field in fields)])
    for of_kernels, of_torch in zip(*found, strict=True):
        assert np.abs(of_kernels).max() > 0.0
        np.testing.assert_allclose(of_torch, of_kernels, rtol=1e-10, atol=1e-12)


def test_rows_belong_to_their_network() -> None:
    networks = Networks((3, 4, 2), [5, 6], dtype=ti.f64)
    alone = Networks((3, 4, 2), [6], dtype=ti.f64)
    x = np.random.default_rng(0).normal(size=(4, 3))
    both = networks.run(dt.from_numpy(x), networks.rows(2)).to_numpy()
    one = alone.run(dt.from_numpy(x[2:]), alone.rows(2)).to_numpy()
    np.testing.assert_array_equal(both[2:], one)


def test_gradients_of_each_network_are_shortened_by_themselves() -> None:
    networks = Networks((1, 1), [0, 1, 2], dtype=ti.f64)
    w, b = networks.parameters["w0"], networks.parameters["b0"]
    w.grad.from_numpy(np.array([3.0, 0.3, np.nan]).reshape(3, 1, 1))
    b.grad.from_numpy(np.array([4.0, 0.4, 1.0]).reshape(3, 1, 1))
    networks.limit(2.0, 5.0)
    np.testing.assert_allclose(w.grad.to_numpy().ravel(), [3.0, 0.6, 0.0])
    np.testing.assert_allclose(b.grad.to_numpy().ravel(), [4.0, 0.8, 0.0])


def test_gradients_of_each_world_are_shortened_by_themselves() -> None:
    qpos, qvel = (dt.from_numpy(np.ones((3, 1)), grad=True) for _ in range(2))
    with dt.Tape() as tape:
        bound(qpos, qvel, 5.0)
    tape.backward({qpos: np.array([[6.0], [0.3], [np.nan]]), qvel: np.array([[8.0], [0.4], [1.0]])})
    np.testing.assert_allclose(qpos.grad.to_numpy().ravel(), [3.0, 0.3, 0.0])
    np.testing.assert_allclose(qvel.grad.to_numpy().ravel(), [4.0, 0.4, 0.0])
    assert (qpos.to_numpy() == 1.0).all()


def test_observations_are_scaled_by_all_that_was_seen() -> None:
    """Positions alone: their means and variances over three batches, of two networks."""
    batches = np.random.default_rng(0).normal(3.0, 2.0, size=(3, 2, 5, 4))
    mean, square = (dt.zeros((2, 4), ti.f64) for _ in range(2))
    inverse, x = dt.full((2, 4), 1.0, ti.f64), dt.zeros((10, 4), ti.f64)
    for before, batch in enumerate(batches):
        scale(dt.from_numpy(batch.reshape(10, 4)), mean, inverse, x)
        include(x, before, mean, square, inverse)
    everything = batches.transpose(1, 0, 2, 3).reshape(2, 15, 4)
    np.testing.assert_allclose(mean.to_numpy(), everything.mean(axis=1))
    np.testing.assert_allclose(square.to_numpy(), everything.var(axis=1))
    scale(dt.from_numpy(batches[0].reshape(10, 4)), mean, inverse, x)
    by_network = everything.mean(axis=1)[:, None], everything.var(axis=1)[:, None]
    expected = (batches[0] - by_network[0]) / np.sqrt(by_network[1] + 1e-4)
    np.testing.assert_allclose(x.to_numpy(), expected.reshape(10, 4))


def test_probable_decisions_gain_within_bounds() -> None:
    """The loss of PPO and its gradients, with two networks, against NumPy and differences."""
    networks, count, steps, controls = 2, 3, 2, 2
    rng = np.random.default_rng(0)
    rows = networks * steps * count
    deviation = rng.normal(-0.5, 0.1, (networks, 1, controls))
    log_std = dt.from_numpy(deviation, grad=True)
    drawn, old, ctrl = dt.zeros((rows, controls), ti.f64), dt.zeros(rows, ti.f64), []
    means = rng.normal(size=(steps, networks * count, controls))
    for t in range(steps):
        ctrl.append(dt.zeros((networks * count, controls), ti.f64))
        draw(dt.from_numpy(means[t]), log_std, t, steps, drawn, old, ctrl[-1])
    commands = means.reshape(steps, networks, count, controls).transpose(1, 0, 2, 3)
    samples = drawn.to_numpy().reshape(commands.shape)
    by_network = deviation[:, None]
    likely = -0.5 * ((samples - commands) / np.exp(by_network)) ** 2 - by_network
    np.testing.assert_allclose(old.to_numpy(), likely.sum(axis=-1).ravel())
    taken = np.array([one.to_numpy() for one in ctrl]).reshape(steps, networks, count, controls)
    np.testing.assert_allclose(taken.transpose(1, 0, 2, 3), np.tanh(samples))

    seen = rng.normal(size=(networks * (steps + 1) * count, 1))
    gains = rng.normal(size=rows)
    x, u = dt.zeros((rows, 1), ti.f64), dt.zeros((rows, controls), ti.f64)
    kept, gain = dt.zeros(rows, ti.f64), dt.zeros(rows, ti.f64)
    buffers = dt.from_numpy(seen), drawn, old, dt.from_numpy(gains)
    pick(*buffers, 0, 1, networks, steps, x, u, kept, gain)
    expected = seen.reshape(networks, steps + 1, count)[:, :steps].ravel()
    np.testing.assert_array_equal(x.to_numpy()[:, 0], expected)
    np.testing.assert_array_equal(gain.to_numpy(), gains)

    changed = commands.reshape(rows, controls) + rng.normal(0.0, 0.1, (rows, controls))
    at, loss = dt.from_numpy(changed, grad=True), dt.zeros(rows, ti.f64, grad=True)
    with dt.Tape() as tape:
        surrogate(at, log_std, u, kept, gain, 0.2, loss)
    tape.backward({loss: 1.0})
    now = (-0.5 * ((samples - changed.reshape(samples.shape)) / np.exp(by_network)) ** 2).sum(-1)
    ratio = np.exp((now - by_network.sum(-1)).ravel() - old.to_numpy())
    paid = np.minimum(ratio * gains, np.clip(ratio, 0.8, 1.2) * gains)
    np.testing.assert_allclose(loss.to_numpy(), -paid)
    assert (paid != ratio * gains).any() and (paid == ratio * gains).any()
    ways = [rng.normal(size=changed.shape), rng.normal(size=deviation.shape)]
    pairs = zip((at, log_std), ways, strict=True)
    by_tape = sum(float((field.grad.to_numpy() * way).sum()) for field, way in pairs)

    def total(far: float) -> float:
        at.from_numpy(changed + far * ways[0])
        log_std.from_numpy(deviation + far * ways[1])
        surrogate(at, log_std, u, kept, gain, 0.2, loss)
        return float(loss.to_numpy().sum())

    assert by_tape == pytest.approx((total(1e-6) - total(-1e-6)) / 2e-6, rel=1e-6)


def test_targets_of_the_critic() -> None:
    """Returns by TD(lambda), with a fall in the middle of one world, as mean rewards."""
    networks, steps, count, gamma, trace = 2, 4, 2, 0.9, 0.7
    draw = np.random.default_rng(0)
    rewards = draw.normal(size=(steps, networks * count))
    values = draw.normal(size=(networks, steps + 1, count))
    fell = np.zeros((steps, networks * count), np.int32)
    fell[1, 2] = 1
    targets = dt.zeros(rewards.shape, ti.f64)
    given = (dt.from_numpy(one) for one in (rewards, fell, values.reshape(-1, 1)))
    look_back(*given, gamma, trace, networks, targets)
    for n in range(networks * count):
        k, world = divmod(n, count)
        future = values[k, steps, world]
        for t in reversed(range(steps)):
            mixed = (1 - trace) * values[k, t + 1, world] + trace * future
            future = (1 - gamma) * rewards[t, n] + (0.0 if fell[t, n] else gamma * mixed)
            assert targets[t, n] == pytest.approx(future, rel=1e-12)


def test_parts_of_the_worlds_are_all_of_them() -> None:
    networks, steps, count, parts = 2, 3, 4, 2
    rows = np.arange(networks * (steps + 1) * count, dtype=float)
    history = dt.from_numpy(rows[:, None])
    by_row = rows.reshape(networks, steps + 1, count)[:, :steps]
    targets = dt.from_numpy(by_row.transpose(1, 0, 2).reshape(steps, -1))
    x, wanted = dt.zeros((12, 1), ti.f64), dt.zeros(12, ti.f64)
    seen = []
    for part in range(parts):
        choose(history, targets, part, parts, networks, x, wanted)
        np.testing.assert_array_equal(x.to_numpy()[:, 0], wanted.to_numpy())
        assert (wanted.to_numpy()[:6] < 16).all() and (wanted.to_numpy()[6:] >= 16).all()
        seen += wanted.to_numpy().tolist()
    assert sorted(seen) == sorted(by_row.ravel())


CART = """
import difftile as dt
from difftile import worlds

@dt.kernel
def observe(qpos, qvel, obs):
    obs[0] = qpos[0]
    obs[1] = qvel[0]

@dt.kernel
def reward(qpos, action, reward, done):
    reward[None] = 1.0 - qpos[0] ** 2 - 0.01 * action[0] ** 2
    done[None] = 0

TASK = worlds.Task(
    name="cart",
    model='''<mujoco><option timestep="0.02"/><worldbody><body>
      <joint name="rail" type="slide" axis="1 0 0" damping="0.5"/><geom size="0.1" mass="1"/>
      </body></worldbody><actuator><motor joint="rail" gear="4" ctrlrange="-1 1"/></actuator>
      </mujoco>''',
    observe=observe,
    observations=2,
    reward=reward,
    substeps=2,
    episode=48,
    spread=1.0,
)
"""


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    pytest.importorskip("mujoco")
    path = tmp_path_factory.mktemp("tasks") / "cart.py"
    path.write_text(CART, encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def cart(file: Path) -> worlds.Task:
    return task_of(str(file))


@pytest.mark.compiled
@pytest.mark.parametrize("algorithm", ["shac", "ppo"])
def test_a_cart_learns_to_drive_to_the_middle(cart: worlds.Task, algorithm: str) -> None:
    """Within seconds: two policies side by side earn more than at first."""
    mine = learn.learner(cart, algorithm, count=24, seeds=[0, 1])
    before = learn.evaluate(mine).returns
    record = learn.train(mine, iterations=14, progress=False)
    after = learn.evaluate(mine, shown=2)
    assert after.qpos.shape == (cart.episode, 2, 2, 1)
    assert (after.returns > before + 2.0).all(), (before, after.returns)
    assert record.kinds == ("reward", "failed")
    assert record.column("reward").shape == (14, 2)
    assert (record.column("failed") == 0.0).all()


@pytest.mark.compiled
def test_a_training_goes_on_as_if_it_had_not_ended(cart: worlds.Task, tmp_path: Path) -> None:
    """Also its step sizes, which fall towards the end, and the random numbers of its actions."""

    def weights(mine: Any) -> np.ndarray:
        return mine.policy.net.parameters["w0"].to_numpy()

    def made() -> Any:
        return learn.learner(cart, count=4, policy="kernel")

    def stop(record: learn.TrainingRecord) -> None:
        if len(record.rows) == 2:
            raise KeyboardInterrupt

    one = made()
    learn.train(one, iterations=4, out=tmp_path / "ended", progress=False, each=stop)
    kept = weights(one)
    other = made()
    assert (weights(other) != kept).any()
    record = training.record_of(other, tmp_path / "ended")
    record.load()
    np.testing.assert_array_equal(weights(other), kept)
    assert [row[1] for row in record.rows] == [0, 1]
    record = learn.train(other, iterations=4, out=tmp_path / "ended", resume=True, progress=False)
    assert [row[1] for row in record.rows] == [0, 1, 2, 3]
    with open(tmp_path / "ended" / "curve.csv", newline="", encoding="utf-8") as table:
        rows = list(csv.DictReader(table))
    assert [row["iteration"] for row in rows] == ["0", "1", "2", "3"]
    assert {path.name for path in (tmp_path / "ended").iterdir()} == {
        *("checkpoint.npz", "curve.csv", "curve.png")
    }


@pytest.mark.compiled
def test_checkpoints_of_other_trainings_are_refused(cart: worlds.Task, tmp_path: Path) -> None:
    learn.train(learn.learner(cart, count=2), iterations=1, out=tmp_path, progress=False)
    other = learn.learner(cart, "ppo", count=2)
    said = "is of task cart, algorithm shac; expected one of task cart, algorithm ppo"
    with pytest.raises(dt.DatasetError, match=said):
        learn.train(other, iterations=2, out=tmp_path, resume=True, progress=False)
    more = learn.learner(cart, count=2, seeds=[0, 1])
    with pytest.raises(dt.DatasetError, match="is of other networks"):
        learn.train(more, iterations=2, out=tmp_path, resume=True, progress=False)
    with pytest.raises(dt.DatasetError):
        learn.train(more, iterations=2, out=tmp_path / "empty", resume=True, progress=False)


@pytest.mark.compiled
def test_errors_leave_a_checkpoint(cart: worlds.Task, tmp_path: Path) -> None:
    mine = learn.learner(cart, count=2)

    def fail(record: learn.TrainingRecord) -> None:
        raise OSError("the disk is full")

    with pytest.raises(OSError, match="disk"):
        learn.train(mine, iterations=3, out=tmp_path, progress=False, each=fail)
    assert (tmp_path / "checkpoint.npz").exists()


@pytest.mark.compiled
@pytest.mark.parametrize("algorithm", ["shac", "ppo"])
def test_policies_that_decide_no_number_are_named(cart: worlds.Task, algorithm: str) -> None:
    mine = learn.learner(cart, algorithm, count=3)
    mine.improve()
    mine.policy.net.parameters["b3"].fill(np.nan)
    with pytest.raises(dt.FieldError, match="world 0 was given an action that is not a number at"):
        mine.improve()


@pytest.mark.compiled
def test_robots_are_watched_while_they_learn(cart: worlds.Task) -> None:
    mine = learn.learner(cart, count=4)
    app = dt.viewer.App("learn", backend="null")
    improve = watched(mine, app, copies=2)
    before = mine.policy.net.parameters["w0"].to_numpy()
    app.run(frames=2)
    assert improve is not None and app.picture is not None
    assert (mine.policy.net.parameters["w0"].to_numpy() != before).any()
    assert np.ptp(app.picture.astype(int)) > 50  # there is something


@pytest.mark.compiled
def test_plans_take_carts_to_the_middle(cart: worlds.Task) -> None:
    env = worlds.environment(cart, worlds=2, seed=3)
    planner = learn.Mpc(env, learn.MpcRates(horizon=12, updates=3, variants=4))
    start = np.abs(env.sim.qpos.to_numpy())
    assert start.max() > 0.3
    before = env.sim.qpos.to_numpy()
    actions = planner.act()
    np.testing.assert_array_equal(env.sim.qpos.to_numpy(), before)  # planning moves nothing
    for _ in range(24):
        env.step(actions.astype(np.float32), renew=False)
        actions = planner.act()
    assert np.abs(env.sim.qpos.to_numpy()).max() < 0.15


def test_learners_say_what_they_take(cart: worlds.Task, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ValueError, match='"shac" or "ppo", not \'sac\''):
        learn.learner(cart, "sac")
    with pytest.raises(ValueError, match='"kernel" or "torch", not \'jax\''):
        learn.learner(cart, policy="jax")
    with pytest.raises(ValueError, match="at least one world"):
        learn.learner(cart, count=0)
    with pytest.raises(KeyError, match="no task 'swim'"):
        learn.learner("swim")
    mine = object.__new__(learn.Shac)
    with pytest.raises(ValueError, match=r"iterations=\.\.\., seconds="):
        learn.train(mine)
    with pytest.raises(ValueError, match="the folder of the checkpoint"):
        learn.train(mine, iterations=1, resume=True)
    monkeypatch.setitem(sys.modules, "torch", None)
    monkeypatch.delitem(sys.modules, "difftile.worlds.learn.torch_networks", raising=False)
    with pytest.raises(ImportError, match=r"pip install 'difftile\[torch\]'"):
        learn.networks_of("torch")


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (["swim"], "there is no task 'swim'; tasks are cartpole_swingup"),
        (["ant", "--minutes", "0"], "expected a number above 0, not '0'"),
        (["ant", "--algorithm", "mpc", "--resume"], "mpc has no policy"),
        (["ant", "--seed", "-1"], "expected a whole number from 0"),
        (["ant", "--resume", "--out", "nowhere"], "there is no nowhere"),
    ],
)
def test_wrong_arguments(given: list[str], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        command.main(given)
    assert caught.value.code == 2
    assert said in capsys.readouterr().err


def test_the_command_names_all_tasks() -> None:
    assert command._TASKS == worlds.tasks.NAMES


def test_files_without_a_task_are_refused(tmp_path: Path) -> None:
    (tmp_path / "empty.py").write_text("TASK = 3\n", encoding="utf-8")
    with pytest.raises(ValueError, match=r"has no worlds\.Task named TASK"):
        task_of(str(tmp_path / "empty.py"))


@pytest.mark.slow  # worlds are compiled in another process
@pytest.mark.parametrize("algorithm", ["shac", "ppo", "mpc"])
def test_the_command_writes_its_files(file: Path, tmp_path: Path, algorithm: str) -> None:
    given = ["learn", str(file), "--algorithm", algorithm, "--iterations", "3", "--worlds", "4"]
    done = subprocess.run(
        [sys.executable, "-m", "difftile", *given, "--out", str(tmp_path)],
        capture_output=True,
        text=True,
        check=True,
    )
    assert f"learn: cart by {algorithm}; files go to" in done.stdout
    wanted = {"run.gif"}
    if algorithm != "mpc":
        wanted |= {"curve.csv", "curve.png", "checkpoint.npz"}
        assert "returns of an episode without noise: seed 0:" in done.stdout
    assert {path.name for path in tmp_path.iterdir()} == wanted


@pytest.mark.slow  # a minute on two cores
def test_a_cart_pole_learns_to_swing_up() -> None:
    mine = learn.learner("cartpole_swingup", count=64)
    before = learn.evaluate(mine).returns[0]
    learn.train(mine, seconds=60.0, progress=False)
    after = learn.evaluate(mine).returns[0]
    assert before < 25.0
    assert after > 90.0
