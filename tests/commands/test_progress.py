"""Progress bars show where there is a reader for them."""

from __future__ import annotations

import io
import sys
from importlib.machinery import ModuleSpec
from types import ModuleType, SimpleNamespace

import pytest
from tqdm import tqdm

from difftile import progress
from difftile.progress import progress_bar, show_status


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(
    ("stream", "kernel", "shown"),
    [
        (io.StringIO, False, False),
        (io.StringIO, True, True),
        (Terminal, False, True),
    ],
)
def test_a_bar_shows_in_terminals_and_notebooks(
    monkeypatch: pytest.MonkeyPatch, stream: type[io.StringIO], kernel: bool, shown: bool
) -> None:
    session = SimpleNamespace(kernel=object()) if kernel else None
    monkeypatch.setitem(sys.modules, "IPython", SimpleNamespace(get_ipython=lambda: session))
    written = stream()
    monkeypatch.setattr(sys, "stderr", written)
    with progress_bar(range(3), desc="falling", unit="step") as bar:
        assert list(bar) == [0, 1, 2]
        bar.set_postfix(loss=0.5)
    assert ("falling: 100%" in written.getvalue()) == shown
    assert shown or not written.getvalue()


@pytest.mark.parametrize(("rank", "shown"), [("0", True), ("1", False), ("high", True)])
def test_only_the_first_rank_shows_a_bar(
    rank: str, shown: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RANK", rank)
    monkeypatch.setenv("WORLD_SIZE", "2")
    written = Terminal()
    monkeypatch.setattr(sys, "stderr", written)
    assert list(progress_bar(range(3), desc="falling", unit="step")) == [0, 1, 2]
    assert bool(written.getvalue()) == shown


@pytest.mark.parametrize(
    ("stream", "written"), [(Terminal, "\rcompiling step\x1b[K\r\x1b[K"), (io.StringIO, "")]
)
def test_a_status_line_is_replaced_and_removed_on_a_terminal(
    monkeypatch: pytest.MonkeyPatch, stream: type[io.StringIO], written: str
) -> None:
    monkeypatch.setattr(sys, "stderr", stream())
    show_status("compiling step")
    show_status("")
    assert sys.stderr.getvalue() == written


def test_a_program_without_stderr_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stderr", None)
    assert list(progress_bar(range(3), desc="falling", unit="step")) == [0, 1, 2]


def test_a_notebook_with_widgets_shows_one(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[str] = []

    class Widget(tqdm):
        def __init__(self, *args: object, desc: str, **options: object) -> None:
            made.append(desc)
            super().__init__(*args, desc=desc, **options)

    session = SimpleNamespace(kernel=object())
    monkeypatch.setitem(sys.modules, "IPython", SimpleNamespace(get_ipython=lambda: session))
    monkeypatch.setitem(sys.modules, "ipywidgets", ModuleType("ipywidgets"))
    sys.modules["ipywidgets"].__spec__ = ModuleSpec("ipywidgets", None)
    monkeypatch.setitem(sys.modules, "tqdm.notebook", SimpleNamespace(tqdm=Widget))
    assert list(progress_bar(range(3), desc="falling", unit="step")) == [0, 1, 2]
    assert made == ["falling"]


def test_files_and_pipes_get_a_plain_line_now_and_then(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [0.0]
    monkeypatch.setattr(progress.time, "monotonic", lambda: now[0])
    monkeypatch.setattr(progress._Plain, "started", 0.0)
    monkeypatch.setattr(progress._Plain, "latest", 0.0)
    monkeypatch.setattr(sys, "stderr", io.StringIO())
    with progress_bar(range(20), desc="falling", unit="step") as bar:
        for k in bar:
            now[0] += 4.0
            bar.set_postfix(loss=k, refresh=False)
    lines = sys.stderr.getvalue().splitlines()
    assert lines[0] == "falling: step 3 of 20, loss 2"
    assert [int(line.split()[2]) for line in lines] == [
        3,
        6,
        9,
        12,
        16,
    ]  # at 12 s, ..., 64 s, and not at 80 s
    show_status("compiling step")
    assert len(sys.stderr.getvalue().splitlines()) == len(lines)
    now[0] += 21.0
    show_status("compiling step")
    show_status("")
    assert sys.stderr.getvalue().splitlines()[len(lines) :] == ["compiling step"]


def test_a_hidden_bar_writes_no_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress._Plain, "latest", -1e9)
    monkeypatch.setattr(sys, "stderr", io.StringIO())
    assert list(progress_bar(range(3), desc="falling", unit="step", shown=False)) == [0, 1, 2]
    assert not sys.stderr.getvalue()
