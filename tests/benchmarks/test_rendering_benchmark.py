"""`benchmarks/rendering.py` goes through the stages of a splatter by itself."""

from __future__ import annotations

import pytest

from benchmarks import rendering


@pytest.mark.taichi
@pytest.mark.parametrize("case", ["sums", pytest.param("splats", marks=pytest.mark.slow)])
def test_splats_are_those_of_their_peers(case: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert rendering.main(["--quick", "--turns", "1", "--only", case]) == 0
    assert "apart from the peer" in capsys.readouterr().out
