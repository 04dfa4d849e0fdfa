"""The demo that recovers a texture from views of it."""

from pathlib import Path

import numpy as np
import pytest

from demos.fit_texture import GOALS, fit, main
from demos.support.photographs import read_photograph
from scenes.texture_views import make_task, make_views


@pytest.mark.parametrize("iterations", [50, pytest.param(200, marks=pytest.mark.slow)])
def test_the_texture_is_recovered(iterations: int) -> None:
    truth = read_photograph("astronaut", 64).astype(np.float32) ** 2.2
    result = fit(make_task(make_views(24), truth), truth, iterations, None)
    assert result is not None
    for reached, wanted in GOALS.items():
        if reached <= iterations:
            assert result.decibels[reached] > wanted


def test_demo_writes_its_pictures(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    short = ["chelsea", "--size", "16", "--views", "3", "--iterations", "5"]
    assert main([*short, "--out", str(tmp_path)]) == 0
    assert "3 views of 16 x 16 texels\nPSNR " in capsys.readouterr().out
    written = {path.name for path in tmp_path.iterdir()}
    assert written == {"strip.png", "curve.png", "texture.gif", "views.png"}


def test_demo_checks_its_gradient(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--check"]) == 0
    assert "by differences" in capsys.readouterr().out


def test_a_file_that_is_no_photograph(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as error:
        main(["nowhere.png", "--no-pictures"])
    assert error.value.code == 2
    assert "nowhere.png" in capsys.readouterr().err
