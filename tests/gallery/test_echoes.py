"""Echoes in a room, beside mirror images in closed form, and the demo."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import difftile as dt
from demos.echoes import closed_form, differentiate, main
from difftile import ti
from scenes.echoes import Echoes, EchoScene


def test_lengths_and_their_gradient_are_those_of_mirror_images() -> None:
    dt.init(arch="python")
    scene = EchoScene(bounces=2)
    echoes = Echoes(scene, ti.f64)
    gradient = differentiate(echoes)
    assert len(scene.orders()) == 24
    guess = np.array(scene.guess)
    np.testing.assert_allclose(echoes.lengths.to_numpy(), scene.lengths(guess), rtol=1e-12)
    heard = scene.lengths(np.array(scene.size))
    np.testing.assert_allclose(gradient, closed_form(scene, guess, heard), rtol=1e-10)


def test_the_demo_finds_the_room_and_writes_its_pictures(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["--out", str(tmp_path)]) == 0
    assert "sides [5.2 4.1 2.9] m, of a room of (5.2, 4.1, 2.9) m" in capsys.readouterr().out
    assert sorted(path.name for path in tmp_path.iterdir()) == ["loss.png", "rooms.png"]
