"""Splats in few bytes: .compressed.ply, .spz, .sog and .ksplat, by the bounds of their steps."""

from __future__ import annotations

import gzip
import importlib.util
import io
import json
import struct
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from difftile.datasets import Splats, read_splats, sog, write_splats
from difftile.datasets.files import FORMATS
from difftile.datasets.inria import write_splat_ply
from difftile.datasets.ply import read_ply, write_ply
from difftile.datasets.quantised import codes_of, order_in_space
from difftile.datasets.sog import META
from difftile.diagnostics import DatasetError
from difftile.training import command
from difftile.training.initial import _loaded
from difftile.training.options import Options
from tests.datasets.packed import ksplat, spz_of_streams
from tests.datasets.test_splats import equal, refuse, some

SMALL = [name for name in FORMATS if name.startswith(".") and name not in (".ply", ".splat")]
EPS = 2e-6  # of rounding in single precision, at the sizes of these numbers
C0 = 0.28209479177387814


def sigmoid(x: Any) -> Any:
    return 1 / (1 + np.exp(-np.asarray(x, np.float64)))


def in_order(splats: Splats, order: np.ndarray) -> Splats:
    return Splats(**{name: array[order] for name, array in splats.arrays.items()})


def again(path: Path, splats: Splats) -> tuple[Splats, Splats]:
    """Write and read splats; return these as they were, in the order of the file, and as read."""
    assert write_splats(path, splats) == 0
    read = read_splats(path)
    assert (len(read), read.dropped, read.clamped) == (len(splats), 0, 0)
    sorts = path.name.endswith((".compressed.ply", ".sog"))
    order = order_in_space(splats.means) if sorts else np.arange(len(splats))
    np.testing.assert_array_equal(np.sort(order), np.arange(len(splats)))
    return in_order(splats, order), read


def chunk_step(values: np.ndarray, steps: np.ndarray | float) -> np.ndarray:
    """Return half of a step of each number, by the bounds of its chunk of 256."""
    starts = np.arange(0, len(values), 256)
    least, most = (f.reduceat(values, starts) for f in (np.minimum, np.maximum))
    return ((most - least) / steps / 2)[np.arange(len(values)) // 256]


def bits_of_spz(path: Path) -> int:
    return gzip.decompress(path.read_bytes())[13]


def log_step(means: np.ndarray) -> np.ndarray:
    logs = np.sign(means) * np.log1p(np.abs(means))
    half = (logs.max(axis=0) - logs.min(axis=0)) / 65535 / 2
    return (1 + np.abs(means)) * np.expm1(half)


SPACE = np.array([2047.0, 1023.0, 2047.0])
# The largest errors of centres, logarithms of sizes, colours and harmonics; of rotations a number.
BOUNDS: dict[str, dict[str, Callable[[Path, Splats], Any]]] = {
    ".compressed.ply": {
        "means": lambda _, s: chunk_step(s.means, SPACE),
        "scales": lambda _, s: chunk_step(s.scales, SPACE),
        "sh0": lambda _, s: chunk_step(s.sh0, 255.0),
        "shN": lambda _, s: 4 / 255,
        "three": lambda _, s: np.sqrt(2) / 1023 / 2,
    },
    ".spz": {
        "means": lambda path, s: 2.0 ** -bits_of_spz(path) / 2,
        "scales": lambda _, s: 1 / 32,
        "sh0": lambda _, s: 0.5 / (0.15 * 255),
        "shN": lambda _, s: np.where(np.arange(s.shN.shape[1]) < 3, 4, 8)[:, None] / 128 + 1 / 256,
        "three": lambda _, s: np.sqrt(0.5) / 511 / 2,
    },
    ".sog": {
        "means": lambda _, s: log_step(s.means),
        "three": lambda _, s: np.sqrt(2) / 255 / 2,
    },
    ".ksplat": {
        "means": lambda _, s: 0.0,
        "scales": lambda _, s: 0.0,
        "sh0": lambda _, s: 0.5 / 255 / C0,
        "shN": lambda _, s: 0.0,
        "three": lambda _, s: 0.0,
    },
}


@pytest.mark.parametrize("rest", [0, 3, 8, 15])
@pytest.mark.parametrize("ending", SMALL)
def test_a_round_trip_errs_by_half_a_step(tmp_path: Path, ending: str, rest: int) -> None:
    given = some(300, rest=rest)
    given.sh0[:] = np.clip(given.sh0, -0.5 / C0, 0.5 / C0)  # colours that a byte holds
    given.shN[:] = np.clip(0.3 * given.shN, -1, 0.9)
    path = tmp_path / f"a{ending}"
    wanted, read = again(path, given)
    np.testing.assert_allclose(sigmoid(read.opacities), sigmoid(wanted.opacities), 0, 0.51 / 255)
    kept = read.shN.shape[1]
    assert kept == (min(rest, 8) if ending == ".ksplat" else rest)
    bounds = BOUNDS[ending]
    for name in ("means", "scales", "sh0", "shN"):
        if name in bounds:
            target = getattr(wanted, name)
            found = np.abs(getattr(read, name) - (target[:, :kept] if name == "shN" else target))
            assert (found <= bounds[name](path, wanted) + EPS).all(), (name, found.max())
    units = wanted.quaternions / np.linalg.norm(wanted.quaternions, axis=1, keepdims=True)
    units *= np.where(np.take_along_axis(units, np.abs(units).argmax(1)[:, None], 1) < 0, -1, 1)
    signs = np.sign(np.sum(units * read.quaternions, axis=1, keepdims=True))
    errors = np.sort(np.abs(signs * read.quaternions - units), axis=1)
    half = bounds["three"](path, wanted)
    assert errors[:, 2].max() <= half + EPS  # the largest component has three times the error
    assert errors[:, 3].max() <= 3.1 * half + EPS


def test_books_have_at_most_the_error_of_equal_steps() -> None:
    draw = np.random.default_rng(0)
    values = np.append(draw.normal(size=(500, 3)), [[40.0, -3.0, 0.0]], axis=0).astype(np.float32)
    book, codes = codes_of(values)
    assert (np.diff(book) >= 0).all()
    errors = np.abs(book[codes] - values)
    np.testing.assert_allclose(errors, np.abs(values[..., None] - book).min(axis=-1), 0, 1e-6)
    equal_steps = np.linspace(values.min(), values.max(), 128)
    uniform = np.abs(values[..., None] - equal_steps).min(axis=-1)
    assert np.mean(errors**2) < 0.05 * np.mean(uniform**2)  # one number is far from all others


def test_a_palette_has_means_of_similar_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    draw = np.random.default_rng(1)
    groups = draw.normal(size=(8, 3, 3))
    truth = draw.permutation(np.repeat(np.arange(8), 16))
    rest = (groups[truth] + 1e-3 * draw.normal(size=(128, 3, 3))).astype(np.float32)
    monkeypatch.setattr(sog, "_PALETTE", 8)
    palette, labels = sog._palette_of(rest)
    assert palette.shape == (8, 3, 3)
    np.testing.assert_allclose(palette[labels], groups[truth], atol=2e-3)
    for k in range(8):
        np.testing.assert_allclose(palette[k], rest[labels == k].mean(axis=0), atol=1e-6)
    monkeypatch.setattr(sog, "_PALETTE", 7)
    palette, labels = sog._palette_of(rest)
    assert (len(palette), labels.max()) == (7, 6)


@pytest.mark.parametrize("ending", SMALL)
def test_the_same_splats_are_the_same_bytes(tmp_path: Path, ending: str) -> None:
    for name in "ab":
        write_splats(tmp_path / f"{name}{ending}", some(20))
    assert (tmp_path / f"a{ending}").read_bytes() == (tmp_path / f"b{ending}").read_bytes()


@pytest.mark.parametrize("ending", [".spz", ".sog"])
@pytest.mark.parametrize("flag", [False, True])
def test_files_say_whether_splats_are_antialiased(tmp_path: Path, ending: str, flag: bool) -> None:
    splats = Splats(**some(3).arrays, antialiased=flag)
    write_splats(tmp_path / f"a{ending}", splats)
    assert read_splats(tmp_path / f"a{ending}").antialiased is flag


def test_rows_that_cannot_be_drawn_are_not_written(tmp_path: Path) -> None:
    for ending in SMALL:
        splats = some(6)
        splats.means[2] = np.nan
        assert write_splats(tmp_path / f"a{ending}", splats) == 1
        assert len(read_splats(tmp_path / f"a{ending}")) == 5
    for ending in (".sog", ".ksplat"):
        with pytest.raises(DatasetError, match="would have no splats: no rows"):
            write_splats(tmp_path / f"a{ending}", some(0))
    for ending in (".spz", ".compressed.ply"):
        write_splats(tmp_path / f"a{ending}", some(0, rest=0))
        assert len(read_splats(tmp_path / f"a{ending}")) == 0


# SPZ


def harmonics(d: np.ndarray) -> np.ndarray:
    """The polynomials of harmonics 1 to 15 in the order of files, up to factors."""
    x, y, z = d
    return np.array(
        [
            *(y, z, x, x * y, y * z, 3 * z * z - 1, x * z, x * x - y * y, y * (3 * x * x - y * y)),
            *(x * y * z, y * (5 * z * z - 1), z * (5 * z * z - 3), x * (5 * z * z - 1)),
            *(z * (x * x - y * y), x * (x * x - 3 * y * y)),
        ]
    )


def test_spz_turns_axes_as_niantic_does(tmp_path: Path) -> None:
    splats = some(40)
    splats.shN[:] = np.clip(0.3 * splats.shN, -1, 0.9)
    write_splats(tmp_path / "a.spz", splats)
    raw = np.frombuffer(gzip.decompress((tmp_path / "a.spz").read_bytes()), np.uint8)
    assert raw[:16].tobytes()[:12] == struct.pack("<4sII", b"NGSP", 3, 40)
    fixed = raw[16 : 16 + 9 * 40].reshape(40, 3, 3) @ np.array([1, 2**8, 2**16])
    stored = (fixed - 2**24 * (fixed >= 2**23)) / 2.0 ** int(raw[13])
    np.testing.assert_allclose(stored, splats.means * [1, -1, -1], atol=1e-5)
    rest = (raw[-45 * 40 :].reshape(40, 15, 3).astype(float) - 128) / 128
    for d in np.random.default_rng(0).normal(size=(5, 3)):
        wanted = np.einsum("nkc,k->nc", read_splats(tmp_path / "a.spz").shN, harmonics(d))
        found = np.einsum("nkc,k->nc", rest, harmonics(d * [1, -1, -1]))
        np.testing.assert_allclose(found, wanted, atol=1e-4)


def spz(version: int, count: int = 1, degree: int = 0, bits: int = 8, flags: int = 0) -> bytes:
    return struct.pack("<4sIIBBBB", b"NGSP", version, count, degree, bits, flags, 0)


def test_versions_of_spz(tmp_path: Path) -> None:
    early = struct.pack("<3e", 1, 2, -3)
    fixed = b"".join((v & 0xFFFFFF).to_bytes(3, "little") for v in (256, 512, -768))
    rest = bytes([51, 128, 0, 255, 160, 144, 0]) + bytes([255, 128, 127])
    for version, position in ((1, early), (2, fixed)):
        (tmp_path / "a.spz").write_bytes(gzip.compress(spz(version) + position + rest))
        read = read_splats(tmp_path / "a.spz")
        np.testing.assert_allclose(read.means, [[1, -2, 3]])
        np.testing.assert_allclose(read.scales, [[0, -1, -10]])
        np.testing.assert_allclose(sigmoid(read.opacities), 0.2, atol=1e-6)
        np.testing.assert_allclose(read.quaternions[0], [0, 1, 0, 0], atol=0.01)
        np.testing.assert_allclose(read.sh0, [[0.5 / 38.25, -127.5 / 38.25, 127.5 / 38.25]])


@pytest.mark.skipif(importlib.util.find_spec("zstandard") is None, reason="zstandard is missing")
@pytest.mark.parametrize("rest", [0, 8])
def test_spz_of_version_4(tmp_path: Path, rest: int, monkeypatch: pytest.MonkeyPatch) -> None:
    write_splats(tmp_path / "a.spz", some(9, rest=rest))
    raw = (tmp_path / "a.spz").read_bytes()
    (tmp_path / "b.spz").write_bytes(spz_of_streams(raw))
    assert equal(read_splats(tmp_path / "b.spz"), read_splats(tmp_path / "a.spz"))
    (tmp_path / "b.spz").write_bytes(spz_of_streams(raw, claimed=2**40))
    refuse(tmp_path / "b.spz", f"has streams of ({2**40}, 9, 27, 27, 36, {27 * rest}) bytes")
    (tmp_path / "b.spz").write_bytes(spz_of_streams(raw, [bytes(80)]))
    refuse(tmp_path / "b.spz", "holds 80 bytes of 9 splats, or more; expected 81 bytes")
    monkeypatch.setattr(importlib, "import_module", lambda name: (_ for _ in ()).throw(ImportError))
    refuse(tmp_path / "b.spz", "pip install 'difftile[splats]', or write the file as version 3.")


def test_broken_spz(tmp_path: Path) -> None:
    path = tmp_path / "a.spz"
    for content, said in (
        (b"PLY", "begins with b'PLY'; expected a .spz file, packed by gzip or Zstandard"),
        (gzip.compress(b"no splats at all"), "holds b'no s'; expected the header of .spz"),
        (gzip.compress(spz(4)), "is of version 4; expected 1 or 2 or 3"),
        (gzip.compress(spz(3, degree=4)), "has harmonics of degree 4; expected 0 to 3."),
        (gzip.compress(spz(3, bits=24)), "has 24 bits after the point; expected 0 to 23"),
        (gzip.compress(spz(3) + bytes(19)), "holds 19 bytes of 1 splat, or more; expected 20"),
        (gzip.compress(spz(3) + bytes(21)), "holds 21 bytes of 1 splat, or more; expected 20"),
        (gzip.compress(spz(3) + bytes(20))[:-3], "holds 20 bytes of 1 splat"),
        (gzip.compress(spz(3, 2**32 - 1)), f"of its bytes hold {20 * (2**32 - 1)}; expected at"),
        (spz(4) + bytes(16), "says that its 0 streams are listed at byte 0"),
    ):
        path.write_bytes(content)
        refuse(path, said)
    path.write_bytes(gzip.compress(spz(3, flags=2) + bytes(20) + b"an extension"))
    assert len(read_splats(path)) == 1
    far = some(1)
    far.means[0, 0] = 2.0**23
    with pytest.raises(DatasetError, match=r"would have a position 8\.39e\+06 from the origin"):
        write_splats(path, far)
    far.means[0, 0] = 2.0**22
    write_splats(path, far)
    assert read_splats(path).means[0, 0] == 2.0**22


# SOG


def sog_files(folder: Path, splats: Splats) -> dict[str, bytes]:
    write_splats(folder / "a.sog", splats)
    with zipfile.ZipFile(folder / "a.sog") as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def test_sog_has_the_layout_of_its_specification(tmp_path: Path) -> None:
    splats = Splats(
        means=[[0.5, -2, 3]], scales=[[-1, -2, -3]], quaternions=[[0.1, 0.7, -0.7, 0.1]],
        opacities=[0], sh0=[[1, 0, -1]], shN=np.arange(9).reshape(1, 3, 3) / 10,
    )  # fmt: skip
    files = sog_files(tmp_path, splats)
    meta = json.loads(files["meta.json"])
    assert (meta["version"], meta["count"], meta["shN"]["bands"]) == (2, 1, 1)
    pixels = {k: np.asarray(Image.open(io.BytesIO(v))) for k, v in files.items() if k[-1] == "p"}
    logs = np.array(meta["means"]["mins"])
    np.testing.assert_allclose(np.sign(logs) * np.expm1(np.abs(logs)), [0.5, -2, 3])
    np.testing.assert_allclose(np.array(meta["scales"]["codebook"])[pixels["scales.webp"][0, 0]],
                               [-1, -2, -3], atol=0.01)  # fmt: skip
    *three, mode = pixels["quats.webp"][0, 0].astype(float)
    assert mode == 252 + 1  # wxyz, of which x is the largest
    np.testing.assert_allclose(
        (np.array(three) / 255 - 0.5) * np.sqrt(2), [0.1, -0.7, 0.1], 0, 3e-3
    )
    assert pixels["sh0.webp"][0, 0, 3] == 128
    assert pixels["shN_centroids.webp"].shape == (1, 64 * 3, 3)
    book = np.array(meta["shN"]["codebook"])
    np.testing.assert_allclose(book[pixels["shN_centroids.webp"][0, :3]], splats.shN[0], atol=2e-3)


def test_sog_in_a_folder(tmp_path: Path) -> None:
    for name, content in sog_files(tmp_path, some(50)).items():
        (tmp_path / name).write_bytes(content)
    assert equal(read_splats(tmp_path / "meta.json"), read_splats(tmp_path / "a.sog"))
    with pytest.raises(DatasetError, match="is the list of a folder; expected the name of one"):
        write_splats(tmp_path / "meta.json", some())
    meta = json.loads((tmp_path / "meta.json").read_text())
    meta["quats"]["files"] = ["../quats.webp"]
    (tmp_path / "meta.json").write_text(json.dumps(meta))
    refuse(tmp_path / "meta.json", "the name of a picture is '../quats.webp', which leads out of")


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"version": 1}, "is of version 1; expected version 2."),
        ({"version": None}, "is of version 1; expected version 2."),
        ({"count": 10**12}, "count is 1000000000000; expected a whole number from 1"),
        ({"count": 10**6}, "means.files[0] has 56 pixels; expected 1000000 or more"),
        ({"means": {"mins": [0, 0]}}, "means has no 'files'"),
        ({"scales.codebook": [0] * 255}, "scales.codebook has 255 values; expected 256"),
        ({"scales.files": ["a.webp"]}, "has no 'a.webp'; expected a .sog file"),
        ({"scales.files": []}, "scales.files has 0 names; expected 1"),
        ({"scales.files": ["meta.json"]}, "meta.json: cannot be read (unknown format)"),
        ({"quats.files": ["scales.webp"]}, None),
        ({"quats.files": ["sh0.webp"]}, "row 0 of 'quats' has the mode"),
        ({"shN.bands": 2}, "shN.files[0] is 960 x 1; expected 512 x 1 pixels or more"),
        ({"shN.count": 100}, "shN.files[0] is 960 x 1; expected 960 x 2 pixels or more"),
        ({"shN.count": 3}, "has the harmonics"),
    ],
)
def test_broken_sog(tmp_path: Path, change: dict[str, Any], said: str | None) -> None:
    files = sog_files(tmp_path, some(50))
    meta = json.loads(files["meta.json"])
    for place, value in change.items():
        *above, name = place.split(".")
        (meta[above[0]] if above else meta)[name] = value
    files["meta.json"] = json.dumps(meta).encode()
    with zipfile.ZipFile(tmp_path / "a.sog", "w") as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    if said is None:  # RGB is read with an opaque fourth channel: z is the largest component
        assert (np.abs(read_splats(tmp_path / "a.sog").quaternions).argmax(axis=1) == 3).any()
    else:
        refuse(tmp_path / "a.sog", said)


def test_a_sog_that_unpacks_to_more_than_it_can_hold(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "a.sog", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("meta.json", b" " * 10**7)
    raw = (tmp_path / "a.sog").read_bytes()
    size = struct.pack("<I", 10**7)
    (tmp_path / "a.sog").write_bytes(raw.replace(size, struct.pack("<I", 2**31)))
    refuse(tmp_path / "a.sog", f"says that {len(raw)} of its bytes hold {2**31}")


# ksplat


@pytest.mark.parametrize("level", [0, 1, 2])
@pytest.mark.parametrize("degree", [0, 1, 2, 3])
def test_levels_of_ksplat(tmp_path: Path, level: int, degree: int) -> None:
    splats = some(11, rest=(degree + 1) ** 2 - 1)
    splats.shN[:] = np.clip(splats.shN, -1.5, 1.5)
    splats.means[:] *= 0.3  # a bucket reaches 2.5 from its centre
    (tmp_path / "a.ksplat").write_bytes(ksplat(splats, level))
    read = read_splats(tmp_path / "a.ksplat")
    assert (len(read), read.sh_degree) == (11, degree)
    half = 2.0**-11  # of a half float
    np.testing.assert_allclose(read.means, splats.means, 0, 2.5 / 32767 / 2 + EPS if level else 0)
    np.testing.assert_allclose(read.scales, splats.scales, 0, 1.1 * half if level else EPS)
    np.testing.assert_allclose(read.quaternions, splats.quaternions, half if level else EPS, EPS)
    np.testing.assert_allclose(
        read.shN, splats.shN, *((0, EPS), (half, EPS), (0, 1.5 / 255 + EPS))[level]
    )


def test_sizes_of_zero_in_ksplat(tmp_path: Path) -> None:
    flat = some(11, rest=0)
    flat.scales[:, 2] = -60
    (tmp_path / "a.ksplat").write_bytes(ksplat(flat, 1))
    read = read_splats(tmp_path / "a.ksplat")
    assert len(read) == 11
    np.testing.assert_allclose(read.scales[:, 2], np.log(2.0**-24))


@pytest.mark.parametrize(
    ("at", "value", "said"),
    [
        (0, b"\1", "is of version 1.1, level 1; expected version 0.1 with level 0, 1 or 2"),
        (20, b"\3", "is of version 0.1, level 3"),
        (4, bytes(4), "has no sections"),
        (4, b"\xff\xff\xff\xff", "in the middle of the headers of sections"),
        (16, b"\7", "has 11 splats in its sections; expected the 7 of its header"),
        (4096, b"\xff", "section 0 has 255 splats of degree 1; expected at most 8"),
        (4100, b"\xff\xff\xff\xff", "in the middle of the splats of section 0"),
        (4108, b"\4", "section 0 has 4 buckets of 12 bytes for 8 splats; expected 3 of 12"),
        (4116, b"\1", "section 0 has 3 buckets of 1 bytes for 8 splats; expected 3 of 12"),
        (4128, b"\3", "section 0 has 3 buckets of 12 bytes for 16 splats; expected 5 of 12"),
        (4136, b"\7", "section 0 has 8 splats of degree 7"),
    ],
)
def test_broken_ksplat(tmp_path: Path, at: int, value: bytes, said: str) -> None:
    raw = ksplat(some(11, rest=3), 1)
    (tmp_path / "a.ksplat").write_bytes(raw[:at] + value + raw[at + len(value) :])
    refuse(tmp_path / "a.ksplat", said)


# Mip-Splatting


def test_the_blur_of_mip_splatting_is_used(tmp_path: Path) -> None:
    splats, blur = some(60), np.random.default_rng(5).uniform(0.0, 2.0, 60).astype(np.float32)
    blur[:2] = 0.0
    splats.opacities[2:4] = 30.0, -30.0
    write_splat_ply(tmp_path / "a.ply", splats)
    table = read_ply(tmp_path / "a.ply")["vertex"]
    wide = np.zeros(60, [*table.dtype.descr, ("filter_3D", "<f4")])
    for name in table.dtype.names or ():
        wide[name] = table[name]
    wide["filter_3D"] = blur
    write_ply(tmp_path / "a.ply", {"vertex": wide})
    read = read_splats(tmp_path / "a.ply")
    assert read.antialiased and len(read) == 60
    before = np.exp(2 * splats.scales.astype(np.float64))
    after = before + blur[:, None].astype(np.float64) ** 2
    np.testing.assert_allclose(np.exp(2 * read.scales.astype(np.float64)), after, 2e-6)
    share = np.sqrt(np.prod(before, axis=1) / np.prod(after, axis=1))
    np.testing.assert_allclose(sigmoid(read.opacities), sigmoid(splats.opacities) * share, 3e-6)
    np.testing.assert_array_equal(read.opacities[:2], splats.opacities[:2])
    wide["filter_3D"][7] = np.nan
    write_ply(tmp_path / "a.ply", {"vertex": wide})
    assert read_splats(tmp_path / "a.ply").dropped == 1


@pytest.mark.parametrize("ending", FORMATS)
def test_training_starts_from_every_format(tmp_path: Path, ending: str) -> None:
    splats = Splats(**some(12, rest=3).arrays, antialiased=True)
    if ending == META:
        for name, content in sog_files(tmp_path, splats).items():
            (tmp_path / name).write_bytes(content)
    path = tmp_path / (ending if ending == META else f"a{ending}")
    if ending != META:
        write_splats(path, splats)
    arrays, told, degree = _loaded(Options(start=str(path)))
    assert len(arrays["means"]) == 12
    assert degree == (0 if ending == ".splat" else 1)
    assert ("--antialiased" in told) == (ending in (".spz", ".sog", META))


def test_help_names_all_endings(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        command.main(["--help"])
    said = capsys.readouterr().out
    assert all(ending in said for ending in FORMATS if ending.rfind(".") == 0)
