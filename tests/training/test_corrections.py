"""Poses and exposures of single views: their gradients, and what they gain."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import taichi as ti
from PIL import Image

import difftile as dt
from difftile.training import Options, Trainer, gaussians_at
from difftile.training import corrections as own
from difftile.training.corrections import Corrections, fitted_exposure

SIZE, VIEWS = 48, 12


def scene(folder: Path, gains: np.ndarray | None = None) -> dt.datasets.Dataset:
    """Write pictures of coloured balls from all around, with gains (views, 3) of the colours."""
    rng = np.random.default_rng(0)
    points = rng.uniform(-1.0, 1.0, (60, 3))
    colours = rng.uniform(0.1, 0.6, (60, 3))
    turns = np.arange(VIEWS) * 2.39996
    rise = np.linspace(-0.9, 1.2, VIEWS)
    eyes = 4.0 * np.stack([np.cos(turns), np.sin(turns), rise], axis=1)
    return photographed(folder, points, colours, eyes, gains)


def photographed(
    folder: Path,
    points: np.ndarray,
    colours: np.ndarray,
    eyes: np.ndarray,
    gains: np.ndarray | None = None,
) -> dt.datasets.Dataset:
    """Write pictures of gaussians at points, as seen from some places.

    Depth maps are in scene units, and unknown where the gaussians cover less than half.
    """
    truth = dt.render.make_gaussians(
        gaussians_at(points, colours, degree=0, opacity=0.95, size=0.5), dtype=ti.f32
    )
    cameras = dt.render.Cameras.look_at(
        eyes, (0, 0, 0), SIZE, SIZE, fov=45, up=(0.1, 0.0, 1.0), dtype=ti.f32
    )
    drawn = dt.render.Splatter(SIZE, SIZE, sh_degree=0)(truth, cameras)
    images, alphas = drawn.image.to_numpy(), drawn.alpha.to_numpy()
    assert drawn.depth is not None
    depths = np.where(alphas > 0.5, drawn.depth.to_numpy(), 0.0)
    if gains is not None:
        images = images * gains[:, None, None]
    folder.mkdir()
    views = []
    lens = cameras.intrinsics.to_numpy()[0].astype(np.float64)
    for k, (pose, image) in enumerate(zip(cameras.world_to_camera(), images, strict=True)):
        path = folder / f"{k:02}.png"
        Image.fromarray(np.rint(image.clip(0, 1) * 255).astype(np.uint8)).save(path)
        np.save(path.with_suffix(".npy"), depths[k])
        view = dt.datasets.View(path.name, path, pose, lens, SIZE, SIZE)
        views.append(replace(view, depth=path.with_suffix(".npy"), depth_unit=1.0))
    known = dt.datasets.Points(points, colours.astype(np.float32))
    return dt.datasets.Dataset(folder, tuple(views), known, "balls")


def trained(data: dt.datasets.Dataset, steps: int, **options: Any) -> tuple[Trainer, float]:
    """Return a run, and the mean PSNR [dB] of its held-out views."""
    trainer = Trainer(
        data, Options(steps=steps, strategy="none", sh_degree=0, hold_out=6, **options)
    )
    for _ in range(steps):
        trainer.advance()
    return trainer, float(np.mean([one.psnr for one in trainer.scores(trainer.held_out)]))


def apart(poses: np.ndarray, true: np.ndarray) -> tuple[float, float]:
    """Return the mean differences of rotations [degrees] and of places of cameras.

    Poses are compared after the turn and the similarity of the world that make them most alike.
    """
    turns, wanted = poses[:, :3, :3], true[:, :3, :3]
    u, _, v = np.linalg.svd(np.einsum("nij,nik->jk", wanted, turns))
    world = u @ v
    between = np.einsum("nij,kj,nlk->nil", turns, world, wanted)
    traces = np.trace(between, axis1=1, axis2=2)
    angles = np.degrees(np.arccos(np.clip((traces - 1) / 2, -1, 1)))
    places, there = (
        -np.einsum("nji,nj->ni", turn, given[:, :3, 3])
        for turn, given in ((turns, poses), (wanted, true))
    )
    places = places @ world.T
    places, there = places - places.mean(axis=0), there - there.mean(axis=0)
    places *= (places * there).sum() / (places**2).sum()
    return float(angles.mean()), float(np.linalg.norm(places - there, axis=1).mean())


@pytest.mark.slow
def test_perturbed_poses_are_recovered(tmp_path: Path) -> None:
    data, steps = scene(tmp_path / "balls"), 1200
    rng = np.random.default_rng(1)
    moved = dt.render.Cameras(np.tile(np.eye(4), (VIEWS, 1, 1)), (1, 1, 0, 0), 1, 1)
    moved.twist.from_numpy(rng.normal(size=(VIEWS, 6)) * ([0.04] * 3 + [0.015] * 3))
    wrong = [
        replace(view, world_to_camera=motion @ view.world_to_camera)
        for view, motion in zip(data.views, moved.world_to_camera(), strict=True)
    ]
    given = replace(data, views=tuple(wrong))
    _, without = trained(given, steps)
    trainer, found = trained(given, steps, optimise_poses=True)
    moved.twist.from_numpy(trainer.corrections.twists())
    views = trainer.views
    names = [view.name for view in data.views]
    start = np.stack([view.world_to_camera for view in views])
    true = np.stack([data.views[names.index(view.name)].world_to_camera for view in views])
    trained_on = slice(0, len(trainer.training))
    corrected = (moved.world_to_camera() @ start)[trained_on]
    before = apart(start[trained_on], true[trained_on])
    after = apart(corrected, true[trained_on])
    assert after[0] < 0.4 * before[0]
    assert after[1] < 0.4 * before[1]
    assert found > without + 8.0
    told = trainer.corrections.moved(trainer.training)
    assert 0.3 < told["degrees"]["mean"] < 3.0
    assert told["distance"]["mean"] < told["distance"]["most"] < 0.3


@pytest.mark.slow
def test_pictures_with_several_exposures_are_learned_as_others(tmp_path: Path) -> None:
    gains = np.random.default_rng(2).uniform(0.7, 1.3, (VIEWS, 3))
    data, steps = scene(tmp_path / "balls", gains), 600
    _, best = trained(scene(tmp_path / "plain"), steps)
    _, without = trained(data, steps)
    _, found = trained(data, steps, exposure=True)
    assert found > best - 0.5
    assert found > without + 8.0


def test_gradients_of_corrections() -> None:
    """Central differences in double precision, through the motion of a camera and the colours."""
    rng = np.random.default_rng(3)
    poses = dt.from_numpy(0.1 * rng.normal(size=(3, 6)), dt.vec(6, ti.f64), grad=True)
    exposures = dt.from_numpy(rng.normal(size=(3, 3, 4)), dt.mat(3, 4, ti.f64), grad=True)
    image = dt.from_numpy(rng.random((1, 3, 4, 3)), dt.vec(3, ti.f64), grad=True)
    out = dt.zeros((1, 3, 4), dt.vec(3, ti.f64), grad=True)
    copies = dt.zeros(5, dt.mat(3, 4, ti.f64), grad=True)
    twist = dt.zeros(1, dt.vec(6, ti.f64), grad=True)
    loss = dt.zeros((), ti.f64, grad=True)
    weights = dt.from_numpy(rng.normal(size=(1, 3, 4, 3)), dt.vec(3, ti.f64))
    target = dt.from_numpy(rng.normal(size=(1, 6)), dt.vec(6, ti.f64))

    def forward() -> None:
        loss.fill(0.0)
        own._pose(poses, 1, 2.5, twist)
        own._copy(exposures, 1, copies)
        own._expose(image, copies, out)
        own._stay_neutral(exposures, 1, 0.3, loss)
        dt.render.l2(out, weights, loss)
        dt.render.l2(twist.view(1, 1), target.view(1, 1), loss)

    with dt.Tape(loss):
        forward()
    for field in (poses, exposures, image):
        found, values = field.grad.to_numpy(), field.to_numpy()
        numeric = np.zeros_like(found)
        for at in np.ndindex(values.shape):
            ends = []
            for step in (1e-6, -1e-6):
                moved = values.copy()
                moved[at] += step
                field.from_numpy(moved)
                forward()
                ends.append(loss[None])
            numeric[at] = (ends[0] - ends[1]) / 2e-6
        field.from_numpy(values)
        np.testing.assert_allclose(found, numeric, rtol=1e-6, atol=1e-8)
        assert np.abs(found).max() > 0
    assert not poses.grad.to_numpy()[[0, 2]].any()


def test_an_exposure_is_fitted() -> None:
    rng = np.random.default_rng(4)
    image = rng.random((8, 9, 3))
    exposure = np.eye(3, 4) + 0.2 * rng.normal(size=(3, 4))
    picture = image @ exposure[:, :3].T + exposure[:, 3]
    np.testing.assert_allclose(fitted_exposure(image, picture), exposure, atol=0.01)
    black = np.zeros((8, 9, 3))
    np.testing.assert_allclose(fitted_exposure(black, black), np.eye(3, 4))
    np.testing.assert_allclose(fitted_exposure(black[:, :0], black[:, :0]), np.eye(3, 4))


@pytest.mark.slow
def test_corrections_go_on_exactly(tmp_path: Path) -> None:
    data = scene(tmp_path / "balls")
    options = Options(steps=8, strategy="none", sh_degree=0, optimise_poses=True, exposure=True)
    dt.init(arch="cpu", cpu_max_num_threads=1)
    whole, parts = Trainer(data, options), Trainer(data, options)
    for _ in range(8):
        whole.advance()
    for _ in range(4):
        parts.advance()
    again = Trainer(data, options)
    again.load_state_dict(parts.state_dict())
    for _ in range(4):
        again.advance()
    expected = whole.state_dict()
    for name, array in again.state_dict().items():
        np.testing.assert_array_equal(array, expected[name], err_msg=name)
    assert np.abs(expected["corrections.poses"][whole.training.start : 8]).max() > 0
    others = Corrections(3, 2, 1.0, options)
    with pytest.raises(dt.LaunchError, match=r"of 3 views\. Use the options of the saved run"):
        others.load_state_dict(whole.corrections.state_dict())
    with pytest.raises(dt.LaunchError, match="Use the options of the saved run"):
        Trainer(data, Options(strategy="none", sh_degree=0)).load_state_dict(expected)
    dt.init(arch="cpu")
