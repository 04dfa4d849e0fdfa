"""The line that names the faster compiler on CUDA."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from difftile.launch import start
from difftile.releases import VARIABLE


@pytest.fixture
def on_cuda(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let starts be starts of Taichi on CUDA from a terminal, without any."""
    monkeypatch.setattr(start, "start_session", lambda *args, **options: None)
    monkeypatch.setattr(start, "current_session", lambda: SimpleNamespace(device="cuda"))
    monkeypatch.setattr(start, "chosen", lambda: "taichi")
    monkeypatch.setattr(start, "forget_all", lambda: None)
    monkeypatch.setattr(start, "_said", [])
    monkeypatch.delenv(VARIABLE, raising=False)


@pytest.mark.usefixtures("on_cuda")
def test_it_is_said_once(capsys: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(start, "_on_terminal", lambda: True)
    start.init("cuda")
    start.init("cuda")
    said = capsys.readouterr().err
    assert said.count("\n") == 1 and "Quadrants" in said and f"{VARIABLE}=taichi" in said


@pytest.mark.usefixtures("on_cuda")
@pytest.mark.parametrize("why", ["chosen", "environment", "no terminal", "another", "host"])
def test_it_is_not_said(why: str, capsys: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(start, "_on_terminal", lambda: why != "no terminal")
    if why == "environment":
        monkeypatch.setenv(VARIABLE, "taichi")
    if why == "another":
        monkeypatch.setattr(start, "chosen", lambda: "quadrants")
    if why == "host":
        monkeypatch.setattr(start, "current_session", lambda: SimpleNamespace(device="cpu"))
    start.init("cuda", substrate="taichi" if why == "chosen" else None)
    assert not capsys.readouterr().err
