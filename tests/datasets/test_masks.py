"""Masks of pictures: where they are found, and which pixels they let count."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from difftile.datasets import load, verify
from difftile.datasets.undistort import undistorted
from difftile.diagnostics import DatasetError
from scenes.balls import shots
from tests.datasets.generated import write_dataset, write_json

LEFT = np.repeat(np.arange(8)[None] < 4, 6, axis=0)  # the left half of a picture counts


def write_mask(path: Path, counts: np.ndarray = LEFT, white: int = 255) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    Image.fromarray(np.uint8(counts * white)).save(path)


@pytest.fixture
def scene(tmp_path: Path) -> Path:
    write_dataset(tmp_path, "colmap-txt", shots(3, 8, 6))
    return tmp_path


@pytest.mark.parametrize("name", ["view_{}.png.png", "view_{}.png", "view_{}.jpg", "VIEW_{}.PNG"])
def test_masks_are_found_beside_the_images(scene: Path, name: str) -> None:
    for k in range(3):
        write_mask(scene / "masks" / name.format(f"{k:03}"))
    data = load(scene)
    assert data.notes == ()
    for view in data.views:
        np.testing.assert_array_equal(view.mask(), LEFT)
        assert view.mask().dtype == np.float32
    verify(data, masks=True)


def test_some_masks_or_none_that_fits_are_noted(scene: Path) -> None:
    (scene / "masks").mkdir()
    assert load(scene).notes == (
        "masks has masks for none of the pictures: that of a.jpg is a.jpg.png or a.png",
    )
    np.testing.assert_array_equal(load(scene).views[0].mask(), np.ones((6, 8)))
    write_mask(scene / "masks" / "view_001.png")
    data = load(scene)
    assert data.notes == ("2 pictures without a mask",)
    assert [view.mask_file is not None for view in data.views] == [False, True, False]


def test_masks_that_json_names(tmp_path: Path) -> None:
    write_dataset(tmp_path, "nerfstudio", shots(2, 8, 6))
    content = json.loads((tmp_path / "transforms.json").read_text())
    content["frames"][1]["mask_path"] = "images/people.png"
    write_json(tmp_path / "transforms.json", content)
    with pytest.raises(DatasetError, match=r"images/people.png: is not there; expected a mask"):
        load(tmp_path)
    data = load(tmp_path, missing="skip")
    assert data.missing == ("images/view_001.png",)
    write_mask(tmp_path / "images" / "people.png")
    data = load(tmp_path)
    assert data.notes == ("1 picture without a mask",)  # and the mask is no stray picture
    np.testing.assert_array_equal(data.views[1].mask(), LEFT)
    content["frames"][1]["mask_path"] = "../people.png"
    write_json(tmp_path / "transforms.json", content)
    with pytest.raises(DatasetError, match=r"frames\[1\].mask_path is .* leads out of"):
        load(tmp_path)


def test_alpha_is_a_mask(tmp_path: Path) -> None:
    write_dataset(tmp_path, "blender", shots(1, 8, 6))
    (view,) = load(tmp_path).views
    alpha = np.asarray(Image.open(view.path))[..., 3]
    assert 0 < alpha.mean() < 255
    np.testing.assert_allclose(view.mask(), alpha / 255, atol=1e-7)


@pytest.mark.parametrize("mode", ["1", "L", "P", "RGB", "LA", "RGBA", "I;16"])
def test_masks_of_every_kind_of_file(scene: Path, mode: str) -> None:
    mask = Image.fromarray(np.uint8(255 * LEFT))
    if mode == "I;16":
        mask = Image.fromarray(np.uint16(65535 * LEFT))
    elif mode == "RGBA":  # white, and transparent where pixels do not count
        mask = Image.merge("RGBA", (*Image.new("RGB", (8, 6), "white").split(), mask))
    else:
        mask = mask.convert(mode)
    (scene / "masks").mkdir()
    mask.save(scene / "masks" / "view_000.png")
    np.testing.assert_array_equal(load(scene).views[0].mask(), LEFT)


def test_labels_and_noise_of_jpeg(scene: Path) -> None:
    write_mask(scene / "masks" / "view_000.png", white=1)  # labels 0 and 1
    noise = np.random.default_rng(0).integers(0, 20, LEFT.shape)
    write_mask(scene / "masks" / "view_001.png", np.where(LEFT, 255 - noise, noise), white=1)
    first, second, _ = load(scene).views
    np.testing.assert_array_equal(first.mask(), LEFT)
    np.testing.assert_array_equal(second.mask(), LEFT)


def test_masks_are_scaled_and_undistorted_as_their_pictures(scene: Path) -> None:
    """The oracle is a picture that is white where pixels count."""
    small = np.random.default_rng(1).random((6, 8)) < 0.5
    write_mask(scene / "masks" / "view_000.png", small)
    Image.fromarray(np.uint8(255 * small)).convert("RGB").save(scene / "images" / "view_000.png")
    (scene / "sparse/0/cameras.txt").write_text("1 OPENCV 8 6 9 9 4 3 0.1 0.01 0.01 0.01\n")
    for downscale in (1, 2):
        view = load(scene, downscale=downscale).views[0]
        assert view.lens is not None
        np.testing.assert_allclose(view.mask(), view.image()[..., 0], atol=1e-6)
    # A mask of twice the size has the same pixels.
    write_mask(scene / "masks" / "view_000.png", np.kron(small, np.ones((2, 2), bool)))
    view = load(scene).views[0]
    np.testing.assert_allclose(view.mask(), view.image()[..., 0], atol=1e-6)
    fx, fy, cx, cy = view.intrinsics.tolist()
    assert view.lens is not None
    many = undistorted(np.zeros((6, 8, 5), np.float32), view.lens, (fx, fy, cx, cy))
    assert many.shape == (6, 8, 5)  # any number of channels


def test_wrong_masks_are_named(scene: Path) -> None:
    path = scene / "masks" / "view_001.png"
    for counts, message in (
        (np.ones((6, 6), bool), "view_001.png: is 6 x 6; expected 8 x 6 pixels as its picture"),
        (np.zeros((6, 8), bool), "leaves no pixel that counts; expected white where pixels count"),
    ):
        write_mask(path, counts)
        with pytest.raises(DatasetError, match=re.escape(message)):
            verify(load(scene), masks=True)
    verify(load(scene))
    assert not load(scene).views[1].mask().any()  # an object may be out of sight
    path.write_bytes(b"no picture")
    with pytest.raises(DatasetError, match=r"masks/view_001.png: cannot be read"):
        verify(load(scene), masks=True)
    Image.fromarray(np.full((6, 8), -1.0, np.float32)).save(path, "TIFF")
    with pytest.raises(DatasetError, match="has numbers below 0 or not finite"):
        load(scene).views[1].mask()
    view = replace(load(scene).views[0], mask_file=scene / "none.png")
    with pytest.raises(DatasetError, match=r"none.png: is not there"):
        view.mask()
