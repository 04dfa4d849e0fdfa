"""Cameras and pictures as folders: COLMAP, nerfstudio, Blender, and broken ones."""

from __future__ import annotations

import json
import re
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image as Pillow

from difftile.datasets import Points, load
from difftile.datasets.colmap import MODELS, PosedImage, pose_of, rotation_of
from difftile.datasets.dataset import Dataset, View
from difftile.datasets.images import read_picture
from difftile.diagnostics import DatasetError
from scenes.balls import photograph, shots
from tests.datasets.generated import FORMATS, write_dataset, write_json
from tests.datasets.writers import quaternion_of, write_picture

SPARSE = "sparse/0"


@pytest.fixture
def colmap_bin(tmp_path: Path) -> Path:
    write_dataset(tmp_path, "colmap-bin", shots(2))
    return tmp_path


@pytest.fixture
def colmap_txt(tmp_path: Path) -> Path:
    write_dataset(tmp_path, "colmap-txt", shots(2))
    return tmp_path


@pytest.fixture
def nerfstudio(tmp_path: Path) -> Path:
    write_dataset(tmp_path, "nerfstudio", shots(2))
    return tmp_path


def refuse(folder: Path, message: str, **options: Any) -> None:
    with pytest.raises(DatasetError, match=re.escape(message)) as caught:
        load(folder, **options)
    assert str(caught.value).count("\n") == ("Hint" in str(caught.value))  # one line, and a hint


def points_of(folder: Path) -> Points:
    points = load(folder).points
    assert points is not None
    return points


@pytest.mark.parametrize("kind", FORMATS)
def test_every_format_gives_the_same_cameras(tmp_path: Path, kind: str) -> None:
    views = write_dataset(tmp_path, kind)
    read = load(tmp_path)
    assert len(read.views) == len(views) == 4
    for view, shot in zip(read.views, views, strict=True):
        assert shot.name in view.name
        np.testing.assert_allclose(view.world_to_camera, shot.world_to_camera, atol=1e-12)
        np.testing.assert_allclose(view.intrinsics, shot.intrinsics, atol=1e-9)
        assert (view.width, view.height) == (shot.width, shot.height)
        np.testing.assert_allclose(np.linalg.norm(view.centre), 4.0)
        picture = photograph(shot)
        np.testing.assert_allclose(
            view.image(), picture[..., :3] * picture[..., 3:], rtol=0, atol=1.01 / 255
        )
    centres = np.stack([view.centre for view in read.views])
    away = np.linalg.norm(centres - centres.mean(axis=0), axis=1).max()
    assert read.scale == pytest.approx(1.1 * away)
    assert (read.points is not None) == kind.startswith("colmap")
    assert read.notes == ()


@pytest.mark.parametrize(
    ("kind", "found"),
    [
        ("colmap-bin", "COLMAP's sparse/0/cameras.bin, 2 views, 200 points"),
        ("colmap-txt", "COLMAP's sparse/0/cameras.txt, 2 views, 200 points"),
        ("nerfstudio", "transforms.json, 2 views"),
        ("blender", "transforms_train.json with 2 views"),
    ],
)
def test_it_says_what_it_found(tmp_path: Path, kind: str, found: str) -> None:
    write_dataset(tmp_path, kind, shots(2))
    assert load(tmp_path).found == found


def test_a_summary_of_a_data_set(tmp_path: Path) -> None:
    write_dataset(tmp_path, "colmap-txt", shots(3))
    data = load(tmp_path)
    assert repr(data) == (
        f"Dataset({str(tmp_path)!r}: COLMAP's sparse/0/cameras.txt, 3 views, 200 points\n"
        f"  views: 3 of 32 x 24\n  cameras: 1\n  scale: {data.scale:.6g})"
    )
    assert repr(data.views[0]) == ("View('view_000.png', 32 x 24, fx 40, fy 40, cx 16, cy 12)")
    assert repr(data.points) == "Points(200 of them)"
    camera_line(tmp_path, "1 RADIAL 32 24 40 16 12 0.1 0")
    small = tmp_path / "images" / "view_001.png"
    Pillow.open(small).resize((16, 12)).save(small)
    data = load(tmp_path)
    first, *lines = repr(data).split("\n  ")
    assert first.startswith("Dataset(")
    assert lines[:2] == ["views: 2 of 32 x 24, 1 of 16 x 12", "cameras: 2, 3 views undistorted"]
    assert lines[3:] == [f"note: {note}" for note in data.notes[:-1]] + [f"note: {data.notes[-1]})"]
    assert "undistorted" in repr(data.views[0])


def test_points_are_the_same_in_both_files_of_colmap(tmp_path: Path) -> None:
    for kind in ("colmap-bin", "colmap-txt"):
        write_dataset(tmp_path / kind, kind, shots(1))
    one, other = (points_of(tmp_path / kind) for kind in ("colmap-bin", "colmap-txt"))
    np.testing.assert_array_equal(one.positions, other.positions)
    np.testing.assert_array_equal(one.colours, other.colours)
    assert one.colours.min() >= 0.0
    assert one.colours.max() <= 1.0


def test_one_view_has_the_scale_1(tmp_path: Path) -> None:
    write_dataset(tmp_path, "colmap-bin", shots(1))
    assert load(tmp_path).scale == 1.0


def turned_about(centre: np.ndarray, rng: np.random.Generator, dtype: type) -> np.ndarray:
    """Return the matrix from world to camera of a random rotation, of numbers of a type."""
    q, _ = np.linalg.qr(rng.normal(size=(3, 3)))
    q = (q * np.sign(np.linalg.det(q))).astype(dtype).astype(float)
    found = np.eye(4)
    found[:3, :3], found[:3, 3] = q, (-q @ centre).astype(dtype)
    return found


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_cameras_in_one_place_have_the_scale_1(dtype: type) -> None:
    """A panorama, or the faces of a cube: rounding of matrices is no distance of cameras."""
    rng = np.random.default_rng(0)
    for away in (0.0, 1e-9, 1e-3, 1.0, 30.0, 5e5):
        centre, intrinsics = rng.normal(size=3) * away, np.ones(4)
        for _ in range(10):
            views = tuple(
                View("a", Path(), turned_about(centre, rng, dtype), intrinsics, 8, 8)
                for _ in range(6)
            )
            assert Dataset(Path(), views, None, "").scale == 1.0, away
    for size in (1e-6, 1e-3, 1.0, 1e3):  # and others have the distance between them
        centres = size * np.array([[1.0, 0, 0], [-1.0, 0, 0]]) + [0, 3 * size, 0]
        views = tuple(
            View("a", Path(), turned_about(one, rng, np.float64), np.ones(4), 8, 8)
            for one in centres
        )
        np.testing.assert_allclose(Dataset(Path(), views, None, "").scale, 1.1 * size, 1e-6)


def test_views_are_held_out_every_eighth(tmp_path: Path) -> None:
    write_dataset(tmp_path, "blender", shots(10, 8, 6))
    data = load(tmp_path)
    train, test = data.split()
    assert [view.name for view in test] == ["./train/view_000", "./train/view_008"]
    assert len(train) == 8
    assert len(data.split(0)[1]) == 0
    assert len(data.split(3)[1]) == 4


def test_views_are_held_out_as_the_data_set_says(tmp_path: Path) -> None:
    write_dataset(tmp_path, "blender", shots(3))
    content = json.loads((tmp_path / "transforms_train.json").read_text())
    test = {**content, "frames": content["frames"][1:2]}
    write_json(tmp_path / "transforms_test.json", test)
    write_json(tmp_path / "transforms_train.json", {**content, "frames": content["frames"][::2]})
    data = load(tmp_path)
    assert [len(part) for part in data.split()] == [2, 1]
    assert data.split()[1][0].name == "./train/view_001"
    assert data.found == "transforms_train.json with 2 views, transforms_test.json with 1 views"
    write_json(tmp_path / "transforms.json", {**content, "test_filenames": ["./train/view_002"]})
    assert load(tmp_path).split()[1][0].name == "./train/view_002"


@pytest.mark.parametrize("kind", ["colmap-bin", "nerfstudio"])
def test_views_are_scaled_down(tmp_path: Path, kind: str) -> None:
    (shot,) = write_dataset(tmp_path, kind, shots(1, 33, 25))
    (view,) = load(tmp_path, downscale=2).views
    assert (view.width, view.height) == (16, 12)
    np.testing.assert_allclose(view.intrinsics, shot.intrinsics / 2)
    whole = load(tmp_path).views[0].image()
    blocks = whole[:24, :32].reshape(12, 2, 16, 2, 3).mean(axis=(1, 3))
    np.testing.assert_allclose(view.image(), blocks, atol=1e-6)
    # Pictures that are smaller already are taken where they are there.
    (tmp_path / "images_2").mkdir()
    write_picture(tmp_path / "images_2" / "view_000.png", np.full((13, 17, 3), 0.2))
    (view,) = load(tmp_path, downscale=2).views
    assert (view.width, view.height) == (17, 13)
    np.testing.assert_allclose(view.intrinsics[:2], shot.intrinsics[:2] * [17 / 33, 13 / 25])
    np.testing.assert_allclose(view.image(), 0.2, atol=1e-6)
    refuse(tmp_path, "is 33 x 25; expected 26 pixels along each axis", downscale=26)
    with pytest.raises(ValueError, match="whole number from 1, not 0"):
        load(tmp_path, downscale=0)


def test_a_camera_of_the_size_of_the_original_is_scaled(colmap_bin: Path) -> None:
    for k in range(2):
        write_picture(colmap_bin / "images" / f"view_00{k}.png", np.zeros((12, 16, 3)))
    view = load(colmap_bin).views[0]
    np.testing.assert_allclose(view.intrinsics, shots(1)[0].intrinsics / 2)
    write_picture(colmap_bin / "images" / "view_000.png", np.zeros((32, 24, 3)))
    refuse(colmap_bin, "view_000.png: is 24 x 32; expected 32 x 24 pixels, as its camera says")


def test_transparent_pictures_show_the_background(tmp_path: Path) -> None:
    (shot,) = write_dataset(tmp_path, "blender", shots(1))
    alpha = photograph(shot)[..., 3]
    for background in ((0.0, 0.0, 0.0), (1.0, 1.0, 1.0), (0.2, 0.4, 0.6)):
        image = load(tmp_path, background=background).views[0].image()
        assert image.dtype == np.float32
        np.testing.assert_allclose(image[alpha == 0], background + 0 * image[alpha == 0])


def test_pictures_of_every_kind_are_read(tmp_path: Path) -> None:
    wide = np.arange(6, dtype=np.uint16).reshape(2, 3) * 13107
    Pillow.fromarray(wide).save(tmp_path / "deep.png")
    grey = Pillow.fromarray((wide // 257).astype(np.uint8))
    grey.save(tmp_path / "grey.png")
    grey.convert("P").save(tmp_path / "palette.png")
    grey.convert("RGBA").save(tmp_path / "clear.png")
    for name in ("deep", "grey", "palette", "clear"):
        read = read_picture(tmp_path / f"{name}.png", (0.0, 0.0, 0.0))
        np.testing.assert_allclose(read, np.repeat(wide[..., None] / 65535, 3, -1), atol=1e-6)


def test_quaternions_of_all_rotations() -> None:
    draw = np.random.default_rng(0)
    for quaternion in [*np.eye(4), *draw.normal(size=(20, 4))]:
        unit = quaternion / np.linalg.norm(quaternion)
        again = quaternion_of(rotation_of(unit))
        np.testing.assert_allclose(np.abs(again @ unit), 1.0, atol=1e-12)
        posed = PosedImage(1, tuple(quaternion.tolist()), (1.0, 2.0, 3.0), 1, "a.png")
        pose = pose_of(posed, Path("images.txt"))  # its length does not matter
        np.testing.assert_allclose(pose[:3, :3], rotation_of(unit), atol=1e-12)


def camera_line(folder: Path, line: str) -> None:
    (folder / SPARSE / "cameras.txt").write_text(f"# a comment\n\n{line}\n")


@pytest.mark.parametrize(
    ("line", "intrinsics"),
    [
        ("SIMPLE_PINHOLE 32 24 40 16 12", [40, 40, 16, 12]),
        ("SIMPLE_RADIAL 32 24 40 16 12 0", [40, 40, 16, 12]),
        ("RADIAL 32 24 40 16 12 0 0", [40, 40, 16, 12]),
        ("OPENCV 32 24 40 41 16 12 0 0 0 0", [40, 41, 16, 12]),
        ("FULL_OPENCV 32 24 40 41 16 12 0 0 0 0 0 0 0 0", [40, 41, 16, 12]),
        ("FOV 32 24 40 41 16 12 0", [40, 41, 16, 12]),
        ("FOV 32 24 40 41 16 12 1e-320", [40, 41, 16, 12]),
        ("SIMPLE_DIVISION 32 24 40 16 12 0", [40, 40, 16, 12]),
    ],
)
def test_models_without_distortion(colmap_txt: Path, line: str, intrinsics: list[float]) -> None:
    camera_line(colmap_txt, f"1 {line}")
    np.testing.assert_allclose(load(colmap_txt).views[0].intrinsics, intrinsics)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("1 OPENCV 32 24 40 41 16 12 0 0 0", "camera 1 has 7 parameters; expected the 8 of OPENCV"),
        ("1 FOV 32 24 40 41 16 12 -1", "camera 1 has the angle -1.0; expected an angle from 0 to"),
        (
            "1 PINHOL 32 24 40 41 16 12",
            "camera 1 has the unknown model PINHOL; expected one of SIM",
        ),
        ("1 PINHOLE 32 24 40 16 12", "camera 1 has 3 parameters; expected the 4 of PINHOLE"),
        ("1 PINHOLE 32 24 40 0 16 12", "expected finite numbers and a focal length above 0"),
        ("1 PINHOLE 32 24 40 nan 16 12", "expected finite numbers and a focal length above 0"),
        ("1 PINHOLE 0 24 40 40 16 12", "camera 1 is 0 x 24 with the parameters"),
        ("1 PINHOLE wide 24 40 40 16 12", "line 3 is '1 PINHOLE wide 24 40 40 16 12'; expected"),
        ("1 PINHOLE", "line 3 is '1 PINHOLE'; expected 'id model width height parameters'"),
        ("2 PINHOLE 32 24 40 41 16 12", "image 1 ('view_000.png') has the camera 1; expected one"),
        ("1 PINHOLE 3 2 4 4 1 1\n1 PINHOLE 3 2 4 4 1 1", "has the number 1 twice; expected a num"),
    ],
)
def test_a_wrong_camera_is_named(colmap_txt: Path, line: str, message: str) -> None:
    camera_line(colmap_txt, line)
    refuse(colmap_txt, message)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("1 0 0 0 0 0 0 4 1 view_000.png", "the pose of image 1 ('view_000.png') is (0.0, 0.0, 0"),
        ("1 1 0 0 0 0 nan 4 1 view_000.png", "expected a quaternion that is not zero, and finite"),
        ("1 1 0 0 0 0 0 4 1", "line 1 is '1 1 0 0 0 0 0 4 1'; expected 'id qw qx qy qz tx ty tz"),
        ("1 1 0 0 0 0 0 four 1 a.png", "expected 'id qw qx qy qz tx ty tz camera name'"),
        ("1 1 0 0 0 0 0 4 1 none.png", "images/none.png: is not there; expected a picture"),
        ("# nothing", "images.txt: has no images; expected one at least"),
    ],
)
def test_a_wrong_image_is_named(colmap_txt: Path, line: str, message: str) -> None:
    (colmap_txt / SPARSE / "images.txt").write_text(f"{line}\n\n")
    refuse(colmap_txt, message)


def test_images_that_saw_points_and_names_with_blanks(colmap_txt: Path) -> None:
    (colmap_txt / "images" / "view_000.png").rename(colmap_txt / "images" / "a view.png")
    text = (
        "# head\n\n1 2 0 0 0 0 0 4 1 a view.png\n1.5 2.5 -1 3 4 7\n2 1 0 0 0 0 0 4 1 view_001.png"
    )
    (colmap_txt / SPARSE / "images.txt").write_text(text)
    views = load(colmap_txt).views
    assert [view.name for view in views] == ["a view.png", "view_001.png"]
    np.testing.assert_allclose(views[0].world_to_camera[:3, :3], np.eye(3))  # of any length


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("1 0 0 zero 1 2 3 0", "line 1 is '1 0 0 zero 1 2 3 0'; expected 'id x y z r g b error'"),
        ("1 0 0 0 1 2 256 0", "expected 'id x y z r g b error'"),
        ("1 0 0 0 1 2", "expected 'id x y z r g b error'"),
    ],
)
def test_a_wrong_point_is_named(colmap_txt: Path, line: str, message: str) -> None:
    (colmap_txt / SPARSE / "points3D.txt").write_text(line)
    refuse(colmap_txt, message)


def test_points_that_are_not_finite_are_dropped_and_counted(colmap_txt: Path) -> None:
    lines = "1 0 0 nan 1 2 3 0\n2 1 2 3 255 0 51 0.5 1 2 3 4\n"
    (colmap_txt / SPARSE / "points3D.txt").write_text(lines)
    data = load(colmap_txt)
    np.testing.assert_allclose(points_of(colmap_txt).positions, [[1, 2, 3]])
    np.testing.assert_allclose(points_of(colmap_txt).colours, [[1, 0, 0.2]])
    assert data.notes == ("1 points that are not finite were dropped",)
    (colmap_txt / SPARSE / "points3D.txt").write_text("")
    assert load(colmap_txt).points is None


def change(file: str, edit: Callable[[bytes], bytes]) -> Callable[[Path], None]:
    def apply(folder: Path) -> None:
        path = folder / SPARSE / file
        path.write_bytes(edit(path.read_bytes()))

    return apply


@pytest.mark.parametrize(
    ("file", "keep", "message"),
    [
        (
            "cameras.bin",
            0,
            "ends after 0 bytes, in the middle of the number of cameras; expected 8",
        ),
        ("cameras.bin", 5, "ends after 5 bytes, in the middle of the number of cameras"),
        ("cameras.bin", 20, "says that it holds 1 cameras, and 12 bytes follow"),
        (
            "cameras.bin",
            60,
            "ends after 60 bytes, in the middle of camera 1 of 1; expected 4 bytes",
        ),
        ("images.bin", 100, "says that it holds 2 images, and 92 bytes follow; expected at least"),
        ("images.bin", -23, "in the middle of image 2 of 2; expected"),
        ("images.bin", -8, "in the middle of the number of points in image 2 of 2"),
        ("images.bin", -15, "in the middle of the name of image 2 of 2; expected a zero byte"),
        ("points3D.bin", -1, "says that it holds 200 points, and"),
    ],
)
def test_a_truncated_model_says_where(colmap_bin: Path, file: str, keep: int, message: str) -> None:
    change(file, lambda raw: raw[:keep])(colmap_bin)
    refuse(colmap_bin, message)


@pytest.mark.parametrize(
    ("file", "edit", "message"),
    [
        ("cameras.bin", lambda raw: raw + b"1", "has 1 bytes more than its counts say; expected"),
        ("cameras.bin", lambda raw: struct.pack("<Q", 9) + raw[8:], "says that it holds 9 cameras"),
        (
            "cameras.bin",
            lambda raw: raw[:12] + struct.pack("<i", 99) + raw[16:],
            "camera 1 has the unknown model 99; expected 0 to 16.\n  Hint: undistort",
        ),
        ("images.bin", lambda raw: struct.pack("<Q", 1) + raw[8:], "bytes more than its counts"),
        ("images.bin", lambda raw: raw[:72] + b"\xff" + raw[73:], "the name of image 1 of 2 is b"),
        (
            "images.bin",
            lambda raw: raw[:-8] + struct.pack("<Q", 7),
            "says that it holds 7 points in image 2 of 2, and 0 bytes follow; expected at least",
        ),
        (
            "points3D.bin",
            lambda raw: raw[:-8] + struct.pack("<Q", 7),
            "in the middle of the track of point 200 of 200; expected 56 bytes more",
        ),
        ("points3D.bin", lambda raw: raw + bytes(3), "has 3 bytes more than its counts say"),
    ],
)
def test_a_wrong_count_is_named(
    colmap_bin: Path, file: str, edit: Callable[[bytes], bytes], message: str
) -> None:
    change(file, edit)(colmap_bin)
    refuse(colmap_bin, message)


@pytest.mark.parametrize("kind", FORMATS)
def test_views_without_a_picture_are_left_out_if_that_is_allowed(tmp_path: Path, kind: str) -> None:
    """As after blurred pictures are deleted: transforms.json still names them."""
    write_dataset(tmp_path, kind, shots(6, 8, 6))
    whole = load(tmp_path)
    for view in whole.views[1:4]:
        view.path.unlink()
    hint = "write load(..., missing='skip'), or 'difftile train --missing skip'."
    refuse(tmp_path, "3 of 6 pictures cannot be used")
    refuse(tmp_path, hint)
    data = load(tmp_path, missing="skip")
    assert data.missing == tuple(view.name for view in whole.views[1:4])
    left = [whole.views[k] for k in (0, 4, 5)]
    assert [view.name for view in data.views] == [view.name for view in left]
    for one, other in zip(data.views, left, strict=True):
        np.testing.assert_array_equal(one.world_to_camera, other.world_to_camera)
        assert one.held_out == other.held_out
    said = f"3 pictures not there, whose views are left out: {', '.join(data.missing)}"
    assert any(said in note for note in data.notes)
    for view in left:
        view.path.unlink()
    refuse(tmp_path, "has none of its", missing="skip")
    with pytest.raises(ValueError, match="one of error, skip, not 'leave'"):
        load(tmp_path, missing="leave")


def test_files_that_are_missing(tmp_path: Path) -> None:
    refuse(tmp_path / "none", "none: is not there; expected a folder of pictures and cameras")
    refuse(tmp_path, "holds no cameras; expected a COLMAP model in sparse/0, or transforms.json")
    write_dataset(tmp_path, "colmap-bin", shots(1))
    refuse(tmp_path, "photos/view_000.png: is not there; expected a picture", images="photos")
    (tmp_path / SPARSE / "images.bin").unlink()
    refuse(tmp_path, "images.bin: is not there; expected a file")


@pytest.mark.parametrize("kind", ["colmap-bin", "colmap-txt"])
def test_colmap_without_points(tmp_path: Path, kind: str) -> None:
    write_dataset(tmp_path, kind, shots(1))
    (path,) = (tmp_path / SPARSE).glob("points3D.*")
    none = (f"there is no {path.name}, or it is empty",)
    path.write_bytes(b"")
    assert (load(tmp_path).points, load(tmp_path).notes) == (None, none)
    path.unlink()
    assert (load(tmp_path).points, load(tmp_path).notes) == (None, none)
    assert load(tmp_path).found == f"COLMAP's sparse/0/cameras{path.suffix}, 1 views, 0 points"
    path.write_bytes(bytes(8) if kind == "colmap-bin" else b"# no points\n")
    assert load(tmp_path).notes == (f"{path.name} has no points",)
    path.unlink()
    path.symlink_to("nowhere")
    refuse(tmp_path, f"{path.name}: is not there; expected a file")
    path.unlink()
    path.mkdir()
    refuse(tmp_path, f"{path.name}: is a folder; expected a file")


def test_a_broken_picture_is_named(nerfstudio: Path) -> None:
    picture = nerfstudio / "images" / "view_000.png"
    raw = picture.read_bytes()
    picture.write_bytes(raw[: len(raw) // 2])
    data = load(nerfstudio)
    with pytest.raises(DatasetError, match=r"view_000.png: cannot be read \(.*a whole picture"):
        data.views[0].image()
    picture.write_bytes(b"no picture")
    refuse(nerfstudio, "view_000.png: cannot be read (unknown format); expected a picture")
    write_picture(picture, np.zeros((6, 8, 3)))
    with pytest.raises(DatasetError, match="is 8 x 6; expected 32 x 24 pixels"):
        data.views[0].image()


def edited(folder: Path, **changes: Any) -> None:
    """Write transforms.json with other values; None takes one away, `frame` goes into frame 1."""
    path = folder / "transforms.json"
    content = json.loads(path.read_text())
    content["frames"][1].update(changes.pop("frame", {}))
    content = {k: v for k, v in {**content, **changes}.items() if v is not None}
    path.write_text(json.dumps(content))


def test_intrinsics_of_a_frame_and_of_angles(nerfstudio: Path) -> None:
    edited(nerfstudio, frame={"fl_x": 50.0, "cx": 15.0})
    first, second = load(nerfstudio).views
    np.testing.assert_allclose(first.intrinsics, [40, 40, 16, 12])
    np.testing.assert_allclose(second.intrinsics, [50, 40, 15, 12])
    edited(nerfstudio, fl_x=None, fl_y=None, cx=None, cy=None, w=None, h=None, camera_angle_x=0.5)
    np.testing.assert_allclose(load(nerfstudio).views[0].intrinsics[0], 16 / np.tan(0.25))
    np.testing.assert_allclose(load(nerfstudio).views[0].intrinsics[2:], [16, 12])


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"camera_model": "ORTHOPHOTO"}, "has the model ORTHOPHOTO; expected one of"),
        (
            {"frame": {"k4": 0.1}},
            "frames[1] ('images/view_001.png') has k4 not 0 with the model OPENCV, which is amb",
        ),
        ({"k1": "0"}, "k1 is '0'; expected a finite number"),
        (
            {"fl_x": "wide"},
            "transforms.json: fl_x is 'wide'; expected a finite number",
        ),
        ({"fl_x": float("nan")}, "fl_x is nan; expected a finite number"),
        ({"frame": {"fl_x": "1"}}, "frames[1].fl_x is '1'; expected a finite number"),
        ({"frame": {"fl_x": True}}, "frames[1].fl_x is True; expected a finite number"),
        ({"fl_x": 10**30}, "has the intrinsics [1e+30, 40.0, 16.0, 12.0]; expected numbers up to"),
        ({"fl_x": 10**3000}, "fl_x is inf; expected a finite number"),
        ({"camera_model": 3}, "camera_model is 3; expected the name of a model"),
        ({"is_fisheye": "no"}, "is_fisheye is 'no'; expected true or false"),
        ({"fl_x": -1.0}, "has the focal lengths -1.0, 40.0; expected numbers above 0"),
        ({"fl_x": None, "fl_y": None}, "has no focal length; expected 'fl_x' or 'camera_angle_x'"),
        ({"w": 0}, "frames[0] ('images/view_000.png') is 0.0 x 24.0; expected a size above 0"),
        ({"w": 32.5}, "is 32.5 x 24.0; expected a size above 0, in whole pixels"),
        ({"w": 10**7, "h": 10**7}, "is 10000000.0 x 10000000.0; expected a size above 0"),
        ({"w": 24, "h": 24}, "is 32 x 24; expected 24 x 24 pixels, as its camera says"),
        ({"test_filenames": "images"}, "test_filenames is 'images'; expected a list of names"),
        ({"test_filenames": ["a.png"]}, "test_filenames[0] is 'a.png'; expected a 'file_path' of"),
        ({"test_filenames": [["a.png"]]}, "test_filenames[0] is ['a.png']; expected the name"),
        ({"ply_file_path": 3}, "ply_file_path is 3; expected the name of a .ply"),
        ({"frames": []}, "has no 'frames'; expected a list of pictures with their poses"),
        ({"frames": None}, "has no 'frames'"),
        ({"frames": [7]}, "frames[0] is 7; expected an object"),
        ({"frames": [{}]}, "frames[0] has no 'file_path'; expected the name of a picture"),
        ({"frames": {"0": 7}}, "frames is {'0': 7}; expected a list of pictures"),
        ({"frame": {"file_path": "images/none"}}, "images/none: is not there; expected a picture"),
        ({"frame": {"transform_matrix": [[1, 2], [3]]}}, "is [[1, 2], [3]]; expected 4 rows of 4"),
        (
            {"frame": {"transform_matrix": None}},
            "frames[1] has no 'transform_matrix'; expected 4 rows",
        ),
        (
            {"frame": {"transform_matrix": np.diag([1.0, 1, 1, 2]).tolist()}},
            "frames[1].transform_matrix[3] is [0.0, 0.0, 0.0, 2.0]; expected [0, 0, 0, 1]",
        ),
        (
            {"frame": {"transform_matrix": [[1, 0, 0, float("nan")], [0, 1, 0, 0], [0, 0, 1, 0]]}},
            "frames[1].transform_matrix[0][3] is nan; expected a finite number",
        ),
        (
            {"frame": {"transform_matrix": [[1, 0, 0, 1e30], [0, 1, 0, 0], [0, 0, 1, 0]]}},
            "expected numbers up to 1e18",
        ),
        (
            {"frame": {"transform_matrix": np.diag([2.0, 2, 2, 1]).tolist()}},
            "does not rotate: [[2.0, 0.0, 0.0, 0.0]",
        ),
        (
            {"frame": {"transform_matrix": np.diag([1.0, 1, -1, 1]).tolist()}},
            "expected a rotation",
        ),
    ],
)
def test_wrong_transforms_are_named(
    nerfstudio: Path, changes: dict[str, Any], message: str
) -> None:
    edited(nerfstudio, **changes)
    refuse(nerfstudio, message)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            '{"frames": [',
            "transforms.json: is not JSON at line 1, column 13 (Expecting value); expected JSON.",
        ),
        ("[1, 2]", "is JSON without names; expected an object with 'frames'"),
        (b"\xff\xfe\x00", "is not text; expected text in UTF-8"),
    ],
)
def test_a_broken_json_is_named(nerfstudio: Path, text: str | bytes, message: str) -> None:
    raw = text if isinstance(text, bytes) else text.encode()
    (nerfstudio / "transforms.json").write_bytes(raw)
    refuse(nerfstudio, message)


def test_points_of_nerfstudio(nerfstudio: Path) -> None:
    edited(nerfstudio, ply_file_path="points.ply")
    refuse(nerfstudio, "points.ply: is not there; expected a file")
    header = "ply\nformat ascii 1.0\nelement vertex 1\n"
    header += "".join(f"property float {axis}\n" for axis in "xyz")
    colours = "".join(f"property uint8 {c}\n" for c in ("red", "green", "blue"))
    (nerfstudio / "points.ply").write_text(f"{header}{colours}end_header\n1 2 3 255 0 51\n")
    data = load(nerfstudio)
    np.testing.assert_allclose(points_of(nerfstudio).positions, [[1, 2, 3]])
    np.testing.assert_allclose(points_of(nerfstudio).colours, [[1, 0, 0.2]])
    assert data.notes == ()
    edited(nerfstudio, fisheye_crop_radius=10.0)
    assert load(nerfstudio).notes == ("fisheye_crop_radius is not used",)
    assert len(load(nerfstudio / "transforms.json").views) == 2
    (nerfstudio / "points.ply").write_text(f"{header}end_header\n1 2 3\n")
    data = load(nerfstudio)
    np.testing.assert_array_equal(points_of(nerfstudio).colours, [[0.5, 0.5, 0.5]])
    assert data.notes[0] == "the points of points.ply have no colours, and are grey"
    (nerfstudio / "points.ply").write_text(f"{header.replace(' z', ' w')}end_header\n1 2 3\n")
    refuse(nerfstudio, "points.ply: has the properties x, y, w; expected x, y, z")


def test_the_models_of_colmap_have_its_numbers() -> None:
    counts = [3, 4, 4, 5, 8, 8, 12, 5, 4, 5, 12, 16, 4, 5, 3, 4, 6]
    assert [model.count for model in MODELS.values()] == counts
    assert [model.number for model in MODELS.values()] == [*range(17)]
