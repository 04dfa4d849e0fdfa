"""Messages of the command line for mistakes."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from difftile.cli import main


def complaint(capsys: pytest.CaptureFixture[str], argv: Sequence[str], said: str = "") -> str:
    """The one line that a mistake is answered with, checked to be all but what was said before."""
    with pytest.raises(SystemExit) as stop:
        main(argv)
    assert stop.value.code == 2
    out, err = capsys.readouterr()
    assert out == said
    assert err.endswith("\n")
    assert err.count("\n") == 1
    return err.removesuffix("\n")
