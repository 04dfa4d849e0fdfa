"""Depth maps in training: the gradient of their loss, what they gain, and runs with them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import taichi as ti
from PIL import Image

import difftile as dt
from difftile.cli import main
from difftile.training import Options, Trainer, run
from difftile.training import depths as own
from scenes.balls import shots
from tests.datasets.generated import write_dataset, write_json
from tests.training.started import Started
from tests.training.test_corrections import photographed
from tests.training.test_train import interrupted_at

pytestmark = pytest.mark.compiled

UNSEEN = 1e-9  # a weight that has no effect, with which errors are measured all the same


@pytest.fixture
def one_thread() -> Iterator[None]:
    """Atomic sums come in any order where there are more, so that last bits differ."""
    dt.init(arch="cpu", cpu_max_num_threads=1)
    yield
    dt.init(arch="cpu")


def wall(folder: Path) -> dt.datasets.Dataset:
    """Write a wavy wall, seen by three cameras that are near one another, and two far apart.

    Gaussians start anywhere near the wall; the far cameras are held out.
    """
    x, y = (axis.ravel() for axis in np.meshgrid(*[np.linspace(-2, 2, 24)] * 2))
    points = np.stack([x, 0.5 * np.sin(1.5 * x) * np.cos(y), y], axis=1)
    colours = 0.45 + 0.25 * np.stack([np.sin(x + y), np.cos(2 * y), np.sin(2 * x)], axis=1)
    eyes = np.array([[-0.3, -4, 0], [0.3, -4, 0], [0, -4, 0.4], [1.6, -4, 0.6], [-1.6, -4, -0.6]])
    data = photographed(folder, points, colours, eyes)
    start = np.random.default_rng(6).uniform((-2, -1, -2), (2, 1, 2), (400, 3))
    views = [replace(view, held_out=k >= 3) for k, view in enumerate(data.views)]
    known = dt.datasets.Points(start, np.full((400, 3), 0.45, np.float32))
    return replace(data, views=tuple(views), points=known)


def trained(data: dt.datasets.Dataset, steps: int, weight: float) -> tuple[float, float]:
    """Return the mean PSNR [dB] and the mean error of inverse depths of held-out views."""
    trainer = Trainer(data, Options(steps=steps, strategy="none", sh_degree=0, depth=weight))
    for _ in range(steps):
        trainer.advance()
    scores = trainer.scores(trainer.held_out)
    errors = [one.depth for one in scores if one.depth is not None]
    assert len(errors) == len(scores) == 2
    return float(np.mean([one.psnr for one in scores])), float(np.mean(errors))


@pytest.mark.slow
def test_depth_maps_give_few_views_their_geometry(tmp_path: Path) -> None:
    data = wall(tmp_path / "wall")
    _, without = trained(data, 100, UNSEEN)
    _, found = trained(data, 100, 1.0)
    assert found < 0.5 * without


@pytest.mark.slow
def test_depth_maps_make_other_views_look_right(tmp_path: Path) -> None:
    data = wall(tmp_path / "wall")
    without, apart = trained(data, 300, UNSEEN)
    found, nearer = trained(data, 300, 1.0)
    assert found > without + 2.5
    assert nearer < 0.4 * apart


def test_the_gradient_of_the_difference() -> None:
    """Central differences in double precision; unknown and hardly covered pixels do not count."""
    rng = np.random.default_rng(0)
    shape = (1, 3, 4)
    depth = dt.from_numpy(rng.uniform(1, 3, shape), ti.f64, grad=True)
    covered, known = rng.uniform(0.6, 1, shape), rng.uniform(0.2, 0.9, shape)
    covered[0, 0], known[0, :, 1] = 0.4, 0.0
    alpha, inverse = (dt.from_numpy(one, ti.f64) for one in (covered, known))
    loss = dt.zeros((), ti.f64, grad=True)

    def forward() -> None:
        loss.fill(0.0)
        own._add_differences(depth, alpha, inverse, 0.25, loss)

    with dt.Tape(loss):
        forward()
    z = depth.to_numpy()
    counts = (covered > 0.5) & (known > 0)
    assert loss[None] == pytest.approx(0.25 * np.abs(1 / z - known)[counts].sum(), rel=1e-12)
    found, numeric = depth.grad.to_numpy(), np.zeros(shape)
    for at in np.ndindex(shape):
        ends = []
        for step in (1e-6, -1e-6):
            moved = z.copy()
            moved[at] += step
            depth.from_numpy(moved)
            forward()
            ends.append(loss[None])
        numeric[at] = (ends[0] - ends[1]) / 2e-6
    np.testing.assert_allclose(found, numeric, rtol=1e-6, atol=1e-9)
    assert ((found != 0) == counts).all()


def test_the_loss_is_the_weighted_mean_over_known_pixels(tmp_path: Path) -> None:
    data = wall(tmp_path / "wall")
    some = np.load(tmp_path / "wall" / "01.npy")
    some[:20] = 0.0
    np.save(tmp_path / "wall" / "01.npy", some)
    options = Options(steps=40, strategy="none", sh_degree=0, depth=2.0)
    trainer = Trainer(data, options)
    maps, drawn = trainer.depths, dt.render.Rendering
    size = data.views[0].height, data.views[0].width
    depths = data.views[1].depths()
    assert ((depths == 0) == (np.arange(size[0]) < 20)[:, None]).all()
    scalar = dt.full((1, *size), 2.0, ti.f32), dt.full((1, *size), 1.0, ti.f32)
    image = drawn(dt.zeros((1, *size), dt.vec(3, ti.f32)), scalar[1], scalar[0])
    loss = dt.zeros((), ti.f32)
    apart = np.abs(0.5 - 1.0 / depths[depths > 0]).mean()
    for step, weight in ((0, 2.0), (20, 0.2), (40, 0.02)):
        loss.fill(0.0)
        maps.add(1, image, step, loss)
        assert loss[None] == pytest.approx(weight * data.scale * apart, rel=1e-4)
    assert maps.error(1, image) == pytest.approx(apart, rel=1e-6)
    scalar[1].fill(0.3)
    loss.fill(0.0)
    maps.add(1, image, 0, loss)
    assert loss[None] == 0.0
    assert maps.error(1, image) is None


def test_views_without_a_map_are_trained_on_as_well(tmp_path: Path) -> None:
    data = wall(tmp_path / "wall")
    Image.fromarray(np.zeros((48, 48), np.uint16)).save(tmp_path / "unknown.png")
    one, other, *others = data.views
    views = (replace(one, depth=None), replace(other, depth=tmp_path / "unknown.png"), *others)
    some = replace(data, views=views)
    trainer = Trainer(some, Options(steps=6, strategy="none", sh_degree=0, depth=1.0))
    assert len(trainer.depths) == 2
    for _ in range(6):
        trainer.advance()
    assert np.isfinite(trainer.loss)
    errors = [score.depth for score in trainer.scores(trainer.training)]
    assert [error is None for error in errors] == [True, True, False]


def test_depth_maps_are_asked_for_and_missing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(run, "dt", Started())
    write_dataset(tmp_path / "balls", "nerfstudio", shots(3, 20, 14))
    given = ["train", str(tmp_path / "balls"), "--out", str(tmp_path / "out"), "--depth"]
    for more, message in (
        ((), "has no depth maps of views to train on"),
        (("nan",), "expected a number above 0, up to 1e6, not 'nan'"),
        (("0",), "expected a number above 0"),
        (("garden",), "not 'garden'; without one, --depth goes after DATASET"),
    ):
        with pytest.raises(SystemExit) as caught:
            main([*given, *more])
        assert caught.value.code == 2
        assert message in capsys.readouterr().err


@pytest.mark.usefixtures("one_thread")
def test_a_run_with_depth_maps_goes_on_exactly(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(run, "dt", Started())
    folder = tmp_path / "balls"
    write_dataset(folder, "nerfstudio", shots(5, 20, 14))
    content = json.loads((folder / "transforms.json").read_text())
    for k, frame in enumerate(content["frames"]):
        depths = np.full((14, 20), 3000 + 100 * k, np.uint16)
        depths[:4] = 0
        Image.fromarray(depths).save(folder / f"{k}.png")
        frame["depth_file_path"] = f"{k}.png"
    write_json(folder / "transforms.json", content)
    fixed = ["--steps", "9", "--points", "50", "--no-pictures", "--strategy", "none"]
    fixed += ["--threads", "1", "--depth", "0.5"]
    whole, parts = tmp_path / "whole", tmp_path / "parts"
    assert main(["train", str(folder), "--out", str(whole), *fixed]) == 0
    out = capsys.readouterr().out
    assert "depth maps: of 4 of the views to train on" in out
    metrics = json.loads((whole / "metrics.json").read_text())
    assert metrics["options"]["depth"] == 0.5
    assert metrics["mean"]["depth"] == next(iter(metrics["each"].values()))["depth"] > 0
    assert f"differ from the maps by {metrics['mean']['depth']:.2g} on average" in out
    with pytest.MonkeyPatch.context() as context:
        interrupted_at(5, context)
        assert main(["train", str(folder), "--out", str(parts), *fixed]) == 130
    again = ["train", str(folder), "--out", str(parts), "--resume", "--no-pictures"]
    assert main(again) == 0
    clouds = [(one / "point_cloud.ply").read_bytes() for one in (whole, parts)]
    assert clouds[0] == clouds[1]
    assert json.loads((parts / "metrics.json").read_text())["mean"] == metrics["mean"]
    assert "--depth is 1.0" in _refused([*again, "--depth"], capsys)
    Image.fromarray(np.zeros((7, 20), np.uint16)).save(folder / "2.png")
    said = _refused(["train", str(folder), "--out", str(tmp_path / "new"), *fixed], capsys)
    assert "2.png: is 20 x 7; expected 20 x 14 pixels as its picture" in " ".join(said.split())


def _refused(argv: list[str], capsys: pytest.CaptureFixture[str]) -> str:
    with pytest.raises(SystemExit) as caught:
        main(argv)
    assert caught.value.code == 2
    return capsys.readouterr().err
