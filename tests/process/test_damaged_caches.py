"""Compiled kernels in files that were damaged: they are compiled again, and no process ends."""

from __future__ import annotations

import random
import shutil
import struct
from pathlib import Path

import pytest

from difftile.substrate import chosen
from difftile.substrate.family.kept_kernels import is_kernel, is_list, remove_damaged
from tests.process.running import check

_KEY = "T" + "0123456789abcdef" * 4


def kernel(first: int, second: int) -> bytes:
    """Return a file of a kernel, whose parts have some lengths."""
    return struct.pack("<8sQQ", b"TIC", first, second) + bytes(first + second) + b"f" * 64


def listed(sizes: list[int]) -> bytes:
    """Return a list of kernels with some sizes."""
    body = b"".join(
        2 * (struct.pack("<Q", len(_KEY)) + _KEY.encode()) + struct.pack("<Qqq", size, 5, 7)
        for size in sizes
    )
    head = struct.pack("<Q6sQQ", 30 + len(body), b"\1\0\7\0\4\0", sum(sizes), len(sizes))
    return head + body


def damaged(data: bytes, rng: random.Random) -> bytes:
    """Return a file with some other bytes, or without some, or with more."""
    at, count = rng.randrange(len(data)), rng.choice([1, 2, 4, 8, 64])
    new = rng.choice([b"\xff", b"\x7f", b"\0", rng.randbytes(1)]) * count
    return rng.choice(
        [data[:at] + new[: len(data) - at] + data[at + count :], data[:at], data + new]
    )


def read_list(data: bytes) -> int:
    """Read a list as the compiler does, which trusts lengths; return how many kernels it has."""
    length, _, _, count = struct.unpack_from("<Q6sQQ", data)
    assert length == len(data)
    at = 30
    for _ in range(count):
        for _ in range(2):
            (size,) = struct.unpack_from("<Q", data, at)
            at += 8 + size
            assert at <= len(data)
        struct.unpack_from("<Qqq", data, at)
        at += 24
    return int(count)


@pytest.mark.parametrize("seed", range(20))
def test_what_is_kept_of_damaged_files_can_be_read(seed: int) -> None:
    rng = random.Random(seed)
    sizes = [rng.randrange(100, 10**6) for _ in range(rng.randrange(5))]
    data, one = listed(sizes), kernel(rng.randrange(9), rng.randrange(99))
    assert is_list(data) and is_kernel(one[:24], len(one), b"TIC")
    for _ in range(100):
        other = damaged(data, rng)
        if is_list(other):
            assert read_list(other) == len(sizes)
        other = damaged(one, rng)
        if is_kernel(other[:24], len(other), b"TIC"):
            assert sum(struct.unpack_from("<QQ", other, 8)) + 88 == len(other)


def test_only_files_of_kernels_are_removed(tmp_path: Path) -> None:
    (tmp_path / "below").mkdir()
    good = {"T1.tic": kernel(3, 4), "below/ticache.tcb": listed([5]), "costs.json": b"{", "x": b""}
    bad = {"T2.tic": kernel(3, 4)[:-1], "below/T3.qdc": b"", "qdcache.qdb": listed([5]) + b"0"}
    for name, data in (good | bad).items():
        (tmp_path / name).write_bytes(data)
    assert sorted(remove_damaged(tmp_path)) == sorted(tmp_path / name for name in bad)
    for name, data in good.items():
        assert (tmp_path / name).read_bytes() == data
    assert remove_damaged(tmp_path / "missing") == []


def test_a_program_runs_with_a_damaged_cache(tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir()
    environment = {"HOME": str(home), "XDG_CACHE_HOME": "", "PATH": ""}
    check("environments", environment=environment)
    folder = home / ".cache" / chosen()
    lists = [one for one in folder.rglob("*") if one.suffix in (".tcb", ".qdb")]
    kernels = [one for one in folder.rglob("*") if one.suffix in (".tic", ".qdc")]
    assert lists and kernels
    assert remove_damaged(folder) == []  # the format of files is the one that is known here
    for file, at in ((lists[0], 22), (lists[0], 30), (kernels[0], 8)):
        data = file.read_bytes()
        shutil.copytree(home, tmp_path / "kept")
        file.write_bytes(data[:at] + b"\xff" * 8 + data[at + 8 :])
        check("environments", environment=environment)  # it would abort
        shutil.rmtree(home)
        (tmp_path / "kept").rename(home)
