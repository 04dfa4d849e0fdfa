"""Progress bars show where there is a reader for them."""

from __future__ import annotations

import io
import sys
from importlib.machinery import ModuleSpec
from types import ModuleType, SimpleNamespace

import pytest
from tqdm import tqdm

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
