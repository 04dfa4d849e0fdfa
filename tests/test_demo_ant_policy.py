"""The demo, headless and short, and the parts of its method."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import pytest
import taichi as ti

import difftile as dt
from demos.ant_policy import main
from demos.support.networks import Networks
from demos.support.shac import bound, choose, look_back


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


def test_targets_of_the_critic() -> None:
    """Returns by TD(lambda), with a fall in the middle of one world."""
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
            future = rewards[t, n] + (0.0 if fell[t, n] else gamma * mixed)
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


@pytest.mark.slow  # the gradient of worlds is compiled
def test_gradient_through_a_horizon_is_that_of_differences() -> None:
    assert main(["--robot", "hopper", "--check"]) == 0


def test_demo_without_a_checkpoint_says_so(tmp_path: Path) -> None:
    with pytest.raises(SystemExit, match=r"cannot go on from .*checkpoint\.npz"):
        main(["--robot", "hopper", "--worlds", "1", "--resume", "--out", str(tmp_path)])
