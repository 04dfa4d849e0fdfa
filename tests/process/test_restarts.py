"""`dt.init` again and again."""

from __future__ import annotations

import sys

import pytest

from tests.process.running import check


@pytest.mark.skipif(sys.platform != "linux", reason="asks Linux for the memory of a process")
def test_another_start_leaves_next_to_nothing_of_the_one_before() -> None:
    assert float(check("restarts")) < 0.3  # MB; a program of Taichi's takes 6
