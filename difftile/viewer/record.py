"""Recording of pictures as an animation, a video, or a folder of images."""

from __future__ import annotations

import importlib
import zlib
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from PIL import Image, features

from difftile.diagnostics import ViewerError
from difftile.viewer.film_palette import FilmPalette, indices
from difftile.viewer.primitives import Bytes


class VideoWriter(Protocol):
    """A destination of pictures of one size."""

    def add(self, image: Bytes) -> None:
        """Append a picture, shape (height, width, 3)."""
        ...

    def close(self) -> None:
        """Finish the file."""
        ...


def open_writer(path: str | Path, width: int, height: int, fps: float) -> VideoWriter:
    """Return a writer by the suffix of a file: .gif, .webp, .mp4, or none for a folder.

    Args:
        path: The file or folder; missing parent folders are created.
        width: Of the pictures [px].
        height: Of the pictures [px].
        fps: Pictures per second.

    Raises:
        ViewerError: The suffix is unknown, a library is missing, or the folder cannot be written.
    """
    file = Path(path)
    kind = file.suffix.lower()
    if kind not in ("", ".gif", ".webp", ".mp4"):
        raise ViewerError(
            f"cannot record {file.name!r}: use .gif, .webp, .mp4, or a folder (no suffix)"
        )
    try:
        (file if kind == "" else file.parent).mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ViewerError(f"cannot record to {file}: {error.strerror}") from None
    if kind == "":
        return _ImageSequence(file)
    if kind == ".mp4":
        return _Video(file, width, height, fps)
    if kind == ".webp" and not features.check("webp"):
        raise ViewerError("this Pillow was built without WebP: record a .gif or a folder")
    return (_Gif if kind == ".gif" else _WebP)(file, fps)


class _ImageSequence:
    """A folder with a PNG for each picture."""

    def __init__(self, folder: Path) -> None:
        self._folder, self._count = folder, 0

    def add(self, image: Bytes) -> None:
        Image.fromarray(image).save(self._folder / f"frame_{self._count:05d}.png")
        self._count += 1

    def close(self) -> None:
        pass


class _Gif:
    """A looping GIF, whose palette is chosen at the end; keeps all pictures until then."""

    def __init__(self, file: Path, fps: float) -> None:
        self._file, self._fps = file, fps
        self._palette = FilmPalette()
        self._pictures: list[bytes] = []
        self._shape = (0, 0, 0)

    def add(self, image: Bytes) -> None:
        self._palette.add(image)
        self._pictures.append(zlib.compress(image.tobytes(), 1))
        self._shape = image.shape

    def close(self) -> None:
        if not self._pictures:
            return
        palette, table = self._palette.choose()

        def frames() -> Iterator[Image.Image]:
            for picture in self._pictures:
                image = np.frombuffer(zlib.decompress(picture), np.uint8).reshape(self._shape)
                frame = Image.fromarray(indices(image, table))
                frame.putpalette(palette.tobytes())
                yield frame

        _save_loop(frames(), self._file, self._fps, palette=palette.tobytes(), optimize=True)


class _WebP:
    """A looping WebP; keeps all pictures until the end."""

    def __init__(self, file: Path, fps: float) -> None:
        self._file, self._fps = file, fps
        self._frames: list[Image.Image] = []

    def add(self, image: Bytes) -> None:
        self._frames.append(Image.fromarray(image))

    def close(self) -> None:
        if self._frames:
            _save_loop(iter(self._frames), self._file, self._fps)


def _save_loop(frames: Iterator[Image.Image], file: Path, fps: float, **options: Any) -> None:
    wait, first = round(1000 / fps), next(frames)
    first.save(file, save_all=True, append_images=frames, duration=wait, loop=0, **options)


class _Video:
    """An MP4, encoded by ffmpeg as pictures arrive."""

    def __init__(self, file: Path, width: int, height: int, fps: float) -> None:
        try:
            ffmpeg: Any = importlib.import_module("imageio_ffmpeg")
        except ImportError:
            raise ViewerError(
                "recording .mp4 needs imageio-ffmpeg: pip install 'difftile[video]', "
                "or record a .gif, a .webp or a folder"
            ) from None
        self._writer: Generator[None, bytes, None] = ffmpeg.write_frames(
            str(file), (width, height), fps=fps, macro_block_size=2
        )
        self._writer.send(None)  # starts the generator

    def add(self, image: Bytes) -> None:
        self._writer.send(image.tobytes())

    def close(self) -> None:
        self._writer.close()
