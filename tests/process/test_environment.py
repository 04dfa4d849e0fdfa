"""Without HOME, or without permission to write there, all works except the cache."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import difftile as dt
from difftile.substrate import chosen
from tests.process.running import check

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="Windows has other variables")


def kept(tmp_path: Path, **changes: str | None) -> str:
    """Run with some variables changed, or with None left out; return where kernels are kept."""
    names = {"HOME": str(tmp_path / "home"), "XDG_CACHE_HOME": None, **changes}
    environment = {k: v for k, v in os.environ.items() if k not in names}
    environment |= {k: v for k, v in names.items() if v is not None}
    (tmp_path / "home").mkdir(exist_ok=True)
    return check("environments", environment=environment).strip()


def test_kernels_are_kept_in_the_folder_of_caches(tmp_path: Path) -> None:
    home = tmp_path / "home"
    assert kept(tmp_path) == str(home / ".cache" / chosen() / "difftile")
    elsewhere = tmp_path / "other" / "caches"
    assert kept(tmp_path, XDG_CACHE_HOME=str(elsewhere)) == str(elsewhere / chosen() / "difftile")
    for no_name in ("", "caches"):
        assert kept(tmp_path, XDG_CACHE_HOME=no_name).startswith(f"{home}/.cache")


def test_nothing_is_kept_where_nothing_can_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    for home in (tmp_path / "missing", os.devnull, tmp_path / "file"):
        assert kept(tmp_path, HOME=str(home)) == "nowhere"
    assert not (tmp_path / "missing").exists()
    assert kept(tmp_path, XDG_CACHE_HOME=str(tmp_path / "file" / "caches")) == "nowhere"


@pytest.mark.skipif(not Path("/proc/self").exists(), reason="needs a folder that is read-only")
def test_nothing_is_kept_in_a_folder_that_is_read_only(tmp_path: Path) -> None:
    assert kept(tmp_path, HOME="/proc/self") == "nowhere"


@pytest.mark.parametrize("home", [None, ""])
def test_without_home_the_home_of_the_user_is_taken(tmp_path: Path, home: str | None) -> None:
    assert kept(tmp_path, HOME=home).endswith(("difftile", "nowhere"))


def test_taichi_may_be_imported_between_difftile_and_its_first_use_without_home() -> None:
    environment = {k: v for k, v in os.environ.items() if k not in ("HOME", "XDG_CACHE_HOME")}
    environment["PYTHONPATH"] = str(Path(dt.__file__).parents[1])
    code = f"import difftile, {chosen()}"
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, check=False, env=environment, capture_output=True)
    assert done.returncode == 0, done.stderr.decode()


def test_a_folder_that_was_asked_for_and_cannot_be_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    x = dt.ones(2)
    folder = str(tmp_path / "file" / "kernels")
    with pytest.raises(dt.FieldError, match="Compiled kernels cannot be kept in"):
        dt.init(offline_cache_file_path=folder)
    assert x.to_numpy().tolist() == [1.0, 1.0]  # nothing has been started again
