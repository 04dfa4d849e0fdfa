"""Distorted cameras: the published formulas, and pictures that are cast through them by rays."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from PIL import Image

import difftile as dt
from difftile.datasets import View, load
from difftile.datasets.lenses import Lens, pinhole_of
from difftile.datasets.undistort import undistorted
from tests.datasets import lens_models as published
from tests.datasets.writers import write_picture

WIDTH, HEIGHT, FOCAL = 96, 72, 70.0  # pixels
CENTRE = (49.0, 35.0)
# Models of COLMAP: the line of a camera after the focal lengths, and the published formula.
COLMAP: dict[str, tuple[int, published.Project, tuple[float, ...]]] = {
    "SIMPLE_RADIAL": (1, published.opencv, (-0.12,)),
    "RADIAL": (1, published.opencv, (-0.2, 0.06)),
    "OPENCV": (2, published.opencv, (-0.18, 0.05, 0.004, -0.003)),
    "FULL_OPENCV": (2, published.opencv, (0.3, 0.1, 0.002, 0.003, 0.02, 0.5, 0.1, 0.03)),
    "OPENCV_FISHEYE": (2, published.opencv_fisheye, (0.05, -0.02, 0.004, -0.001)),
    "SIMPLE_RADIAL_FISHEYE": (1, published.opencv_fisheye, (-0.05,)),
    "RADIAL_FISHEYE": (1, published.opencv_fisheye, (0.04, -0.03)),
    "FOV": (2, published.field_of_view, (0.9,)),
    "DIVISION": (2, published.division_model, (-0.25,)),
    "SIMPLE_FISHEYE": (1, published.opencv_fisheye, ()),
    "EUCM": (2, published.enhanced_unified, (0.6, 1.1)),
    "THIN_PRISM_FISHEYE": (
        2,
        published.thin_prism_fisheye,
        (0.03, -0.02, 0.002, -0.003, 0.004, -0.001, 0.003, -0.002),
    ),
    "RAD_TAN_THIN_PRISM_FISHEYE": (
        2,
        published.fisheye624,
        (0.02, -0.03, 0.01, -0.004, 0.002, -0.001, 0.003, -0.002, 0.002, -0.001, 0.003, 0.001),
    ),
}
KINDS = {
    "brown": published.opencv,
    "fisheye": published.opencv_fisheye,
    "fov": published.field_of_view,
    "division": published.division_model,
    "eucm": published.enhanced_unified,
    "thin_prism": published.thin_prism_fisheye,
    "rad_tan_thin_prism": published.fisheye624,
}


COUNTS = {"brown": 8, "fisheye": 4, "fov": 1, "division": 1, "eucm": 2} | {
    "thin_prism": 8,
    "rad_tan_thin_prism": 12,
}


def wall(x: Any, y: Any) -> npt.NDArray[np.float64]:
    """The colours of a wall at distance 1, whose checks have soft edges."""
    checks = np.tanh(2 * np.sin(9 * x + 1) * np.sin(9 * y - 0.5))
    return np.stack([0.5 + 0.4 * checks, 0.5 + 0.3 * np.sin(7 * x), 0.5 + 0.3 * np.cos(8 * y)], -1)


def pixels(width: int, height: int, rays: int = 2) -> tuple[Any, Any]:
    """Positions in all pixels, shape (height, width, rays squared)."""
    inside = (np.arange(rays) + 0.5) / rays
    u, v = np.arange(width)[:, None] + inside, np.arange(height)[:, None] + inside
    shape = (height, width, rays, rays)
    across = np.broadcast_to(u[None, :, None, :], shape)
    down = np.broadcast_to(v[:, None, :, None], shape)
    return across.reshape(height, width, -1), down.reshape(height, width, -1)


@cache
def cast(project: published.Project, coefficients: tuple[float, ...]) -> npt.NDArray[np.float64]:
    """The picture that a lens takes of the wall: the rays of each pixel by Newton's method."""
    u, v = pixels(WIDTH, HEIGHT)
    a, b = (u - CENTRE[0]) / FOCAL, (v - CENTRE[1]) / FOCAL
    x, y = published.points_of(project, coefficients, a, b)
    np.testing.assert_allclose(project(x, y, *coefficients), [a, b], atol=1e-9)
    return wall(x, y).mean(axis=2)


def straight(view: View) -> npt.NDArray[np.float64]:
    """The picture that the pinhole camera of a view takes of the wall."""
    u, v = pixels(view.width, view.height)
    fx, fy, cx, cy = view.intrinsics
    return wall((u - cx) / fx, (v - cy) / fy).mean(axis=2)


def colmap(folder: Path, camera: str, colours: Any, name: str = "a.png") -> Path:
    sparse = folder / "sparse" / "0"
    sparse.mkdir(parents=True)
    (folder / "images").mkdir()
    (sparse / "cameras.txt").write_text(f"1 {camera}\n")
    (sparse / "images.txt").write_text(f"1 1 0 0 0 0 0 0 1 {name}\n\n")
    write_picture(folder / "images" / name, colours)
    return folder


def nerfstudio(folder: Path, cameras: list[dict[str, Any]], colours: list[Any]) -> Path:
    """Write frames, each with a camera of its own."""
    frames: list[dict[str, Any]] = []
    for k, (camera, one) in enumerate(zip(cameras, colours, strict=True)):
        write_picture(folder / f"{k}.png", one)
        frames.append(
            {"file_path": f"{k}.png", "transform_matrix": np.diag([1.0, -1, -1, 1]).tolist()}
            | camera
        )
    same = {"fl_x": FOCAL, "cx": CENTRE[0], "cy": CENTRE[1], "w": WIDTH, "h": HEIGHT}
    (folder / "transforms.json").write_text(json.dumps({**same, "frames": frames}))
    return folder


def error_of(view: View) -> float:
    return float(np.abs(view.image() - straight(view)).max())


# The formulas


@pytest.mark.parametrize("kind", KINDS)
def test_lenses_are_the_published_formulas(kind: str) -> None:
    draw = np.random.default_rng(0)
    count = COUNTS[kind]
    coefficients = tuple(draw.uniform(0.01, 0.1, count).tolist())
    x, y = draw.uniform(-1, 1, (2, 500))
    lens = Lens((50.0, 60.0, 31.0, 22.0), kind, coefficients)
    u, v = KINDS[kind](x, y, *coefficients)
    np.testing.assert_allclose(lens.project(x, y), [50 * u + 31, 60 * v + 22], rtol=1e-12)
    at_centre = lens.project(np.zeros(1), np.zeros(1))
    np.testing.assert_allclose(np.ravel(at_centre), [31.0, 22.0])
    twice = lens.scaled(2.0, 3.0).project(x, y)
    np.testing.assert_allclose(twice, [100 * u + 62, 180 * v + 66], rtol=1e-12)


def test_shorter_lists_of_coefficients_are_those_with_zeros() -> None:
    x, y = np.random.default_rng(0).normal(size=(2, 50))
    for kind, few, all_ in (
        ("brown", (0.1, 0.2), (0.1, 0.2, 0, 0, 0, 0, 0, 0)),
        ("fisheye", (0.1,), (0.1, 0, 0, 0)),
    ):
        lens, whole = (Lens((1.0, 1.0, 0.0, 0.0), kind, k) for k in (few, all_))
        np.testing.assert_array_equal(lens.project(x, y), whole.project(x, y))


def some_lens(draw: np.random.Generator) -> Lens:
    kind = str(draw.choice([*KINDS]))
    scale = {"brown": 0.2, "fisheye": 0.1, "fov": 0.0}.get(kind, 0.02)
    count = COUNTS[kind]
    coefficients = (draw.normal(size=count) * scale).tolist()
    if kind == "brown":
        coefficients = [*coefficients[:2], *(0.02 * c for c in coefficients[2:])]
    if kind == "fov":
        coefficients = [draw.uniform(0.1, 2.5)]
    if kind == "eucm":
        coefficients = draw.uniform((0, 0.5), (1, 2)).tolist()
    fx, fy = draw.uniform(20, 120, 2)
    return Lens((fx, fy, *draw.uniform((30, 20), (60, 50))), kind, (*coefficients,))


def test_every_pixel_of_the_pinhole_has_a_source() -> None:
    draw = np.random.default_rng(0)
    found = 0
    for _ in range(150):
        lens = some_lens(draw)
        pinhole = pinhole_of(lens, WIDTH, HEIGHT)
        if pinhole is None:
            continue
        found += 1

        def sources(wider: float, lens: Lens = lens, pinhole: Any = pinhole) -> Any:
            fx, fy, cx, cy = pinhole.intrinsics
            x = (np.linspace(0, WIDTH, 97) - cx) / fx * wider
            y = (np.linspace(0, HEIGHT, 73) - cy) / fy * wider
            return np.stack(lens.project(*np.meshgrid(x, y)))

        def inside(u: Any, v: Any) -> bool:
            low, high = min(u.min(), v.min()), max(u.max() - WIDTH, v.max() - HEIGHT)
            return bool(low > -0.02 and high < 0.02)  # pixels; borders are sampled

        u, v = sources(1.0)
        assert inside(u, v), lens
        # No fold: every cell of the grid keeps its orientation.
        (ux, vx), (uy, vy) = (
            np.diff(sources(1.0), axis=2)[:, :-1],
            np.diff(sources(1.0), axis=1)[:, :, :-1],
        )
        assert (ux * vy - uy * vx > 0).all(), lens
        zoom = lens.intrinsics[0] / pinhole.intrinsics[0]
        assert zoom == pytest.approx(lens.intrinsics[1] / pinhole.intrinsics[1])
        assert zoom <= 2.0
        if pinhole.cropped:
            assert zoom == 2.0
            assert inside(*sources(1.0))
    assert found > 75


def test_the_pinhole_is_as_wide_as_can_be() -> None:
    for kind, coefficients in (("brown", (-0.15, 0.02)), ("brown", (0.2,)), ("fisheye", (0.02,))):
        lens = Lens((70.0, 70.0, 48.0, 36.0), kind, coefficients)
        pinhole = pinhole_of(lens, WIDTH, HEIGHT)
        assert pinhole is not None
        assert not pinhole.cropped
        fx, fy, cx, cy = pinhole.intrinsics
        x, y = np.meshgrid(
            (np.linspace(0, WIDTH, 97) - cx) / fx, (np.linspace(0, HEIGHT, 73) - cy) / fy
        )
        u, v = lens.project(x, y)
        left = min(u.min(), WIDTH - u.max(), v.min(), HEIGHT - v.max())
        assert -0.02 < left < 0.05  # pixels between the border and what is shown of it


# Pictures


@pytest.mark.parametrize("model", COLMAP)
def test_pictures_of_colmap_are_undistorted(tmp_path: Path, model: str) -> None:
    lengths, project, coefficients = COLMAP[model]
    numbers = (*[FOCAL] * lengths, *CENTRE, *coefficients)
    camera = f"{model} {WIDTH} {HEIGHT} {' '.join(map(str, numbers))}"
    taken = cast(project, coefficients)
    (view,) = load(colmap(tmp_path, camera, taken)).views
    assert (view.width, view.height) == (WIDTH, HEIGHT)
    np.testing.assert_allclose(view.intrinsics[2:], CENTRE)
    assert error_of(view) < 0.02
    assert np.abs(taken - straight(view)).max() > 0.2  # as it is, it differs


def test_a_lens_without_effect_changes_no_byte(tmp_path: Path) -> None:
    taken = cast(published.opencv, ())
    camera = f"FULL_OPENCV {WIDTH} {HEIGHT} {FOCAL} {FOCAL} 49 35 0 0 0 0 0 0 0 0"
    data = load(colmap(tmp_path, camera, taken))
    assert data.notes == ("there is no points3D.txt, or it is empty",)
    np.testing.assert_array_equal(
        data.views[0].image(), np.asarray(Image.open(data.views[0].path), np.float32) / 255
    )
    same = undistorted(data.views[0].image(), Lens((70.0, 70.0, *CENTRE)), (70.0, 70.0, *CENTRE))
    np.testing.assert_allclose(same, data.views[0].image(), atol=1e-6)


def test_frames_of_nerfstudio_with_lenses_of_their_own(tmp_path: Path) -> None:
    cameras: list[dict[str, Any]] = [
        {"k1": -0.2, "k2": 0.04, "p1": 0.003, "p2": -0.002},
        {"camera_model": "OPENCV", "k1": 0.1, "k3": 0.02},
        {"camera_model": "OPENCV_FISHEYE", "k1": 0.05, "k4": -0.01},
        {"is_fisheye": True, "k2": 0.02},
        {"camera_model": "FULL_OPENCV", "k1": 0.2, "k4": 0.4},
        {"k1": 0.3, "k2": 0.1, "k3": 0.02, "k4": 0.5, "k5": 0.1, "k6": 0.03},
        {"camera_model": "PINHOLE"},
    ]
    taken = [
        cast(published.opencv, (-0.2, 0.04, 0.003, -0.002)),
        cast(published.opencv, (0.1, 0.0, 0.0, 0.0, 0.02)),
        cast(published.opencv_fisheye, (0.05, 0.0, 0.0, -0.01)),
        cast(published.opencv_fisheye, (0.0, 0.02)),
        cast(published.opencv, (0.2, 0.0, 0.0, 0.0, 0.0, 0.4)),
        cast(published.opencv, (0.3, 0.1, 0.0, 0.0, 0.02, 0.5, 0.1, 0.03)),
        cast(published.opencv, ()),
    ]
    data = load(nerfstudio(tmp_path, cameras, taken))
    for view in data.views:
        assert error_of(view) < 0.02, view.name
    (note,) = data.notes
    assert note.startswith("6 pictures undistorted to ")
    assert data.views[-1].lens is None


def test_the_same_lens_for_all_frames(tmp_path: Path) -> None:
    folder = nerfstudio(tmp_path, [{}], [cast(published.opencv, (-0.1,))])
    content = json.loads((folder / "transforms.json").read_text())
    (folder / "transforms.json").write_text(json.dumps({**content, "k1": -0.1}))
    data = load(folder)
    assert error_of(data.views[0]) < 0.02
    fx, fy, cx, cy = data.views[0].intrinsics
    across = np.degrees(np.arctan(cx / fx) + np.arctan((WIDTH - cx) / fx))
    down = np.degrees(np.arctan(cy / fy) + np.arctan((HEIGHT - cy) / fy))
    assert data.notes == (f"1 picture undistorted to {across:.0f} x {down:.0f} degrees",)


def test_wide_fisheyes_are_cropped_and_say_so(tmp_path: Path) -> None:
    focal = 96 / np.radians(220)  # the picture is 220 degrees wide
    u, v = pixels(WIDTH, HEIGHT)
    a, b = (u - CENTRE[0]) / focal, (v - CENTRE[1]) / focal
    theta = np.hypot(a, b)
    ahead = np.where(theta < 1.55, np.tan(np.minimum(theta, 1.55)) / theta, 0.0)
    taken = np.where(ahead[..., None] > 0, wall(a * ahead, b * ahead), 0.0).mean(axis=2)
    folder = nerfstudio(tmp_path, [{"camera_model": "OPENCV_FISHEYE", "fl_x": focal}], [taken])
    data = load(folder)
    (note,) = data.notes
    assert note.endswith(" degrees, 1 of them cropped to that")
    (view,) = data.views
    assert view.intrinsics[0] == pytest.approx(focal / 2)
    fine = straight(view)
    near = (slice(12, 60), slice(16, 80))  # farther out, checks are smaller than pixels
    assert np.abs(view.image()[near] - fine[near]).mean() < 0.05


def test_transparent_pixels_show_the_background(tmp_path: Path) -> None:
    draw = np.random.default_rng(0)
    y, x = np.mgrid[:HEIGHT, :WIDTH] / 20
    alpha = 0.5 + 0.5 * np.sin(x) * np.cos(y)
    colours = np.concatenate([cast(published.opencv, (-0.1,)), alpha[..., None]], axis=2)
    colours[alpha < 0.2, :3] = draw.random((int((alpha < 0.2).sum()), 3))  # invisible noise
    colours[alpha < 0.2, 3] = 0
    folder = nerfstudio(tmp_path, [{"k1": -0.1}], [colours])
    (view,) = load(folder, background=(0.2, 0.4, 0.6)).views
    shown = np.asarray(Image.open(view.path), np.float64) / 255
    shown = shown[..., :3] * shown[..., 3:] + np.array([0.2, 0.4, 0.6]) * (1 - shown[..., 3:])
    assert view.lens is not None
    fx, fy, cx, cy = view.intrinsics.tolist()
    wanted = undistorted(shown.astype(np.float32), view.lens, (fx, fy, cx, cy))
    np.testing.assert_allclose(view.image(), wanted, atol=1e-6)


def test_undistorted_pictures_are_scaled_down(tmp_path: Path) -> None:
    folder = nerfstudio(tmp_path, [{"k1": -0.12}], [cast(published.opencv, (-0.12,))])
    whole, half = load(folder).views[0], load(folder, downscale=2).views[0]
    assert (half.width, half.height) == (48, 36)
    np.testing.assert_allclose(half.intrinsics, whole.intrinsics / 2)
    blocks = whole.image().reshape(36, 2, 48, 2, 3).mean(axis=(1, 3))
    np.testing.assert_allclose(half.image(), blocks, atol=1e-6)
    assert error_of(half) < 0.02
    # A smaller file with a camera of the full size.
    Image.open(folder / "0.png").resize((48, 36), Image.Resampling.BOX).save(folder / "0.png")
    small = load(folder).views[0]
    np.testing.assert_allclose(small.intrinsics, half.intrinsics, rtol=1e-6)
    assert error_of(small) < 0.04


@pytest.mark.parametrize(
    ("camera", "message"),
    [
        ({"k1": -30.0}, "has the distortion (-30.0, 0.0, 0.0, 0.0, 0.0, 0.0, ...), which folds"),
        ({"k1": 1e18}, "which folds the picture around (49.0, 35.0); expected a distortion that"),
        ({"k1": -0.1, "cx": -5.0}, "around (-5.0, 35.0); expected a distortion that can be undone"),
        ({"k1": 1e19}, "expected numbers up to 1e18"),
        (
            {"k4": 0.1},
            "has k4 not 0 with the model OPENCV, which is ambiguous; expected the model F",
        ),
        (
            {"camera_model": "OPENCV_FISHEYE", "p1": 0.1},
            "is a fisheye with p1 not 0; expected k1, ",
        ),
        ({"camera_model": "ORTHOPHOTO"}, "has the model ORTHOPHOTO; expected one of OPE"),
    ],
)
def test_wrong_lenses_are_refused(tmp_path: Path, camera: dict[str, Any], message: str) -> None:
    folder = nerfstudio(tmp_path, [camera], [np.zeros((HEIGHT, WIDTH, 3))])
    with pytest.raises(dt.DatasetError) as caught:
        load(folder)
    assert message in str(caught.value)


def test_an_angle_of_fov_that_no_lens_has(tmp_path: Path) -> None:
    camera = f"FOV {WIDTH} {HEIGHT} {FOCAL} {FOCAL} 49 35 3.5"
    folder = colmap(tmp_path, camera, np.zeros((HEIGHT, WIDTH, 3)))
    with pytest.raises(dt.DatasetError, match=r"camera 1 has the angle 3.5; expected an angle"):
        load(folder)
