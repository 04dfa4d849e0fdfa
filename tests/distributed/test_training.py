"""Training on several ranks against one: gaussians, states, losses, scores, and resuming."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import difftile as dt
from difftile import ti
from difftile.datasets import load
from difftile.training import Densification, Options, Trainer
from tests.distributed import on_devices
from tests.distributed.splat_memory import measure
from tests.distributed.test_memory_of_devices import gpu
from tests.ranks import ranks
from tests.training.test_batches import balls

__all__ = ["balls", "gpu"]  # pictures of two sizes, some with depth maps; and a GPU, or a skip

STEPS = 5
APART = 1e-12  # the largest difference from one rank, in units of the largest number
CASES: dict[str, dict[str, Any]] = {
    "default": {"batch": 3},
    "mcmc": {"batch": 2, "strategy": "mcmc"},
    "corrected": {"batch": 3, "optimise_poses": True, "exposure": True, "depth": 1.0},
    "few": {"batch": 2, "points": 3},
    "emptied": {"batch": 2, "points": 40},  # down to fewer gaussians than there are ranks
}


def made(folder: Path, case: str) -> Trainer:
    """Return a run in which gaussians come and go every other step."""
    common = {"steps": 40, "sh_degree": 1, "points": 200, "most": 215}
    options = Options(**{**common, **CASES[case]})
    trainer = Trainer(load(folder), options, dtype=ti.f64)
    assert trainer.strategy is not None
    trainer.strategy.start, trainer.strategy.every, trainer.strategy.stop = 0, 2, 40
    if case == "emptied":
        assert isinstance(trainer.strategy, Densification)
        trainer.strategy.threshold = 1e9
    return trainer


def start(folder: Path, case: str) -> dict[str, np.ndarray]:
    """Return a first state, whose gaussians are not round: round ones turn by roundings only."""
    state = made(folder, case).state_dict()
    rng = np.random.default_rng(1)
    for name in ("scales", "quaternions", "opacities"):
        array = state[f"gaussians.{name}"]
        array += 0.5 * rng.normal(size=array.shape).astype(array.dtype)
    means = state["gaussians.means"]
    if case == "emptied":
        state["gaussians.opacities"][3:] = -12.0
    if case in ("few", "emptied"):
        return state
    means[:60] += 1000.0  # seen by no camera: more than the rows of the first of four ranks
    means[60:90] *= 3.0  # seen by some
    return state


def trained_on(kind: str, *arguments: Any) -> Any:
    """Return what `trained` does, on a device; see `on_devices.run`."""
    try:
        with on_devices._DEVICES[kind]():
            return trained(*arguments)
    finally:
        dt.init(default_fp="f64", cpu_max_num_threads=1)


def trained(folder: Path, case: str, state: dict[str, np.ndarray], steps: int) -> Any:
    """Return loss and PSNR of each step, the state after it, the scores, and the own rows."""
    trainer = made(folder, case)
    trainer.load_state_dict(state)
    measured = []
    for _ in range(steps):
        trainer.advance()
        measured.append((trainer.loss, trainer.psnr))
    found = trainer.state_dict()
    scores = [(one.psnr, one.ssim) for one in trainer.scores(trainer.held_out)]
    return measured, found, scores, len(trainer.gaussians)


def check_same(found: dict[str, np.ndarray], wanted: dict[str, np.ndarray]) -> None:
    assert found.keys() == wanted.keys()
    for name, array in found.items():
        if array.dtype.kind == "f":
            most = APART * np.abs(wanted[name]).max()
            np.testing.assert_allclose(array, wanted[name], rtol=0, atol=most, err_msg=name)


# One case, and the others where there is time.
_FIRST = [("few", 4)]
_SLOW = [(case, size) for case in CASES for size in (2, 3, 4) if (case, size) not in _FIRST]


@pytest.mark.parametrize(
    ("case", "size"), [*_FIRST, *(pytest.param(*one, marks=pytest.mark.slow) for one in _SLOW)]
)
def test_ranks_train_as_one(balls: Path, case: str, size: int) -> None:
    check(balls, case, partial(ranks(size).run, trained))


@pytest.mark.slow
@pytest.mark.parametrize("case", ["default", "corrected", "emptied"])
def test_ranks_of_mpi_train_as_one(balls: Path, case: str) -> None:
    check(balls, case, partial(ranks(3, "mpi").run, trained))


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["staged", "direct"])
@pytest.mark.parametrize(("case", "size"), [("default", 2), ("emptied", 4)])
def test_ranks_train_as_one_on_a_fake_device(balls: Path, case: str, size: int, kind: str) -> None:
    check(balls, case, partial(ranks(size).run, trained_on, kind, patience=400.0))


@pytest.mark.gpu
@pytest.mark.parametrize(("case", "size"), [("default", 2), ("corrected", 3), ("emptied", 4)])
def test_ranks_that_share_a_gpu_train_as_one(gpu: None, balls: Path, case: str, size: int) -> None:
    check(balls, case, partial(ranks(size).run, trained_on, "cuda", patience=600.0))


def check(balls: Path, case: str, run: Callable[..., list[Any]]) -> None:
    """Compare a run on some ranks with the run on one."""
    (begin,) = ranks(1).run(start, balls, case)
    ((measured, state, scores, _),) = ranks(1).run(trained, balls, case, begin, STEPS)
    results = run(balls, case, begin, STEPS)
    check_same(results[0][1], state)
    for other, *_ in results:
        np.testing.assert_allclose(other, measured, rtol=APART)
    np.testing.assert_allclose(results[0][2], scores, rtol=APART)
    assert not any(other for _, _, other, _ in results[1:])
    rows = [count for *_, count in results]
    total = len(state["gaussians.means"])
    assert total != 200
    assert state["strategy.sums"].any() if case != "mcmc" else total == 215
    least, most = {"few": (4, 99), "emptied": (3, 3)}.get(case, (151, 215))
    assert least <= total <= most
    assert sum(rows) == total
    assert max(rows) - min(rows) <= 1


def test_a_run_goes_on_with_another_number_of_ranks(balls: Path) -> None:
    (begin,) = ranks(1).run(start, balls, "default")
    ((_, whole, _, _),) = ranks(1).run(trained, balls, "default", begin, STEPS)
    middle = ranks(3).run(trained, balls, "default", begin, 3)[0][1]
    check_same(ranks(2).run(trained, balls, "default", middle, STEPS - 3)[0][1], whole)


@pytest.mark.slow
def test_memory_is_divided_among_ranks() -> None:
    # So many that a megabyte of fields, which each kernel keeps for repeated launches, is little.
    (one,) = ranks(1).run(measure, 100_000, 4, 24, 4.0)
    assert 0.4 < one["shown"] < 0.8
    for size in (2, 4):
        found = ranks(size).run(measure, 100_000, 4, 24, 4.0)[0]
        for name in ("gaussians, gradients", "averages"):
            assert found[name] <= one[name] / size * 1.01
        assert found["peak of a step"] <= one["peak of a step"] / size * 1.1
