"""Gaussians and cameras at the limits of floats: left out, without a trace elsewhere."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import taichi as ti

import difftile as dt
from difftile.render.splats2d import AlphaSplats, sum_splats, sum_splats_plain
from tests.render import test_splats2d
from tests.render.reference_splats import Options, Picture, Values, render
from tests.render.test_splats2d import fields
from tests.render.test_splatter import HEIGHT, WIDTH, Setup, fields_of, scene

PLANE = test_splats2d.HEIGHT, test_splats2d.WIDTH
splats2d_scene = test_splats2d.scene

NOT_FINITE = (np.nan, np.inf, -np.inf)
FLOATS = {"f32": (ti.f32, 1e-4), "f64": (ti.f64, 1e-12)}
# Where kernels take long to compile: numbers end sooner in single precision.
FIRST_SINGLE = ["f32", pytest.param("f64", marks=pytest.mark.slow)]
PARAMETERS = ("means", "scales", "quaternions", "opacities", "sh0", "shN", "features")


def copies(values: Values, row: int, count: int) -> Values:
    """Return gaussians with copies of one of them at the end."""
    which = [*range(len(values["means"])), *[row] * count]
    return {
        name: value[which].copy() if name in PARAMETERS else value for name, value in values.items()
    }


def ruined(values: Values) -> tuple[Values, int]:
    """Return gaussians with copies of one in full view, each ruined in one number; how many."""
    cells = [
        (name, cell, bad)
        for name in PARAMETERS
        if name in values
        for cell in [*np.ndindex(values[name].shape[1:])][:: 1 if name != "shN" else 7]
        for bad in NOT_FINITE
    ]
    made = copies(values, 17, len(cells))
    for k, (name, cell, bad) in enumerate(cells):
        made[name][(len(values["means"]) + k, *cell)] = bad
    return made, len(cells)


def weights(channels: int) -> Picture:
    rng = np.random.default_rng(2)
    shape = (2, HEIGHT, WIDTH)
    image, alpha = rng.normal(size=(*shape, channels)), rng.normal(size=shape)
    return Picture(image, alpha, 0.1 * rng.normal(size=shape), None, {})


def near(found: Any, known: Any, tolerance: float) -> None:
    """Compare with numbers up to a part of the largest of them."""
    np.testing.assert_allclose(found, known, rtol=0, atol=tolerance * np.abs(known).max())


@pytest.mark.parametrize("precision", FIRST_SINGLE)
@pytest.mark.parametrize(
    ("features", "options"),
    [(False, {}), (False, {"antialiased": True}), (True, {"absgrad": True})],
)
def test_what_is_not_finite_leaves_no_trace(
    precision: str, features: bool, options: dict[str, Any]
) -> None:
    values, poses = scene(features)
    scalar, tolerance = FLOATS[precision]
    seeds = weights(5 if features else 3)
    known, expected = Setup(values, poses, scalar, **options).run(seeds)
    bad, count = ruined(values)
    setup = Setup(bad, poses, scalar, **options)
    made, gradients = setup.run(seeds)
    for name, field in fields_of(made).items():
        np.testing.assert_array_equal(field.to_numpy(), fields_of(known)[name].to_numpy(), name)
    for name, gradient in gradients.items():
        rows = None
        if name in PARAMETERS:
            assert (gradient[-count:] == 0).all(), name
            rows = -count
        near(gradient[:rows], expected[name], tolerance)
    assert (setup.splatter.radii.to_numpy()[:, -count:] == 0).all()
    assert (setup.splatter.means2d_grad.to_numpy()[:, -count:] == 0).all()


@pytest.mark.parametrize("precision", FIRST_SINGLE)
@pytest.mark.parametrize("antialiased", [False, True])
def test_gradients_do_not_magnify_rounding(precision: str, antialiased: bool) -> None:
    """Needles have covariances on the image plane whose determinants cancel."""
    values, poses = scene()
    setup = Setup(values, poses, FLOATS[precision][0], antialiased=antialiased)
    eps = np.finfo(np.float32 if precision == "f32" else np.float64).eps
    rng = np.random.default_rng(5)

    def rounded(a: Any) -> Any:
        return a * (1 + eps * rng.choice([-1, 1], a.shape))

    seeds = weights(3)
    _, known = setup.run(seeds)
    for _ in range(4):
        moved = [rounded(a) for a in (seeds.image, seeds.alpha, seeds.depth)]
        _, gradients = setup.run(Picture(*moved, None, {}))
        for name, gradient in gradients.items():
            near(gradient, known[name], 1000 * eps)


def test_bands_that_are_not_used_do_not_matter() -> None:
    values, poses = scene()
    known = Setup(values, poses, sh_degree=1).run(weights(3))[0].image.to_numpy()
    values["shN"][:, 3:] = np.nan
    made, gradients = Setup(values, poses, sh_degree=1).run(weights(3))
    np.testing.assert_array_equal(made.image.to_numpy(), known)
    assert all(np.isfinite(gradient).all() for gradient in gradients.values())


LENGTHS = {
    "f32": (1e-33, 1e-30, 1e-20, 1e-12, 1e12, 1e20, 1e30, 3e38),
    "f64": (1e-300, 1e-200, 1e-12, 1e20, 1e200, 1e300),
}


@pytest.mark.parametrize("precision", FLOATS)
def test_quaternions_of_any_length(precision: str) -> None:
    values, poses = scene()
    scalar, _ = FLOATS[precision]
    eps = np.finfo(np.float32 if precision == "f32" else np.float64).eps
    seeds = weights(3)
    q = values["quaternions"]
    q /= np.abs(q).max(axis=1, keepdims=True)
    known, expected = Setup(values, poses, scalar).run(seeds)
    exact = expected["quaternions"]
    scale = np.abs(exact).max()
    for length in LENGTHS[precision]:
        made, gradients = Setup({**values, "quaternions": length * q}, poses, scalar).run(seeds)
        off = np.abs(made.image.to_numpy() - known.image.to_numpy())
        assert np.median(off) < 100 * eps and (off < 1e5 * eps).mean() > 0.999, length
        found = gradients["quaternions"]
        if length < 1e30:
            np.testing.assert_allclose(length * found, exact, rtol=0, atol=2e4 * eps * scale)
            along = np.sum(q * length * found, axis=1)
            assert np.abs(along).max() < 1e3 * eps * scale
        assert not np.isnan(found).any()


def test_a_quaternion_of_zeros_does_not_turn() -> None:
    values, poses = scene()
    seeds = weights(3)
    values["quaternions"][17] = 1.0, 0.0, 0.0, 0.0
    known = Setup(values, poses).run(seeds)[0].image.to_numpy()
    values["quaternions"][17] = 0.0
    made, gradients = Setup(values, poses).run(seeds)
    np.testing.assert_array_equal(made.image.to_numpy(), known)
    assert (gradients["quaternions"][17] == 0).all()


HUGE = {
    "means": (1e18, 1e20, 3e38, -3e38),
    "scales": (-1e3, -200.0, -30.0, 20.0, 40.0, 80.0, 1e3, 3e38, -3e38),
    "opacities": (-3e38, -1e3, 1e3, 3e38),
    "sh0": (1e-30, 1e20, -3e38),
}


@pytest.mark.parametrize("precision", FIRST_SINGLE)
def test_gaussians_of_any_size_have_finite_images(precision: str) -> None:
    """Gaussians that overflow on the way are left out; others may hide those farther away."""
    values, poses = scene()
    scalar, _ = FLOATS[precision]
    del values["shN"]
    for name, sizes in HUGE.items():
        bad = copies(values, 17, len(sizes) * int(np.prod(values[name].shape[1:])))
        cells = [(cell, size) for size in sizes for cell in np.ndindex(values[name].shape[1:])]
        for k, (cell, size) in enumerate(cells):
            bad[name][(len(values["means"]) + k, *cell)] = size
        made, gradients = Setup(bad, poses, scalar, sh_degree=0).run(weights(3))
        for one, field in fields_of(made).items():
            assert np.isfinite(field.to_numpy()).all(), (name, one)
        for one, gradient in gradients.items():
            assert np.isfinite(gradient).all(), (name, one)


@pytest.mark.parametrize("precision", FIRST_SINGLE)
def test_a_camera_that_is_nowhere_sees_nothing(precision: str) -> None:
    values, poses = scene()
    scalar, tolerance = FLOATS[precision]
    kinds = [("twist", k, bad) for k in range(6) for bad in (*NOT_FINITE, 1e30)]
    kinds += [("intrinsics", k, bad) for k in range(4) for bad in NOT_FINITE]
    kinds += [("intrinsics", k, bad) for k in range(2) for bad in (0.0, -0.0, -30.0, 1e38)]
    count = len(kinds)
    every = {
        **values,
        "twist": np.concatenate([values["twist"][:1], np.repeat(values["twist"][1:], count, 0)]),
        "intrinsics": np.concatenate(
            [values["intrinsics"][:1], np.repeat(values["intrinsics"][1:], count, 0)]
        ),
    }
    only = {**values, "twist": values["twist"][:1], "intrinsics": values["intrinsics"][:1]}
    shape = (count + 1, HEIGHT, WIDTH)
    rng = np.random.default_rng(0)
    seeds = Picture(rng.normal(size=(*shape, 3)), rng.normal(size=shape), np.zeros(shape), 0, {})
    first = Picture(seeds.image[:1], seeds.alpha[:1], seeds.depth[:1], 0, {})
    known, expected = Setup(only, poses[:1], scalar).run(first)
    setup = Setup(every, np.concatenate([poses[:1], np.repeat(poses[1:], count, 0)]), scalar)
    for k, (name, cell, bad) in enumerate(kinds):
        field = getattr(setup.cameras, name)
        array = field.to_numpy()
        array[k + 1, cell] = 1e300 if precision == "f64" and bad == 1e30 else bad
        field.from_numpy(array)
    made, gradients = setup.run(seeds)
    image = made.image.to_numpy()
    np.testing.assert_allclose(image[:1], known.image.to_numpy(), atol=tolerance)
    background = np.broadcast_to(values["background"], image[1:].shape)
    wide = np.array([bad == 1e38 for _, _, bad in kinds])
    np.testing.assert_allclose(image[1:][~wide], background[~wide], rtol=1e-6)
    for name, gradient in gradients.items():
        assert np.isfinite(gradient).all(), name
        if name in ("twist", "intrinsics"):
            assert (gradient[1:][~wide] == 0).all(), name
            near(gradient[:1], expected[name], tolerance)
        elif name != "background":
            near(gradient, expected[name], tolerance)


# On the image plane


def plane(bad: bool, dtype: Any, depths: bool = False) -> tuple[dict[str, Any], int]:
    """Return fields of gaussians on the image plane, with ruined copies at the end; how many."""
    values = splats2d_scene()
    if depths:
        values["depths"] = np.random.default_rng(1).uniform(1, 2, len(values["means"]))
    cells = [
        (name, cell, value)
        for name, array in values.items()
        for cell in np.ndindex(array.shape[1:])
        for value in (*NOT_FINITE, *((1e30, -1e30) if name == "factors" and cell != (0,) else ()))
    ]
    cells += [("opacities", (), value) for value in (0.0, -1.0)]
    if not bad:
        cells = []
    which = [*range(len(values["means"])), *[0] * len(cells)]
    values = {name: array[which].copy() for name, array in values.items()}
    for k, (name, cell, value) in enumerate(cells):
        wide = value if dtype == ti.f32 or abs(value) != 1e30 else np.sign(value) * 1e300
        values[name][(len(which) - len(cells) + k, *cell)] = wide
    return fields(values, dtype), len(cells)


@pytest.mark.parametrize("precision", FIRST_SINGLE)
@pytest.mark.parametrize("kind", ["sum", "sum, plain", "alpha", "alpha, plain"])
def test_nor_on_the_image_plane(precision: str, kind: str) -> None:
    scalar, tolerance = FLOATS[precision]
    alpha, plain = kind.startswith("alpha"), kind.endswith("plain")
    seed = np.random.default_rng(4).normal(size=(PLANE[0], PLANE[1], 3))
    results = []
    for bad in (False, True):
        found, count = plane(bad, scalar, depths=alpha)
        if alpha:
            splats = AlphaSplats(PLANE[1], PLANE[0], dtype=scalar, plain=plain)
            with dt.Tape() as tape:
                image = splats(*found.values())
        else:
            image = dt.zeros(PLANE, dt.vec(3, scalar), grad=True)
            # Opacities are not part of the sum: values that only they spoil are taken out.
            opacities = found.pop("opacities").to_numpy()
            keep = np.flatnonzero(np.isfinite(opacities) & (opacities > 0))
            count = len(keep) - 12
            found = fields({n: f.to_numpy()[keep] for n, f in found.items()}, scalar)
            with dt.Tape() as tape:
                (sum_splats_plain if plain else sum_splats)(*found.values(), image)
        tape.backward({image: seed})
        results.append((image.to_numpy(), {n: f.grad.to_numpy() for n, f in found.items()}))
    (known, expected), (image, gradients) = results
    np.testing.assert_allclose(image, known, rtol=0, atol=tolerance)
    for name, gradient in gradients.items():
        assert (gradient[12:] == 0).all() and len(gradient) == 12 + count, name
        scale = np.abs(expected[name]).max()
        off = np.abs(gradient[:12] - expected[name])
        assert off.max() <= tolerance * scale, name


@pytest.mark.parametrize("precision", FLOATS)
def test_tiles_of_boxes_that_have_no_edges_list_nothing(precision: str) -> None:
    scalar, kind = FLOATS[precision][0], np.float32 if precision == "f32" else np.float64
    largest = float(np.finfo(kind).max)
    numbers = (*NOT_FINITE, 0.0, -1.0, 1e9, 1e20, -1e20, largest, -largest)
    rows = [(x, 8.0, r, 4.0) for x in numbers for r in numbers] + [(8.0, 8.0, 4.0, 4.0)]
    cells = np.array(rows).astype(kind)
    centres = dt.from_numpy(cells[None, :, :2].copy(), dtype=dt.vec(2, scalar))
    radii = dt.from_numpy(cells[None, :, 2:].copy(), dtype=dt.vec(2, scalar))
    depths = dt.from_numpy(np.zeros((1, len(cells)), kind))
    lists = dt.render.TileLists(40, 40, 8)
    lists.build(centres, radii, depths)
    expected = set()
    for k, (x, _, r, _) in enumerate(cells):
        with np.errstate(over="ignore", invalid="ignore"):
            low, high = x - r, x + r
        if r > 0 and low < 40 and high > 0:
            expected.add(k)
    assert set(lists.order.to_numpy()[: lists.total].tolist()) == expected


@pytest.mark.parametrize("precision", FLOATS)
def test_bodies_that_are_not_finite_are_not_drawn(precision: str) -> None:
    values, poses = scene()
    scalar, _ = FLOATS[precision]
    bad, _ = ruined(values)
    sizes = [3e38, 1e3, -1e3]
    more = copies(bad, 17, len(sizes))
    for k, size in enumerate(sizes):
        more["scales"][-1 - k] = size
    images = []
    for one in (values, more):
        setup = Setup(one, poses, scalar)
        made = dt.render.Ellipsoids(WIDTH, HEIGHT)(setup.gaussians, setup.cameras)
        images.append([field.to_numpy() for field in fields_of(made).values()])
    for found, known in zip(*images, strict=True):
        np.testing.assert_array_equal(found, known)


SHAPES = [(1, 1, 1), (1, 1, 16), (1, 200, 16), (200, 1, 7), (3, 130, 128)]


@pytest.mark.parametrize(("height", "width", "tile"), SHAPES)
def test_images_of_any_shape(height: int, width: int, tile: int) -> None:
    """Among them many gaussians on one pixel, at one depth: they are blended by their indices."""
    rng = np.random.default_rng(8)
    n = 1500
    values = {
        "means": rng.normal(size=(n, 3)) * (0.03 * width, 0.03 * height, 0.3),
        "scales": rng.uniform(-4.0, -2.0, (n, 3)),
        "quaternions": rng.normal(size=(n, 4)),
        "opacities": rng.uniform(-5.0, -3.0, n),
        "features": rng.uniform(size=(n, 2)),
        "twist": np.zeros((1, 6)),
        "intrinsics": np.array([[20.0, 20.0, 0.5 * width, 0.5 * height]]),
        "background": np.array([0.2, 0.4]),
    }
    values["means"][: n // 2] = 0.0
    pose = np.eye(4)[None].copy()
    pose[0, 2, 3] = 5.0
    expected = render(values, pose, Options(width, height))
    names = ("means", "scales", "quaternions", "opacities", "features")
    rows = dt.render.make_gaussians({name: values[name] for name in names}, dtype=ti.f64)
    cameras = dt.render.Cameras(pose, values["intrinsics"], width, height, dtype=ti.f64)
    made = dt.render.Splatter(width, height, tile=tile, background=values["background"])(
        rows, cameras
    )
    safe = expected.margin > 1e-9
    for name, field in fields_of(made).items():
        off = np.abs(field.to_numpy() - getattr(expected, name))
        assert off[safe].max() < 1e-10, name
