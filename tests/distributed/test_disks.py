"""Saving on disks that are full, and in processes that are killed at any place."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest import mock

import pytest

import difftile as dt
from difftile import ti
from difftile.distributed import Grid, load, save
from difftile.distributed import blocks as written
from difftile.files.writing import whole
from difftile.ranks import agree, current
from tests.ranks import ROOT, ranks

# Saves with the functions of checkpoints, in children that die at the k-th call for the disk.
KILLED = """
import os, shutil, signal, sys
from pathlib import Path
import numpy as np
from difftile.distributed.blocks import FileBlock, Checkpoint, SavedArray, begin, crc32, finish
from difftile.distributed.blocks import read_box, read_checkpoint, write_block

def save(path, value):
    folder, number = begin(path)
    arrays = {}
    for name in "ab":
        array, file = np.full(9, value), f"{number}/{name}.npy"
        write_block(folder / file, array)
        block = FileBlock(file, (0,), (9,), crc32(array))
        arrays[name] = SavedArray(array.dtype, (9,), (block,))
    finish(path, folder, Checkpoint(path, {"value": value}, arrays))

def count(module, name):
    before = getattr(module, name)
    def call(*arguments, **options):
        global left
        left -= 1
        if left < 0:
            os.kill(os.getpid(), signal.SIGKILL)
        return before(*arguments, **options)
    setattr(module, name, call)

def killed(path, value, calls):
    global left
    left = calls
    child = os.fork()
    if child == 0:
        for name in ("fsync", "replace", "rename", "unlink", "mkdir", "rmdir"):
            count(os, name)
        save(path, value)
        os._exit(0)
    return os.WIFSIGNALED(os.waitpid(child, 0)[1])

for first in (False, True):
    for calls in range(99):
        path = Path(sys.argv[1], f"{first}{calls}", "c")
        path.parent.mkdir()
        if not first:
            save(path, 1.0)
        was_killed = killed(path, 2.0, calls)
        found = 0.0
        if path.exists():
            saved = read_checkpoint(path)
            found = saved.numbers["value"]
            for name in "ab":
                assert (read_box(saved, name, (0,), (9,)) == found).all()
        assert found in ((2.0,) if not was_killed else (0.0, 2.0) if first else (1.0, 2.0)), found
        save(path, 3.0)
        files = sorted(str(one.relative_to(path.parent)) for one in path.parent.rglob("*"))
        assert len(files) == 5 and read_checkpoint(path).numbers == {"value": 3.0}, files
        if not was_killed:
            break
    print(calls)
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="kills forked processes")
def test_a_save_that_is_killed_at_any_call_leaves_a_checkpoint_and_no_files(tmp_path: Path) -> None:
    command = [sys.executable, "-c", KILLED, str(tmp_path)]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        command, check=False, env=environment, capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stderr
    assert all(int(calls) > 4 for calls in done.stdout.split())


class Disk:
    """Stands for a disk that is full after some bytes.

    Args:
        room: The bytes.
    """

    def __init__(self, room: int) -> None:
        self.room = room
        self.whole: Any = whole

    def __call__(self, path: Path) -> Any:
        return _Writing(self, path)


class _Writing:
    def __init__(self, disk: Disk, path: Path) -> None:
        self._disk, self._context = disk, disk.whole(path)

    def __enter__(self) -> Any:
        self._file = self._context.__enter__()
        return self

    def __exit__(self, *error: Any) -> Any:
        return self._context.__exit__(*error)

    def write(self, data: Any) -> int:
        self._disk.room -= len(data)
        if self._disk.room < 0:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return int(self._file.write(data))


def files(folder: Path) -> dict[str, bytes]:
    """Return the files of a folder; folders are without contents."""
    found = sorted(folder.rglob("*"))
    return {str(one): one.read_bytes() if one.is_file() else b"" for one in found}


def full(path: str, room: int) -> list[Any]:
    """Save twice, the second time on a disk that rank 0 finds full; return what happened."""
    grid = Grid(8)
    x, y = grid.field(ti.f64), dt.ones(3, ti.f64)
    x.fill(1.0)
    save(path, {"x": x, "y": y})
    before = files(Path(path).parent)
    disk = Disk(room) if current().rank == 0 else Disk(1 << 20)
    caught: OSError | None = None
    with (
        mock.patch.object(written, "whole", disk),
        mock.patch("difftile.files.writing.whole", disk),
    ):
        x.fill(2.0)
        for target in (path, f"{path}.new"):
            try:
                save(target, {"x": x, "y": y})
            except OSError as error:
                caught = error
    agree(1.0)  # rank 0 has removed what was written
    after = files(Path(path).parent)
    load(path, {"x": x})
    if caught is None:
        return [float(x.max()), None, None, True]
    return [float(x.max()), caught.errno, caught.filename, before == after]


@pytest.mark.parametrize("size", [1, 2])
def test_a_full_disk_is_an_error_that_names_the_file_and_leaves_nothing(
    size: int, tmp_path: Path
) -> None:
    for room in (0, 100, 200, 300, 500, 700):
        (tmp_path / str(room)).mkdir()
        answers = ranks(size).run(full, str(tmp_path / str(room) / "c"), room)
        for value, number, name, same in answers:
            assert (value, number) == (1.0, errno.ENOSPC) and same
            assert Path(name).suffix in (".npy", ".json")


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EIO, errno.EDQUOT, None])
def test_an_error_of_a_write_names_the_file(number: int | None, tmp_path: Path) -> None:
    arguments = ("12 requested and 3 written",) if number is None else (number, "no")
    with pytest.raises(OSError, match=r"x\.npz") as caught, whole(tmp_path / "x.npz") as file:
        file.write(b"some")
        raise OSError(*arguments)
    assert caught.value.errno == number and not list(tmp_path.iterdir())


def test_a_peer_that_fails_after_the_last_file_does_not_remove_the_checkpoint(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    dt.init(arch="python")
    save(tmp_path / "c", {"x": dt.ones(3)})

    def end(action: Callable[[], Any], _: str) -> Any:
        found = action()
        if action.__name__ == "complete":
            raise dt.RankError("rank 1 failed")
        return [found]

    monkeypatch.setattr("difftile.distributed.checkpoint.shared", end)
    with pytest.raises(dt.RankError):
        save(tmp_path / "c", {"x": dt.zeros(3)})
    monkeypatch.undo()
    x = dt.ones(3)
    load(tmp_path / "c", {"x": x})
    assert x.tolist() == [0.0] * 3
