"""Pictures of data sets: all are decoded beforehand, and what is odd about them is said."""

from __future__ import annotations

import json
import shutil
import struct
import sys
import warnings
import zlib
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

import difftile as dt
from difftile.cli import main
from difftile.datasets import images, load, verify
from difftile.datasets.faults import check_pictures
from scenes.balls import shots
from tests.datasets.generated import write_dataset


@pytest.fixture
def scene(tmp_path: Path) -> Path:
    """Blender's format, whose cameras have the sizes of their pictures."""
    write_dataset(tmp_path / "data", "blender", shots(14, 8, 6))
    return tmp_path / "data"


def picture(scene: Path, k: int) -> Path:
    return scene / "train" / f"view_{k:03}.png"


def cut(path: Path) -> None:
    raw = path.read_bytes()
    path.write_bytes(raw[: len(raw) // 2])


def as_jpeg(path: Path, **more: Any) -> bytes:
    """Write a picture as JPEG under its name."""
    Image.open(path).convert("RGB").save(path, "JPEG", **more)
    return path.read_bytes()


def cut_jpeg(path: Path) -> None:
    raw = as_jpeg(path)
    path.write_bytes(raw[: raw.index(b"\xff\xda") + 20])  # the header is whole


def lzma_of(path: Path) -> None:
    """A PNG whose pixels are not packed as they should be."""
    raw = path.read_bytes()
    at = raw.index(b"IDAT")
    (size,) = struct.unpack(">I", raw[at - 4 : at])
    body = b"IDAT" + bytes(size)
    path.write_bytes(
        raw[:at] + body + struct.pack(">I", zlib.crc32(body)) + raw[at + 4 + size + 4 :]
    )


def huge(path: Path) -> None:
    header = b"IHDR" + struct.pack(">IIBBBBB", 10**5, 10**5, 8, 2, 0, 0, 0)
    end = b"IEND"
    chunks = [
        struct.pack(">I", len(one) - 4) + one + struct.pack(">I", zlib.crc32(one))
        for one in (header, end)
    ]
    path.write_bytes(b"\x89PNG\r\n\x1a\n" + b"".join(chunks))


# What `load` finds in headers, and what only `verify` finds in pixels.
HEADERS: dict[str, tuple[Callable[[Path], object], str]] = {
    "nothing": (Path.unlink, "is not there"),
    "no bytes": (lambda path: path.write_bytes(b""), "cannot be read (unknown format)"),
    "text": (lambda path: path.write_text("a picture"), "cannot be read (unknown format)"),
    "a bomb": (huge, "has too many pixels"),
    "no pixels": (
        lambda path: path.write_bytes(path.read_bytes()[:16] + bytes(8) + path.read_bytes()[24:]),
        "cannot be read",
    ),
}
PIXELS: dict[str, tuple[Callable[[Path], object], str]] = {
    "half a PNG": (cut, "cannot be read (image file is truncated"),
    "half a JPEG": (cut_jpeg, "cannot be read (image file is truncated"),
    "bad pixels": (lzma_of, "cannot be read ("),
    "floats": (
        lambda path: Image.fromarray(np.zeros((6, 8), np.float32)).save(path, "TIFF"),
        "has floats for colours",
    ),
}


def test_all_faults_of_headers_are_said_at_once(scene: Path) -> None:
    for k, (spoil, _) in enumerate(HEADERS.values()):
        spoil(picture(scene, k))
    with pytest.raises(dt.DatasetError) as caught:
        load(scene)
    said = str(caught.value)
    assert f"data: {len(HEADERS)} of 14 pictures cannot be used: train/view_000" in said
    for k, (_, fault) in enumerate(HEADERS.values()):
        assert f"view_{k:03}" in said
        assert fault in said
    assert "\n" not in said


def test_all_faults_of_pixels_are_said_at_once(scene: Path) -> None:
    for k, (spoil, _) in enumerate(PIXELS.values()):
        spoil(picture(scene, k))
    data = load(scene)  # headers are whole
    with pytest.raises(dt.DatasetError) as caught:
        verify(data)
    said = str(caught.value)
    assert f"{len(PIXELS)} of 14 pictures cannot be used" in said
    for k, (_, fault) in enumerate(PIXELS.values()):
        assert f"view_{k:03}.png {fault}" in said
    for k in range(len(PIXELS)):  # one fault is told as where it is met
        with pytest.raises(dt.DatasetError):
            data.views[k].image()
    for k in range(len(PIXELS), 14):
        data.views[k].image()


def test_three_files_of_each_fault_are_named_and_the_others_counted(scene: Path) -> None:
    for k in range(12):
        picture(scene, k).write_bytes(bytes(k + 1))  # none is a picture
    with pytest.raises(
        dt.DatasetError,
        match=r"12 of 14 .*: train/view_000.png, [^;]*view_002.png and 9 more: cannot be read",
    ):
        load(scene)
    for k in range(11):
        picture(scene, k).unlink()
    names = ", ".join(f"train/view_{k:03}" for k in range(3))
    with pytest.raises(
        dt.DatasetError, match=rf"12 of 14 .*: {names} and 8 more: is not there; .*011.png cannot"
    ):
        load(scene)
    faults = [dt.DatasetError(scene / str(k), f"fault {k}") for k in range(12)]
    with pytest.raises(dt.DatasetError, match=r"12 of 14 .*; 9 fault 9; and 2 more\.$"):
        check_pictures(scene, faults, 14)


def test_one_fault_is_an_error_of_its_own(scene: Path) -> None:
    data = load(scene)
    Image.new("RGB", (9, 6)).save(picture(scene, 3))
    with pytest.raises(dt.DatasetError, match=r"view_003.png: is 9 x 6; expected 8 x 6 pixels"):
        verify(data)


def test_pictures_of_every_kind_pass(scene: Path) -> None:
    draw = np.random.default_rng(0)
    whole = Image.fromarray(draw.integers(0, 256, (6, 8, 4), np.uint8))
    for k, mode in enumerate(("1", "L", "LA", "P", "RGB", "RGBA")):
        whole.convert(mode).save(picture(scene, k))
    Image.fromarray(draw.integers(0, 65536, (6, 8), np.uint16)).save(picture(scene, 6))
    whole.convert("CMYK").save(picture(scene, 7), "JPEG")
    as_jpeg(picture(scene, 8))
    data = load(scene)
    verify(data)
    for view in data.views:
        colours = view.image()
        assert colours.shape == (6, 8, 3)
        assert 0 <= colours.min() <= colours.max() <= 1


def test_a_bar_only_where_a_terminal_is(
    scene: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    data = load(scene)
    verify(data, progress=True)
    assert capsys.readouterr().err == ""
    monkeypatch.setattr(type(sys.stderr), "isatty", lambda _: True)
    verify(data, progress=True)
    assert "verify" in capsys.readouterr().err
    verify(data)
    assert capsys.readouterr().err == ""


def test_each_picture_is_decoded_once(scene: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    content = json.loads((scene / "transforms_train.json").read_text())
    content["frames"] += content["frames"]
    (scene / "transforms_train.json").write_text(json.dumps(content))
    data = load(scene)
    opened: list[Path] = []
    whole = images.open_picture
    monkeypatch.setattr(images, "open_picture", lambda path: (opened.append(path), whole(path))[1])
    verify(data)
    assert len(data.views) == 28
    assert len(opened) == 14


@pytest.mark.parametrize("k", [0, 5])  # held out, and one to train on
def test_train_says_it_before_the_first_step(
    scene: Path, capsys: pytest.CaptureFixture[str], k: int
) -> None:
    cut(picture(scene, k))
    out = scene.parent / "out"
    with pytest.raises(SystemExit) as stop:
        main(["train", str(scene), "--out", str(out), "--steps=40", "--points=9"])
    assert stop.value.code == 2
    err = capsys.readouterr().err
    assert f"view_{k:03}.png: cannot be read (image file is truncated" in err
    assert err.count("\n") == 1
    assert not out.exists()


def test_threads_leave_the_filters_of_warnings_alone(scene: Path) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        before = [*warnings.filters]
        views = load(scene).views
        with ThreadPoolExecutor(8) as pool:
            for _ in range(5):
                assert len([*pool.map(lambda view: view.image(), views)]) == 14
        assert [*warnings.filters] == before


# Remarks


def test_sizes_that_differ_are_said(tmp_path: Path) -> None:
    write_dataset(tmp_path, "nerfstudio", shots(3, 32, 24))
    assert load(tmp_path).notes == ()
    small = tmp_path / "images" / "view_001.png"
    Image.open(small).resize((16, 12)).save(small)
    data = load(tmp_path)
    np.testing.assert_allclose(data.views[1].intrinsics, data.views[0].intrinsics / 2)
    assert data.notes == (
        "pictures have 2 sizes, from 16 x 12 (1 of them) to 32 x 24 (2)",
        "images/view_001.png is 16 x 12, its camera 32 x 24: intrinsics are scaled to the pictures",
    )
    Image.open(small).resize((12, 12)).save(small)
    with pytest.raises(dt.DatasetError, match=r"view_001.png: is 12 x 12; expected 32 x 24 pix"):
        load(tmp_path)


def test_smaller_pictures_that_were_asked_for_are_no_remark(tmp_path: Path) -> None:
    write_dataset(tmp_path, "nerfstudio", shots(2, 33, 25))
    (tmp_path / "images_2").mkdir()
    for path in (tmp_path / "images").iterdir():
        Image.open(path).resize((17, 12)).save(tmp_path / "images_2" / path.name)
    assert load(tmp_path, downscale=2).notes == ()
    assert load(tmp_path).notes == ()


def test_the_orientation_of_exif_is_said(tmp_path: Path) -> None:
    write_dataset(tmp_path, "nerfstudio", shots(2, 8, 6))
    exif = Image.Exif()
    exif[0x0112] = 3
    as_jpeg(tmp_path / "images" / "view_000.png", exif=exif)
    before = load(tmp_path).views[0].image()
    assert load(tmp_path).notes == ("the orientation in EXIF is not applied: images/view_000.png",)
    as_jpeg(tmp_path / "images" / "view_000.png", quality=100)
    assert load(tmp_path).notes == ()
    np.testing.assert_allclose(load(tmp_path).views[0].image(), before, atol=0.2)
    exif[0x0112] = 6
    path = tmp_path / "images" / "view_000.png"
    Image.new("RGB", (6, 8)).save(path, "JPEG", exif=exif)
    with pytest.raises(dt.DatasetError, match=r"is 6 x 8; expected 8 x 6 .*\n  Hint: EXIF says"):
        load(tmp_path)


@pytest.mark.parametrize("kind", ["colmap-txt", "nerfstudio"])
def test_pictures_without_a_camera_are_counted(tmp_path: Path, kind: str) -> None:
    write_dataset(tmp_path, kind, shots(2, 8, 6))
    (tmp_path / "images" / "notes.txt").write_text("no picture")
    assert load(tmp_path).notes == ()
    for name in ("more.png", "MORE.JPG"):
        shutil.copy(tmp_path / "images" / "view_000.png", tmp_path / "images" / name)
    assert load(tmp_path).notes == ("2 pictures without a camera",)
