"""Masks in training: what they exclude has no influence, on gaussians or on metrics."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import taichi as ti
from PIL import Image

import difftile as dt
from difftile.datasets import load
from difftile.training import Options, Trainer, run
from difftile.training import masks as own
from scenes.balls import shots
from tests.datasets.generated import reconstruction, write_dataset
from tests.datasets.writers import write_binary
from tests.training.started import Started
from tests.training.test_corrections import photographed
from tests.training.test_train import train

pytestmark = pytest.mark.compiled


@pytest.fixture(scope="module", autouse=True)
def one_thread() -> Iterator[None]:
    """Atomic sums come in any order where there are more, so that last bits differ."""
    dt.init(arch="cpu", cpu_max_num_threads=1)
    yield
    dt.init(arch="cpu")


def scene(folder: Path) -> dt.datasets.Dataset:
    """Write three views of some gaussians, with depth maps, of which one is held out.

    Half of each picture is masked, up to a fraction that no pixel boundary has.
    """
    rng = np.random.default_rng(0)
    points, eyes = rng.uniform(-1, 1, (60, 3)), np.array([[0.0, -4, 0], [1, -4, 0], [0, -4, 1]])
    data = photographed(folder, points, rng.random((60, 3)), eyes)
    views = []
    for k, view in enumerate(data.views):
        mask = folder / "masks" / f"{k}.png"
        mask.parent.mkdir(exist_ok=True)
        counts = np.arange(view.width) < view.width // 2 + 3 * k
        Image.fromarray(np.uint8(255 * np.tile(counts, (view.height, 1)))).save(mask)
        views.append(replace(view, mask_file=mask, held_out=k == 1))
    return replace(data, views=tuple(views))


def scrambled(data: dt.datasets.Dataset, folder: Path) -> dt.datasets.Dataset:
    """Return the data set with other colours and depths where pixels do not count."""
    folder.mkdir()
    rng = np.random.default_rng(1)
    views = []
    for view in data.views:
        out = view.mask() == 0
        colours = np.asarray(Image.open(view.path)).copy()
        colours[out] = rng.integers(0, 256, colours[out].shape)
        Image.fromarray(colours).save(folder / view.path.name)
        assert view.depth is not None
        depths = np.load(view.depth)
        depths[out] = rng.uniform(1, 9, depths[out].shape)
        np.save(folder / view.depth.name, depths)
        views.append(replace(view, path=folder / view.path.name, depth=folder / view.depth.name))
    return replace(data, views=tuple(views))


@pytest.mark.parametrize(
    "more",
    [
        {},
        pytest.param(
            {"depth": 1.0, "exposure": True, "optimise_poses": True}, marks=pytest.mark.slow
        ),
    ],
)
def test_what_masks_exclude_has_no_influence(tmp_path: Path, more: dict[str, Any]) -> None:
    """To the last bit, in the loss, in corrections of views, in depths and in metrics."""
    data = scene(tmp_path / "one")
    given = Options(steps=40, strategy="none", sh_degree=0, **more)
    found = []
    for one in (data, scrambled(data, tmp_path / "other")):
        trainer = Trainer(one, given)
        for _ in range(4):
            trainer.advance()
        numbers = trainer.loss, trainer.psnr
        state = trainer.state_dict()
        scores = [(s.psnr, s.ssim, s.depth) for s in trainer.scores(trainer.held_out)]
        found.append((numbers, state, scores))
    (numbers, state, scores), (again, other, measured) = found
    assert numbers == again
    assert scores == measured
    for name, array in state.items():
        np.testing.assert_array_equal(array, other[name], err_msg=name)
    plain = Trainer(scrambled(data, tmp_path / "third"), replace(given, masks="off"))
    plain.advance()
    assert plain.loss != numbers[0]  # without masks it has


def test_metrics_are_those_of_the_pixels_that_count(tmp_path: Path) -> None:
    trainer = Trainer(scene(tmp_path / "one"), Options(steps=9, sh_degree=0))
    (score,) = trainer.scores(trainer.held_out)
    assert score.mask is not None
    counts = score.mask > 0
    assert 0.5 < counts.mean() < 0.8
    square = ((score.image - score.picture)[counts] ** 2).mean()
    assert score.psnr == pytest.approx(-10 * np.log10(square), abs=1e-4)


def test_masks_of_the_background_change_pictures(tmp_path: Path) -> None:
    data = scene(tmp_path / "one")
    colour = (0.2, 0.4, 0.6)
    trainer = Trainer(data, Options(steps=9, sh_degree=0, masks="background", background=colour))
    (score,) = trainer.scores(trainer.held_out)
    view = data.views[1]
    out = view.mask() == 0
    assert score.mask is None
    np.testing.assert_allclose(score.picture[out], np.broadcast_to(colour, (out.sum(), 3)))
    np.testing.assert_array_equal(score.picture[~out], view.image()[~out])


@pytest.mark.parametrize(
    ("use", "count", "does"),
    [("auto", 0, "off"), ("ignore", 2, "ignore"), ("penalise", 2, "penalise"), ("off", 0, "off")],
)
def test_alpha_is_a_mask_if_it_is_asked_for(
    tmp_path: Path, use: str, count: int, does: str
) -> None:
    write_dataset(tmp_path, "blender", shots(2, 8, 6))
    masks, views = own.Masks.of(load(tmp_path).views, Options(masks=use))
    assert (masks.use, masks.count) == (does, count)
    assert sum(view.mask_file is not None for view in views) == count


def test_gaussians_outside_are_penalised(tmp_path: Path) -> None:
    data = scene(tmp_path / "one")
    covered = {}
    for use in ("ignore", "penalise"):
        trainer = Trainer(data, Options(steps=80, sh_degree=0, strategy="none", masks=use))
        for _ in range(80):
            trainer.advance()
        (easel,) = trainer._studio.easels(0)
        trainer._draw(easel, dt.zeros((), grad=True))
        out = trainer.views[0].mask() == 0
        covered[use] = easel.rendering.alpha.to_numpy()[0][out].mean()
    assert covered["penalise"] < 0.5 * covered["ignore"]


def test_the_gradient_of_the_penalty_and_of_cut_images() -> None:
    """The loss is linear in alpha, and a cut image in its pixels: both have exact gradients."""
    rng = np.random.default_rng(0)
    weights = rng.uniform(0, 1, (1, 3, 4))
    mask = dt.from_numpy(weights, ti.f64)
    alpha = dt.from_numpy(rng.random((1, 3, 4)), ti.f64, grad=True)
    loss = dt.zeros((), ti.f64, grad=True)
    masks = own.Masks("penalise", (0.0, 0.0, 0.0), 1, 1)
    with dt.Tape(loss):
        masks.add_outside(alpha, mask, loss, 0.5)
    share = 0.5 * own.PENALTY / 12
    assert loss[None] == pytest.approx(share * (alpha.to_numpy() * (1 - weights)).sum(), rel=1e-12)
    np.testing.assert_allclose(alpha.grad.to_numpy(), share * (1 - weights), rtol=1e-12)
    image = dt.from_numpy(rng.random((1, 3, 4, 3)), dt.vec(3, ti.f64), grad=True)
    out = dt.zeros((1, 3, 4), dt.vec(3, ti.f64), grad=True)
    with dt.Tape() as tape:
        own.cut(image, mask, out)
    seed = rng.normal(size=(1, 3, 4, 3))
    tape.backward({out: seed})
    np.testing.assert_allclose(image.grad.to_numpy(), seed * weights[..., None], rtol=1e-12)


# The command


@pytest.fixture
def started_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run, "dt", Started())


def as_people_have_it(folder: Path) -> None:
    """Write two models, masks for most of the pictures, and leave some pictures out."""
    views = write_dataset(folder, "colmap-bin", shots(12, 20, 14))
    shutil.move(folder / "sparse" / "0", folder / "sparse" / "1")
    write_binary(folder / "sparse" / "0", reconstruction(views[:2]))
    counts = np.tile(np.arange(20) < 15, (14, 1))
    (folder / "masks").mkdir()
    for k in range(10):
        name = f"view_{k:03}.png"
        Image.fromarray(np.uint8(255 * counts)).save(folder / "masks" / f"{name}.png")
    for k in (3, 7, 11):
        (folder / "images" / f"view_{k:03}.png").unlink()


def test_a_folder_as_people_have_it_trains_by_one_command(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], started_once: None
) -> None:
    as_people_have_it(tmp_path / "data")
    with pytest.raises(SystemExit):
        train(tmp_path / "data", tmp_path / "out")
    line = capsys.readouterr().err
    assert "3 of 12 pictures cannot be used: images/view_003.png, images/view_007.png, " in line
    assert "'difftile train --missing skip'" in line
    assert train(tmp_path / "data", tmp_path / "out", "--missing", "skip") == 0
    out = capsys.readouterr().out
    assert "found COLMAP's sparse/1/cameras.bin, 9 views, 200 points\n" in out
    for said in (
        "3 pictures not there, whose views are left out: view_003.png, view_007.png, view_011.png",
        "1 picture without a mask",
        "sparse/0 is another model, of 2 pictures: --model sparse/0 reads it",
        "masks: of 8 of 9 views; what they exclude does not count",
        "masks exclude 22 % of the pixels of all views",
    ):
        assert said in out
    metrics = json.loads((tmp_path / "out" / "metrics.json").read_text())
    assert metrics["missing"] == ["view_003.png", "view_007.png", "view_011.png"]
    wanted: dict[str, Any] = {"use": "ignore", "views": 8, "excluded": pytest.approx(2 / 9)}
    assert metrics["masks"] == wanted
    assert metrics["views"] == {"training": 7, "held_out": 2}
    more = ("--missing", "skip", "--model", "0", "--no-pictures")
    assert train(tmp_path / "data", tmp_path / "small", *more) == 0
    assert "found COLMAP's sparse/0/cameras.bin, 2 views" in capsys.readouterr().out
