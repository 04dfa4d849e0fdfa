"""The demo, headless and short, and the parts of its method."""

from __future__ import annotations

import csv
import importlib
import sys
from pathlib import Path

import numpy as np
import pytest
import taichi as ti

import difftile as dt
from demos.ant_policy import main
from demos.support.courses import save_curves
from demos.support.critics import choose, look_back
from demos.support.herds import include, scale
from demos.support.networks import Networks
from demos.support.ppo import draw, pick, surrogate
from demos.support.shac import bound


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
    theirs = importlib.import_module("demos.support.torch_networks").TorchNetworks
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


@pytest.mark.slow  # worlds are compiled
def test_ppo_writes_its_course_beside_the_other(tmp_path: Path) -> None:
    given = ["--robot", "hopper", "--worlds", "4", "--method", "ppo", "--out", str(tmp_path)]
    assert main([*given, "--iterations", "1"]) == 0
    assert main([*given, "--iterations", "2", "--resume"]) == 0
    names = {path.name for path in tmp_path.iterdir()}
    assert {"checkpoint-ppo.npz", "curve-ppo.csv", "curve.png"} <= names


@pytest.mark.slow  # the gradient of worlds is compiled
def test_demo_writes_its_course_and_goes_on(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    given = ["--robot", "hopper", "--worlds", "4", "--seeds", "2", "--out", str(tmp_path)]
    assert main([*given, "--iterations", "1"]) == 0
    assert main([*given, "--iterations", "2", "--resume"]) == 0
    assert "2 updates in" in capsys.readouterr().out
    with open(tmp_path / "curve.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["iteration"] for row in rows] == ["0", "1"]
    assert {path.name for path in tmp_path.iterdir()} == {
        "checkpoint.npz",
        "curve.csv",
        "curve.png",
        "run.gif",
        "strip.png",
    }


def test_curves_of_both_methods_are_one_picture(tmp_path: Path) -> None:
    sizes = []
    for name in ("curve.csv", "curve-ppo.csv"):
        (tmp_path / name).write_text("seconds,iteration,speed_0,speed_1\n0,0,0,1\n1,1,2,3\n")
        save_curves(tmp_path)
        sizes.append((tmp_path / "curve.png").stat().st_size)
    assert sizes[1] != sizes[0]


def test_torch_that_is_missing_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "torch", None)
    monkeypatch.delitem(sys.modules, "demos.support.torch_networks", raising=False)
    with pytest.raises(SystemExit, match=r"--policy torch needs PyTorch.*difftile\[torch\]"):
        main(["--robot", "hopper", "--worlds", "1", "--policy", "torch"])


def test_ppo_takes_no_module_of_torch(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["--method", "ppo", "--policy", "torch"])
    assert "--policy torch goes with --method shac" in capsys.readouterr().err


@pytest.mark.slow  # the gradient of worlds is compiled
@pytest.mark.parametrize("policy", ["kernel", "torch"])
def test_gradient_through_a_horizon_is_that_of_differences(policy: str) -> None:
    if policy == "torch":
        pytest.importorskip("torch")
    assert main(["--robot", "hopper", "--check", "--policy", policy]) == 0


def test_demo_without_a_checkpoint_says_so(tmp_path: Path) -> None:
    with pytest.raises(SystemExit, match=r"cannot go on from .*checkpoint\.npz"):
        main(["--robot", "hopper", "--worlds", "1", "--resume", "--out", str(tmp_path)])
