"""Options and fixtures of the whole test suite."""

from __future__ import annotations

import gc
import os
import sys
import time
from collections.abc import Generator
from pathlib import Path

import pytest

import difftile as dt
from difftile.fields.pending import set_fusing
from difftile.fields.recording import RECORDING
from difftile.ir.types import F32
from difftile.substrate import calibration, current_session
from difftile.substrate import compile as compiling
from tests.poison import poisoned
from tests.taichi_names import name_taichi
from tests.tier_plugin import Run

# A failing test shows where the library raised; tests/runtime/test_tracebacks.py tests the default.
os.environ.setdefault("DIFFTILE_TRACEBACK", "full")
# Results of an earlier run would hide what a change breaks; `test_kept_code.py` keeps some.
os.environ.setdefault("DIFFTILE_KEEP", "0")
name_taichi()


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--update-golden", action="store_true", help="write the golden texts anew")
    parser.addoption("--fuse", action="store_true", help="run all launches that repeat together")
    parser.addoption(
        "--tier", default="0-3", metavar="N", help="run these tiers, as in 0 or 0-2; 4 is slow"
    )
    parser.addoption(
        "--no-record", action="store_true", help="compile all programs, the recorded ones too"
    )
    parser.addoption(
        "--long",
        choices=["drawn", "all", "none"],
        help="run these of the long tests: by default all of files and folders that are named, "
        "and those drawn of the whole suite",
    )
    parser.addoption(
        "--times", action="store_true", help="write tests/long.txt, for the tests that ran"
    )
    parser.addoption(
        "--record", action="store_true", help="add the texts that tests have compiled and passed"
    )
    parser.addoption(
        "--shuffle", metavar="SEED", help="run the tests in another order, the same for a seed"
    )
    parser.addoption(
        "--sample",
        type=int,
        default=1,
        metavar="N",
        help="run one test in N of each file, and one at least",
    )


def pytest_configure(config: pytest.Config) -> None:
    """Choose the tests of a run."""
    config.pluginmanager.register(Run(config), "tiers")


def pytest_xdist_auto_num_workers(config: pytest.Config) -> int | None:
    """Run the tests of folders in several processes, and those of single files in this one.

    Returns:
        0 for only this process, or None for one process per core. With `-s` the output of tests is
        to be seen, and golden texts of several tests in one file have to be written by one
        process.
    """
    alone = config.option.capture == "no" or config.getoption("--update-golden")
    return 0 if alone or not any(Path(given).is_dir() for given in config.args) else None


def pytest_collection_finish() -> None:
    """Collect cycles rarely, and never among objects that live as long as the run.

    Compiled kernels stay, so the heap grows, and compiling a kernel makes many objects: near the
    end a quarter of the time went into walking the whole heap.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(100_000, 10, 10)


@pytest.fixture(scope="session", autouse=True)
def same_costs() -> None:
    """Let launches choose as on any other machine, whatever this one is doing meanwhile."""
    compiling.costs_on = lambda *_: calibration.DEFAULT


@pytest.fixture(scope="session", autouse=True)
def cheap_demos() -> None:
    """Let demos share their compiled code, and draw few frames of their animations.

    Both took a third of their time or more.
    """
    if "demos.support.options" in sys.modules:
        sys.modules["demos.support.options"].start_on = _go_on
    if "demos.support.pictures" in sys.modules:
        sys.modules["demos.support.pictures"].MOST_FRAMES = 4


def _go_on(arch: str) -> None:
    session = current_session()
    is_plain = session.on_host and not session.debug and session.float_type == F32
    if arch != "cpu" or not is_plain:
        dt.init(arch=arch)


@pytest.fixture(scope="session", autouse=True)
def started() -> None:
    """Start difftile once; a test that starts it again must not keep earlier fields."""
    dt.init(arch="cpu")
    _Usual.settings = _settings()


class _Usual:
    settings: tuple[object, ...] = ()


def _settings() -> tuple[object, ...]:
    one = current_session()
    numbers = one.float_type, one.fast_math, one.polynomials
    return one.backend, one.device, one.threads, one.debug, one.scatter, *numbers


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown(
    item: pytest.Item, nextitem: pytest.Item | None
) -> Generator[None, None, None]:
    """Start difftile as before, where a file has left it in another precision, for example."""
    yield
    is_last = nextitem is None or nextitem.path != item.path
    if is_last and _Usual.settings and _settings() != _Usual.settings:
        dt.init(arch="cpu")


@pytest.fixture
def poisoned_memory() -> Generator[None]:
    """Let memory hold NaN when it has been given back."""
    with poisoned():
        yield


@pytest.fixture(autouse=True)
def no_plain_progress(monkeypatch: pytest.MonkeyPatch) -> None:
    """No test is late enough for a plain line of progress because others ran before it."""
    if "difftile.progress" in sys.modules:
        for name in ("started", "latest"):
            monkeypatch.setattr(f"difftile.progress._Plain.{name}", time.monotonic())


@pytest.fixture(autouse=True)
def no_open_tape(request: pytest.FixtureRequest) -> None:
    """No test leaves a tape open for the next one."""
    set_fusing("always" if request.config.getoption("--fuse") else True)
    assert RECORDING.get().recorder is None
