"""Splats as files: INRIA's .ply, .splat, SuperSplat's packed .ply, and broken ones."""

from __future__ import annotations

import re
import struct
from pathlib import Path

import numpy as np
import pytest

from difftile.datasets import Splats, read_splats, write_splats
from difftile.datasets.inria import write_splat_ply
from difftile.datasets.ply import read_ply, write_ply
from difftile.datasets.splats import PARAMETERS
from difftile.diagnostics import DatasetError
from tests.datasets.packed import packed

NAMES = ["x", "y", "z", "nx", "ny", "nz", "f_dc_0", "f_dc_1", "f_dc_2"]
LATE = ["opacity", "scale_0", "scale_1", "scale_2", "rot_0", "rot_1", "rot_2", "rot_3"]


def some(n: int = 7, rest: int = 15, seed: int = 3) -> Splats:
    draw = np.random.default_rng(seed)
    shapes = {"means": (3,), "scales": (3,), "quaternions": (4,), "opacities": (), "sh0": (3,)}
    arrays = {k: draw.normal(size=(n, *shape)) for k, shape in shapes.items()}
    return Splats(**arrays, shN=draw.normal(size=(n, rest, 3)))


def equal(a: Splats, b: Splats) -> bool:
    return all(np.array_equal(getattr(a, k), getattr(b, k)) for k in PARAMETERS)


@pytest.mark.parametrize("rest", [0, 3, 8, 15])
@pytest.mark.parametrize("normals", [True, False])
def test_ply_round_trip_is_exact(tmp_path: Path, rest: int, normals: bool) -> None:
    splats = some(rest=rest)
    write_splat_ply(tmp_path / "a.ply", splats, normals=normals)
    again = read_splats(tmp_path / "a.ply")
    assert equal(splats, again)
    assert again.sh_degree == {0: 0, 3: 1, 8: 2, 15: 3}[rest]
    write_splat_ply(tmp_path / "b.ply", again, normals=normals)
    assert (tmp_path / "a.ply").read_bytes() == (tmp_path / "b.ply").read_bytes()


def test_ply_has_the_layout_of_the_inria_code(tmp_path: Path) -> None:
    splats = some(2)
    assert write_splats(tmp_path / "a.ply", splats) == 0
    names = [*NAMES, *(f"f_rest_{k}" for k in range(45)), *LATE]
    header = "ply\nformat binary_little_endian 1.0\nelement vertex 2\n"
    header += "".join(f"property float {name}\n" for name in names) + "end_header\n"
    raw = (tmp_path / "a.ply").read_bytes()
    assert raw.startswith(header.encode())
    rows = np.frombuffer(raw[len(header) :], "<f4").reshape(2, 62)
    np.testing.assert_array_equal(rows[:, :3], splats.means)
    np.testing.assert_array_equal(rows[:, 3:6], 0)
    np.testing.assert_array_equal(rows[:, 9:24], splats.shN[:, :, 0])  # red first
    np.testing.assert_array_equal(rows[:, 54], splats.opacities)
    np.testing.assert_array_equal(rows[:, 58:], splats.quaternions)


@pytest.mark.parametrize("order", ["binary_little_endian", "binary_big_endian", "ascii"])
def test_ply_is_read_by_name_in_any_order_type_and_byte_order(tmp_path: Path, order: str) -> None:
    splats = some(5, rest=3)
    columns = {
        **{f"rot_{k}": splats.quaternions[:, k] for k in range(4)},
        "confidence": np.arange(5.0),
        **{f"f_rest_{k}": splats.shN[:, k % 3, k // 3] for k in reversed(range(9))},
        **{f"f_dc_{k}": splats.sh0[:, k] for k in range(3)},
        "opacity": splats.opacities.astype(np.float64),
        **{f"scale_{k}": splats.scales[:, k] for k in range(3)},
        **{axis: splats.means[:, k] for k, axis in enumerate("zyx"[::-1])},
    }
    header = [f"ply\nformat {order} 1.0\ncomment made by hand\nelement vertex 5"]
    code = {"binary_big_endian": ">", "ascii": "<"}.get(order, "<")
    dtype = [(k, code + v.dtype.str[1:]) for k, v in columns.items()]
    header += [f"property {'double' if d[2] == '8' else 'float'} {k}" for k, d in dtype]
    header += ["element face 1", "property list uchar int vertex_index", "end_header", ""]
    table = np.empty(5, dtype)
    for name, column in columns.items():
        table[name] = column
    body = table.tobytes()
    if order == "ascii":
        body = "".join(" ".join(repr(float(v)) for v in row) + "\n" for row in table).encode()
    triangle = [3, *struct.pack(f"{code}3i", 0, 1, 2)]
    body += b"3 0 1 2\n" if order == "ascii" else bytes(triangle)
    (tmp_path / "a.ply").write_bytes("\n".join(header).encode() + body)
    assert equal(read_splats(tmp_path / "a.ply"), splats)


@pytest.mark.parametrize(("name", "value"), [("means", np.nan), ("opacities", np.nan)])
def test_rows_that_are_not_finite_are_dropped_and_counted(
    tmp_path: Path, name: str, value: float
) -> None:
    splats = some(6)
    getattr(splats, name)[2] = value
    splats.quaternions[4] = 0.0
    assert write_splats(tmp_path / "a.ply", splats) == 2
    assert len(read_splats(tmp_path / "a.ply")) == 4
    write_splats(tmp_path / "b.ply", some(6))
    table = read_ply(tmp_path / "b.ply")["vertex"].copy()
    table["scale_1"][0] = value
    for k in range(4):
        table[f"rot_{k}"][5] = 0
    write_ply(tmp_path / "b.ply", {"vertex": table})
    read = read_splats(tmp_path / "b.ply")
    assert (len(read), read.dropped) == (4, 2)
    np.testing.assert_array_equal(read.means, some(6).means[1:5])


def test_opaque_splats_with_an_infinite_logit_are_kept_and_counted(tmp_path: Path) -> None:
    """As of exporters that store log(alpha / (1 - alpha)) of an alpha of exactly 1, or 0."""
    splats, rng = some(200), np.random.default_rng(0)
    wide = rng.choice([np.inf, -np.inf, 1e300, -1e300, np.nan, 100.0, -3.0], 200)
    write_splats(tmp_path / "a.ply", splats)
    table = read_ply(tmp_path / "a.ply")["vertex"]
    kinds = [(name, "<f8" if name == "opacity" else "<f4") for name in table.dtype.names or ()]
    table = table.astype(kinds)
    table["opacity"] = wide
    write_ply(tmp_path / "a.ply", {"vertex": table})
    read = read_splats(tmp_path / "a.ply")
    kept = ~np.isnan(wide)
    clamped = np.abs(wide[kept]) > 1e30
    assert (len(read), read.dropped) == (kept.sum(), (~kept).sum())
    assert read.clamped == clamped.sum() > 20
    np.testing.assert_array_equal(read.means, splats.means[kept])
    opacities = 1 / (1 + np.exp(-read.opacities))  # in single precision
    assert opacities.dtype == np.float32 and np.isfinite(read.opacities).all()
    np.testing.assert_allclose(opacities[clamped], wide[kept][clamped] > 0, 0, 2e-7)
    np.testing.assert_array_equal(read.opacities[~clamped], wide[kept][~clamped].astype("f4"))
    assert write_splats(tmp_path / "b.ply", read) == 0
    again = read_splats(tmp_path / "b.ply")
    assert equal(again, read) and again.clamped == 0


def test_an_empty_ply_has_no_splats(tmp_path: Path) -> None:
    assert write_splats(tmp_path / "a.ply", some(0)) == 0
    assert len(read_splats(tmp_path / "a.ply")) == 0


def test_dot_splat_round_trip(tmp_path: Path) -> None:
    splats = some(20, rest=0)
    splats.opacities[:2] = -20, 20
    assert write_splats(tmp_path / "a.splat", splats) == 0
    again = read_splats(tmp_path / "a.splat")
    assert write_splats(tmp_path / "b.splat", again) == 0
    first, second = (
        np.frombuffer((tmp_path / f"{name}.splat").read_bytes(), np.uint8).reshape(20, 32)
        for name in "ab"
    )
    np.testing.assert_array_equal(first[:, :12], second[:, :12])
    np.testing.assert_array_equal(first[:, 24:28], second[:, 24:28])  # colours and opacities
    assert np.abs(first[:, 28:].astype(int) - second[:, 28:]).max() <= 1
    np.testing.assert_array_equal(again.means, splats.means)
    np.testing.assert_allclose(again.scales, splats.scales, rtol=0, atol=1e-6)
    units = splats.quaternions / np.linalg.norm(splats.quaternions, axis=1, keepdims=True)
    np.testing.assert_allclose(again.quaternions, units, atol=0.009)
    colours = np.clip(0.5 + 0.28209479 * splats.sh0, 0, 1)
    np.testing.assert_allclose(0.5 + 0.28209479 * again.sh0, colours, atol=0.5 / 255 + 1e-6)
    sigmoid = [1 / (1 + np.exp(-one.opacities)) for one in (splats, again)]
    np.testing.assert_allclose(*sigmoid, atol=0.51 / 255)


def test_dot_splat_has_the_bytes_of_its_format(tmp_path: Path) -> None:
    row = struct.pack("<6f8B", 1, 2, 3, 0.5, 1, 2, 255, 0, 51, 128, 255, 128, 128, 128)
    (tmp_path / "a.splat").write_bytes(row + struct.pack("<6f8B", *[0] * 6, *[128] * 8))
    read = read_splats(tmp_path / "a.splat")
    assert (len(read), read.dropped) == (1, 1)  # the other has no size and no rotation
    np.testing.assert_allclose(read.means, [[1, 2, 3]])
    np.testing.assert_allclose(np.exp(read.scales), [[0.5, 1, 2]])
    np.testing.assert_allclose(0.5 + 0.28209479 * read.sh0, [[1, 0, 0.2]], atol=1e-6)
    np.testing.assert_allclose(read.quaternions, [[127 / 128, 0, 0, 0]])


def test_packed_ply_of_supersplat(tmp_path: Path) -> None:
    write_ply(tmp_path / "a.ply", packed())
    read = read_splats(tmp_path / "a.ply")
    assert (len(read), read.dropped, read.sh_degree) == (300, 0, 1)
    np.testing.assert_allclose(read.means[299], [1, -2, 3])
    np.testing.assert_allclose(read.scales[299], [-5, 0, -5])
    np.testing.assert_allclose(0.5 + 0.28209479 * read.sh0[0], [2, 0, 0.4], atol=1e-6)
    np.testing.assert_allclose(1 / (1 + np.exp(-read.opacities[0])), 0.2, atol=1e-6)
    np.testing.assert_allclose(read.quaternions[0], [0, 0, 1, 0], atol=1e-3)  # y is the largest
    np.testing.assert_allclose(read.shN[0], [[-4, 4, -4], [-4, -4, -4], [-4, -4, -4]])


@pytest.mark.parametrize("largest", range(4))
def test_packed_rotations(tmp_path: Path, largest: int) -> None:
    wanted = np.insert(np.array([0.1, -0.2, 0.3]), largest, np.sqrt(1 - 0.14))
    parts = np.rint((np.delete(wanted, largest) / np.sqrt(2) + 0.5) * 1023).astype(np.uint32)
    tables = packed(1, bounds_of_colour=False, sh=False)
    word = (np.uint32(largest) << 30) | (parts[0] << 20) | (parts[1] << 10) | parts[2]
    tables["vertex"]["packed_rotation"] = word
    write_ply(tmp_path / "a.ply", tables)
    read = read_splats(tmp_path / "a.ply")
    np.testing.assert_allclose(read.quaternions[0], wanted, atol=1e-3)
    np.testing.assert_allclose(0.5 + 0.28209479 * read.sh0[0], [1, 0, 0.2], atol=1e-6)


# Broken files


def refuse(path: Path, message: str) -> None:
    with pytest.raises(DatasetError, match=re.escape(message)):
        read_splats(path)


@pytest.mark.parametrize(
    ("keep", "message"),
    [
        (0, "begins with b''; expected a PLY file"),
        (3, "begins with b'ply'; expected a PLY file"),
        (60, "has a header without an end"),
        (-1, "ends in row 6 of element 'vertex'; expected 7 rows of 248 bytes each"),
        (-248, "ends in row 6 of element 'vertex'"),
        (-7 * 248, "ends in row 0 of element 'vertex'"),
    ],
)
def test_a_truncated_ply_says_where(tmp_path: Path, keep: int, message: str) -> None:
    write_splats(tmp_path / "a.ply", some())
    raw = (tmp_path / "a.ply").read_bytes()
    (tmp_path / "a.ply").write_bytes(raw[:keep])
    refuse(tmp_path / "a.ply", message)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (b"ply\n", b"obj\n", "begins with b'obj\\n'"),
        (
            b"vertex 7",
            b"vertex 6",
            "goes on for 248 bytes after the last element; expected its end",
        ),
        (b"vertex 7", b"vertex x", "has the line 'element vertex x' in its header"),
        (b"little_endian", b"middle_endian", "has the line 'format binary_middle_endian 1.0'"),
        (b"format binary_little_endian 1.0\n", b"", "does not say its format"),
        (b"property float x\n", b"property half x\n", "has the line 'property half x'"),
        (b"property float x\n", b"property float y\n", "has a property twice"),
        (b"element vertex", b"element corner", "has the elements ['corner']"),
        (
            b"vertex 7",
            b"vertex 70000000000000000000",
            "ends in row 7 of element 'vertex'; expected 7",
        ),
        (b"float opacity", b"float alpha", "element 'vertex' has no 'opacity'; expected the prop"),
        (b"f_rest_44", b"f_rost_44", "has 44 properties that begin with 'f_rest_'; expected 0, 9"),
        (b"f_rest_44", b"f_rest_99", "has 45 properties that begin with 'f_rest_'"),
    ],
)
def test_a_wrong_header_is_named(tmp_path: Path, old: bytes, new: bytes, message: str) -> None:
    write_splats(tmp_path / "a.ply", some())
    raw = (tmp_path / "a.ply").read_bytes()
    assert old in raw
    (tmp_path / "a.ply").write_bytes(raw.replace(old, new, 1))
    refuse(tmp_path / "a.ply", message)


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("1 2 3\n", "ends in row 1 of element 'vertex'; expected 2 rows"),
        ("1 2 3\n4 5\n", "row 1 of element 'vertex' is '4 5'; expected 3 numbers"),
        ("1 2 3\n4 5 six\n", "row 1 of element 'vertex' is '4 5 six'; expected 3 numbers"),
        ("1 2 3\n4 5 6\n7 8 9\n", "goes on for 6 bytes"),
        ("1 2 3\n4 5 6", "this is a point cloud; train splats from it."),
    ],
)
def test_a_wrong_row_of_text_is_named(tmp_path: Path, body: str, message: str) -> None:
    header = "ply\nformat ascii 1.0\nelement vertex 2\n"
    header += "".join(f"property float {axis}\n" for axis in "xyz") + "end_header\n"
    (tmp_path / "a.ply").write_text(header + body)
    refuse(tmp_path / "a.ply", message)


def test_a_count_beyond_all_memory_is_a_truncated_file(tmp_path: Path) -> None:
    header = f"ply\nformat ascii 1.0\nelement vertex {10**30}\nproperty float x\nend_header\n"
    (tmp_path / "a.ply").write_text(header + "1\n")
    refuse(tmp_path / "a.ply", "ends in row 1 of element 'vertex'; expected 1000000000")


def test_a_packed_ply_needs_its_chunks(tmp_path: Path) -> None:
    tables = packed()
    write_ply(tmp_path / "a.ply", {**tables, "chunk": tables["chunk"][:1]})
    refuse(tmp_path / "a.ply", "has 1 chunks for 300 packed splats; expected 2 chunks")
    write_ply(tmp_path / "a.ply", {"vertex": tables["vertex"]})
    refuse(tmp_path / "a.ply", "has 0 chunks for 300 packed splats; expected 2 chunks")
    write_ply(tmp_path / "a.ply", {**tables, "sh": tables["sh"][:9]})
    refuse(tmp_path / "a.ply", "has 9 rows of 'sh'; expected 300 rows")
    names = tables["chunk"].dtype.names or ()
    bare = tables["chunk"][[name for name in names if name != "max_scale_y"]]
    write_ply(tmp_path / "a.ply", {**tables, "chunk": bare})
    refuse(tmp_path / "a.ply", "element 'chunk' has no 'max_scale_y'")


@pytest.mark.parametrize(("size", "said"), [(0, "has 0 bytes"), (33, "has 33 bytes")])
def test_a_cut_dot_splat_is_refused(tmp_path: Path, size: int, said: str) -> None:
    (tmp_path / "a.splat").write_bytes(bytes(size))
    refuse(tmp_path / "a.splat", f"{said}; expected 32 bytes a splat")


def test_a_negative_size_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.splat").write_bytes(struct.pack("<6f8B", 0, 0, 0, 1, -1, 1, *range(8)))
    refuse(tmp_path / "a.splat", "has splats with a negative size")


def test_names_of_files(tmp_path: Path) -> None:
    refuse(tmp_path / "a.ply", "a.ply: is not there; expected a file.")
    refuse(tmp_path / "a.obj", "ends with '.obj'; expected a name that ends with .compressed.ply, ")
    with pytest.raises(DatasetError, match=r"ends with '.obj'"):
        write_splats(tmp_path / "a.obj", some())
    (tmp_path / "b.ply").mkdir()
    refuse(tmp_path / "b.ply", "b.ply: is a folder; expected a file.")


def test_shapes_that_do_not_go_together() -> None:
    arrays = {k: getattr(some(), k) for k in PARAMETERS}
    with pytest.raises(ValueError, match=re.escape("scales (6, 3), not (7, 3).")):
        Splats(**{**arrays, "scales": arrays["scales"][1:]})
    with pytest.raises(ValueError, match=re.escape("0, 3, 8 or 15 coefficients in shN, not 4.")):
        Splats(**{**arrays, "shN": arrays["shN"][:, :4]})
