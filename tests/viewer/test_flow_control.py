"""The control of the flow of messages, with a process that is only played."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

import difftile as dt
from difftile.viewer.backends.flow_control import FlowControl


def test_a_message_that_could_not_be_drawn_is_said_once() -> None:
    control: Any = FlowControl("window")
    report = SimpleNamespace(ready=True, fault="it has no points", events=[])
    control.child = SimpleNamespace(send=lambda message: None, receive=lambda: [report])
    control._send("a picture")
    with pytest.raises(dt.ViewerError, match="a shape cannot be drawn: it has no points"):
        control._can_send()
    assert control._can_send()
