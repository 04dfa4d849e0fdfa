"""Images of gaussians, and all their gradients, against an independent reference in NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import taichi as ti

import difftile as dt
from difftile.render import cameras
from difftile.render.cameras import Cameras
from difftile.render.gaussians import make_gaussians
from difftile.render.splatter import Rendering, Splatter
from tests.render.reference_splats import Options, Picture, Values, loss_of, render, slope

WIDTH, HEIGHT = 40, 27
FAR = 9.0


def scene(features: bool = False) -> tuple[Values, Any]:
    """Return gaussians of every awkward kind, and the poses of two cameras that see them."""
    rng = np.random.default_rng(11)
    n = 26
    values = {
        "means": rng.normal(size=(n, 3)) * (1.2, 0.8, 1.0),
        "scales": rng.uniform(-2.5, -0.7, (n, 3)),
        "quaternions": rng.normal(size=(n, 4)) * rng.choice([0.02, 1.0, 30.0], (n, 1)),
        "opacities": rng.normal(size=n),
        "sh0": rng.normal(size=(n, 3)),
        "shN": 0.3 * rng.normal(size=(n, 15, 3)),
    }
    poses = np.tile(np.eye(4), (2, 1, 1))
    poses[0, :3, 3] = 0.1, -0.2, 4.0
    c, s = np.cos(0.7), np.sin(0.7)
    poses[1, :3, :3] = [[c, 0, s], [0, 1, 0], [-s, 0, c]]
    poses[1, :3, 3] = -0.3, 0.1, 3.5
    intrinsics = np.array([[38.0, 36.0, 20.3, 12.9], [30.0, 31.0, 18.0, 14.1]])
    m, s, o = values["means"], values["scales"], values["opacities"]
    m[0, 2], m[1, 2] = -4.5, -3.995  # behind the first camera; nearer to it than is drawn
    m[2] = 0.0, 0.0, 6.0  # farther than is drawn
    m[3], s[3] = (0.3, 0.2, -3.6), -2.6  # so near that it is large
    m[4], s[4] = (4.6, 0.3, -0.5), 0.4  # outside the view of the first camera, beyond the clamp
    m[5], s[5] = (-0.4, -3.4, -0.6), 0.2
    s[6], s[7] = (-6.0, -6.0, 0.1), (0.2, -7.0, -7.0)  # needles
    s[8] = -6.5  # smaller than a pixel
    o[9] = -6.0  # less than 1/255
    m[10:14, 2] = 1.0, 1.1, 1.2, 1.3  # opaque ones behind one another: 0.99 and the end of pixels
    m[10:14, :2] *= 0.2
    o[10:14], s[10:14] = (7.0, 6.0, 8.0, 5.0), (-0.9, -0.8, -1.1)
    values["sh0"][14:17] = -2.5  # below black
    m[18] = m[17]  # at the same depth
    if features:
        del values["sh0"], values["shN"]
        values["features"] = rng.normal(size=(n, 5))
    channels = 5 if features else 3
    values |= {
        "twist": 0.1 * rng.normal(size=(2, 6)),
        "intrinsics": intrinsics,
        "background": rng.uniform(0, 1, channels),
    }
    return values, poses


class Setup:
    """The same scene as fields."""

    def __init__(self, values: Values, poses: Any, dtype: Any = ti.f64, **options: Any) -> None:
        others = ("twist", "intrinsics", "background", "moved")
        self.gaussians = make_gaussians(
            {name: value for name, value in values.items() if name not in others}, dtype=dtype
        )
        given = values["intrinsics"]
        self.cameras = Cameras(poses, given, WIDTH, HEIGHT, dtype=dtype, grad=True)
        self.cameras.twist.from_numpy(values["twist"])
        colour = values["background"]
        background = dt.from_numpy(colour, dt.vec(len(colour), dtype), grad=True)
        self.splatter = Splatter(WIDTH, HEIGHT, background=background, far=FAR, **options)
        self.leaves = {
            **self.gaussians,
            "twist": self.cameras.twist,
            "intrinsics": self.cameras.intrinsics,
            "background": background,
        }

    def run(self, weights: Picture) -> tuple[Rendering, Values]:
        with dt.Tape() as tape:
            made = self.splatter(self.gaussians, self.cameras)
        tape.backward({f: getattr(weights, name) for name, f in fields_of(made).items()})
        return made, self.gradients()

    def gradients(self) -> Values:
        return {name: leaf.grad.to_numpy() for name, leaf in self.leaves.items()}


def fields_of(made: Rendering) -> dict[str, Any]:
    return {name: getattr(made, name) for name in ("image", "alpha", "depth")}


def weights_for(picture: Picture, margin: float) -> Picture:
    """Return weights for all outputs: zero where a pixel is near a threshold."""
    rng = np.random.default_rng(2)
    safe = picture.margin > margin
    assert safe.mean() > 0.8
    made = {name: rng.normal(size=getattr(picture, name).shape) for name in ("image", "alpha")}
    depth = rng.normal(size=safe.shape) * (picture.alpha.real > 0.1)
    return Picture(made["image"] * safe[..., None], made["alpha"] * safe, depth * safe, safe, None)


KINDS: dict[str, tuple[dict[str, Any], bool]] = {
    "classic": ({}, False),
    "antialiased": ({"antialiased": True, "sh_degree": 2}, False),
    "features": ({"eps2d": 0.1}, True),
}


@pytest.mark.parametrize(
    "kind",
    ["classic", *(pytest.param(k, marks=pytest.mark.slow) for k in ("antialiased", "features"))],
)
def test_images_and_gradients(kind: str) -> None:
    given, features = KINDS[kind]
    values, poses = scene(features)
    options = Options(WIDTH, HEIGHT, far=FAR, **given)
    expected = render(values, poses, options)
    assert kind != "classic" or all(expected.events.values()), expected.events
    weights = weights_for(expected, 1e-9)
    setup = Setup(values, poses, **given)
    made, gradients = setup.run(weights)
    for name, field in fields_of(made).items():
        error = np.abs(field.to_numpy() - getattr(expected, name))
        error = error.max(-1) if error.ndim == 4 else error
        assert error[weights.margin].max() < 1e-10, name

    def run(moved: Values) -> Any:
        return loss_of(render(moved, poses, options), weights)

    moved = setup.splatter.means2d_grad.to_numpy()
    values["moved"], gradients["moved"] = np.zeros_like(moved), moved
    rng = np.random.default_rng(4)
    for name, gradient in gradients.items():
        scale = np.abs(gradient).max()
        for index in entries(gradient, rng):
            direction = np.zeros_like(gradient)
            direction[index] = 1.0
            known = slope(values, name, direction, run)
            assert gradient[index] == pytest.approx(known, rel=1e-8, abs=1e-10 * scale), name
        direction = rng.normal(size=gradient.shape)
        known = slope(values, name, direction, run)
        found = (gradient * direction).sum()
        assert found == pytest.approx(known, rel=1e-10, abs=1e-10 * scale), name


def entries(gradient: Any, rng: Any) -> list[tuple[int, ...]]:
    """Return all entries of small gradients, and some of large ones."""
    every = list(np.ndindex(gradient.shape))
    most = 40
    if len(every) <= most:
        return every
    return [every[k] for k in rng.choice(len(every), most, replace=False)]


def test_all_parameters_together(monkeypatch: pytest.MonkeyPatch) -> None:
    """<w, J v>, J v by the complex step, is <J^T w, v>; gaussians share copies of poses."""
    monkeypatch.setattr(cameras, "_COPIES", 7)
    values, poses = scene()
    options = Options(WIDTH, HEIGHT, far=FAR)
    weights = weights_for(render(values, poses, options), 1e-9)
    _, gradients = Setup(values, poses).run(weights)
    rng, step = np.random.default_rng(8), 1e-30
    directions = {name: rng.normal(size=g.shape) for name, g in gradients.items()}
    moved = {name: value + 1j * step * directions[name] for name, value in values.items()}
    pushed = loss_of(render(moved, poses, options), weights).imag / step
    pulled = sum((gradients[name] * directions[name]).sum() for name in gradients)
    assert pulled == pytest.approx(pushed, rel=1e-11)


def test_single_precision_is_near_double() -> None:
    values, poses = scene()
    expected = render(values, poses, Options(WIDTH, HEIGHT, far=FAR))
    weights = weights_for(expected, 1e-3)
    made, single = Setup(values, poses, ti.f32).run(weights)
    _, double = Setup(values, poses).run(weights)
    for name, field in fields_of(made).items():
        error = np.abs(field.to_numpy() - getattr(expected, name))
        error = error.max(-1) if error.ndim == 4 else error
        assert error[weights.margin].max() < 2e-4, name
    for name, gradient in single.items():
        scale = np.abs(double[name]).max()
        np.testing.assert_allclose(gradient, double[name], rtol=2e-3, atol=1e-4 * scale)


@pytest.mark.parametrize("tile", [8, 32, 64])
@pytest.mark.compiled
def test_the_image_does_not_depend_on_the_size_of_tiles(tile: int) -> None:
    values, poses = scene()
    weights = weights_for(render(values, poses, Options(WIDTH, HEIGHT, far=FAR)), 1e-9)
    made, gradients = Setup(values, poses, tile=tile).run(weights)
    expected, known = Setup(values, poses, tile=16).run(weights)
    for name, field in fields_of(made).items():
        np.testing.assert_array_equal(field.to_numpy(), fields_of(expected)[name].to_numpy())
    for name, gradient in gradients.items():
        scale = np.abs(known[name]).max()
        np.testing.assert_allclose(gradient, known[name], atol=1e-12 * scale, err_msg=name)


@dt.kernel
def measure(image, alpha, loss):
    for c, i, j in alpha:
        loss[None] += image[c, i, j].norm_sqr() + ti.sin(alpha[c, i, j] * j)


def test_cameras_one_by_one_within_little_memory() -> None:
    values, poses = scene()
    loss = dt.zeros((), ti.f64, grad=True)

    def run(times: int, **limit: Any) -> tuple[Values, int]:
        setup, made = Setup(values, poses), None
        loss.fill(0.0)
        with dt.Tape(loss, **limit) as tape:
            for camera in [*setup.cameras] * times:
                made = setup.splatter(setup.gaussians, camera, made)
                measure(made.image, made.alpha, loss)
        return {"loss": loss.to_numpy(), **setup.gradients()}, tape.peak_nbytes

    setup = Setup(values, poses)
    with dt.Tape(loss):
        loss.fill(0.0)
        made = setup.splatter(setup.gaussians, setup.cameras)
        measure(made.image, made.alpha, loss)
    together = {"loss": loss.to_numpy(), **setup.gradients()}
    once, _ = run(1)
    many, kept = run(30)
    little, peak = run(30, memory=kept // 2)
    assert peak <= kept // 2
    for name, known in together.items():
        scale = np.abs(known).max()
        np.testing.assert_allclose(once[name], known, atol=1e-12 * scale, err_msg=name)
        np.testing.assert_allclose(little[name], many[name], atol=1e-11 * scale, err_msg=name)


@dt.kernel
def _weighed(image, weights, total):
    for c, i, j in image:
        total[None] += image[c, i, j].dot(weights[c, i, j])


def test_transformations_reach_what_has_no_gradients():
    """A transformation decides itself what varies: the means, and the poses of cameras."""
    values, poses = scene()
    rng = np.random.default_rng(5)
    weights = rng.normal(size=(2, HEIGHT, WIDTH, 3))
    nothing = Picture(weights, np.zeros(weights.shape[:3]), np.zeros(weights.shape[:3]), None, None)
    _, known = Setup(values, poses).run(nothing)
    setup = Setup(values, poses)
    fixed = Cameras(poses, values["intrinsics"], WIDTH, HEIGHT, dtype=ti.f64)
    splatter = Splatter(WIDTH, HEIGHT, background=setup.splatter.background, far=FAR)
    ours = dt.from_numpy(weights, dt.vec(3, ti.f64))

    def loss(means: Any, twist: Any) -> Any:
        setup.gaussians["means"].copy_from(means)
        fixed.twist.copy_from(twist)
        total = dt.zeros((), ti.f64)
        _weighed(splatter(setup.gaussians, fixed).image, ours, total)
        return total

    given = [
        dt.from_numpy(values["means"], dt.vec(3, ti.f64)),
        dt.from_numpy(values["twist"], dt.vec(6, ti.f64)),
    ]
    for _ in range(2):  # the second frame finds cameras that have not moved
        for name, gradient in zip(("means", "twist"), dt.grad(loss, (0, 1))(*given), strict=True):
            scale = np.abs(known[name]).max()
            np.testing.assert_allclose(gradient.to_numpy(), known[name], rtol=0, atol=1e-9 * scale)
