"""`difftile train` under torchrun: results, signals, mistakes, and a rank that fails."""

from __future__ import annotations

import importlib.util
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from difftile.datasets import read_splats
from difftile.datasets.splats import PARAMETERS
from scenes.balls import shots
from tests.datasets.generated import write_dataset
from tests.training.test_train import one_thread, started_once, train

__all__ = ["one_thread", "started_once"]  # fixtures for all tests here

pytestmark = [
    pytest.mark.skipif(importlib.util.find_spec("torch") is None, reason="needs torchrun of torch"),
    pytest.mark.skipif(os.name == "nt", reason="signals of POSIX"),
]
ROOT = Path(__file__).parents[2]
OPTIONS = ("--steps", "9", "--sh-degree", "1", "--threads", "1", "--no-pictures")


@pytest.fixture(scope="module")
def balls(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("balls")
    write_dataset(folder, "colmap-bin", shots(9, 20, 14))
    return folder


def launched(size: int, *command: object) -> subprocess.Popen[str]:
    """Start a module or a file on some ranks."""
    torchrun = [
        sys.executable,
        "-m",
        "torch.distributed.run",
        "--standalone",
        f"--nproc-per-node={size}",
    ]
    return subprocess.Popen(
        [*torchrun, *map(str, command)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=ROOT,
    )


def ended(process: subprocess.Popen[str]) -> tuple[int, str, list[str]]:
    """Return the exit code, the output, and the lines of difftile among the errors."""
    try:
        out, err = process.communicate(timeout=200)
    finally:
        process.kill()
    own = [line for line in err.splitlines() if line.startswith("difftile train: ")]
    return process.returncode, out, own


@pytest.mark.slow  # tests/distributed/test_training.py compares all that is trained
def test_ranks_write_the_splats_of_one(balls: Path, tmp_path: Path) -> None:
    code, out, err = ended(
        launched(2, "-m", "difftile", "train", balls, "--out", tmp_path / "two", *OPTIONS)
    )
    assert (code, err) == (0, [])
    lines = out.splitlines()
    assert lines[1:3] == [
        "views: 7 to train on, 2 held out (every 8th)",
        "pictures: 20 x 14 pixels",
    ]
    assert len(lines) == 5  # once each
    assert train(balls, tmp_path / "one", "--no-pictures") == 0
    for name in PARAMETERS:  # in single precision, in which Adam makes steps of any size
        one, two = (
            getattr(read_splats(tmp_path / out / "point_cloud.ply"), name) for out in ("one", "two")
        )
        np.testing.assert_allclose(one, two, rtol=0, atol=1e-4 * np.abs(one).max(), err_msg=name)
    mean, other = (
        json.loads((tmp_path / out / "metrics.json").read_text())["mean"] for out in ("one", "two")
    )
    assert mean == pytest.approx(other, rel=1e-5)


def test_a_mistake_is_said_once(tmp_path: Path) -> None:
    code, out, err = ended(launched(2, "-m", "difftile", "train", tmp_path, "--out", tmp_path))
    assert code == 1  # of torchrun, whatever the exit codes of ranks
    assert out == ""
    assert len(err) == 1
    assert err[0].startswith(f"difftile train: error: {tmp_path}: holds no cameras; ")


@pytest.mark.slow
def test_a_signal_ends_all_ranks_at_one_step(balls: Path, tmp_path: Path) -> None:
    options = ("--steps", "3000", "--save-every", "4", *OPTIONS[2:])
    process = launched(2, "-m", "difftile", "train", balls, "--out", tmp_path, *options)
    until = time.monotonic() + 150.0
    while not list(tmp_path.glob("checkpoints/*.npz")) and time.monotonic() < until:
        time.sleep(0.2)
    process.send_signal(signal.SIGTERM)
    _, out, err = ended(process)
    assert err == []
    said = [line for line in out.splitlines() if line.startswith("interrupted after ")]
    (step,) = [int(line.split()[2]) for line in said]
    assert (tmp_path / "checkpoints" / f"step_{step:08d}.npz").exists()
    more = ("--resume", "--steps", step + 2, "--threads", "1", "--no-pictures")
    code, out, err = ended(launched(3, "-m", "difftile", "train", balls, "--out", tmp_path, *more))
    assert (code, err) == (0, [])
    assert json.loads((tmp_path / "metrics.json").read_text())["steps"] == step + 2


BROKEN = """
import sys
from difftile import DatasetError, datasets
from difftile.cli import main
from difftile.ranks import current

image, read = datasets.View.image, []

def broken(self):
    read.append(1)
    if current().rank == 1 and len(read) == 2:
        raise DatasetError(self.path, "is cut off", "a whole picture")
    return image(self)

datasets.View.image = broken
sys.exit(main(sys.argv[1:]))
"""


@pytest.mark.slow
def test_a_rank_that_fails_ends_all(balls: Path, tmp_path: Path) -> None:
    script = tmp_path / "broken.py"
    script.write_text(BROKEN)
    out = tmp_path / "out"
    more = ("--batch", "2", *OPTIONS)
    process = launched(2, script, "train", balls, "--out", out, *more)
    _, _, err = ended(process)
    assert any("rank 1: error: " in line and "is cut off" in line for line in err)
