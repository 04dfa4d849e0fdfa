"""Panoramas as faces of a cube: directions, seams, masks, and views held out together."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from difftile.datasets import load, verify
from difftile.datasets.panoramas import FACES, face_of, face_side
from difftile.diagnostics import DatasetError
from tests.datasets.writers import write_picture

TO_OPENGL = np.diag([1.0, -1.0, -1.0])


def colour(directions: np.ndarray) -> np.ndarray:
    """A smooth colour of directions in the world."""
    waves = directions @ np.array([[1.3, 0.4, -0.7], [-0.5, 1.1, 0.9], [0.8, -0.6, 1.2]])
    return 0.5 + 0.4 * np.sin(waves)


def directions_of(width: int, height: int) -> np.ndarray:
    """Directions of pixels in the axes of OpenGL, by the formulas of nerfstudio."""
    across, down = np.meshgrid(
        2 * np.arange(0.5, width) / width - 1, np.arange(0.5, height) / height
    )
    theta, phi = -np.pi * across, np.pi * down
    sides = -np.sin(theta) * np.sin(phi), np.cos(phi), -np.cos(theta) * np.sin(phi)
    return np.stack(sides, axis=-1)


def write(folder: Path, count: int = 2, width: int = 64, **more: Any) -> list[np.ndarray]:
    """Write panoramas of the colours, with turned cameras; return poses from camera to world."""
    draw, poses, frames = np.random.default_rng(4), [], []
    for k in range(count):
        pose = np.eye(4)
        pose[:3, :3] = np.linalg.qr(draw.normal(size=(3, 3)))[0]
        pose[:3, 0] *= np.linalg.det(pose[:3, :3])
        pose[:3, 3] = draw.normal(size=3)
        seen = colour(directions_of(width, width // 2) @ pose[:3, :3].T)
        write_picture(folder / f"p{k:02}.png", seen)
        frames.append({"file_path": f"p{k:02}.png", "transform_matrix": pose.tolist()})
        poses.append(pose)
    content = {"camera_model": "EQUIRECTANGULAR", "frames": frames, **more}
    (folder / "transforms.json").write_text(json.dumps(content))
    return poses


@pytest.mark.parametrize("downscale", [1, 2])
def test_faces_show_the_directions_of_their_pixels(tmp_path: Path, downscale: int) -> None:
    poses = write(tmp_path, width=256)
    data = load(tmp_path, downscale=downscale)
    assert data.notes == ("2 panoramas as 6 faces of a cube each",)
    assert len(data.views) == 12
    assert {view.face for view in data.views} == {*FACES}
    verify(data)
    for view in data.views:
        pose = poses[int(view.picture[1:3])]
        np.testing.assert_allclose(view.centre, pose[:3, 3], atol=1e-12)
        assert view.width == view.height == face_side(256) // downscale
        fx, fy, cx, cy = view.intrinsics
        x, y = np.meshgrid(np.arange(0.5, view.width), np.arange(0.5, view.height))
        ray = np.stack([(x - cx) / fx, (y - cy) / fy, np.ones_like(x)], axis=-1)
        ray = ray / np.linalg.norm(ray, axis=-1, keepdims=True) @ view.world_to_camera[:3, :3]
        np.testing.assert_allclose(view.image(), colour(ray), atol=0.01)  # bytes are 0.004 apart


def test_faces_cover_all_directions_once() -> None:
    for axes in FACES.values():
        np.testing.assert_array_equal(axes @ axes.T, np.eye(3))
        assert np.linalg.det(axes) == 1
    ahead = np.array([axes[2] for axes in FACES.values()])
    np.testing.assert_array_equal(np.sort(ahead @ ahead.T, axis=1)[:, [0, 5]], [[-1, 1]] * 6)


def test_the_seam_behind_the_camera_is_interpolated() -> None:
    colours = np.zeros((14, 28, 1), np.float32)
    colours[:, 0] = 1.0  # the first column, beside the last one
    back = face_of(colours, "back")[4, :, 0]
    assert face_side(28) == 9
    np.testing.assert_allclose(back[4], 0.5, atol=1e-6)  # backward, between the two columns
    assert back[3] == 0 and back[5] > 0.5  # to the right of backward is the left of the picture


def test_pictures_are_held_out_whole(tmp_path: Path) -> None:
    write(tmp_path, 9, width=8)
    train, held_out = load(tmp_path).split()
    assert {view.picture for view in held_out} == {"p00.png", "p08.png"}
    assert (len(train), len(held_out)) == (42, 12)
    write(tmp_path, 3, width=8, test_filenames=["p01.png"])
    assert {view.picture for view in load(tmp_path).split()[1]} == {"p01.png"}


def test_masks_of_panoramas(tmp_path: Path) -> None:
    write(tmp_path, 1)
    left = np.zeros((32, 64), np.uint8)
    left[:, :32] = 255
    Image.fromarray(left).save(tmp_path / "m.png")
    content = json.loads((tmp_path / "transforms.json").read_text())
    content["frames"][0]["mask_path"] = "m.png"
    (tmp_path / "transforms.json").write_text(json.dumps(content))
    masks = {view.face: view.mask() for view in load(tmp_path).views}
    assert masks["left"].min() == 1
    assert masks["right"].max() == 0
    assert masks["front"][:, :9].min() == 1 and masks["front"][:, -9:].max() == 0
    np.testing.assert_array_equal(masks["back"], masks["front"][:, ::-1])


def refuse(folder: Path, said: str) -> None:
    with pytest.raises(DatasetError, match=re.escape(said)):
        load(folder)


def test_broken_panoramas(tmp_path: Path) -> None:
    write(tmp_path, 1, width=8)
    view = load(tmp_path).views[0]
    write_picture(tmp_path / "p00.png", np.zeros((6, 8, 3)))
    refuse(tmp_path, "is 8 x 6; expected a panorama of all directions, twice as wide as high")
    with pytest.raises(DatasetError, match="is 8 x 6; expected a panorama whose faces have 3 x 3"):
        view.image()
    (tmp_path / "p00.png").unlink()
    refuse(tmp_path, "p00.png: is not there; expected a picture")
    write(tmp_path, 1, width=8)
    content = json.loads((tmp_path / "transforms.json").read_text())
    content["frames"][0]["depth_file_path"] = "d.png"
    (tmp_path / "transforms.json").write_text(json.dumps(content))
    refuse(tmp_path, "frames[0] is a panorama with a depth map; expected one without")
    write(tmp_path, 1, width=4)
    with pytest.raises(DatasetError, match="is 4 x 2; expected a panorama"):
        load(tmp_path, downscale=4)
