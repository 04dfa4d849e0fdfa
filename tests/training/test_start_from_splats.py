"""Runs that start from the splats of a file."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import difftile as dt
from difftile.datasets import Splats, load, read_splats, write_splats
from difftile.datasets.splats import PARAMETERS
from difftile.training import Options, Trainer, run
from difftile.training.initial import first_gaussians
from scenes.balls import shots
from tests.datasets.generated import write_dataset
from tests.training.started import Started
from tests.training.test_train import complaint, interrupted_at, train

pytestmark = pytest.mark.compiled


@pytest.fixture(scope="module", autouse=True)
def one_thread() -> Iterator[None]:
    dt.init(arch="cpu", cpu_max_num_threads=1)
    yield
    dt.init(arch="cpu")


@pytest.fixture(autouse=True)
def started_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run, "dt", Started())


@pytest.fixture(scope="module")
def balls(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("balls")
    write_dataset(folder, "colmap-bin", shots(9, 20, 14))
    return folder


def some_splats(path: Path, rest: int = 3, count: int = 40) -> Splats:
    draw = np.random.default_rng(rest)
    shapes = {"means": (3,), "quaternions": (4,), "opacities": (), "sh0": (3,)}
    arrays: dict[str, Any] = {k: draw.normal(size=(count, *shape)) for k, shape in shapes.items()}
    scales = draw.normal(-2, 0.5, (count, 3))
    splats = Splats(**arrays, scales=scales, shN=0.1 * draw.normal(size=(count, rest, 3)))
    write_splats(path, splats)
    return splats


def test_a_run_starts_where_another_one_ended(balls: Path, tmp_path: Path) -> None:
    """Its first images are the last ones of the other run, with its harmonics."""
    assert train(balls, tmp_path / "one", "--no-pictures") == 0
    file = tmp_path / "one" / "point_cloud.ply"
    metrics = json.loads((tmp_path / "one" / "metrics.json").read_text())
    trainer = Trainer(load(balls), Options(steps=9, start=str(file)))
    assert trainer.start == f"{trainer.count} gaussians of {file}"
    assert (trainer.options.sh_degree, trainer.degree) == (1, 1)
    for score in trainer.scores(trainer.held_out):
        assert score.psnr == pytest.approx(metrics["each"][score.name]["psnr"], abs=1e-4)
    state = trainer.state_dict()
    assert state["step"] == 0
    assert all(not array.any() for name, array in state.items() if name.endswith(".mean"))
    trainer.advance()
    assert np.isfinite(trainer.loss)


@pytest.mark.parametrize(("rest", "degree"), [(3, 0), (3, 3), (0, 2), (15, 1), (8, 2)])
def test_harmonics_are_cut_or_begin_at_zero(
    balls: Path, tmp_path: Path, rest: int, degree: int
) -> None:
    given = some_splats(tmp_path / "a.ply", rest)
    options = Options(start=str(tmp_path / "a.ply"), sh_degree=degree)
    gaussians, told, found = first_gaussians(load(balls), options)
    assert found == degree
    assert ("in place of" in told) == (given.sh_degree != degree)
    arrays = gaussians.to_numpy()
    for name in set(PARAMETERS) - {"shN"}:
        np.testing.assert_array_equal(arrays[name], getattr(given, name))
    assert ("shN" in arrays) == (degree > 0)
    if degree:
        common = min(rest, (degree + 1) ** 2 - 1)
        np.testing.assert_array_equal(arrays["shN"][:, :common], given.shN[:, :common])
        assert not arrays["shN"][:, common:].any()


def test_of_too_many_splats_the_largest_stay(balls: Path, tmp_path: Path) -> None:
    given = some_splats(tmp_path / "a.ply")
    options = Options(start=str(tmp_path / "a.ply"), most=10)
    gaussians, told, _ = first_gaussians(load(balls), options)
    assert told == f"the 10 largest of 40 gaussians of {tmp_path / 'a.ply'}"
    axes = np.sort(np.exp(given.scales.astype(np.float64)), axis=1)
    size = axes[:, 1] * axes[:, 2] / (1 + np.exp(-given.opacities.astype(np.float64)))
    kept = np.sort(np.argsort(size)[-10:])
    np.testing.assert_array_equal(gaussians.means.to_numpy(), given.means[kept])


def test_files_that_a_run_cannot_start_from(
    balls: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out, file = tmp_path / "out", tmp_path / "a.ply"
    line = complaint(capsys, balls, "--out", out, "--start", file)
    assert line.endswith("a.ply: is not there; expected a file.")
    some_splats(file, count=0)
    line = complaint(capsys, balls, "--out", out, "--start", file)
    assert line.endswith("a.ply: has no splats; expected one at least.")
    header = "".join(f"property float {axis}\n" for axis in "xyz")
    file.write_text(f"ply\nformat ascii 1.0\nelement vertex 1\n{header}end_header\n1 2 3\n")
    line = complaint(capsys, balls, "--out", out, "--start", file)
    assert line.endswith("Hint: this is a point cloud; train splats from it.")
    assert not (out / "checkpoints").exists()


def test_a_run_that_started_from_splats_goes_on_without_them(
    balls: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    some_splats(tmp_path / "a.ply")
    start = ("--start", str(tmp_path / "a.ply"), "--no-pictures", "--strategy", "none")
    assert train(balls, tmp_path / "whole", *start) == 0
    with pytest.MonkeyPatch.context() as context:
        interrupted_at(5, context)
        assert train(balls, tmp_path / "parts", *start) == 130
    (tmp_path / "a.ply").unlink()
    line = complaint(capsys, balls, "--out", tmp_path / "parts", "--resume", "--start", "b.ply")
    assert line.startswith("--start is b.ply, and the run in")
    assert train(balls, tmp_path / "parts", "--resume") == 0
    ends = [read_splats(tmp_path / one / "point_cloud.ply") for one in ("whole", "parts")]
    for name in PARAMETERS:
        np.testing.assert_array_equal(*(getattr(one, name) for one in ends))
