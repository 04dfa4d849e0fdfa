"""Frames as files: an animation, a video, or a folder of pictures."""

from __future__ import annotations

import importlib
from collections.abc import Generator
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt
from PIL import Image, features

from difftile.diagnostics import ViewerError


class VideoWriter(Protocol):
    """Takes pictures of one size."""

    def add(self, image: npt.NDArray[np.uint8]) -> None:
        """Take the next picture, shape (height, width, 3)."""
        ...

    def close(self) -> None:
        """Finish the file."""
        ...


def open_writer(path: str | Path, width: int, height: int, fps: float) -> VideoWriter:
    """Return what writes a file, by its ending: .gif, .webp, .mp4, or none for a folder.

    Args:
        path: The file or folder; folders above it are made.
        width: Of the pictures [px].
        height: Likewise.
        fps: Pictures a second.

    Raises:
        ViewerError: The ending is none of these, a library is missing, or nothing can be written.
    """
    file = Path(path)
    kind = file.suffix.lower()
    if kind not in ("", ".gif", ".webp", ".mp4"):
        raise ViewerError(
            f"cannot record {file.name!r}: take .gif, .webp, .mp4, or a folder (no ending)"
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
    return _Animation(file, fps)


class _ImageSequence:
    """A PNG for each picture."""

    def __init__(self, folder: Path) -> None:
        self._folder, self._count = folder, 0

    def add(self, image: npt.NDArray[np.uint8]) -> None:
        Image.fromarray(image).save(self._folder / f"frame_{self._count:05d}.png")
        self._count += 1

    def close(self) -> None:
        pass


class _Animation:
    """A looping GIF or WebP; its pictures are kept until the end."""

    def __init__(self, file: Path, fps: float) -> None:
        self._file, self._fps = file, fps
        self._frames: list[Image.Image] = []

    def add(self, image: npt.NDArray[np.uint8]) -> None:
        frame = Image.fromarray(image)
        # A GIF has at most 256 colours: fewer bytes to keep as well.
        self._frames.append(frame.quantize(256) if self._file.suffix.lower() == ".gif" else frame)

    def close(self) -> None:
        if self._frames:
            first, *rest = self._frames
            wait = round(1000 / self._fps)
            first.save(self._file, save_all=True, append_images=rest, duration=wait, loop=0)


class _Video:
    """An MP4, which ffmpeg encodes as pictures come."""

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
        self._writer.send(None)  # pyright: ignore[reportArgumentType] - starts the generator

    def add(self, image: npt.NDArray[np.uint8]) -> None:
        self._writer.send(image.tobytes())

    def close(self) -> None:
        self._writer.close()
