"""Sending of pictures to browsers.

A browser gets the next picture when it has received the last one, so that none queue up on a slow
connection.
"""

from __future__ import annotations

import contextlib
import threading
import warnings
from collections.abc import Callable

import numpy as np
import viser

from difftile.viewer.backends.page_document import SHOWN
from difftile.viewer.primitives import Bytes
from difftile.viewer.theme import BACKGROUND

SENDER = "difftile pictures"  # the name of the threads

_QUALITY = 90  # of JPEG: coloured lines stay sharp
_ALIKE = 1.02  # below this ratio of pixels a picture needs no sheet
_UNLIKE = 4.0  # largest ratio of the aspect ratios of sheet and picture
_PATIENCE = 5.0  # after which a browser gets another picture anyway [s]
# Nearer than viser's own marks, such as the crosshair of its camera, which are thus hidden.
_FRONT = np.zeros((1, 1), np.float32)
_TOO_LATE = r"Queued a \w+ on a closed connection"  # viser's warning


class Pictures:
    """The picture that all browsers show; a thread per browser encodes and sends it."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._image: Bytes | None = None
        self._count = 0  # how often it has changed
        self._followed: set[int] = set()  # by viser's client number
        # A browser may leave, or the run end, while a picture is being encoded.
        warnings.filterwarnings("ignore", _TOO_LATE, module=__name__.replace(".", r"\."))

    @property
    def wanted(self) -> bool:
        """Whether any browser is connected."""
        return bool(self._followed)

    def show(self, image: Bytes) -> None:
        """Send a picture, shape (height, width, 3), unless it equals the last one."""
        if self._image is None or not np.array_equal(image, self._image):
            with self._changed:
                self._image = image
                self._count += 1
                self._changed.notify_all()

    def follow(self, client: viser.ClientHandle, aspect: Callable[[], float]) -> None:
        """Send pictures to a browser until it leaves; `aspect` gives width over height."""
        with self._changed:
            self._followed.add(client.client_id)
            self._changed.notify_all()
        given = (client, aspect)
        threading.Thread(target=self._send, args=given, name=SENDER, daemon=True).start()

    def leave(self, client: viser.ClientHandle) -> None:
        """Stop sending to a browser."""
        with self._changed:
            self._followed.discard(client.client_id)
            self._changed.notify_all()

    def _send(self, client: viser.ClientHandle, aspect: Callable[[], float]) -> None:
        sent = 0

        def due() -> bool:
            return self._count > sent or client.client_id not in self._followed

        while True:
            with self._changed:
                self._changed.wait_for(due)
                if client.client_id not in self._followed:
                    return
                first, image, sent = not sent, self._image, self._count
            assert image is not None
            image = framed(image, aspect())
            client.scene.set_background_image(image, "jpeg", jpeg_quality=_QUALITY, depth=_FRONT)
            if first:
                client.local_storage.set_item(SHOWN, "yes")  # after it has processed the picture
            # The browser answers after it has processed the picture; an error is an answer too.
            with contextlib.suppress(RuntimeError, TimeoutError):
                client.local_storage.get_item("difftile", timeout=_PATIENCE)


def sheet(width: int, height: int, aspect: float) -> tuple[int, int]:
    """Return the width and height of the smallest sheet around a picture with an aspect ratio [px].

    Extreme aspect ratios are clamped, so that a sheet is not many times larger than its picture.
    """
    aspect = min(max(aspect, width / height / _UNLIKE), width / height * _UNLIKE)
    return max(width, round(height * aspect)), max(height, round(width / aspect))


def framed(image: Bytes, aspect: float) -> Bytes:
    """Return a picture in the middle of a sheet, since another canvas would stretch it."""
    height, width = image.shape[:2]
    wide, high = sheet(width, height, aspect)
    if wide * high < _ALIKE * width * height:
        return image
    whole = np.empty((high, wide, 3), np.uint8)
    whole[:] = BACKGROUND
    top, left = (high - height) // 2, (wide - width) // 2
    whole[top : top + height, left : left + width] = image
    return whole
