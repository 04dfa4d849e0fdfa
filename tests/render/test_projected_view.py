"""`see`, one launch with a rule, against the three that it stands for; launches of a frame."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest
import taichi as ti

import difftile as dt
from difftile.render.cameras import Cameras, Poses
from difftile.render.ewa import cull, project
from difftile.render.harmonics import BAND0, paint
from difftile.render.projected_view import see
from difftile.substrate.family.launcher import CompiledKernel
from tests.device_arrays import counted, device_arrays

N, WIDTH, HEIGHT = 60, 30, 20
MADE = ("radii", "centres", "conics", "covers", "depths", "colours")
GIVEN = ("means", "scales", "quaternions", "opacities", "sh0", "shN", "features")


def gaussians(channels: int, bands: int | None) -> Any:
    """Return gaussians of which some are not seen, and some not finite."""
    rng = np.random.default_rng(3)
    values = {
        "means": rng.normal(size=(N, 3)) * (1.5, 1.0, 1.5),
        "scales": rng.uniform(-3.0, -0.5, (N, 3)),
        "quaternions": rng.normal(size=(N, 4)),
        "opacities": rng.normal(size=N),
    }
    values["means"][:3] = np.nan, 0.0, 1e200
    values["scales"][3:5, 1] = np.inf, -np.inf
    if bands is None:
        values["features"] = rng.normal(size=(N, channels))
        values["features"][6, 1] = np.nan
    else:
        values["sh0"] = rng.normal(size=(N, channels))
        values["sh0"][7, 1] = -np.inf
        values["sh0"][9:15] = -0.5 / BAND0  # where the clamp begins, if there are no other bands
        if bands:
            values["shN"] = rng.normal(size=(N, (bands + 1) ** 2 - 1, channels))
            values["shN"][8, 2, 0] = np.nan
    return dt.render.make_gaussians(values, dtype=ti.f64)


class Sight:
    """The fields that one launch, or three, set."""

    def __init__(self, cameras: Cameras, channels: int, posed: bool) -> None:
        shape = len(cameras), N
        self.poses = Poses(len(cameras), ti.f64, posed)
        self.radii = dt.zeros(shape, dt.vec(2, ti.i32))
        self.moved = dt.zeros(shape, dt.vec(2, ti.f64), grad=True)
        self.centres = dt.zeros(shape, dt.vec(2, ti.f64), grad=True)
        self.conics = dt.zeros(shape, dt.vec(3, ti.f64), grad=True)
        self.covers = dt.zeros(shape, ti.f64, grad=True)
        self.depths = dt.zeros(shape, ti.f64, grad=True)
        self.colours = dt.zeros(shape, dt.vec(channels, ti.f64), grad=True)


def in_three(g: Any, cameras: Cameras, sight: Sight, degree: int, antialiased: bool) -> None:
    poses, kind = sight.poses, (0.3, antialiased, True)
    shape = (
        *(g.means, g.scales, g.quaternions, g.opacities),
        *(poses.rotation, poses.translation, poses.intrinsics, WIDTH, HEIGHT),
    )
    cull(*shape, 0.1, 9.0, *kind, sight.radii)
    paint(g, degree, poses.place, sight.radii, sight.colours)
    splats = sight.centres, sight.conics, sight.covers, sight.depths
    project(*shape, *kind, sight.radii, sight.moved, *splats)


def in_one(
    g: Any,
    cameras: Cameras,
    sight: Sight,
    degree: int,
    antialiased: bool,
    launch: Callable[..., object] = see,
    order: bool = False,
) -> None:
    poses, colours = sight.poses, [getattr(g, name, None) for name in GIVEN[4:]]
    launch(
        *(g.means, g.scales, g.quaternions, g.opacities),
        *(colours if degree else (colours[0], None, colours[2])),
        *(poses.rotation, poses.translation, poses.place, poses.intrinsics),
        *(WIDTH, HEIGHT, 0.1, 9.0, 0.3, antialiased, degree),
        *(cameras.has_grads, len(cameras) == 1, order, False),
        *(sight.radii, sight.moved, sight.centres, sight.conics, sight.covers, sight.depths),
        sight.colours,
    )


@pytest.mark.parametrize(
    ("channels", "bands", "degree", "antialiased", "posed", "count"),
    [
        pytest.param(3, 3, 3, False, True, 2, marks=pytest.mark.slow),
        (3, 3, 2, True, False, 1),
        pytest.param(4, 1, 1, False, False, 2, marks=pytest.mark.slow),
        (3, 0, 0, True, True, 1),
        (5, None, 0, False, True, 2),
    ],
)
def test_one_launch_is_three(
    channels: int, bands: int | None, degree: int, antialiased: bool, posed: bool, count: int
) -> None:
    eyes = [(0.3, -0.2, -3.0), (2.0, 1.0, -2.5)][:count]
    results: list[dict[str, Any]] = []
    for way in (in_one, partial(in_one, order=True), in_three):
        g = gaussians(channels, bands)
        cameras = Cameras.look_at(eyes, (0, 0, 0), WIDTH, HEIGHT, dtype=ti.f64, grad=posed)
        cameras.twist.from_numpy(0.1 * np.random.default_rng(1).normal(size=(count, 6)))
        sight = Sight(cameras, channels, posed)
        sight.moved.from_numpy(0.1 * np.random.default_rng(2).normal(size=(count, N, 2)))
        with dt.Tape() as tape:
            sight.poses.set(cameras)
            way(g, cameras, sight, degree, antialiased)
        rng = np.random.default_rng(4)
        floats = [getattr(sight, name) for name in MADE[1:]]
        tape.backward({one: rng.normal(size=one.to_numpy().shape) for one in floats})
        found = {name: getattr(sight, name).to_numpy() for name in MADE}
        leaves = {name: g[name] for name in GIVEN if name in g} | {"moved": sight.moved}
        if posed:
            leaves |= {"twist": cameras.twist, "intrinsics": cameras.intrinsics}
        found |= {f"{name}.grad": leaf.grad.to_numpy() for name, leaf in leaves.items()}
        found |= {f"{name}.grad": getattr(sight, name).grad.to_numpy() for name in MADE[1:]}
        results.append(found)
    one, other, three = results
    seen = one["radii"][..., 0] > 0
    assert 10 * count < seen.sum() < 50 * count
    assert not seen[:, [0, 2, 6 if bands is None else 7]].any()
    assert one["means.grad"].any()
    for name, value in three.items():
        size = np.abs(value).max()
        for found in (one, other):
            np.testing.assert_allclose(found[name], value, rtol=1e-10, atol=1e-12 * size)


def launches(run: Callable[[], object], monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """Return how often each program is launched."""
    found: Counter[str] = Counter()
    launch = CompiledKernel.launch

    def counted(self: CompiledKernel, args: Any) -> None:
        found[self._name] += 1
        launch(self, args)

    with monkeypatch.context() as patch:
        patch.setattr(CompiledKernel, "launch", counted)
        run()
    return found


def test_tangents_are_transposed_gradients() -> None:
    g = gaussians(3, 2)
    cameras = Cameras.look_at([(0.3, -0.2, -3.0)], (0, 0, 0), WIDTH, HEIGHT, dtype=ti.f64)
    sight = Sight(cameras, 3, posed=False)
    sight.poses.set(cameras)
    values = {name: np.nan_to_num(g[name].to_numpy(), nan=0.1) for name in GIVEN if name in g}
    rng = np.random.default_rng(5)
    dots = {name: rng.normal(size=value.shape) for name, value in values.items()}

    def at(step: float) -> list[Any]:
        for name, value in values.items():
            g[name].from_numpy(value + step * dots[name])
        in_one(g, cameras, sight, 2, True)
        return [getattr(sight, name).to_numpy() for name in MADE]

    higher, lower = at(1e-6), at(-1e-6)
    radii, *_ = at(0.0)
    for name, dot in dots.items():
        g[name].grad.from_numpy(dot)
    in_one(g, cameras, sight, 2, True, launch=see.fwds)
    seen = radii[..., 0] > 0
    for name, above, below in zip(MADE[1:], higher[1:], lower[1:], strict=True):
        found, slope = getattr(sight, name).grad.to_numpy()[seen], (above - below)[seen] / 2e-6
        np.testing.assert_allclose(found, slope, rtol=1e-5, atol=1e-6 * np.abs(slope).max())


class Frame:
    """A small scene, drawn and compared with a target."""

    def __init__(self) -> None:
        self.gaussians = dt.render.make_gaussians(
            {
                "means": np.random.default_rng(0).normal(size=(N, 3)),
                "scales": np.full((N, 3), -2.0),
                "quaternions": np.random.default_rng(1).normal(size=(N, 4)),
                "opacities": np.zeros(N),
                "sh0": np.ones((N, 3)),
                "shN": np.zeros((N, 15, 3)),
            },
            dtype=ti.f32,
        )
        self.cameras = Cameras.look_at((0, 0, -4.0), (0, 0, 0), 16, 16, dtype=ti.f32)
        self.splatter = dt.render.Splatter(16, 16, depth=False)
        self.out = self.splatter(self.gaussians, self.cameras)
        self.target = dt.zeros_like(self.out.image)
        self.loss = dt.zeros((), ti.f32, grad=True)
        self.train()

    def draw(self) -> None:
        self.splatter(self.gaussians, self.cameras, self.out)

    def train(self) -> None:
        self.loss.fill(0.0)
        with dt.Tape(self.loss):
            self.draw()
            dt.render.l1(self.out.image, self.target, self.loss)


@pytest.mark.compiled
def test_launches_of_a_frame(monkeypatch: pytest.MonkeyPatch) -> None:
    """The numbers may only fall: each launch takes a GPU's host as long as much work of the GPU."""
    frame = Frame()
    drawn = launches(frame.draw, monkeypatch)
    assert drawn.total() <= 22
    assert drawn["see"] == drawn["composite"] == 1
    assert not drawn["_pose"]  # the cameras are where they were
    trained = launches(frame.train, monkeypatch)
    assert trained.total() <= drawn.total() + 6
    frame.cameras.twist.from_numpy(np.full((1, 6), 0.1))
    before = frame.out.image.to_numpy()
    assert launches(frame.draw, monkeypatch)["_pose"] == 1
    assert np.abs(frame.out.image.to_numpy() - before).max() > 0.01


@pytest.mark.compiled
def test_launches_and_fills_of_a_frame_on_a_device(monkeypatch: pytest.MonkeyPatch) -> None:
    """Gradients are written once, where nothing was filled; contents are not copied."""
    monkeypatch.setattr("difftile.substrate.zeros._FRESH_BYTES", 1)  # as for many gaussians
    with device_arrays():
        frame = Frame()
        frame.train()
        with counted() as drawn:
            frame.draw()
        with counted() as trained:
            frame.train()
        grads = [frame.gaussians[name].grad.to_numpy() for name in GIVEN[:6]]
    assert not drawn["MemsetD32"] and not trained["MemcpyDtoD"]
    assert trained["launch"] <= drawn["launch"] + 5  # a loss, its adjoint, two rules, a clear
    assert trained["MemsetD32"] <= 8
    expected = Frame()
    for name, grad in zip(GIVEN[:6], grads, strict=True):
        known = expected.gaussians[name].grad.to_numpy()
        np.testing.assert_allclose(grad, known, rtol=1e-4, atol=1e-6)


def test_poses_follow_their_cameras() -> None:
    eyes = [(0.0, 0.0, -4.0), (1.0, 0.0, -4.0), (2.0, 0.0, -4.0)]
    cameras = Cameras.look_at(eyes, (0, 0, 0), 16, 16, dtype=ti.f64)
    poses = Poses(1, ti.f64, grad=False)
    places = []
    for k in (0, 1, 1, 0, 2):
        poses.set(cameras[k])
        places.append(poses.place.to_numpy()[0, 0])
    np.testing.assert_allclose(places, [eyes[k] for k in (0, 1, 1, 0, 2)], atol=1e-12)
    cameras.translation[2] = cameras.translation[1]
    poses.set(cameras[2])
    assert np.abs(poses.place.to_numpy()[0, 0] - eyes[2]).max() > 0.1
