"""Growth and removal of Gaussians, on hand-made examples."""

from __future__ import annotations

import math
from contextlib import nullcontext
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
import taichi as ti

import difftile as dt
from difftile.training import MCMC, Densification
from difftile.training.mcmc import shared
from difftile.training.numbers import logit, rotations, sigmoid
from tests.device_arrays import device_arrays

WIDTH, HEIGHT = 40, 20


@dataclass
class Seen:
    """The interface of a splatter that strategies use."""

    means2d_grad: dt.Field
    means2d_absgrad: dt.Field
    radii: dt.Field
    width: int = WIDTH
    height: int = HEIGHT


def seen(gradients: Any, radii: Any = None, absolute: Any = None) -> Any:
    """Return the drawn state, from gradients in units of half the image, shape (cameras, n, 2)."""
    given = np.asarray(gradients, np.float64)
    cameras, n, _ = given.shape
    units = np.array([2.0 / WIDTH, 2.0 / HEIGHT]) / cameras
    boxes = np.full((cameras, n, 2), 3) if radii is None else np.asarray(radii)
    return Seen(
        dt.from_numpy(given * units, ti.math.vec2),
        dt.from_numpy((given if absolute is None else np.asarray(absolute)) * units, ti.math.vec2),
        dt.from_numpy(boxes.astype(np.int32), ti.math.ivec2),
    )


def gaussians(n: int, scales: Any = 0.001, opacities: Any = 0.5, seed: int = 0) -> dt.Rows:
    """Return gaussians whose `sh0` are their numbers."""
    rng = np.random.default_rng(seed)
    wide = np.broadcast_to(np.reshape(np.asarray(scales, np.float64), (-1, 1)), (n, 3))
    return dt.Rows(
        means=dt.from_numpy(rng.normal(size=(n, 3)), dt.vec(3, ti.f64), grad=True),
        scales=dt.from_numpy(np.log(wide), dt.vec(3, ti.f64), grad=True),
        quaternions=dt.from_numpy(rng.normal(size=(n, 4)), dt.vec(4, ti.f64), grad=True),
        opacities=dt.from_numpy(np.broadcast_to(logit(opacities), n), grad=True),
        sh0=dt.from_numpy(np.arange(n)[:, None] * np.ones(3), dt.vec(3, ti.f64), grad=True),
    )


def numbers_of(rows: dt.Rows) -> list[int]:
    return rows.sh0.to_numpy()[:, 0].round().astype(int).tolist()


def options(**others: Any) -> dict[str, Any]:
    return {"start": 0, "every": 1, "reset_every": 1000, "threshold": 1.0, **others}


# Densification


def test_small_gaussians_are_doubled_and_large_ones_are_split() -> None:
    rows = gaussians(4, scales=[0.009, 0.011, 0.009, 0.011])
    before = rows.to_numpy()
    adam = dt.optim.Adam(rows)
    for name in rows:
        rows[name].grad.fill(1.0)
    adam.step()
    before = rows.to_numpy()
    strategy = Densification(1.0, **options())
    done = strategy.after_step(1, rows, seen([[[0.9, 0], [0, 1.1], [1.1, 0], [0.9, 0.1]]]))
    assert done == {"duplicated": 1, "split": 1, "pruned": 0}
    assert numbers_of(rows) == [0, 2, 3, 2, 1, 1]
    after = rows.to_numpy()
    for name in ("means", "scales"):
        np.testing.assert_array_equal(after[name][:4], before[name][[0, 2, 3, 2]])
    np.testing.assert_allclose(after["scales"][4:], before["scales"][[1, 1]] - math.log(1.6))
    moved = after["means"][4:] - before["means"][1]
    assert (moved != 0.0).all()
    assert (np.linalg.norm(moved, axis=1) < 0.011 * 6).all()
    np.testing.assert_array_equal(after["opacities"][4:], before["opacities"][[1, 1]])
    remembered = adam.state["means"]["mean"].to_numpy()
    assert (remembered[:3] != 0.0).all()
    assert not remembered[3:].any()


def test_gradients_are_means_over_the_views_that_see_a_gaussian() -> None:
    rows = gaussians(3)
    strategy = Densification(1.0, **options(every=2))
    both, gone = [3, 3], [0, 3]
    # A mean of 0.9 and 1.3 over steps and cameras; one of 1.5 and nothing; unseen altogether.
    first = seen([[[0.9, 0], [1.5, 0], [9, 9]], [[0, 1.3], [9, 9], [9, 9]]])
    first.radii = dt.from_numpy(
        np.array([[both, both, gone], [both, gone, gone]], np.int32), ti.math.ivec2
    )
    assert strategy.after_step(1, rows, first) == {}
    second = seen([[[9, 9]] * 3, [[0.6, 0.8 * 0.0], [0.3, 0.4], [9, 9]]], np.zeros((2, 3, 2)))
    second.radii = dt.from_numpy(
        np.array([[gone, gone, gone], [both, both, gone]], np.int32), ti.math.ivec2
    )
    done = strategy.after_step(2, rows, second)
    # (0.9 + 1.3 + 0.6) / 3 < 1, and (1.5 + 0.5) / 2 is not above 1.
    assert done["duplicated"] == 0
    assert strategy.after_step(3, rows, seen([[[0.9, 0], [1.01, 0], [0, 0]]])) == {}
    done = strategy.after_step(4, rows, seen([[[1.2, 0], [0.98, 0.4], [0, 0]]]))
    assert done["duplicated"] == 2  # nothing is left of the first two steps


def test_absolute_gradients_have_a_threshold_of_their_own() -> None:
    assert Densification(1.0).threshold == 2e-4
    strategy = Densification(1.0, start=0, every=1, absolute=True)
    view = seen([[[0, 0], [9, 9]]], absolute=[[[9e-4, 0], [7e-4, 0]]])
    rows = gaussians(2)
    assert strategy.after_step(1, rows, view)["duplicated"] == 1
    assert numbers_of(rows) == [0, 1, 0]


def test_halves_are_samples_of_what_was_split() -> None:
    n = 4000
    rows = gaussians(1, scales=[1.0])
    rows.scales.from_numpy(np.log([[1.0, 0.5, 0.1]]))
    turn = rotations(rows.quaternions.to_numpy())[0]
    wanted = turn @ np.diag([1.0, 0.25, 0.01]) @ turn.T
    mean = rows.means.to_numpy()[0]
    rows.take(np.zeros(n, int))
    Densification(1.0, **options(seed=3)).after_step(1, rows, seen(np.full((1, n, 2), 2.0)))
    found = rows.means.to_numpy() - mean
    assert len(found) == 2 * n
    np.testing.assert_allclose(found.mean(axis=0), 0.0, atol=4 / math.sqrt(2 * n))
    np.testing.assert_allclose(found.T @ found / (2 * n), wanted, atol=4 * 1.5 / math.sqrt(2 * n))
    halves = found.reshape(2, n, 3)
    correlation = np.einsum("ni,nj->ij", halves[0], halves[1]) / n
    np.testing.assert_allclose(correlation, 0.0, atol=4 / math.sqrt(n))


def test_faint_gaussians_go_and_large_ones_after_the_first_reset() -> None:
    def left(step: int) -> list[int]:
        rows = gaussians(4, [0.05, 0.11, 0.05, 0.09], [0.0049, 0.5, 0.0051, 0.9])
        done = Densification(1.0, **options(reset_every=10)).after_step(
            step, rows, seen(np.zeros((1, 4, 2)))
        )
        assert done["pruned"] == 4 - len(rows)
        return numbers_of(rows)

    assert left(9) == [1, 2, 3]
    assert left(10) == [1, 2, 3]
    assert left(11) == [2, 3]
    assert numbers_of(gaussians(2)) == [0, 1]


def test_halves_may_be_too_large_as_well() -> None:
    rows = gaussians(2, [0.17, 0.15])
    done = Densification(1.0, **options(reset_every=2)).after_step(
        3, rows, seen(np.full((1, 2, 2), 2.0))
    )
    assert done == {"duplicated": 0, "split": 2, "pruned": 2}
    assert numbers_of(rows) == [1, 1]


def test_opacities_are_reset_and_so_is_what_is_remembered_of_them() -> None:
    rows = gaussians(3, opacities=[0.5, 0.008, 0.9])
    adam = dt.optim.Adam(rows)
    for name in rows:
        rows[name].grad.fill(1.0)
    adam.step()
    rows.opacities.from_numpy(logit([0.5, 0.008, 0.9]))
    strategy = Densification(1.0, **options(reset_every=4, every=100))
    strategy.after_step(3, rows, seen(np.zeros((1, 3, 2))))
    assert sigmoid(rows.opacities.to_numpy())[0] == pytest.approx(0.5)
    strategy.after_step(4, rows, seen(np.zeros((1, 3, 2))))
    np.testing.assert_allclose(sigmoid(rows.opacities.to_numpy()), [0.01, 0.008, 0.01])
    assert not adam.state["opacities"]["mean"].to_numpy().any()
    assert adam.state["means"]["mean"].to_numpy().all()


def test_when_it_refines() -> None:
    strategy = Densification(1.0, start=4, stop=20, every=2, reset_every=10, pause=3)
    rows = gaussians(2)
    steps = [k for k in range(1, 30) if strategy.after_step(k, rows, seen(np.zeros((1, 2, 2))))]
    assert steps == [6, 8, 14, 16, 18]


def test_growth_ends_at_the_most() -> None:
    rows = gaussians(4, [0.001, 0.1, 0.001, 0.1])
    strategy = Densification(1.0, **options(most=6))
    view = seen([[[2, 0], [4, 0], [5, 0], [3, 0]]])
    assert strategy.after_step(1, rows, view) == {"duplicated": 1, "split": 1, "pruned": 0}
    assert numbers_of(rows) == [0, 2, 3, 2, 1, 1]
    assert strategy.after_step(2, rows, seen(np.full((1, 6, 2), 9.0)))["split"] == 0


@pytest.mark.parametrize(("most", "device"), [(None, False), (206, False), (260, True)])
@pytest.mark.compiled
def test_any_refinement_is_that_of_arrays(most: int | None, device: bool) -> None:
    n, rng = 200, np.random.default_rng(3)
    scales = np.exp(rng.uniform(-7, -1.5, n))
    opacities = rng.choice([0.003, 0.004, 0.3, 0.8], n)
    gradients = rng.choice([0.0, 0.5, 1.5, 2.0, 3.0], n)[None, :, None] * [1.0, 0.0]
    with device_arrays() if device else nullcontext():
        rows = gaussians(n, scales, opacities)
        means = rows.means.to_numpy()
        adam = dt.optim.Adam(rows, lr=0.0)
        for name in rows:
            adam.state[name]["mean"].fill(1.0)
        strategy = Densification(1.0, **options(reset_every=1, start=1, most=most, pause=0))
        strategy.after_step(1, rows, seen(gradients))
        rows.opacities.from_numpy(logit(opacities))
        for name in rows:
            adam.state[name]["mean"].fill(1.0)
        done = strategy.after_step(2, rows, seen(gradients))
        found = rows.to_numpy()
        state = {name: adam.state[name]["mean"].to_numpy() for name in rows}

    grows = gradients[0, :, 0] > 1.0
    if most is not None:
        grows[np.argsort(-gradients[0, :, 0], kind="stable")[most - n :]] = False
    small = scales <= 0.01
    kept, doubled = np.flatnonzero(~(grows & ~small)), np.flatnonzero(grows & small)
    split = np.flatnonzero(grows & ~small)
    index = np.concatenate((kept, doubled, split, split))
    half = np.arange(len(index)) >= len(kept) + len(doubled)
    wide = np.where(half, scales[index] / 1.6, scales[index])
    stays = (opacities[index] >= 0.005) & (wide <= 0.1)
    assert done == {
        "duplicated": len(doubled),
        "split": len(split),
        "pruned": int((~stays).sum()),
    }
    index, half, wide = index[stays], half[stays], wide[stays]
    fresh = (np.arange(len(stays)) >= len(kept))[stays]
    assert fresh.any() and (most is None or grows.sum() == most - n)
    assert found["sh0"][:, 0].round().astype(int).tolist() == index.tolist()
    np.testing.assert_allclose(found["scales"], np.log(wide)[:, None] * np.ones(3), rtol=1e-12)
    np.testing.assert_array_equal(found["means"][~half], means[index[~half]])
    if most != 206:
        away = found["means"][half] - means[index[half]]
        away = np.linalg.norm(away, axis=1) / scales[index[half]]
        assert ((away > 0.0) & (away < 6.0)).all()
        assert 1.2 < away.mean() < 2.0  # the length of a normal vector in space
    np.testing.assert_array_equal(state["means"], ~fresh[:, None] * np.ones(3))


def test_densification_goes_on_exactly_where_it_was_saved() -> None:
    def run(strategy: Densification, rows: dt.Rows, steps: range) -> None:
        for step in steps:
            rng = np.random.default_rng(step)
            strategy.after_step(step, rows, seen(rng.random((2, len(rows), 2))))

    def made() -> Densification:
        return Densification(0.1, **options(every=3, threshold=0.75, seed=5))

    rows, strategy = gaussians(12), made()
    run(strategy, rows, range(1, 8))
    arrays, state = rows.to_numpy(), strategy.state_dict()
    assert state["sums"].any()
    run(strategy, rows, range(8, 14))
    other, again = gaussians(3, seed=2), made()
    other.from_numpy(arrays)
    again.load_state_dict(state)
    run(again, other, range(8, 14))
    assert len(other) > 12
    for name, values in rows.to_numpy().items():
        np.testing.assert_array_equal(other[name].to_numpy(), values)
    again.load_state_dict({})
    assert again.state_dict() == {}
    with pytest.raises(dt.LaunchError, match="a state that state_dict"):
        again.load_state_dict({"sums": np.zeros(3)})


def test_what_was_seen_goes_with_its_gaussian() -> None:
    rows, strategy = gaussians(3), Densification(1.0, **options(every=2))
    strategy.after_step(1, rows, seen([[[0, 0], [0, 0], [9, 0]]]))
    rows.take([2, 0])
    assert strategy.after_step(2, rows, seen(np.zeros((1, 2, 2))))["duplicated"] == 1
    assert numbers_of(rows) == [2, 0, 2]


def test_what_densification_refuses() -> None:
    strategy = Densification(1.0, **options(every=2))
    strategy.after_step(1, gaussians(3), seen(np.zeros((1, 3, 2))))
    with pytest.raises(dt.LaunchError, match="3 seen before"):
        strategy.after_step(2, gaussians(2), seen(np.zeros((1, 2, 2))))
    with pytest.raises(dt.LaunchError, match="above 0"):
        Densification(0.0)
    strategy = Densification(1.0, **options())
    with pytest.raises(dt.SolverError, match="none would be left"):
        strategy.after_step(1, gaussians(2, opacities=0.001), seen(np.zeros((1, 2, 2))))


# MCMC


def published(opacity: float, scale: float, n: int) -> tuple[float, float]:
    """Return the two formulas as they are printed."""
    new = 1 - (1 - opacity) ** (1 / n)
    total = sum(
        math.comb(i - 1, k) * (-1) ** k / math.sqrt(k + 1) * new ** (k + 1)
        for i in range(1, n + 1)
        for k in range(i)
    )
    return new, scale * opacity / total


@pytest.mark.parametrize("n", [1, 2, 3, 10, 51])
def test_sharing_is_the_published_formula(n: int) -> None:
    for opacity in (0.006, 0.3, 0.99):
        o, s = shared(np.array([opacity]), np.array([[2.0, 1.0, 0.5]]), np.array([n]))
        wanted = published(opacity, 1.0, n)
        np.testing.assert_allclose(o, wanted[0], rtol=1e-12)
        np.testing.assert_allclose(s, [[2 * wanted[1], wanted[1], wanted[1] / 2]], rtol=1e-9)


@pytest.mark.parametrize("n", [2, 5, 40])
def test_those_that_share_a_place_cover_a_line_as_one_did(n: int) -> None:
    x = np.linspace(-20.0, 20.0, 40001)
    one = 0.9 * np.exp(-0.5 * x**2)
    opacity, scale = shared(np.array([0.9]), np.ones((1, 3)), np.array([n]))
    all_of_them = 1 - (1 - opacity[0] * np.exp(-0.5 * (x / scale[0, 0]) ** 2)) ** n
    assert all_of_them[20000] == pytest.approx(one[20000], rel=1e-12)
    assert all_of_them.sum() == pytest.approx(one.sum(), rel=1e-9)
    assert np.abs(all_of_them - one).max() < 0.2


def quiet(**others: Any) -> MCMC:
    return MCMC(0.0, **{"start": 0, "every": 1, "growth": 1.0, **others})


def test_faded_gaussians_move_to_others_and_share() -> None:
    rows = gaussians(5, 0.1, [0.5, 0.004, 0.0049, 0.001, 0.0051])
    adam = dt.optim.Adam(rows)
    for name in rows:
        rows[name].grad.fill(1.0)
    adam.step()
    rows.opacities.from_numpy(logit([0.5, 0.004, 0.0049, 0.001, 0.0051]))
    rows.scales.fill(math.log(0.1))
    assert quiet(seed=1).after_step(1, rows) == {"relocated": 3, "added": 0}
    numbers = numbers_of(rows)
    assert numbers[0] == 0
    assert numbers[4] == 4
    assert set(numbers[1:4]) <= {0, 4}
    for number, opacity in ((0, 0.5), (4, 0.0051)):
        who = np.array(numbers) == number
        new = published(opacity, 0.1, int(who.sum()))
        np.testing.assert_allclose(
            sigmoid(rows.opacities.to_numpy())[who], max(new[0], 0.005), rtol=1e-9
        )
        np.testing.assert_allclose(np.exp(rows.scales.to_numpy())[who], new[1], rtol=1e-9)
        remembered = adam.state["means"]["mean"].to_numpy()[who]
        assert remembered.any() == (who.sum() == 1)


def test_growth_goes_to_a_cap() -> None:
    rows, strategy = gaussians(40, opacities=0.9), quiet(growth=1.05, most=45)
    sizes = []
    for step in range(1, 6):
        strategy.after_step(step, rows)
        sizes.append(len(rows))
    assert sizes == [42, 44, 45, 45, 45]
    numbers = np.array(numbers_of(rows))
    for number in range(40):
        who = numbers == number
        assert who.sum() == 1 or not np.isclose(sigmoid(rows.opacities.to_numpy())[who], 0.9).any()


def test_draws_are_in_proportion_to_opacity() -> None:
    n = 6000
    opacities = np.where(np.arange(n) < 3000, 0.2, 0.6)
    rows = gaussians(n, 0.1, opacities)
    quiet(growth=1.5).after_step(1, rows)
    copied = np.array(numbers_of(rows)[n:])
    share = (copied < 3000).mean()
    assert share == pytest.approx(0.25, abs=4 * math.sqrt(0.25 * 0.75 / 3000))


def test_noise_goes_through_the_covariance_of_faint_gaussians() -> None:
    n = 4000
    rows = gaussians(2, opacities=[0.005, 0.2])
    rows.scales.from_numpy(np.log([[1.0, 0.5, 0.1]] * 2))
    rows.take(np.repeat([0, 1], n))
    before = rows.means.to_numpy()
    MCMC(lambda t: 2e-6 * t, start=10**9).after_step(2, rows)
    moved = rows.means.to_numpy() - before
    turn = rotations(rows.quaternions.to_numpy())[0]
    covariance = turn @ np.diag([1.0, 0.25, 0.01]) @ turn.T
    wanted = 0.25 * covariance @ covariance  # sigmoid(0) times 2e-6 * 5e5
    np.testing.assert_allclose(moved[:n].T @ moved[:n] / n, wanted, atol=4 * 0.4 / math.sqrt(n))
    np.testing.assert_allclose(moved[:n].mean(axis=0), 0.0, atol=4 * 0.5 / math.sqrt(n))
    assert np.abs(moved[n:]).max() < 1e-7
    again = gaussians(2, opacities=[0.005, 0.2])
    again.scales.from_numpy(np.log([[1.0, 0.5, 0.1]] * 2))
    again.take(np.repeat([0, 1], n))
    MCMC(lambda t: 2e-6 * t, start=10**9).after_step(2, again)
    np.testing.assert_array_equal(again.means.to_numpy(), rows.means.to_numpy())
    MCMC(2e-6, start=10**9).after_step(3, again)
    assert (
        np.corrcoef((again.means.to_numpy() - rows.means.to_numpy())[:n, 0], moved[:n, 0])[0, 1]
        < 0.1
    )


def test_noise_follows_the_rate_of_the_step_that_was_taken() -> None:
    moved = []
    for rate in (lambda t: 1e-6 * (1 + t), 4e-6, 3e-6):  # the first step is number 0
        rows = gaussians(5, 0.5, 0.004)
        before = rows.means.to_numpy()
        MCMC(rate, start=10**9).after_step(4, rows)
        moved.append(rows.means.to_numpy() - before)
    assert np.abs(moved[0]).max() > 0.01
    np.testing.assert_array_equal(moved[0], moved[1])
    np.testing.assert_allclose(moved[2], 0.75 * moved[1], rtol=1e-9)


def test_the_penalty_and_its_gradient() -> None:
    rows = gaussians(3, [0.1, 0.2, 0.6], [0.1, 0.5, 0.9])
    loss = dt.zeros((), ti.f64, grad=True)
    with dt.Tape(loss):
        MCMC(0.0, scale_weight=0.1).penalty(rows, loss)
    assert loss[None] == pytest.approx(0.01 * 0.5 + 0.1 * 0.3)
    opacity = np.array([0.1, 0.5, 0.9])
    np.testing.assert_allclose(
        rows.opacities.grad.to_numpy(), 0.01 / 3 * opacity * (1 - opacity), rtol=1e-9
    )
    wide = np.array([0.1, 0.2, 0.6])[:, None] * np.ones(3)
    np.testing.assert_allclose(rows.scales.grad.to_numpy(), 0.1 / 9 * wide, rtol=1e-9)


def test_what_mcmc_refuses() -> None:
    with pytest.raises(dt.SolverError, match=r"all 2 gaussians are 0\.005 or less"):
        quiet().after_step(1, gaussians(2, opacities=0.001))
    with pytest.raises(dt.LaunchError, match="growth 1 or more"):
        MCMC(0.0, growth=0.9)
    assert quiet().state_dict() == {}
    with pytest.raises(dt.LaunchError, match="the empty state"):
        quiet().load_state_dict({"sums": [1.0]})
