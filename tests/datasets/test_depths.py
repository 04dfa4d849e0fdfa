"""Depth maps of data sets: units, unknown values, sizes, lenses, and broken files."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from difftile.datasets import View, load, verify
from difftile.diagnostics import DatasetError
from scenes.balls import shots
from tests.datasets.generated import write_dataset, write_json

WIDTH, HEIGHT = 20, 14


def view_of(folder: Path, name: str, depths: Any = None, **more: Any) -> View:
    """Write a data set whose first frame has a depth map; `more` is for the file of cameras.

    Names that begin with "frame_" are of the first frame.
    """
    write_dataset(folder, "nerfstudio", shots(2, WIDTH, HEIGHT))
    content = json.loads((folder / "transforms.json").read_text())
    frame = content["frames"][0]
    frame["depth_file_path"] = name
    for key, value in more.items():
        (frame if key.startswith("frame_") else content)[key.removeprefix("frame_")] = value
    write_json(folder / "transforms.json", content)
    if depths is not None and name.endswith(".npy"):
        np.save(folder / name, depths)
    elif depths is not None:
        Image.fromarray(depths).save(folder / name)
    return next(view for view in load(folder).views if view.depth is not None)


def millimetres() -> np.ndarray:
    return np.random.default_rng(0).integers(1, 65536, (HEIGHT, WIDTH)).astype(np.uint16)


@pytest.mark.parametrize("name", ["d.png", "d.npy", "d.tiff"])
def test_depths_are_in_millimetres_and_0_is_unknown(tmp_path: Path, name: str) -> None:
    given = millimetres()
    given[3, 4] = 0
    found = view_of(tmp_path, name, given).depths()
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, given / 1000, rtol=1e-6)
    assert found[3, 4] == 0


def test_floats_that_are_not_finite_are_unknown(tmp_path: Path) -> None:
    given = np.full((HEIGHT, WIDTH, 1), 2.5, ">f4")
    given[0, :3, 0] = np.nan, np.inf, -np.inf
    found = view_of(tmp_path, "d.npy", given, depth_unit_scale_factor=1).depths()
    assert found[0, :4].tolist() == [0.0, 0.0, 0.0, 2.5]


@pytest.mark.parametrize(
    ("more", "unit"),
    [
        ({"depth_unit_scale_factor": 0.01}, 0.01),
        ({"depth_unit_scale_factor": 0.01, "frame_depth_unit_scale_factor": 2}, 2.0),
        ({"applied_scale": 0.5}, 0.0005),
    ],
)
def test_the_unit_of_depths(tmp_path: Path, more: dict[str, float], unit: float) -> None:
    view = view_of(tmp_path, "d.png", np.full((HEIGHT, WIDTH), 100, np.uint16), **more)
    assert view.depth_unit == pytest.approx(unit)
    np.testing.assert_allclose(view.depths(), 100 * unit, rtol=1e-6)


@pytest.mark.parametrize("value", [0, -1, "1", True])
def test_units_that_are_none(tmp_path: Path, value: Any) -> None:
    with pytest.raises(DatasetError, match=r"depth_unit_scale_factor is"):
        view_of(tmp_path, "d.png", depth_unit_scale_factor=value)


def test_maps_of_other_sizes_and_smaller_views(tmp_path: Path) -> None:
    given = millimetres()
    view = view_of(tmp_path, "d.png", given)
    small = given[:: HEIGHT // 7, :: WIDTH // 10]
    Image.fromarray(small).save(tmp_path / "d.png")
    np.testing.assert_allclose(view.depths(), small.repeat(2, 0).repeat(2, 1) / 1000, rtol=1e-6)
    Image.fromarray(given.repeat(3, 0).repeat(3, 1)).save(tmp_path / "d.png")
    np.testing.assert_allclose(view.depths(), given / 1000, rtol=1e-6)
    Image.fromarray(given).save(tmp_path / "d.png")
    for downscale in (2, 3):
        reduced = next(v for v in load(tmp_path, downscale=downscale).views if v.depth)
        h, w = reduced.height, reduced.width
        assert (h, w) == (HEIGHT // downscale, WIDTH // downscale)
        rows, columns = (np.arange(n) * downscale + downscale // 2 for n in (h, w))
        np.testing.assert_allclose(reduced.depths(), given[rows][:, columns] / 1000, rtol=1e-6)


def test_the_map_of_a_distorted_lens_is_undistorted_as_its_picture(tmp_path: Path) -> None:
    ramp = np.tile(np.arange(WIDTH), (HEIGHT, 1))
    view = view_of(tmp_path, "d.png", (1000 * (1 + ramp)).astype(np.uint16), k1=1.5)
    assert view.lens is not None
    grey = (10 * (1 + ramp)).astype(np.uint8)
    Image.fromarray(np.repeat(grey[..., None], 3, axis=2)).save(view.path)
    columns = view.image()[..., 0] * 255 / 10  # interpolated
    depths = view.depths()
    assert np.abs(depths - columns).max() <= 0.51
    assert np.abs(depths - (1 + ramp)).max() >= 1.0


def test_broken_maps(tmp_path: Path) -> None:
    view = view_of(tmp_path, "d.npy", millimetres())
    verify(load(tmp_path), depths=True)
    view = replace(view, depth_unit=10.0)
    content = json.loads((tmp_path / "transforms.json").read_text())
    write_json(tmp_path / "transforms.json", {**content, "depth_unit_scale_factor": 10})
    bad = np.ones((HEIGHT, WIDTH))
    bad[2, 5] = -1.0
    objects = np.array([[None]])
    for given, message in (
        (bad, "has -1.0 in row 2, column 5; expected depths above 0, or 0 where"),
        (np.full((HEIGHT, WIDTH), 1e30), "has 1e+30 in row 0, column 0"),
        (np.full((HEIGHT, WIDTH), 1.5e308), "has 1.5e+308 in row 0, column 0"),
        (np.ones((HEIGHT, WIDTH, 3)), f"has the shape ({HEIGHT}, {WIDTH}, 3) of float64"),
        (np.ones((0, WIDTH)), "has the shape (0, 20)"),
        (np.ones((HEIGHT, WIDTH), bool), "of bool"),
        (objects, "of dtype('O')"),
        (np.ones((WIDTH, HEIGHT)), "is 14 x 20; expected 20 x 14 pixels as its picture"),
    ):
        np.save(tmp_path / "d.npy", given, allow_pickle=given is objects)
        with pytest.raises(DatasetError, match=re.escape(message)):
            view.depths()
        with pytest.raises(DatasetError, match=re.escape(message)):
            verify(load(tmp_path), depths=True)
        verify(load(tmp_path))
    whole = millimetres()
    np.save(tmp_path / "d.npy", whole)
    content = (tmp_path / "d.npy").read_bytes()
    (tmp_path / "d.npy").write_bytes(content[:-1])
    with pytest.raises(DatasetError, match="expected"):
        view.depths()
    (tmp_path / "d.npy").unlink()
    with pytest.raises(DatasetError, match=r"d\.npy: is not there"):
        verify(load(tmp_path), depths=True)
    picture = replace(view, depth=tmp_path / "d.png")
    Image.fromarray(np.ones((HEIGHT, WIDTH), np.uint8)).save(tmp_path / "d.png")
    with pytest.raises(DatasetError, match="has pixels of the kind L; expected 16 bits of grey"):
        picture.depths()
    Image.fromarray(whole).save(tmp_path / "d.png")
    (tmp_path / "d.png").write_bytes((tmp_path / "d.png").read_bytes()[:-60])
    with pytest.raises(DatasetError, match="whole depth map"):
        picture.depths()
    with pytest.raises(DatasetError, match="has no depth map"):
        replace(view, depth=None).depths()


def test_maps_stay_in_the_folder(tmp_path: Path) -> None:
    with pytest.raises(DatasetError, match=r"depth_file_path is '\.\./d\.png', which leads out"):
        view_of(tmp_path / "set", "../d.png")
