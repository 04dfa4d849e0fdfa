"""Pictures on their way to browsers: drawn, encoded and sent beside what goes on.

A browser gets the next picture when it has the one before, so that none wait on a slow way.
"""

from __future__ import annotations

import contextlib
import threading

import numpy as np
import viser

from difftile.viewer.frame import Frame
from difftile.viewer.primitives import Bytes

_QUALITY = 90  # of JPEG: coloured lines stay sharp
_PATIENCE = 5.0  # that a browser may take before it gets another picture anyway [s]
# Nearer than anything: viser's own marks, such as the crosshair of its camera, are never seen.
_FRONT = np.zeros((1, 1), np.float32)


class Pictures:
    """What all browsers show."""

    def __init__(self) -> None:
        self._news = threading.Condition()
        self._frame: Frame | None = None  # the last one, until it is drawn
        self._image: Bytes | None = None
        self._drawn = 0  # how often the image has changed
        self._followed: set[int] = set()  # by the names that viser gives browsers
        self._failure: Exception | None = None
        self._ended = False
        self._artist = threading.Thread(target=self._draw, daemon=True)
        self._artist.start()

    @property
    def ready(self) -> bool:
        """Whether the last frame is being drawn, or nobody looks."""
        return self._frame is None or not self._followed

    def show(self, frame: Frame) -> None:
        """Have a frame drawn, if anyone looks; raise what went wrong with one before."""
        with self._news:
            if self._failure is not None:
                failure, self._failure = self._failure, None
                raise failure
            self._frame = frame
            self._news.notify_all()

    def end(self) -> None:
        """Draw and send no more."""
        with self._news:
            self._ended = True
            self._news.notify_all()
        self._artist.join()

    def follow(self, client: viser.ClientHandle) -> None:
        """Send pictures to a browser until it is left."""
        with self._news:
            self._followed.add(client.client_id)
            self._news.notify_all()
        threading.Thread(target=self._send, args=(client,), daemon=True).start()

    def leave(self, client: viser.ClientHandle) -> None:
        """Send no more to a browser."""
        with self._news:
            self._followed.discard(client.client_id)
            self._news.notify_all()

    def _draw(self) -> None:
        while True:
            with self._news:
                self._news.wait_for(lambda: self._ended or (self._frame and self._followed))
                if self._ended:
                    return
                frame, self._frame = self._frame, None
            assert frame is not None
            try:
                image = frame.image()
            except Exception as failure:  # what cannot be drawn is the app's to tell
                with self._news:
                    self._failure = failure
                continue
            if self._image is None or not np.array_equal(image, self._image):
                with self._news:
                    self._image = image
                    self._drawn += 1
                    self._news.notify_all()

    def _send(self, client: viser.ClientHandle) -> None:
        sent = 0

        def due() -> bool:
            return self._ended or self._drawn > sent or client.client_id not in self._followed

        while True:
            with self._news:
                self._news.wait_for(due)
                if self._ended or client.client_id not in self._followed:
                    return
                image, sent = self._image, self._drawn
            assert image is not None
            client.scene.set_background_image(image, "jpeg", jpeg_quality=_QUALITY, depth=_FRONT)
            # It answers when it has come so far; that it has no such item, or denies to look for
            # it, is an answer too.
            with contextlib.suppress(RuntimeError, TimeoutError):
                client.local_storage.get_item("difftile", timeout=_PATIENCE)
