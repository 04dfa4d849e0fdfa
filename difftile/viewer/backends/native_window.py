"""A window on the desktop, by the first of the `toolkits` that opens one.

The window lives in a process of its own, so that drawing takes no time from the simulation.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from difftile.diagnostics import ViewerError
from difftile.viewer.backends.child_process import Ended
from difftile.viewer.backends.display import missing_display
from difftile.viewer.backends.flow_control import FlowControl
from difftile.viewer.backends.messages import WindowUpdate
from difftile.viewer.backends.toolkits import TOOLKITS, tried
from difftile.viewer.events import Close, Event
from difftile.viewer.frame import Frame, Layer
from difftile.viewer.keys import Shortcut
from difftile.viewer.panel import Panel

_PAINTER = "difftile.viewer.backends.painter"


class NoWindow(ViewerError):
    """No window can be opened, for a reason such as "DISPLAY is not set".

    Args:
        reason: The reason; says what to install, if that helps.
        cure: What to do, unless the reason says it.
    """

    def __init__(self, reason: str, cure: str = "") -> None:
        super().__init__(
            f"cannot open a window: {reason}; {cure}use backend='web' or 'null' "
            "(environment variable DIFFTILE_VIEWER)"
        )
        self.reason = reason


_ON_DESKTOP = "start the program on a desktop (over ssh: ssh -X), or "


class WindowBackend(FlowControl[Event]):
    """A window on the desktop.

    Args:
        toolkit: A name in `TOOLKITS`; "" for the first that opens a window.

    Raises:
        ViewerError: There is no such toolkit.
    """

    def __init__(self, toolkit: str = "") -> None:
        super().__init__("window")
        if toolkit and toolkit not in TOOLKITS:
            names = " or ".join(f"'window:{name}'" for name in TOOLKITS)
            raise ViewerError(f"there is no window by {toolkit!r}; choose {names}")
        self._toolkit = toolkit
        self._panel: Layer | None = None  # as the window has it

    def attach(self, panel: Panel, keys: Mapping[str, Shortcut]) -> bool:
        """See `Backend`; the picture shows the controls."""
        return False

    def open(self, title: str, width: int, height: int) -> None:
        """See `Backend`.

        Raises:
            NoWindow: No toolkit can open a window on this display.
        """
        missing = missing_display()
        if missing is not None:
            raise NoWindow(missing, _ON_DESKTOP)
        reasons: list[str] = []
        for name in (self._toolkit,) if self._toolkit else tried():
            reason = TOOLKITS[name].missing()
            if reason is None:
                try:
                    reason = self._start(_PAINTER, title, width, height, name)
                except Ended as ended:
                    reason = f"the window process {ended}"
            if reason is None:
                return
            self.close()
            reasons.append(reason)
        raise NoWindow(" and ".join(dict.fromkeys(reasons)))

    def poll(self) -> list[Event]:
        """See `Backend`."""
        self._receive()
        found, self.arrived = self.arrived, []
        if Close() in found:
            self.close()
        return found

    def show(self, frame: Frame) -> None:
        """See `Backend`.

        Raises:
            ViewerError: The last frame could not be drawn.
        """
        if self._can_send():
            same = frame.panel is not None and frame.panel is self._panel
            self._panel = frame.panel
            self._send(WindowUpdate(replace(frame, panel=None if same else frame.panel), same))

    def close(self) -> None:
        """See `Backend`."""
        super().close()
        self._panel = None


def described() -> str:
    """Return a line on the window that an app would open here, or why there is none."""
    missing = missing_display()
    if missing is not None:
        return f"none, since {missing}"
    reasons: list[str] = []
    for name in tried():
        reason = TOOLKITS[name].missing()
        if reason is None:
            return f"by {TOOLKITS[name].said}"
        reasons.append(reason)
    return f"none, since {' and '.join(reasons)}"
