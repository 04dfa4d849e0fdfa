"""However a training ends, its checkpoint is of whole updates, and another goes on from it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import difftile as dt
from difftile import worlds
from difftile.commands import learn as command
from difftile.worlds.learn import Shac, ShacRates, TrainingRecord, train
from difftile.worlds.learn.film import watched
from difftile.worlds.learn.training import Updates, record_of

TASK = replace(worlds.tasks.named("cartpole_swingup"), episode=8)


@pytest.fixture(scope="module")
def learner() -> Shac:
    return Shac(None, TASK, 2, [0], ShacRates(horizon=2))


def test_a_resumed_training_scales_what_is_seen_as_before(learner: Shac, tmp_path: Path) -> None:
    """The means go on over all batches, and are not those of the next one alone."""
    train(learner, iterations=3, out=tmp_path, progress=False)
    mean, batches = learner.rollouts.mean.to_numpy(), learner.rollouts.batches[None]
    assert batches >= 3
    learner.rollouts.batches.fill(0.0)
    learner.rollouts.mean.fill(0.0)
    train(learner, iterations=3, out=tmp_path, resume=True, progress=False)  # none is left
    assert learner.rollouts.batches[None] == batches
    np.testing.assert_array_equal(learner.rollouts.mean.to_numpy(), mean)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_a_training_after_its_update(
    learner: Shac, tmp_path: Path, number: int
) -> None:
    def stop(record: TrainingRecord) -> None:
        if len(record.rows) == 2:
            os.kill(os.getpid(), number)

    record = train(learner, iterations=50, out=tmp_path, progress=False, each=stop)
    assert len(record.rows) == 2 and record.code == 128 + number
    assert len(dt.optim.read_state(tmp_path / "checkpoint.npz")["rows"]) == 2


def test_an_error_leaves_the_checkpoint_before_it(learner: Shac, tmp_path: Path) -> None:
    train(learner, iterations=2, out=tmp_path, progress=False)
    bias = learner.policy.net.parameters["b0"]
    sound = bias.to_numpy()

    def spoil(record: TrainingRecord) -> None:
        bias.fill(np.nan)

    try:
        with pytest.raises(dt.FieldError, match=r"world \d+ was given an action that is not a num"):
            train(learner, iterations=9, out=tmp_path, resume=True, progress=False, each=spoil)
    finally:
        bias.from_numpy(sound)
        learner.rollouts.begin()
    state = dt.optim.read_state(tmp_path / "checkpoint.npz")
    assert all(np.isfinite(one).all() for one in state.values() if one.dtype.kind == "f")


def test_a_checkpoint_of_another_training_is_named(learner: Shac, tmp_path: Path) -> None:
    train(learner, iterations=1, out=tmp_path, progress=False)
    state = dt.optim.read_state(tmp_path / "checkpoint.npz")
    dt.optim.write_state(tmp_path / "checkpoint.npz", state | {"about.task": np.array("ant")})
    with pytest.raises(dt.DatasetError, match=r"is of task ant.*expected one of task cart"):
        train(learner, iterations=2, out=tmp_path, resume=True, progress=False)


def test_a_run_is_not_overwritten(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "checkpoint.npz").touch()
    with pytest.raises(SystemExit) as caught:
        command.main(["ant", "--out", str(tmp_path)])
    assert caught.value.code == 2
    assert "has a training already: pass --resume" in capsys.readouterr().err


def test_a_training_that_is_watched_is_kept_as_well(learner: Shac, tmp_path: Path) -> None:
    """The app goes on when the updates are used up."""
    record = record_of(learner, tmp_path)
    app = dt.viewer.App("learn", backend="null")
    watched(learner, app, 1, Updates(learner, record, 2, None).step)
    app.run(frames=4)
    assert len(record.rows) == 2
    assert len(dt.optim.read_state(tmp_path / "checkpoint.npz")["rows"]) >= 1


def test_the_arguments_are_answered_without_worlds() -> None:
    """Since importing them takes most of a second."""
    code = (
        "import sys; from difftile.commands import learn\n"
        "try: learn.main(['--help'])\n"
        "except SystemExit: print('difftile.worlds' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.endswith("False\n")
