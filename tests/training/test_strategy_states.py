"""What optimisers remember of gaussians that come, go and move, on a few of them."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

import difftile as dt
from difftile.training import Densification
from difftile.training.numbers import logit
from difftile.training.rates import optimiser
from tests.training.test_strategies import gaussians, numbers_of, options, quiet, seen


@pytest.fixture(autouse=True, scope="module")
def as_python() -> Iterator[None]:
    dt.init(arch="python")
    yield


def stepped(rows: dt.Rows, batch: int = 1) -> dt.optim.Adam:
    """Return an optimiser of gaussians that has seen gradients of 1."""
    found = optimiser(rows, 1.0, batch=batch)
    for field in rows.values():
        field.grad.fill(1.0)
    assert found.step()
    return found


@pytest.mark.parametrize("batch", [1, 3, 20])
def test_averages_decay_at_the_same_speed_per_image(batch: int) -> None:
    """The first averages are the gradients of 1, times 1 - beta."""
    adam = stepped(gaussians(2), batch)
    mean, square = (adam.state["opacities"][slot].to_numpy() for slot in ("mean", "square"))
    np.testing.assert_allclose(mean, min(0.1 * batch, 1.0), rtol=1e-12)
    np.testing.assert_allclose(square, 0.001 * batch, rtol=1e-12)


def test_copies_and_halves_of_gaussians_have_no_state() -> None:
    rows = gaussians(3, scales=[0.001, 0.1, 0.001])
    adam = stepped(rows)
    strategy = Densification(1.0, **options())
    strategy.after_step(1, rows, seen([[[3.0, 0.0], [3.0, 0.0], [0.0, 0.0]]]))
    assert numbers_of(rows) == [0, 2, 0, 1, 1]
    kept = adam.state["sh0"]["mean"].to_numpy()[:, 0] != 0.0
    assert kept.tolist() == [True, True, False, False, False]


def test_relocated_gaussians_and_the_one_that_they_move_to_have_no_state() -> None:
    rows = gaussians(4)
    adam = stepped(rows)
    for faded, left in (([3], [0, 1, 2]), ([1, 2, 3], [0])):
        opacities = np.full(4, 0.001)
        opacities[left] = 0.9
        rows.opacities.from_numpy(logit(opacities))
        adam.state["sh0"]["mean"].fill(1.0)
        done = quiet(seed=1).after_step(1, rows)
        assert done == {"relocated": len(faded), "added": 0}
        numbers = np.array(numbers_of(rows))
        known = adam.state["sh0"]["mean"].to_numpy()[:, 0]
        alone = [np.sum(numbers == number) == 1 for number in numbers]
        assert known.tolist() == [float(one) for one in alone]
        assert sum(alone) == len(left) - 1
