"""A thousand loads of mutated files, and faults that the fuzzer has to find."""

from __future__ import annotations

import json
import os
import re
import signal
import struct
import subprocess
import sys
import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from difftile.diagnostics import DatasetError
from difftile.files.regular import read_bytes
from tests.datasets import fuzz
from tests.datasets.cases import Case

ROOT = Path(__file__).parents[2]
LOADS = os.environ.get("DIFFTILE_FUZZ_LOADS", "500")


def test_mutated_files_are_read_or_refused() -> None:
    command = [sys.executable, "-m", "tests.datasets.fuzz", "--loads", LOADS]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    said = re.search(r"^(\d+) loads: (\d+) read, (\d+) refused, 0 wrong$", done.stdout, re.M)
    assert said is not None and not done.returncode and not done.stderr, done.stdout + done.stderr
    loads, read, refused = map(int, said.groups())
    assert loads == int(LOADS)
    assert min(read, refused) > 0.1 * loads  # both happen often
    formats = re.findall(r"^  (\S.*?) +(\d+) read +(\d+) refused$", done.stdout, re.M)
    assert len(formats) == 14
    assert all(int(refused) for _, _, refused in formats)


def _bytes_of(path: Path) -> bytes:
    return read_bytes(path, 10**6)


def _json_unchecked(_: Path, path: Path) -> None:
    try:
        content = json.loads(_bytes_of(path))
    except json.JSONDecodeError:
        raise DatasetError(path, "is not JSON") from None
    assert np.isfinite(content["a"])


def _count_unchecked(_: Path, path: Path) -> None:
    raw = _bytes_of(path)
    if len(raw) < 8:
        raise DatasetError(path, "is too short")
    np.empty(struct.unpack("<Q", raw[:8])[0])


def _long_error(_: Path, path: Path) -> None:
    raise DatasetError(path, repr(_bytes_of(path)) * 100)


def _slow(_: Path, path: Path) -> None:
    while True:
        pass


def _waiting(_: Path, path: Path) -> None:
    signal.pause()


def _warning(_: Path, path: Path) -> None:
    warnings.warn("half read", stacklevel=1)


@pytest.mark.parametrize(
    ("name", "check", "faults"),
    [
        # A bare parser of JSON: its errors for bytes, depth and types; and NaN.
        ("a.json", _json_unchecked, {"UnicodeDecodeError", "RecursionError", "TypeError"}),
        ("a.json", _json_unchecked, {"AssertionError", "KeyError"}),
        ("a.bin", _count_unchecked, {"MemoryError", "ValueError"}),
        ("a.txt", _long_error, {"an error of"}),
        ("a.txt", _warning, {"UserWarning"}),
    ],
)
def test_the_fuzzer_finds_planted_faults(
    tmp_path: Path, name: str, check: Callable[[Path, Path], None], faults: set[str]
) -> None:
    (tmp_path / "case").mkdir()
    content = {".json": b'{"a": 1.0, "b": [1, 2]}', ".bin": bytes(16), ".txt": b"1 2\n"}
    (tmp_path / "case" / name).write_bytes(content[Path(name).suffix])
    report = fuzz.fuzz([Case("case", (name,), check)], tmp_path, range(300))
    found = {fault for fault in faults if any(fault in what for _, what in report.wrong)}
    assert found == faults
    again = fuzz.fuzz([Case("case", (name,), check)], tmp_path, [report.wrong[0][0]])
    assert again.wrong == report.wrong[:1]  # a load depends only on its number


def test_the_fuzzer_finds_what_takes_too_long(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fuzz, "SECONDS", 0.05)
    monkeypatch.setattr(fuzz, "_WAITING", 5.0)
    (tmp_path / "case").mkdir()
    (tmp_path / "case" / "a.txt").write_bytes(b"1")
    report = fuzz.fuzz([Case("case", ("a.txt",), _slow)], tmp_path, range(2))
    assert ["TooSlow" in what for _, what in report.wrong] == [True, True]
    monkeypatch.setattr(fuzz, "_WAITING", 0.05)
    report = fuzz.fuzz([Case("case", ("a.txt",), _waiting)], tmp_path, range(2))
    assert ["TooSlow" in what for _, what in report.wrong] == [True, True]
