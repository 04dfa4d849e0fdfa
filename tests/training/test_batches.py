"""Steps over several images: their gradients, what strategies see, and runs that go on."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import difftile as dt
from difftile.datasets import Dataset, load
from difftile.training import Densification, Options, Trainer, run
from scenes.balls import shots
from tests.datasets.generated import write_dataset, write_json
from tests.datasets.writers import write_picture
from tests.training.started import Started
from tests.training.test_train import busy, interrupted_at, one_thread, train

pytestmark = pytest.mark.compiled

__all__ = ["one_thread"]  # a fixture for all tests here


@pytest.fixture(scope="module")
def balls(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Pictures, two of which have another size, with depth maps of some."""
    folder = tmp_path_factory.mktemp("balls")
    write_dataset(folder, "nerfstudio", shots(5, 20, 14))
    content = json.loads((folder / "transforms.json").read_text())
    for k in (1, 3):
        write_picture(folder / content["frames"][k]["file_path"], np.full((28, 40, 3), 0.5))
        content["frames"][k].update(w=40, h=28, fl_x=50.0, fl_y=50.0, cx=20.0, cy=14.0)
    for k in (0, 1):
        np.save(folder / f"{k}.npy", np.full((14, 20), 4.0 + k, np.float32))
        content["frames"][k]["depth_file_path"] = f"{k}.npy"
    write_json(folder / "transforms.json", content)
    return folder


def trainer_of(data: Dataset, which: list[int], **options: Any) -> Trainer:
    """Return a run whose steps have the same views."""
    common = {"steps": 30_000, "points": 40, "sh_degree": 0, "hold_out": 0, "depth": 1.0}
    trainer = Trainer(data, Options(**{**common, "batch": len(which), **options}))
    trainer.views_of = lambda _: which  # type: ignore[method-assign]
    rng = np.random.default_rng(1)  # round ones do not change when they turn
    arrays = trainer.gaussians.to_numpy()
    for name in ("scales", "quaternions"):
        arrays[name] += 0.5 * rng.normal(size=arrays[name].shape).astype(np.float32)
    trainer.gaussians.from_numpy(arrays)
    return trainer


def seen(trainer: Trainer) -> dict[str, np.ndarray]:
    """Make a step, and return its loss, PSNR and gradients, and what the strategy sees of it."""
    trainer.advance()
    fields = {**trainer.gaussians, **trainer.corrections._fields}
    found = {name: field.grad.to_numpy().astype(float) for name, field in fields.items()}
    assert isinstance(trainer.strategy, Densification)
    state = {k: np.asarray(a, float) for k, a in trainer.strategy.state_dict().items()}
    measured = {"loss": np.array(trainer.loss), "psnr": np.array(trainer.psnr)}
    return {**found, **state, **measured}


@pytest.mark.parametrize("which", [[0, 1, 2], [3, 1, 0, 4], [2, 2]])
def test_a_step_over_images_has_the_mean_of_their_gradients(balls: Path, which: list[int]) -> None:
    data, corrected = load(balls), {"optimise_poses": True, "exposure": True}
    found = seen(trainer_of(data, which, **corrected))
    each = [seen(trainer_of(data, [k], **corrected)) for k in which]
    for name, values in found.items():
        parts = np.stack([one[name] for one in each])
        wanted = parts.sum(axis=0) if name in ("sums", "counts") else parts.mean(axis=0)
        scale = np.abs(wanted).max()
        assert scale > 0
        np.testing.assert_allclose(values, wanted, rtol=2e-4, atol=2e-5 * scale, err_msg=name)


def test_views_come_once_in_a_turn_of_batches(balls: Path) -> None:
    trainer = Trainer(load(balls), Options(points=10, hold_out=0, batch=3))
    views = [k for step in range(5) for k in trainer.views_of(step)]
    assert [sorted(views[at : at + 5]) for at in (0, 5, 10)] == [[*range(5)]] * 3
    one = Trainer(load(balls), Options(points=10, hold_out=0))
    assert views == [k for step in range(15) for k in one.views_of(step)]


def test_rates_and_refinements_of_batches(balls: Path) -> None:
    def made(batch: int, strategy: str) -> Any:
        return Trainer(load(balls), Options(points=10, batch=batch, strategy=strategy))

    one, four = made(1, "default"), made(4, "default")
    assert four.optimiser.lr["scales"] == 2.0 * one.optimiser.lr["scales"]
    assert four.optimiser.lr["means"](0) == pytest.approx(2.0 * one.optimiser.lr["means"](0))
    assert (four.strategy.every, four.strategy.reset_every) == (25, 750)
    one, four = made(1, "mcmc"), made(4, "mcmc")
    assert four.strategy.every == 25
    assert four.strategy.rate(7) == pytest.approx(2.0 * one.strategy.rate(7))
    assert made(1000, "mcmc").strategy.every == 1


@pytest.mark.parametrize("strategy", ["default", "mcmc"])
def test_an_interrupted_run_of_batches_goes_on_exactly(
    balls: Path, strategy: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(run, "dt", Started())
    busy(monkeypatch)
    options = ("--batch", "3", "--strategy", strategy, "--no-pictures", "--exposure")
    whole, parts = tmp_path / "whole", tmp_path / "parts"
    assert train(balls, whole, *options) == 0
    with monkeypatch.context() as context:
        interrupted_at(5, context)
        assert train(balls, parts, *options) == 130
    assert train(balls, parts, "--resume") == 0
    clouds = [(folder / "point_cloud.ply").read_bytes() for folder in (whole, parts)]
    assert clouds[0] == clouds[1]
    assert json.loads((parts / "metrics.json").read_text())["options"]["batch"] == 3


def test_several_splatters_show_what_one_with_all_cameras_shows() -> None:
    rng = np.random.default_rng(0)
    cameras = dt.render.Cameras.look_at([(0, 1, -6), (6, 1, 0)], (0, 0, 0), 32, 24)
    made = {
        "means": rng.normal(size=(9, 3)),
        "scales": np.full((9, 3), -2.0),
        "quaternions": rng.normal(size=(9, 4)),
        "opacities": rng.normal(size=9),
        "features": rng.random((9, 3)),
    }

    def looked(*parts: slice) -> dict[str, np.ndarray]:
        gaussians = dt.render.make_gaussians(made)
        splatters = [dt.render.Splatter(32, 24) for _ in parts]
        loss = dt.zeros((), float, grad=True)
        with dt.Tape(loss):
            for part, splatter in zip(parts, splatters, strict=True):
                image = splatter(gaussians, cameras[part]).image
                dt.render.l2(image, dt.zeros_like(image), loss, 1.0 / len(parts))
        strategy = Densification(1.0)
        strategy.after_step(1, gaussians, splatters if len(parts) > 1 else splatters[0])
        return strategy.state_dict()

    one, two = looked(slice(0, 2)), looked(slice(0, 1), slice(1, 2))
    np.testing.assert_array_equal(one["counts"], two["counts"])
    np.testing.assert_allclose(one["sums"], two["sums"], rtol=1e-4)
    assert one["sums"].all()
