"""The boundary: irregular files, broken JSON and archives, names that lead out of a folder."""

from __future__ import annotations

import io
import os
import pickle
import stat
import zipfile
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import difftile as dt
from difftile.files import regular
from difftile.files.arrays import arrays_of, read_arrays, write_arrays
from difftile.files.inside import Folder
from difftile.files.json_values import read_json
from difftile.files.regular import read_bytes, read_text, shown, understood
from difftile.files.writing import whole, write_bytes


def refused(call: Any, *message: str) -> str:
    with pytest.raises(dt.DatasetError) as caught:
        call()
    for part in message:
        assert part in str(caught.value)
    return str(caught.value)


# Regular files


def test_what_is_no_regular_file_is_named_and_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "zero").symlink_to("/dev/zero")
    (tmp_path / "circle").symlink_to("circle")
    for name, said in {
        "pipe": "is a pipe; expected a file.",
        "zero": "is a device; expected a file.",
        ".": "is a folder; expected a file.",
        "none": "is not there; expected a file.",
        "circle": "cannot be read (Too many levels of symbolic links); expected a file.",
        "a" * 300: "cannot be read (File name too long)",
        "a\0b": "is not a file name; expected a file.",
        "\ud800": "is not a file name",
    }.items():
        said_of = refused(lambda name=name: read_bytes(tmp_path / name), said)
        assert "\n" not in said_of


def test_a_file_larger_than_memory_is_not_read(tmp_path: Path) -> None:
    with (tmp_path / "sparse").open("wb") as file:
        file.truncate(2**43)
    refused(lambda: read_bytes(tmp_path / "sparse"), f"has {2**43} bytes; expected at most")
    refused(lambda: read_text(tmp_path / "sparse", 10), "expected at most 10 bytes")


def test_text_says_which_byte_is_none(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"\xef\xbb\xbfgood \xff")
    refused(lambda: read_text(tmp_path / "a"), "is not text; expected text in UTF-8, which byte 8")
    (tmp_path / "a").write_bytes(b"\xef\xbb\xbfgood")
    assert read_text(tmp_path / "a") == "good"


@pytest.mark.parametrize("error", [ZeroDivisionError, RecursionError("deep"), MemoryError, OSError])
def test_whatever_a_library_raises_is_about_the_file(tmp_path: Path, error: Any) -> None:
    def parse() -> None:
        with understood(tmp_path, "sense"):
            raise error

    refused(parse, "cannot be read (", "); expected sense.")
    with pytest.raises(KeyboardInterrupt), understood(tmp_path, "sense"):
        raise KeyboardInterrupt


def test_values_in_errors_are_short_lines() -> None:
    for value in ("a" * 10_000, [[[[[[[[[[]]]]]]]]]] * 100, "a\nb\x1b", 10**4000, {"a": "b" * 999}):
        assert len(shown(value)) < 400
        assert shown(value).isprintable()


# JSON


def json_of(folder: Path, text: str) -> Any:
    (folder / "a.json").write_text(text, "utf-8")
    return read_json(folder / "a.json")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[1, 2", "is not JSON at line 1, column 6 (Expecting ',' delimiter); expected JSON"),
        ('{\n"a" 1}', "is not JSON at line 2, column 5"),
        ("[" * 100_000, "has more than 32 levels of brackets"),
        ("[" * 33 + "]" * 33, "has more than 32 levels of brackets"),
        ('{"a": 1, "b": {"c": 1, "c": 2}}', "has 'c' twice in one object; expected each name once"),
    ],
)
def test_broken_json_says_where(tmp_path: Path, text: str, said: str) -> None:
    refused(lambda: json_of(tmp_path, text), "a.json: ", said)


def test_values_of_json_say_where_they_stand(tmp_path: Path) -> None:
    content = json_of(
        tmp_path,
        '{"frames": [{"x": NaN, "big": 1e999, "digits": ' + "9" * 5000 + ', "half": 0.5,'
        '"m": [[1, 2], [3, "4"]], "t": true, "n": null, "s": "text"}]}',
    )
    frame = content.member("frames", "a list").items()[0]
    assert frame.place == "frames[0]"
    assert frame.member("s", "a text").text() == "text"
    assert frame.member("t", "a flag").flag() is True
    assert frame.get("n") is None
    for key, call, said in (
        ("x", "number", "frames[0].x is nan; expected a finite number"),
        ("big", "number", "frames[0].big is inf; expected a finite number"),
        ("digits", "number", "frames[0].digits is inf; expected a finite number"),
        ("t", "number", "frames[0].t is True; expected a finite number"),
        ("s", "flag", "frames[0].s is 'text'; expected true or false"),
        ("half", "text", "frames[0].half is 0.5; expected a text"),
        ("half", "items", "frames[0].half is 0.5; expected a list"),
        ("half", "members", "frames[0].half is 0.5; expected an object"),
    ):
        refused(getattr(frame.member(key, "it"), call), said)
    refused(
        lambda: frame.member("half", "it").whole(0, 9), "is 0.5; expected a whole number from 0"
    )
    refused(lambda: frame.member("gone", "it"), "frames[0] has no 'gone'; expected it")
    refused(lambda: frame.member("m", "it").matrix((3, 2)), "expected 3 rows of 2 finite numbers")
    refused(
        lambda: frame.member("m", "it").matrix((2, 2)), "frames[0].m[1][1] is '4'; expected a f"
    )


# Archives


def archive(path: Path, members: dict[str, bytes], method: int = zipfile.ZIP_STORED) -> Path:
    with zipfile.ZipFile(path, "w", method) as file:
        for name, body in members.items():
            file.writestr(name, body)
    return path


def npy(array: Any, header: str | None = None) -> bytes:
    out = io.BytesIO()
    np.save(out, np.asarray(array), allow_pickle=True)
    if header is None:
        return out.getvalue()
    return b"\x93NUMPY\1\0" + len(header).to_bytes(2, "little") + header.encode()


def test_arrays_are_what_was_written(tmp_path: Path) -> None:
    given = {
        "a": np.arange(6.0).reshape(2, 3),
        "columns": np.asfortranarray(np.arange(6, dtype=np.int16).reshape(2, 3)),
        "text": np.array("ä text"),
        "none": np.zeros((0, 4), np.float32),
        "flag": np.array(True),
        "big": np.arange(3, dtype=">f8"),
    }
    write_arrays(tmp_path / "a.npz", given)
    np.savez_compressed(tmp_path / "b.npz", **given)
    for name in ("a", "b"):
        found = read_arrays(tmp_path / f"{name}.npz")
        assert [*found] == [*given]
        for key, array in given.items():
            np.testing.assert_array_equal(found[key], array)
            assert found[key].dtype == array.dtype.newbyteorder("=")
            assert found[key].flags.writeable
    with np.load(tmp_path / "a.npz") as lazy:
        np.testing.assert_array_equal(arrays_of(lazy)["a"], given["a"])


@pytest.mark.parametrize(
    ("members", "said"),
    [
        ({"a.npy": npy({"a": 1})}, "has 'a' of dtype('O'); expected numbers or a text"),
        ({"a.npy": pickle.dumps([1])}, "cannot be read ("),
        ({"a.npy": npy(1.0)[:-1]}, "says that 'a' has the shape () of float64, 8 bytes, and 7 are"),
        (
            {"a.npy": npy(0, "{'descr': '<f8', 'fortran_order': False, 'shape': (10**12,), }")},
            "cannot be read (",
        ),
        (
            {
                "a.npy": npy(
                    0, "{'descr': '<f8', 'fortran_order': False, 'shape': (1000000000000,), }"
                )
            },
            "says that 'a' has the shape (1000000000000,) of float64, 8000000000000 bytes",
        ),
        (
            {"a.npy": npy(np.zeros(2)) + bytes(8)},
            "says that 'a' has the shape (2,) of float64, 16 bytes, and 24 are there",
        ),
        ({"a.npy": npy(0, "(" * 5000)}, "cannot be read ("),
        ({"a.npy": npy(True)[:-1] + b"\2"}, "has 'a' with bytes that are not bool"),
        ({"a.npy": npy("a")[:-4] + b"\xff" * 4}, "has 'a' with bytes that are not <U1"),
        ({"a.npy": npy(1), "a": npy(2)}, "has the array 'a' twice; expected each name once"),
        ({f"{k}.npy": b"" for k in range(10_001)}, "has 10001 arrays; expected at most 10000"),
    ],
)
def test_broken_archives_say_where(tmp_path: Path, members: dict[str, bytes], said: str) -> None:
    refused(lambda: read_arrays(archive(tmp_path / "a.npz", members)), "a.npz: ", said)


def test_an_archive_that_holds_too_much_is_not_unpacked(tmp_path: Path) -> None:
    bomb = archive(tmp_path / "a.npz", {"a.npy": npy(np.zeros(2**24))}, zipfile.ZIP_DEFLATED)
    said = refused(lambda: read_arrays(bomb), f"hold {2**27 + 128}; expected at most {2**26}.")
    assert said.endswith("Hint: write it with np.savez, which does not compress.")


def test_archives_with_changed_bytes_are_refused(tmp_path: Path) -> None:
    write_arrays(tmp_path / "a.npz", {"a": np.arange(4.0), "b": np.arange(4.0)})
    raw = (tmp_path / "a.npz").read_bytes()
    for at in range(len(raw)):
        (tmp_path / "b.npz").write_bytes(raw[:at] + bytes([raw[at] ^ 0x11]) + raw[at + 1 :])
        try:
            found = read_arrays(tmp_path / "b.npz")
        except dt.DatasetError:
            continue
        # Parts not covered by a checksum, such as names and dates.
        assert len(found) == 2
        for array in found.values():
            np.testing.assert_array_equal(array, np.arange(4.0))
    (tmp_path / "b.npz").write_bytes(raw[:-10])
    refused(lambda: read_arrays(tmp_path / "b.npz"), "cannot be read (File is not a zip file)")


# Names


def test_names_stay_in_the_folder(tmp_path: Path) -> None:
    root = tmp_path / "data"
    (root / "images").mkdir(parents=True)
    (root / "images" / "a.png").touch()
    (tmp_path / "outside.png").touch()
    (root / "link.png").symlink_to(tmp_path / "outside.png")
    (root / "folder").symlink_to(tmp_path)
    (root / "inner").symlink_to(root / "images")
    by = root / "cameras.json"
    inside = Folder(root)
    for name in ("images/a.png", "images/../images/a.png", "inner/a.png", "none.png"):
        assert inside.within(root, name, by, "x") == root / name
    for name in ("../outside.png", "/etc/passwd", "link.png", "folder/outside.png"):
        said = refused(
            lambda name=name: inside.within(root, name, by, "frames[0].file_path"),
            f"cameras.json: frames[0].file_path is {name!r}, which leads out of ",
        )
        assert "allow_outside=True" in said
        assert Folder(root, outside=True).within(root, name, by, "x") == root / name
        assert Folder(root, also=(Path("/etc"), tmp_path)).within(root, name, by, "x")
    for name in ("", "a\0b", "a\nb", "\ud800", "a" * 5000):
        refused(lambda name=name: inside.within(root, name, by, "x"), "expected the name of a file")
    # A folder that is itself reached by a link is no way out.
    (tmp_path / "alias").symlink_to(root)
    assert Folder(tmp_path / "alias").within(tmp_path / "alias", "images/a.png", by, "x")


# Writing


@pytest.mark.parametrize("error", [OSError("disk full"), KeyboardInterrupt])
def test_a_file_is_written_whole_or_not_at_all(tmp_path: Path, error: Any) -> None:
    path = tmp_path / "a.bin"

    def write() -> None:
        with whole(path) as file:
            file.write(b"new")
            raise error

    for before in (None, b"old"):
        if before is not None:
            path.write_bytes(before)
        with pytest.raises(type(error) if isinstance(error, Exception) else error):
            write()
        assert [one.name for one in tmp_path.iterdir()] == ([] if before is None else ["a.bin"])
        assert before is None or path.read_bytes() == before
    write_bytes(path, b"whole")
    assert path.read_bytes() == b"whole"
    assert [*tmp_path.iterdir()] == [path]
    mode = path.stat().st_mode
    (tmp_path / "b").write_bytes(b"")
    assert stat.S_IMODE(mode) == stat.S_IMODE((tmp_path / "b").stat().st_mode)


def test_devices_and_folders_are_not_replaced(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path / "pipe", tmp_path, Path("/dev/null")):
        refused(
            lambda path=path: write_bytes(path, b""), "is not a file; expected a file to replace"
        )


def test_the_bound_of_memory_is_that_of_the_machine() -> None:
    assert 2**27 < regular._half_of_memory() < 2**50


def test_checksums_are_read_to_the_end(tmp_path: Path) -> None:
    """A member may give its last byte long before its packed bytes end: in empty blocks."""
    content, file = npy(np.arange(100) % 7), tmp_path / "a.npz"
    packer = zlib.compressobj(wbits=-15)
    blocks = packer.compress(content) + packer.flush(zlib.Z_SYNC_FLUSH)
    blocks += b"\0\0\0\xff\xff" * 2000 + b"\1\0\0\xff\xff"
    for checksum in (zlib.crc32(content), zlib.crc32(content) ^ 1):
        with zipfile.ZipFile(file, "w") as made:
            member = zipfile.ZipInfo("a.npy")
            member.compress_type, member.CRC = zipfile.ZIP_DEFLATED, checksum
            member.file_size, member.compress_size = len(content), len(blocks)
            member.header_offset = 0
            assert made.fp is not None
            made.fp.write(member.FileHeader() + blocks)
            made.filelist.append(member)
            made.start_dir = made.fp.tell()
            made._didModify = True
        if checksum == zlib.crc32(content):
            np.testing.assert_array_equal(read_arrays(file)["a"], np.arange(100) % 7)
        else:
            refused(lambda: read_arrays(file), "a.npz: ", "Bad CRC-32")
