"""Apps on several ranks: the first one shows and records them, the others draw for nobody."""

from __future__ import annotations

from pathlib import Path

import pytest

from difftile.diagnostics import ViewerError
from difftile.viewer import App
from difftile.viewer.backends.null import NullBackend


@pytest.fixture
def second_rank(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PMI_RANK", "1")
    monkeypatch.setenv("PMI_SIZE", "2")
    monkeypatch.setenv("DIFFTILE_VIEWER", "window")


@pytest.mark.usefixtures("second_rank")
def test_other_ranks_have_no_display_and_record_nothing(tmp_path: Path) -> None:
    steps: list[int] = []
    app = App("waves", backend="web")
    app.step(lambda: steps.append(1))
    assert isinstance(app._backend, NullBackend)
    app.run(frames=3, record=tmp_path / "run.gif")
    assert len(steps) == 3 and not list(tmp_path.iterdir())


@pytest.mark.usefixtures("second_rank")
def test_an_app_without_an_end_is_refused_on_other_ranks() -> None:
    with pytest.raises(ViewerError, match="only rank 0 has a display"):
        App("waves").run()
