"""Pictures on their way to browsers.

A browser gets the next picture when it has the one before, so that none wait on a slow way.
"""

from __future__ import annotations

import contextlib
import threading
import warnings
from collections.abc import Callable

import numpy as np
import viser

from difftile.viewer.primitives import Bytes
from difftile.viewer.theme import BACKGROUND

_QUALITY = 90  # of JPEG: coloured lines stay sharp
_ALIKE = 1.02  # pixels of a sheet over those of a picture that needs none
_UNLIKE = 4.0  # how many times wider or narrower a sheet may be
_PATIENCE = 5.0  # that a browser may take before it gets another picture anyway [s]
# Nearer than anything: viser's own marks, such as the crosshair of its camera, are never seen.
_FRONT = np.zeros((1, 1), np.float32)
_TOO_LATE = "Queued a BackgroundImageMessage on a closed connection"  # what viser says of it


class Pictures:
    """What all browsers show; a thread for each encodes and sends."""

    def __init__(self) -> None:
        self._news = threading.Condition()
        self._image: Bytes | None = None
        self._count = 0  # how often it has changed
        self._followed: set[int] = set()  # by the numbers that viser gives browsers
        # A browser may be left, or the run end, while a picture is being encoded.
        warnings.filterwarnings("ignore", _TOO_LATE, module=__name__.replace(".", r"\."))

    @property
    def wanted(self) -> bool:
        """Whether anyone looks."""
        return bool(self._followed)

    def show(self, image: Bytes) -> None:
        """Have a picture sent, shape (height, width, 3); one like the last is not."""
        if self._image is None or not np.array_equal(image, self._image):
            with self._news:
                self._image = image
                self._count += 1
                self._news.notify_all()

    def follow(self, client: viser.ClientHandle, aspect: Callable[[], float]) -> None:
        """Send pictures to a browser until it is left.

        Args:
            client: The browser.
            aspect: Says the width of its canvas over the height.
        """
        with self._news:
            self._followed.add(client.client_id)
            self._news.notify_all()
        threading.Thread(target=self._send, args=(client, aspect), daemon=True).start()

    def leave(self, client: viser.ClientHandle) -> None:
        """Send no more to a browser."""
        with self._news:
            self._followed.discard(client.client_id)
            self._news.notify_all()

    def _send(self, client: viser.ClientHandle, aspect: Callable[[], float]) -> None:
        sent = 0

        def due() -> bool:
            return self._count > sent or client.client_id not in self._followed

        while True:
            with self._news:
                self._news.wait_for(due)
                if client.client_id not in self._followed:
                    return
                image, sent = self._image, self._count
            assert image is not None
            image = framed(image, aspect())
            client.scene.set_background_image(image, "jpeg", jpeg_quality=_QUALITY, depth=_FRONT)
            # It answers when it has come so far; that it has no such item, or denies to look for
            # it, is an answer too.
            with contextlib.suppress(RuntimeError, TimeoutError):
                client.local_storage.get_item("difftile", timeout=_PATIENCE)


def sheet(width: int, height: int, aspect: float) -> tuple[int, int]:
    """Return the width and height of the least sheet of a shape that a picture fits on [px].

    A shape that differs more from that of the picture is not met: a sheet is not many times larger.
    """
    aspect = min(max(aspect, width / height / _UNLIKE), width / height * _UNLIKE)
    return max(width, round(height * aspect)), max(height, round(width / aspect))


def framed(image: Bytes, aspect: float) -> Bytes:
    """Return a picture in the middle of a sheet, as another canvas would stretch it."""
    height, width = image.shape[:2]
    wide, high = sheet(width, height, aspect)
    if wide * high < _ALIKE * width * height:
        return image
    whole = np.empty((high, wide, 3), np.uint8)
    whole[:] = BACKGROUND
    top, left = (high - height) // 2, (wide - width) // 2
    whole[top : top + height, left : left + width] = image
    return whole
