"""Recordings of runs as files."""

from __future__ import annotations

import importlib.util
import sys
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

import difftile as dt
from difftile.viewer import App, Resize


def moving() -> App:
    app = App(backend="null", size=(480, 320))
    app.draw(lambda: app.points([[0.1 * app.steps, 0.5]], radius=8))
    return app


@pytest.mark.parametrize("ending", [".gif", ".webp"])
def test_an_animation(tmp_path: Path, ending: str) -> None:
    file = tmp_path / "below" / f"run{ending}"
    moving().run(frames=5, record=file, fps=20)
    with Image.open(file) as image:
        assert image.size == (480, 320)
        assert image.n_frames == 5
        frames = []
        for k in range(5):
            image.seek(k)
            frames.append(np.asarray(image.convert("RGB")))
            assert image.info["duration"] == 50
    assert all((a != b).any() for a, b in pairwise(frames))


def test_a_gif_has_one_palette_so_that_still_shapes_keep_their_colours(tmp_path: Path) -> None:
    """More than 256 colours, which change with time next to a still image of 200 colours."""
    app = App(backend="null", size=(480, 320), view=(0.0, 0.0, 2.0, 1.0))
    app.image(np.linspace(0.0, 1.0, 200).reshape(10, 20), box=(0.1, 0.1, 0.9, 0.9))
    noise = np.random.default_rng(0)

    @app.draw
    def draw() -> None:
        hue = np.eye(3)[app.steps % 3]
        app.image(noise.random((20, 20, 1)) * hue, box=(1.1, 0.1, 1.9, 0.9))

    pictures = []
    app.step(lambda: pictures.append(app.picture))
    app.run(frames=6, record=tmp_path / "run.gif")
    pictures = [*pictures[1:], app.picture]
    still = np.s_[130:190, 20:100]
    with Image.open(tmp_path / "run.gif") as film:
        palette = film.getpalette()
        for k, picture in enumerate(pictures):
            film.seek(k)
            shown = np.asarray(film.convert("RGB")).astype(int)
            if k == 0:
                first = shown[still]
                assert len(np.unique(first.reshape(-1, 3), axis=0)) > 10
            np.testing.assert_array_equal(shown[still], first)
            assert picture is not None
            assert np.abs(shown - picture).mean() < 4  # levels of 255
    assert palette is not None and (tmp_path / "run.gif").read_bytes().count(b"\x21\xf9\x04") == 6


def test_a_gif_of_few_colours_has_all_of_them(tmp_path: Path) -> None:
    app = App(backend="null", size=(480, 320))
    colours = ["#102030", "#804020", "#ff0080"]
    app.draw(lambda: app.points([[0.5, 0.5]], colour=colours[app.steps % 3], radius=40))
    app.run(frames=3, record=tmp_path / "run.gif")
    with Image.open(tmp_path / "run.gif") as film:
        middles = set()
        for k in range(3):
            film.seek(k)
            x, y = 480 // 2 - 120, 160
            middles.add(film.convert("RGB").getpixel((x, y)))
    assert middles == {(0x10, 0x20, 0x30), (0x80, 0x40, 0x20), (0xFF, 0, 0x80)}


def test_a_folder_of_pictures(tmp_path: Path) -> None:
    app = moving()
    app.run(frames=3, record=tmp_path / "frames", events=[Resize(960, 640, 1)])
    files = sorted((tmp_path / "frames").iterdir())
    assert [file.name for file in files] == [f"frame_{k:05d}.png" for k in range(3)]
    np.testing.assert_array_equal(np.asarray(Image.open(files[-1])), app.picture)


@pytest.mark.skipif(
    importlib.util.find_spec("imageio_ffmpeg") is None, reason="imageio-ffmpeg is not installed"
)
def test_a_video(tmp_path: Path) -> None:
    moving().run(frames=5, record=tmp_path / "run.mp4")
    assert (tmp_path / "run.mp4").stat().st_size > 1000


def test_a_video_without_ffmpeg_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "imageio_ffmpeg", None)
    with pytest.raises(dt.ViewerError, match=r"pip install 'difftile\[video\]'") as caught:
        moving().run(frames=1, record=tmp_path / "run.mp4")
    assert "\n" not in str(caught.value)


def test_a_place_that_cannot_be_written_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(dt.ViewerError, match="cannot record to"):
        moving().run(frames=1, record=tmp_path / "file" / "run.gif")
