"""Data sets that other programs and systems left incomplete: names, models, poses, packed files."""

from __future__ import annotations

import json
import re
import shutil
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from difftile.datasets import load, read_splats
from difftile.diagnostics import DatasetError
from scenes.balls import shots
from tests.datasets.generated import FORMATS, nerfstudio, reconstruction, write_dataset, write_json
from tests.datasets.writers import write_binary

POINTER = (
    b"version https://git-lfs.github.com/spec/v1\n"
    b"oid sha256:4d7a214614ab2935c943f9e0ff69d22eadbb8f32b1258daaa5e2ca24d17e2393\nsize 12345\n"
)


def refuse(folder: Path, message: str, **options: Any) -> None:
    with pytest.raises(DatasetError, match=re.escape(message)):
        load(folder, **options)


# Names


@pytest.mark.parametrize(
    ("there", "named"),
    [
        ("images/IMG_{}.JPG", "images/IMG_{}.jpg"),
        ("images/IMG_{}.jpg", "images/img_{}.JPG"),
        ("images/IMG_{}.JPG", "images/IMG_{}.jpeg"),
        ("images/a/{}.png", "images\\a\\{}.png"),
        ("images/a/{}.PNG", "images\\A\\{}.png"),
        ("Images/{}.png", "./images/{}.png"),
    ],
)
def test_pictures_by_another_name(tmp_path: Path, there: str, named: str) -> None:
    views = write_dataset(tmp_path, "nerfstudio", shots(2, 8, 6))
    content: Any = nerfstudio(views)
    for k, frame in enumerate(content["frames"]):
        path = tmp_path / there.format(k)
        path.parent.mkdir(parents=True, exist_ok=True)
        shutil.move(tmp_path / frame["file_path"], path)
        frame["file_path"] = named.format(k)
    if not any((tmp_path / "images").iterdir()):
        (tmp_path / "images").rmdir()
    write_json(tmp_path / "transforms.json", content)
    data = load(tmp_path)
    wanted = sorted(tmp_path / there.format(k) for k in range(2))
    assert sorted(view.path.resolve() for view in data.views) == [one.resolve() for one in wanted]
    (note,) = data.notes
    shown = named.format(0).replace("\\", "\\\\")
    assert note == f"2 pictures found by another name: {there.format(0)} for {shown} and 1 more"


def test_a_name_that_may_mean_two_files_means_none(tmp_path: Path) -> None:
    write_dataset(tmp_path, "colmap-bin", shots(1, 8, 6))
    path = tmp_path / "images" / "view_000.png"
    for name in ("View_000.png", "VIEW_000.png"):
        shutil.copy(path, path.with_name(name))
    path.unlink()
    refuse(tmp_path, "view_000.png: is not there")
    for name in ("View_000.png", "VIEW_000.png"):  # and other kinds of files are others
        path.with_name(name).rename(path.with_name(name).with_suffix(".bmp"))
    refuse(tmp_path, "view_000.png: is not there")


def test_names_of_windows_do_not_lead_outside(tmp_path: Path) -> None:
    write_dataset(tmp_path / "data", "nerfstudio", shots(1, 8, 6))
    shutil.move(tmp_path / "data" / "images" / "view_000.png", tmp_path / "a.png")
    content = json.loads((tmp_path / "data" / "transforms.json").read_text())
    content["frames"][0]["file_path"] = "images\\..\\..\\a.png"
    write_json(tmp_path / "data" / "transforms.json", content)
    refuse(tmp_path / "data", "leads out of")
    content["frames"][0]["file_path"] = "images/A.png"
    write_json(tmp_path / "data" / "transforms.json", content)
    (tmp_path / "data" / "images" / "a.png").symlink_to(tmp_path / "a.png")
    refuse(tmp_path / "data", "leads out of")


# Models


@pytest.mark.parametrize("parent", ["sparse", "colmap/sparse"])
def test_the_largest_model_of_colmap_is_read(tmp_path: Path, parent: str) -> None:
    """The mapper often leaves a small model in sparse/0 and the large one in sparse/1."""
    views = write_dataset(tmp_path, "colmap-bin", shots(3, 8, 6))
    if parent != "sparse":
        shutil.move(tmp_path / "sparse", tmp_path / parent)
    for number, count in (("0", 1), ("1", 3), ("2", 2), ("10", 3)):
        write_binary(tmp_path / parent / number, reconstruction(views[:count]))
    (tmp_path / parent / "old").mkdir()
    data = load(tmp_path)
    assert data.found.startswith(f"COLMAP's {parent}/1/cameras.bin, 3 views")
    assert [note for note in data.notes if "model" in note] == [
        f"{parent}/{k} is another model, of {of}: --model {parent}/{k} reads it"
        for k, of in (("0", "1 picture"), ("2", "2 pictures"), ("10", "3 pictures"))
    ]
    for model in ("2", f"{parent}/2", f"./{parent}/2/"):
        data = load(tmp_path, model=model)
        assert len(data.views) == 2
        assert not any("model" in note for note in data.notes)
    again = load(tmp_path / parent / "1", images="../" * (parent.count("/") + 2) + "images")
    assert len(again.views) == 3


def test_models_that_are_not_there_or_broken(tmp_path: Path) -> None:
    write_dataset(tmp_path, "colmap-txt", shots(2, 8, 6))
    shutil.copytree(tmp_path / "sparse" / "0", tmp_path / "sparse" / "1")
    refuse(tmp_path, "has no model '2' of COLMAP; expected one of sparse/0, sparse/1", model="2")
    refuse(tmp_path, "the model is '../a', which leads out of", model="../a")
    (tmp_path / "sparse" / "1" / "images.txt").unlink()
    refuse(tmp_path, "to read another model, write load(..., model='sparse/0')")
    assert len(load(tmp_path, model="0").views) == 2
    write_dataset(tmp_path / "json", "nerfstudio", shots(1, 8, 6))
    refuse(tmp_path / "json", "has no model '0' of COLMAP; expected the number or the", model="0")


# Poses and points


def with_poses(folder: Path, change: Callable[[np.ndarray], np.ndarray]) -> None:
    write_dataset(folder, "nerfstudio", shots(5, 8, 6))
    content = json.loads((folder / "transforms.json").read_text())
    for frame in content["frames"]:
        frame["transform_matrix"] = change(np.array(frame["transform_matrix"])).tolist()
    write_json(folder / "transforms.json", content)


def scaled(matrix: np.ndarray) -> np.ndarray:
    return matrix * np.where(np.arange(16).reshape(4, 4) % 4 == 3, 1.0, 1.0001)


@pytest.mark.parametrize(
    ("change", "near"),
    [
        (lambda m: np.round(m, 3), 2e-3),
        (lambda m: np.round(m, 6), 2e-6),
        (scaled, 1e-12),
        (lambda m: 1.0001 * m, 1e-12),  # homogeneous coordinates
        (lambda m: m.astype(np.float32).astype(float), 1e-6),
    ],
)
def test_poses_that_are_rounded_or_scaled_are_mended(
    tmp_path: Path, change: Callable[[np.ndarray], np.ndarray], near: float
) -> None:
    with_poses(tmp_path, change)
    data = load(tmp_path)
    for view, shot in zip(data.views, shots(5, 8, 6), strict=True):
        pose, wanted = view.world_to_camera, shot.world_to_camera
        np.testing.assert_allclose(pose[:3, :3] @ pose[:3, :3].T, np.eye(3), atol=1e-14)
        assert np.linalg.det(pose) > 0
        np.testing.assert_allclose(pose[:3, :3], wanted[:3, :3], atol=near)
        centre = -wanted[:3, :3].T @ wanted[:3, 3]
        np.testing.assert_allclose(view.centre, centre, atol=2 * near)
    told = [note for note in data.notes if "nearest rotations" in note]
    assert len(told) == (change is scaled or near == 2e-3)
    for note in told:
        assert re.match(r"[45] of 5 poses are rotations but for 0\.00", note)


def test_a_pose_of_two_digits_is_refused(tmp_path: Path) -> None:
    with_poses(tmp_path, lambda m: np.round(m, 2))
    refuse(tmp_path, "does not rotate")


# Files in place of others


@pytest.mark.parametrize("kind", FORMATS)
def test_pointers_of_git_lfs_and_zip_files_are_told(tmp_path: Path, kind: str) -> None:
    write_dataset(tmp_path, kind, shots(1, 8, 6))
    for path in sorted(one for one in tmp_path.rglob("*") if one.is_file()):
        before = path.read_bytes()
        path.write_bytes(POINTER)
        refuse(tmp_path, f"{path.name}: is a pointer of Git LFS and not the file itself")
        refuse(tmp_path, "run 'git lfs pull' in its folder")
        path.unlink()
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr("a", "b")
        refuse(tmp_path, f"{path.name}: is a zip file")
        path.write_bytes(before)
    load(tmp_path)


def test_what_is_still_packed_is_told(tmp_path: Path) -> None:
    write_dataset(tmp_path / "data", "colmap-bin", shots(2, 8, 6))
    shutil.make_archive(str(tmp_path / "data" / "images"), "zip", tmp_path / "data" / "images")
    shutil.rmtree(tmp_path / "data" / "images")
    refuse(tmp_path / "data", "Hint: unpack images.zip first")
    shutil.rmtree(tmp_path / "data" / "sparse")
    refuse(tmp_path / "data", "Hint: unpack images.zip first")
    refuse(tmp_path / "data" / "images.zip", "is a zip file; expected a folder of pictures")
    (tmp_path / "a.txt").write_text("")
    refuse(tmp_path / "a.txt", "is a file; expected a folder of pictures")
    (tmp_path / "a.ply").write_bytes(POINTER)
    with pytest.raises(DatasetError, match="pointer of Git LFS"):
        read_splats(tmp_path / "a.ply")
