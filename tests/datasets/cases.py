"""Small valid files of every format, and the checks of their contents."""

from __future__ import annotations

import importlib.util
import io
import json
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from difftile.datasets import Splats, load, read_splats, verify, write_splats
from difftile.datasets.images import read_picture
from difftile.datasets.inria import write_splat_ply
from difftile.datasets.ply import write_ply
from difftile.datasets.splats import PARAMETERS
from difftile.diagnostics import LaunchError
from difftile.files.arrays import read_arrays, write_arrays
from difftile.optim.saved import Wanted, restored
from difftile.training import run_checkpoint
from difftile.training.from_points import gaussians_at
from difftile.training.options import Options
from scenes.balls import shots
from tests.datasets.generated import FORMATS, reconstruction, write_dataset, write_json
from tests.datasets.packed import ksplat, packed, spz_of_streams
from tests.datasets.writers import write_binary


@dataclass(frozen=True)
class Case:
    """A folder of valid files.

    Args:
        name: Of the format.
        files: The files to change, one at a time, below the folder of the case.
        check: Reads them, given the folder and the changed file. Raises `DatasetError` if they
            cannot be read, and `AssertionError` if the contents are wrong.
    """

    name: str
    files: tuple[str, ...]
    check: Callable[[Path, Path], None]


def write_cases(folder: Path) -> list[Case]:
    """Write valid files; return the cases, each in the folder of its name."""
    found: list[Case] = []
    for kind in FORMATS:
        write_dataset(folder / kind, kind, shots(2, 8, 6))
        found.append(Case(kind, _files_of(folder / kind), _check_dataset))
    _add_points(folder / "nerfstudio")
    found[FORMATS.index("nerfstudio")] = Case(
        "nerfstudio", (*_files_of(folder / "nerfstudio"), "points.ply"), _check_dataset
    )
    for kind, distort in (("colmap-txt", _distort_text), ("nerfstudio", _distort_json)):
        name = f"distorted {kind}"
        write_dataset(folder / name, kind, shots(2, 8, 6))
        distort(folder / name)
        found.append(Case(name, _files_of(folder / name), _check_dataset))
    for name, write, files in (
        ("masked colmap", _write_masked_model, _MASKED_MODEL),
        ("masked nerfstudio", _write_masked_json, _MASKED_JSON),
        ("panoramas", _write_panoramas, ("transforms.json", "images/view_000.png", "m/a.png")),
    ):
        write(folder / name)
        found.append(Case(name, files, _check_skipping))
    for name, write, check in (
        ("pictures", _write_pictures, _check_picture),
        ("splats", _write_splats, _check_splats),
        ("packed splats", _write_packed_splats, _check_splats),
        ("state", _write_state, _check_state),
        ("checkpoint", _write_checkpoint, _check_checkpoint),
    ):
        (folder / name).mkdir()
        write(folder / name)
        found.append(Case(name, _files_of(folder / name), check))
    return found


def _files_of(folder: Path) -> tuple[str, ...]:
    """Return the files of a folder; of the pictures of a data set the first, which is enough."""
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    pictures = [path for path in files if path.name.startswith("view_")][1:]
    return tuple(str(path.relative_to(folder)) for path in files if path not in pictures)


# Data sets


def _add_points(folder: Path) -> None:
    header = "ply\nformat ascii 1.0\nelement vertex 3\n"
    header += "".join(f"property float {axis}\n" for axis in "xyz")
    header += "".join(f"property uchar {colour}\n" for colour in ("red", "green", "blue"))
    header += "element face 2\nproperty list uchar int vertex_index\nend_header\n"
    rows = "1 2 3 255 0 51\n0 0 1 1 2 3\n-1 0.5 2 9 9 9\n3 0 1 2\n2 0 1\n"
    (folder / "points.ply").write_text(header + rows)
    content = json.loads((folder / "transforms.json").read_text())
    names = [frame["file_path"] for frame in content["frames"]]
    write_json(
        folder / "transforms.json",
        {**content, "ply_file_path": "points.ply", "test_filenames": names[:1]},
    )


def _distort_text(folder: Path) -> None:
    """Let the two pictures have cameras of their own."""
    sparse = folder / "sparse" / "0"
    lens = "8 6 10 10 4 3"
    (sparse / "cameras.txt").write_text(
        f"1 FULL_OPENCV {lens} 0.1 0.02 0.001 0.002 0.01 0.1 0.02 0.01\n"
        f"2 THIN_PRISM_FISHEYE {lens} 0.1 0.02 0.001 0.002 0.01 0.001 0.002 0.001\n"
    )
    images = (sparse / "images.txt").read_text()
    (sparse / "images.txt").write_text(images.replace(" 1 view_001", " 2 view_001"))


def _distort_json(folder: Path) -> None:
    content = json.loads((folder / "transforms.json").read_text())
    content |= {"k1": 0.1, "k2": 0.01, "k3": 0.01, "p1": 0.001, "p2": -0.001}
    fisheye = {"camera_model": "OPENCV_FISHEYE", "p1": 0.0, "p2": 0.0, "k4": 0.01}
    content["frames"][1] |= fisheye
    write_json(folder / "transforms.json", content)


_MASKED_MODEL = (
    *(f"sparse/{k}/{part}.bin" for k in range(2) for part in ("cameras", "images", "points3D")),
    *("images/VIEW_001.jpg", "masks/view_000.png.png", "masks/view_001.png"),
)
_MASKED_JSON = ("transforms.json", "images/view_000.png", "m/a.png", "points.ply")


def _write_masked_model(folder: Path) -> None:
    """Two models, the larger one with a picture of another name and a missing one, and masks."""
    views = write_dataset(folder, "colmap-bin", shots(3, 8, 6))
    write_binary(folder / "sparse" / "1", reconstruction(views, 3))
    write_binary(folder / "sparse" / "0", reconstruction(views[:1], 3))
    images = folder / "sparse" / "1" / "images.bin"
    images.write_bytes(images.read_bytes().replace(b"view_001.png", b"view_001.JPG"))
    Image.open(folder / "images" / "view_001.png").save(folder / "images" / "VIEW_001.jpg")
    (folder / "masks").mkdir()
    for name in ("view_000.png.png", "view_001.png"):
        _half_mask().save(folder / "masks" / name)
    for k in (1, 2):
        (folder / "images" / f"view_00{k}.png").unlink()


def _write_masked_json(folder: Path) -> None:
    """A mask, names of Windows, poses of three digits, and points without colours."""
    write_dataset(folder, "nerfstudio", shots(2, 8, 6))
    content = json.loads((folder / "transforms.json").read_text())
    for frame in content["frames"]:
        frame["file_path"] = frame["file_path"].replace("/", "\\")
        frame["transform_matrix"] = np.round(frame["transform_matrix"], 3).tolist()
        frame["mask_path"] = "m/a.png"
    (folder / "m").mkdir()
    _half_mask().save(folder / "m" / "a.png")
    header = "ply\nformat ascii 1.0\nelement vertex 2\n"
    header += "".join(f"property float {axis}\n" for axis in "xyz")
    (folder / "points.ply").write_text(f"{header}end_header\n1 2 3\n0 1 2\n")
    write_json(folder / "transforms.json", {**content, "ply_file_path": "points.ply"})


def _write_panoramas(folder: Path) -> None:
    """Panoramas with masks, which pictures of the balls may pass for."""
    write_dataset(folder, "nerfstudio", shots(2, 12, 6))
    content = json.loads((folder / "transforms.json").read_text())
    content["camera_model"] = "EQUIRECTANGULAR"
    for frame in content["frames"]:
        frame["mask_path"] = "m/a.png"
    (folder / "m").mkdir()
    _half_mask().resize((12, 6)).save(folder / "m" / "a.png")
    write_json(folder / "transforms.json", content)


def _half_mask() -> Image.Image:
    return Image.fromarray(np.repeat(np.uint8(255 * (np.arange(8) < 4))[None], 6, axis=0))


def _check_skipping(folder: Path, changed: Path) -> None:
    _check_dataset(folder, changed, missing="skip")


def _check_dataset(folder: Path, changed: Path, missing: str = "error") -> None:
    data = load(folder, missing=missing)
    assert missing == "skip" or not data.missing
    assert data.views
    assert all(note.isprintable() and len(note) < 1000 for note in data.notes)
    verify(data, masks=True)
    for view in data.views:
        pose = view.world_to_camera
        assert pose.shape == (4, 4)
        assert np.isfinite(pose.astype(np.float32)).all()
        np.testing.assert_allclose(pose[:3, :3] @ pose[:3, :3].T, np.eye(3), atol=1e-12)
        assert np.isfinite(view.intrinsics.astype(np.float32)).all()
        assert (view.intrinsics[:2] > 0).all()
        assert view.path.resolve().is_relative_to(folder.resolve())
        _check_colours(view.image(), (view.height, view.width))
        mask = view.mask()
        assert mask.shape == (view.height, view.width)
        assert 0 <= mask.min() <= mask.max() <= 1
        if view.mask_file is not None:
            assert view.mask_file.resolve().is_relative_to(folder.resolve())
    assert np.isfinite(data.scale)
    assert data.scale > 0
    if data.points is not None:
        assert np.isfinite(data.points.positions.astype(np.float32)).all()
        assert 0 <= data.points.colours.min() <= data.points.colours.max() <= 1
        try:
            made = gaussians_at(data.points.positions, data.points.colours)
        except LaunchError:  # all points are in one place
            return
        for name, array in made.items():
            assert np.isfinite(array).all(), name


def _check_colours(colours: np.ndarray, size: tuple[int, int]) -> None:
    assert colours.shape == (*size, 3)
    assert 0 <= colours.min() <= colours.max() <= 1


# Pictures


def _write_pictures(folder: Path) -> None:
    draw = np.random.default_rng(0)
    colours = Image.fromarray(draw.integers(0, 256, (6, 8, 4), np.uint8))
    colours.save(folder / "rgba.png")
    colours.convert("RGB").save(folder / "rgb.png")
    colours.convert("RGB").quantize(7).save(folder / "palette.png", transparency=3)
    Image.fromarray(draw.integers(0, 65536, (6, 8), np.uint16)).save(folder / "deep.png")
    for ending in ("jpg", "webp", "tif", "bmp"):
        colours.convert("RGB").save(folder / f"rgb.{ending}")


def _check_picture(folder: Path, changed: Path) -> None:
    colours = read_picture(changed, (0.2, 0.4, 0.6))
    _check_colours(colours, colours.shape[:2])


# Splats


def _some_splats(rest: int) -> Splats:
    draw = np.random.default_rng(rest)
    shapes = {"means": (3,), "scales": (3,), "quaternions": (4,), "opacities": (), "sh0": (3,)}
    arrays: dict[str, Any] = {k: draw.normal(size=(6, *shape)) for k, shape in shapes.items()}
    return Splats(**arrays, shN=draw.normal(size=(6, rest, 3)))


def _write_splats(folder: Path) -> None:
    write_splat_ply(folder / "inria.ply", _some_splats(3))
    write_splat_ply(folder / "bare.ply", _some_splats(0), normals=False)
    write_ply(folder / "packed.ply", packed(5))
    write_splats(folder / "a.splat", _some_splats(0))
    head, _, body = (folder / "bare.ply").read_bytes().partition(b"end_header\n")
    rows = np.frombuffer(body, "<f4").reshape(6, -1)
    faces = b"element face 2\nproperty list uchar int vertex_index\nproperty uchar flag\n"
    head += faces + b"end_header\n"
    lists = b"".join(bytes([3, *[0] * 12, 1]) for _ in range(2))
    big = head.replace(b"little", b"big")
    (folder / "big.ply").write_bytes(big + rows.astype(">f4").tobytes() + lists)
    text = "".join(" ".join(map(str, row)) + "\n" for row in rows.tolist()) + "3 0 1 2 1\n" * 2
    ascii_ = head.replace(b"binary_little_endian", b"ascii")
    (folder / "text.ply").write_bytes(ascii_ + text.encode())


def _write_packed_splats(folder: Path) -> None:
    """Splats in few bytes; numbers of headers and of rows are equally many places to change."""
    for ending in (".compressed.ply", ".spz", ".sog", ".ksplat"):
        write_splats(folder / f"a{ending}", _some_splats(3))
    (folder / "b.ksplat").write_bytes(ksplat(_some_splats(3), 1))
    (folder / "sog").mkdir()
    with zipfile.ZipFile(folder / "a.sog") as archive:
        archive.extractall(folder / "sog")
    if importlib.util.find_spec("zstandard") is not None:
        (folder / "b.spz").write_bytes(spz_of_streams((folder / "a.spz").read_bytes()))


def _check_splats(folder: Path, changed: Path) -> None:
    splats = read_splats(changed if changed.suffix != ".webp" else changed.with_name("meta.json"))
    for name in PARAMETERS:
        assert np.isfinite(getattr(splats, name)).all(), name
    assert np.isfinite(np.exp(splats.scales.astype(np.float64)).astype(np.float32)).all()
    if not len(splats):
        return
    lengths = np.linalg.norm(splats.quaternions.astype(np.float64), axis=1).astype(np.float32)
    assert (lengths**2 > 0).all()
    assert np.isfinite(lengths**2).all()
    check_round_trip(folder, splats)


def check_round_trip(folder: Path, splats: Splats) -> None:
    """Check that written splats are read back: exactly from .ply, every row from .splat."""
    assert write_splats(folder / "again.ply.out.ply", splats) == 0
    again = read_splats(folder / "again.ply.out.ply")
    for name in PARAMETERS:
        np.testing.assert_array_equal(getattr(again, name), getattr(splats, name), err_msg=name)
    (folder / "again.ply.out.ply").unlink()
    assert write_splats(folder / "again.splat", splats) == 0
    again = read_splats(folder / "again.splat")
    (folder / "again.splat").unlink()
    assert (len(again), again.dropped) == (len(splats), 0)
    np.testing.assert_array_equal(again.means, splats.means)


# States and checkpoints

_STATE = {f"x.{slot}": (5, 3) for slot in ("mean", "square")}


def _adam(seed: int) -> dict[str, np.ndarray]:
    draw = np.random.default_rng(seed)
    arrays = {key: draw.random(shape, np.float32) for key, shape in _STATE.items()}
    return {"rule": np.array("Adam"), "steps": np.array(7), **arrays}


def _write_state(folder: Path) -> None:
    write_arrays(folder / "adam.npz", _adam(0))
    out = io.BytesIO()
    np.savez_compressed(out, **_adam(1))
    (folder / "packed.npz").write_bytes(out.getvalue())


def _check_state(folder: Path, changed: Path) -> None:
    wanted = {
        key: Wanted(shape, np.dtype(np.float32), key.endswith("square"))
        for key, shape in _STATE.items()
    }
    arrays = read_arrays(changed)
    try:
        steps, state = restored(arrays, "Adam", wanted)
    except LaunchError:  # it is a state, of something else
        return
    assert steps >= 0
    assert {key: array.shape for key, array in state.items()} == _STATE
    for key, array in state.items():
        assert np.isfinite(array.astype(np.float32)).all()
        assert array.min() >= 0 or not key.endswith("square")


def _write_checkpoint(folder: Path) -> None:
    draw = np.random.default_rng(0)
    state = {f"gaussians.{k}": draw.random((4, 3), np.float32) for k in ("means", "scales")}
    state |= {f"optimiser.{key}": array for key, array in _adam(2).items()}
    history = draw.random((3, 4))
    saved = run_checkpoint.RunCheckpoint(
        Options(), ["a.png", "b.png"], 1.5, history, {**state, "step": np.array(9)}
    )
    path = run_checkpoint.save(folder, saved)
    path.rename(folder / "step.npz")
    path.parent.rmdir()


def _check_checkpoint(folder: Path, changed: Path) -> None:
    read = run_checkpoint.read(changed)
    assert read.seconds >= 0
    assert all(isinstance(name, str) for name in read.views)
    assert isinstance(read.options.steps, int)
    assert isinstance(read.options.images, str)
    assert read.history.shape[1:] == (4,)
    assert int(read.state["step"]) >= 0
    for array in read.state.values():
        assert array.dtype.kind != "f" or np.isfinite(array.astype(np.float32)).all()
