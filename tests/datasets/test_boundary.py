"""Files that are hostile rather than broken, at the places where users meet them."""

from __future__ import annotations

import json
import os
import shutil
import struct
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

import difftile as dt
from difftile.cli import main
from difftile.datasets import Splats, load, read_splats, write_splats
from difftile.datasets.images import read_image, read_picture
from difftile.datasets.ply import read_ply
from difftile.datasets.splats import PARAMETERS
from difftile.training import run
from difftile.training.run_checkpoint import latest
from scenes.balls import shots
from tests.datasets.generated import write_dataset
from tests.datasets.writers import write_picture
from tests.training.started import Started


@pytest.fixture
def nerfstudio(tmp_path: Path) -> Path:
    write_dataset(tmp_path / "data", "nerfstudio", shots(2, 8, 6))
    return tmp_path / "data"


def edit(folder: Path, change: Callable[[dict[str, Any]], object]) -> None:
    path = folder / "transforms.json"
    content = json.loads(path.read_text())
    change(content)
    path.write_text(json.dumps(content))


def refused(call: Callable[[], object], *message: str) -> str:
    with pytest.raises(dt.DatasetError) as caught:
        call()
    for part in message:
        assert part in str(caught.value)
    return str(caught.value)


# Names that lead out of the folder


@pytest.mark.parametrize("way", ["dots", "whole path", "link", "linked folder", "smaller"])
def test_pictures_outside_are_read_where_that_is_allowed(nerfstudio: Path, way: str) -> None:
    outside = nerfstudio.parent / "outside"
    shutil.move(nerfstudio / "images", outside)
    names = {"dots": "../outside/view_000.png", "whole path": str(outside / "view_000.png")}
    more = {}
    if way in names:
        (nerfstudio / "images").mkdir()
        shutil.copy(outside / "view_001.png", nerfstudio / "images")
        edit(nerfstudio, lambda content: content["frames"][0].update(file_path=names[way]))
    elif way == "link":
        (nerfstudio / "images").mkdir()
        for name in ("view_000.png", "view_001.png"):
            (nerfstudio / "images" / name).symlink_to(outside / name)
    elif way == "linked folder":
        (nerfstudio / "images").symlink_to(outside)
    else:
        shutil.copytree(outside, nerfstudio / "images")
        write_picture(outside / "view_000.png", np.zeros((3, 4, 3)))
        write_picture(outside / "view_001.png", np.zeros((3, 4, 3)))
        (nerfstudio / "images_2").symlink_to(outside)
        more = {"downscale": 2}
    said = refused(lambda: load(nerfstudio, **more), "which leads out of", "a file in that folder")
    assert "allow_outside=True" in said
    assert len(load(nerfstudio, allow_outside=True, **more).views) == 2


def test_colmap_names_and_files_stay_inside(tmp_path: Path) -> None:
    write_dataset(tmp_path / "data", "colmap-txt", shots(2, 8, 6))
    root = tmp_path / "data"
    shutil.copy(root / "images" / "view_000.png", tmp_path)
    file = root / "sparse" / "0" / "images.txt"
    before = file.read_text()
    file.write_text(before.replace("view_000.png", "../../view_000.png"))
    refused(lambda: load(root), "images.txt: the name of image 1 is '../../view_000.png', which")
    assert len(load(root, allow_outside=True).views) == 2
    file.write_text(before)
    # A folder that the caller names may be anywhere; one that the data set links to may not.
    shutil.move(root / "images", tmp_path / "pictures")
    for name in ("../pictures", str(tmp_path / "pictures")):
        assert len(load(root, images=name).views) == 2
    (root / "images").symlink_to(tmp_path / "pictures")
    refused(lambda: load(root), "which leads out of")
    shutil.move(file, tmp_path)
    file.symlink_to(tmp_path / "images.txt")
    refused(lambda: load(root, images="../pictures"), "a file of COLMAP is 'images.txt', which")


def test_points_outside_and_irregular_files(nerfstudio: Path) -> None:
    edit(nerfstudio, lambda content: content.update(ply_file_path="../points.ply"))
    refused(lambda: load(nerfstudio), "ply_file_path is '../points.ply', which leads out of")
    os.mkfifo(nerfstudio / "points.ply")
    edit(nerfstudio, lambda content: content.update(ply_file_path="points.ply"))
    refused(lambda: load(nerfstudio), "points.ply: is a pipe; expected a file")


def test_points_that_are_not_finite_are_dropped_with_a_note(nerfstudio: Path) -> None:
    header = "ply\nformat ascii 1.0\nelement vertex 4\n"
    header += "".join(f"property float {axis}\n" for axis in "xyz")
    header += "".join(f"property {{}} {colour}\n" for colour in ("red", "green", "blue"))
    rows = "1 2 3 255 0 51\nnan 0 0 1 1 1\n0 1e39 0 1 1 1\n0 0 1e19 1 1 1\n"
    points = nerfstudio / "points.ply"
    points.write_text(header.format(*["uchar"] * 3) + "end_header\n" + rows)
    edit(nerfstudio, lambda content: content.update(ply_file_path="points.ply"))
    data = load(nerfstudio)
    assert data.points is not None
    np.testing.assert_array_equal(data.points.positions, [[1, 2, 3]])
    assert data.notes == ("3 points that are not finite were dropped",)
    bad = rows.replace("1 1 1", "1 nan 1", 1)
    points.write_text(header.format(*["float"] * 3) + "end_header\n" + bad)
    refused(lambda: load(nerfstudio), "row 1 of element 'vertex' has the colour [1.0, nan, 1.0]")


# Pictures


def png(width: int, height: int, data: bytes) -> bytes:
    found = b"\x89PNG\r\n\x1a\n"
    header = struct.pack(">2I5B", width, height, 8, 2, 0, 0, 0)
    for name, body in ((b"IHDR", header), (b"IDAT", data), (b"IEND", b"")):
        found += struct.pack(">I", len(body)) + name + body
        found += struct.pack(">I", zlib.crc32(name + body))
    return found


def test_pictures_that_claim_too_much(tmp_path: Path) -> None:
    path = tmp_path / "a.png"
    path.write_bytes(png(60_000, 60_000, zlib.compress(b"")))
    refused(lambda: read_picture(path, (0, 0, 0)), "has too many pixels; expected at most")
    path.write_bytes(png(9000, 9000, zlib.compress(b"")))
    refused(lambda: read_picture(path, (0, 0, 0)), "says that it is 9000 x 9000, in 65 bytes")
    Image.fromarray(np.full((2, 2), np.nan, np.float32)).save(tmp_path / "a.tif")
    refused(lambda: read_picture(tmp_path / "a.tif", (0, 0, 0)), "has floats for colours")
    (tmp_path / "a.eps").write_text("%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 9 9\n")
    refused(lambda: read_image(tmp_path / "a.eps"), "cannot be read (unknown format); expected")


# PLY


@pytest.mark.parametrize(
    ("header", "body", "said"),
    [
        ("element v 2\nelement v 2", b"", "has an element twice: ['v', 'v']; expected each name"),
        ("element v 9", b"", "element 'v' has no properties; expected a line 'property float x'"),
        (
            f"element v {'9' * 5000}\nproperty float x",
            b"",
            "in its header, line 3; expected a line",
        ),
        ("element v 1\nproperty list float int a", b"", "has the line 'property list float int a'"),
        ("element v 1\nproperty list char int a", b"\xff", "row 0 of element 'v' is a list of -1"),
        ("element v 2\nproperty list uchar int a", b"\1aaaa\2a", "ends in row 1 of element 'v'"),
        ("element v 1\nproperty list uint int a", b"\xff" * 4, "ends in row 0 of element 'v'"),
        ("format ascii 1.0\nelement v 1\nproperty float x", b"", "has the line 'format ascii 1.0'"),
    ],
)
def test_wrong_binary_plys(tmp_path: Path, header: str, body: bytes, said: str) -> None:
    path = tmp_path / "a.ply"
    head = f"ply\nformat binary_little_endian 1.0\n{header}\nend_header\n"
    path.write_bytes(head.encode() + body)
    refused(lambda: read_ply(path), said)


@pytest.mark.parametrize(
    ("kind", "row", "said"),
    [
        (
            "uchar",
            "256",
            "row 0 of element 'v' is 256 for 'x'; expected a number of the type uint8",
        ),
        ("uchar", "-1", "is -1 for 'x'"),
        ("int", "1.5", "is 1.5 for 'x'; expected a number of the type int32"),
        ("int", "nan", "is nan for 'x'"),
        ("float", "1_0", "row 0 of element 'v' is '1_0'; expected 1 number"),
        ("float", "٣", "expected 1 number"),
        ("list uchar int", "2 1", "row 0 of element 'v' is '2 1'; expected its numbers and lists"),
        ("list uchar int", "1 1 1", "row 0 of element 'v' is '1 1 1'"),
    ],
)
def test_wrong_rows_of_text_plys(tmp_path: Path, kind: str, row: str, said: str) -> None:
    path = tmp_path / "a.ply"
    path.write_text(f"ply\nformat ascii 1.0\nelement v 1\nproperty {kind} x\nend_header\n{row}\n")
    refused(lambda: read_ply(path), said)


def test_elements_without_rows_may_have_no_properties(tmp_path: Path) -> None:
    for kind in ("ascii", "binary_little_endian"):
        head = f"ply\nformat {kind} 1.0\nelement none 0\nelement v 0\nproperty float x\n"
        (tmp_path / "a.ply").write_text(f"{head}end_header\n")
        assert [len(table) for table in read_ply(tmp_path / "a.ply").values()] == [0, 0]


@pytest.mark.parametrize("lengths", [[3, 3, 3], [3, 0, 5]])
def test_elements_behind_lists_are_read(tmp_path: Path, lengths: list[int]) -> None:
    head = "ply\nformat binary_big_endian 1.0\nelement face 3\nproperty uchar flag\n"
    head += "property list uchar int a\nelement v 2\nproperty short x\nend_header\n"
    faces = b"".join(struct.pack(f">2B{n}i", 1, n, *range(n)) for n in lengths)
    (tmp_path / "a.ply").write_bytes(head.encode() + faces + struct.pack(">2h", 7, -7))
    tables = read_ply(tmp_path / "a.ply")
    assert [*tables] == ["v"]
    assert tables["v"]["x"].tolist() == [7, -7]


# Splats that are written are read back


def any_splats(count: int, rest: int, seed: int) -> Splats:
    """Splats of arbitrary bits: all kinds of floats, and floats near limits."""
    draw = np.random.default_rng(seed)
    near = [0.0, -0.0, 1e-45, 1e-19, 1e-18, 1e18, 3e38, 88.7, 88.72284, 88.8, -87.4, -104.0, 1.0]

    def bits(*shape: int) -> np.ndarray:
        words = draw.integers(0, 2**32, (count, *shape), np.uint32).view(np.float32)
        usual = draw.normal(size=(count, *shape)).astype(np.float32)
        limits = np.asarray(draw.choice(near, (count, *shape)), np.float32)
        kind = draw.integers(0, 3, (count, *[1] * len(shape)))
        return np.choose(kind, [words, usual, limits])

    shapes = {"means": (3,), "scales": (3,), "quaternions": (4,), "opacities": (), "sh0": (3,)}
    return Splats(**{k: bits(*s) for k, s in shapes.items()}, shN=bits(rest, 3))


@pytest.mark.parametrize("ending", ["ply", "splat"])
def test_splats_of_any_bits_are_read_back_or_counted(tmp_path: Path, ending: str) -> None:
    given = any_splats(30_000, 0, 5)
    kept = given.kept()
    assert 3000 < len(kept) < 27_000
    path = tmp_path / f"a.{ending}"
    assert write_splats(path, given) == kept.dropped == 30_000 - len(kept)
    again = read_splats(path)
    assert (len(again), again.dropped) == (len(kept), 0)
    np.testing.assert_array_equal(again.means, kept.means)
    if ending == "ply":
        for name in PARAMETERS:
            np.testing.assert_array_equal(getattr(again, name), getattr(kept, name), err_msg=name)
    else:
        scales = np.clip(kept.scales, np.float32(-87.33655), None)
        np.testing.assert_allclose(again.scales, scales, rtol=1e-6, atol=1e-5)
        units = kept.quaternions / np.linalg.norm(
            kept.quaternions.astype(np.float64), axis=1, keepdims=True
        )
        np.testing.assert_allclose(again.quaternions, units, atol=0.0079)
        assert write_splats(tmp_path / "b.splat", again) == 0
        rows = [
            np.frombuffer((tmp_path / f"{k}.splat").read_bytes(), np.uint8).reshape(-1, 32)
            for k in "ab"
        ]
        np.testing.assert_array_equal(rows[0][:, 24:28], rows[1][:, 24:28])


def test_dot_splats_of_any_bytes_are_read_and_written(tmp_path: Path) -> None:
    rows = np.random.default_rng(2).integers(0, 256, (20_000, 32), np.uint8)
    rows[:, [15, 19, 23]] &= 0x7F  # sizes are not negative
    (tmp_path / "a.splat").write_bytes(rows.tobytes())
    splats = read_splats(tmp_path / "a.splat")
    assert len(splats) + splats.dropped == 20_000
    assert len(splats) > 19_000
    for name in PARAMETERS:
        assert np.isfinite(getattr(splats, name)).all()
    assert write_splats(tmp_path / "b.splat", splats) == 0
    assert len(read_splats(tmp_path / "b.splat")) == len(splats)


def test_a_dot_splat_without_rows_is_not_written(tmp_path: Path) -> None:
    splats = any_splats(1, 0, 0)
    splats.means[0, 0] = np.nan
    said = refused(
        lambda: write_splats(tmp_path / "a.splat", splats),
        "would have no splats: 1 row cannot be written; expected one at least",
    )
    assert said.endswith("Hint: a .ply may be empty.")
    assert not [*tmp_path.iterdir()]


# The command line


def complaint(capsys: pytest.CaptureFixture[str], *argv: object) -> str:
    try:
        code = main([*map(str, argv)])
    except SystemExit as stop:
        code = stop.code
    err = capsys.readouterr().err
    assert code == 2, err
    assert err.count("\n") == 1, err
    return err


@pytest.mark.parametrize(
    ("write", "said"),
    [
        (lambda path: path.write_text("[" * 10**5), "has more than 32 levels of brackets"),
        (
            lambda path: path.write_text('{"frames": 1' + "0" * 5000 + "}"),
            "frames is inf; expected",
        ),
        (lambda path: path.write_bytes(b"\xff"), "is not text"),
        (os.mkfifo, "is a pipe; expected a file"),
        (lambda path: path.symlink_to("/dev/zero"), "which leads out of"),
        (Path.mkdir, "is a folder; expected a file"),
    ],
)
def test_train_answers_broken_files_with_a_line(
    nerfstudio: Path, capsys: pytest.CaptureFixture[str], write: Any, said: str
) -> None:
    (nerfstudio / "transforms.json").unlink()
    write(nerfstudio / "transforms.json")
    out = nerfstudio.parent / "out"
    assert said in complaint(capsys, "train", nerfstudio, "--out", out)
    assert not out.exists()


@pytest.mark.slow
def test_train_reads_outside_with_a_flag(
    nerfstudio: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(run, "dt", Started())
    shutil.move(nerfstudio / "images", nerfstudio.parent / "outside")
    (nerfstudio / "images").symlink_to(nerfstudio.parent / "outside")
    argv = ["train", nerfstudio, "--out", nerfstudio.parent / "out"]
    assert "difftile train --allow-outside" in complaint(capsys, *argv)
    more = ["--allow-outside", "--steps=1", "--points=9", "--sh-degree=0", "--no-pictures"]
    assert main([*map(str, argv), *more, "--hold-out=0"]) == 0


def test_train_does_not_go_on_from_checkpoints_that_are_wrong(
    nerfstudio: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(run, "dt", Started())
    argv = ["train", nerfstudio, "--out", nerfstudio.parent / "out"]
    fixed = ["--steps=2", "--points=9", "--sh-degree=0", "--no-pictures", "--hold-out=0"]
    assert main([*map(str, argv), *fixed]) == 0
    capsys.readouterr()
    last = latest(nerfstudio.parent / "out")
    assert last is not None
    with np.load(last) as file:
        whole = dict(file)
    moved = whole["gaussians.means"].copy()
    moved[3, 1] = np.nan
    about = json.loads(str(whole["about"]))
    about["options"]["images"] = 7
    for changes, said in (
        (
            {"gaussians.means": moved},
            "has nan in 'gaussians.means' at index (3, 1); expected finite",
        ),
        ({"optimiser.means.square": -moved[:3]}, "does not fit this run (Trainer: load_st"),
        (
            {"optimiser.means.square": -1 - whole["optimiser.means.square"]},
            "at index (0, 0), which",
        ),
        (
            {"gaussians.means": whole["gaussians.means"][:4]},
            "4 rows of 'scales' are an array of shape (4, 3), not",
        ),
        ({"step": np.array(-1)}, "has no number 'step'; expected a whole number from 0"),
        ({"history": np.zeros(3)}, "'history' has the shape (3,); expected (m, 4), of floats"),
        ({"about": np.array("{")}, "is not JSON at line 1"),
        ({"about": np.array(json.dumps(about))}, "options.images is 7; expected a text"),
        (
            {"about": np.array(json.dumps({**about, "version": 2}))},
            "version is 2; expected a whole",
        ),
        ({"about": np.array({"a": 1}, object)}, "has 'about' of dtype('O')"),
        ({"more": np.array(1)}, "load_state_dict() is given 'more', which is unknown"),
    ):
        np.savez(last, **{**whole, **changes})
        assert said in complaint(capsys, *argv, "--resume")
    last.unlink()
    os.mkfifo(last)
    assert "is a pipe; expected" in complaint(capsys, *argv, "--resume")


def test_demos_and_explain_answer_with_a_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    picture = tmp_path / "a.png"
    picture.write_bytes(png(60_000, 60_000, zlib.compress(b"")))
    for demo in ("fit-image", "fit-texture"):
        assert "has too many pixels" in complaint(capsys, "demo", demo, picture)
        assert "is a folder" in complaint(capsys, "demo", demo, tmp_path)
        assert "is a device" in complaint(capsys, "demo", demo, "/dev/zero")
    os.mkfifo(tmp_path / "pipe.py")
    assert "there is no file" in complaint(capsys, "explain", tmp_path / "pipe.py")
    (tmp_path / "deep.py").write_text("x = " + "-" * 100_000 + "1\n")
    assert main(["explain", str(tmp_path / "deep.py")]) == 1
    err = capsys.readouterr().err
    assert err.count("\n") == 1
    assert "is nested too deeply for Python" in err
