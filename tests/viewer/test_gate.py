"""Messages and origins of connections to a page: thousands of messages that no browser sends."""

from __future__ import annotations

import gzip
import http.client
import io
import math
import os
import random
import re
import threading
import time
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any
from urllib.parse import unquote
from xml.etree import ElementTree

import pytest
from PIL import Image

import difftile as dt
from difftile.diagnostics import ViewerError
from difftile.viewer.events import Event, MouseDown, MouseMove, MouseUp, Resize, Scroll
from difftile.viewer.layout import LARGEST, SMALLEST

viser = pytest.importorskip("viser", reason="pip install 'difftile[viewer]'")
msgspec = pytest.importorskip("msgspec")
websockets = pytest.importorskip("websockets")
connecting = pytest.importorskip("websockets.sync.client")

from difftile.viewer.backends import (  # noqa: E402
    page_document,
    page_gate,
    page_guests,
    page_messages,
    page_pictures,
)
from difftile.viewer.backends.messages import (  # noqa: E402
    ButtonsState,
    CheckboxState,
    ChoiceState,
    ControlChange,
    PageUpdate,
    SliderState,
)
from difftile.viewer.backends.page import Page  # noqa: E402
from difftile.viewer.frame import Frame, Layer  # noqa: E402
from difftile.viewer.screen import Area, Pixels  # noqa: E402

_COUNT = int(os.environ.get("DIFFTILE_MESSAGES", "3000"))
_PATIENCE = 30.0  # [s]
CONTROLS = {
    0: SliderState("speed", 0.0, 10.0, None, False, False, 5.0, 0.5),
    1: SliderState("factor", 0.01, 100.0, None, True, False, 1.0, 0.5),
    2: SliderState("count", 0, 10, None, False, True, 5, 0.5),
    3: CheckboxState("tick", False),
    4: ChoiceState("kind", ("this", "that"), 0),
    5: ButtonsState("step", ("a", "b")),
    6: ButtonsState("", ("alone",)),
}
CAMERA = {
    "type": "ViewerCameraMessage",
    "wxyz": [1.0, 0.0, 0.0, 0.0],
    "position": [0.0, 0.0, 3.0],
    "fov": 0.8,
    "near": 0.01,
    "far": 1000.0,
    "image_height": 400,
    "image_width": 600,
    "look_at": [0.0, 0.0, 0.0],
    "up_direction": [0.0, 1.0, 0.0],
}
CLICK = {
    "type": "SceneNodeClickMessage",
    "name": "/mouse",
    "instance_index": None,
    "ray_origin": [0.0, 0.0, 0.0],
    "ray_direction": [0.0, 0.0, 1.0],
    "screen_pos": [0.25, 0.75],
    "modifier": None,
    "owner": "",
}
DRAG = {
    "type": "SceneNodeDragMessage",
    "phase": "start",
    "name": "/mouse",
    "instance_index": None,
    "start_position": [0.0, 0.0, 0.0],
    "start_screen_pos": [0.25, 0.75],
    "end_position": [0.0, 0.0, 0.0],
    "end_screen_pos": [0.5, 0.5],
    "button": "left",
    "modifier": "shift",
    "owner": "",
}
STORAGE = {
    "type": "LocalStorageGetItemResponseMessage",
    "value": None,
    "error": None,
    "request_uuid": "1",
}
ODD: list[Any] = [
    *(None, True, False, 0, 1, -1, 7, 0.5, 1e9, -1e9, 1e300, -1e308, math.nan, math.inf, -math.inf),
    *(1_000_000, 2**31, 2**63, -(2**63), "", "x" * 3000, "this", "nobody", "start", "left", "\0"),
    *([], {}, [[]], [None] * 3, [math.nan] * 3, [1e308] * 4, [0.5], [0.1, 0.2], [7] * 100, b"\xff"),
    *({"value": math.nan}, {"value": []}, {"value": "nobody"}, {"value": 1e290}, {"value": [9e9]}),
    *({"value": True}, {"value": 3}, {"value": [0.7]}, {"value": "that"}, {"update_cb": 1}),
    *({"label": "x"}, {"value": 1, "removed": True}, {1: 2}, {"value": {"value": 1}}),
]
OTHERS = ["ShareUrlRequest", "FileTransferStartUpload", "ResetGuiMessage", "Message", "", None, 3]


# The page has this filter, which would end with the first test.
pytestmark = pytest.mark.filterwarnings(f"ignore:{page_pictures._TOO_LATE}:UserWarning")


@pytest.fixture(scope="module")
def page() -> Iterator[Any]:
    """A page with controls, served to any connection; `connection` receives the messages."""
    log = page_gate.RefusalLog()
    said: list[str] = []
    log.write = said.append
    guests = page_guests.Guests("localhost", ("https://hub.example.org",))
    document = page_document.Document("<a page>", guests)
    with page_gate.gated(guests, log, document):
        server = viser.ViserServer("localhost", 0, verbose=False)
    made = Page(SimpleNamespace(), server, "a page", (600, 400), log)
    notices = Layer(Pixels(Area(0.0, 0.0, 600.0, 400.0)), ())
    made._show(
        PageUpdate(Frame(600, 400, (), None, notices), controls=CONTROLS, keys={"k": "kick"})
    )
    uuids = [one._handle._impl.uuid for one in made._controls._widgets.values()]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(page_pictures, "_PATIENCE", 0.5)  # for the answers of browsers
        yield SimpleNamespace(
            page=made, port=server.get_port(), said=said, uuids=uuids, document=document
        )
    server.stop()
    for client in server.get_clients().values():
        made._pictures.leave(client)
    for thread in threading.enumerate():
        if thread.name == page_pictures.SENDER:
            thread.join(_PATIENCE)
            assert not thread.is_alive(), "it would send in a later test"


def connect(port: int, origin: str | None = None, host: str = "localhost") -> Any:
    return connecting.connect(
        f"ws://{host}:{port}",
        origin=origin,
        subprotocols=[f"viser-v{viser.__version__}"],
        max_size=None,
    )


def encoded(message: object) -> bytes:
    return msgspec.msgpack.encode(message)


def happened(page: Any, marker: type[Event] | tuple[int, ...]) -> list[Any]:
    """Return the received events, up to a kind of event."""
    found: list[Any] = []
    started = time.monotonic()
    while not any(isinstance(one, marker) for one in found):  # pyrefly: ignore[invalid-argument]
        assert time.monotonic() - started < _PATIENCE, (found[-5:], page.said[-5:])
        time.sleep(0.005)
        found += page.page._inbox.take()
    return found


def drawn(rng: random.Random, uuids: list[str]) -> bytes | str:
    """Draw a message: one of a browser in which something is different, or none at all."""
    if rng.random() < 0.05:
        return rng.choice(["", "text", rng.randbytes(rng.randrange(200)), b"\x91" * 5000, b""])
    update = {"type": "GuiUpdateMessage", "uuid": rng.choice(uuids), "updates": rng.choice(ODD)}
    trigger = {"type": "CommandTriggerMessage", "uuid": rng.choice([*uuids, "none"])}
    camera = {
        **CAMERA,
        "image_width": round(10 ** rng.uniform(0, 9)),
        "image_height": round(10 ** rng.uniform(0, 9)),
        "position": [0.0, 0.0, 10 ** rng.uniform(-9, 9)],
    }
    message: dict[Any, Any] = dict(rng.choice([camera, CLICK, DRAG, STORAGE, update, trigger]))
    for _ in range(rng.randrange(3)):
        name = rng.choice([*message, "more"])
        match rng.randrange(6):
            case 0:
                message.pop(name, None)
            case 1:
                message["type"] = rng.choice(OTHERS)
            case 2 if message.get(name) and isinstance(message[name], list):
                several = list(message[name])
                several[rng.randrange(len(several)) : len(several)] = [rng.choice(ODD)]
                message[name] = several
            case _:
                message[name] = rng.choice(ODD)
    raw = encoded(message)
    return raw[: rng.randrange(len(raw))] if rng.random() < 0.05 else raw


def is_sane(one: Any) -> bool:
    match one:
        case MouseMove(x, y) | MouseDown(_, x, y) | MouseUp(_, x, y):
            return abs(x) < 1e6 and abs(y) < 1e6
        case Scroll(amount, x, y):
            return 0 < abs(amount) <= 100 and math.isfinite(x + y)
        case Resize(width, height):
            whole = isinstance(width, int) and isinstance(height, int)
            return whole and all(
                a <= b <= c for a, b, c in zip(SMALLEST, (width, height), LARGEST, strict=True)
            )
        case ControlChange(which, value):
            control = CONTROLS[which]
            low, high = 0.0, 1.0
            if isinstance(control, SliderState):
                low, high = control.low, control.high
            return low <= value <= high
        case _:
            return True


def test_what_no_browser_says_ends_nothing(page: Any) -> None:
    rng = random.Random(0)
    app = dt.viewer.App(backend="null", size=(480, 320))
    app.handle()
    found: list[Any] = []
    with connect(page.port) as client, connect(page.port) as other:
        for one in (client, other):
            one.send(encoded(CAMERA))
            happened(page, Resize)
        for number in range(_COUNT):
            client.send(drawn(rng, page.uuids))
            if number % 200 == 199:
                other.send(encoded(CLICK))
                found += happened(page, MouseUp)
        for last in (client, other):  # both are connected, and mean what they say
            last.send(encoded(CLICK))
            found += happened(page, MouseUp)
    assert [one for one in found if not is_sane(one)] == []
    kinds = {type(one) for one in found}
    assert {MouseMove, MouseDown, MouseUp, Resize, Scroll, ControlChange} <= kinds
    for one in found:
        if one is not None and not isinstance(one, ControlChange):
            app._take(one)
    app.run(frames=1)
    assert app.error is None
    assert len(page.said) > _COUNT / 4 and all("\n" not in said for said in page.said)


@pytest.mark.parametrize(
    ("width", "height"), [(1_000_000, 1), (1, 1_000_000), (2**31, 2**31), (1, 1), (3, 0)]
)
def test_a_canvas_of_any_size_gets_pictures_that_can_be_drawn(
    page: Any, width: int, height: int
) -> None:
    with connect(page.port) as client:
        client.send(encoded({**CAMERA, "image_width": width, "image_height": height}))
        if height:
            (resize,) = [e for e in happened(page, Resize) if isinstance(e, Resize)]
            assert is_sane(resize) and resize.width * resize.height < 3e6
        client.send(encoded(CLICK))
        assert all(map(is_sane, happened(page, MouseUp)))


def test_a_message_that_is_too_large_ends_the_connection_over_which_it_comes(page: Any) -> None:
    with connect(page.port) as client, connect(page.port) as other:
        other.send(encoded(CAMERA))
        happened(page, Resize)
        client.send(bytes(page_messages.MOST_BYTES + 1))
        with pytest.raises(websockets.exceptions.ConnectionClosedError, match="1009"):
            while True:
                client.recv(_PATIENCE)
        other.send(encoded(CLICK))
        happened(page, MouseUp)


def test_the_page_may_be_shown_by_itself_alone(page: Any) -> None:
    own = f"http://localhost:{page.port}"
    for origin in (None, own, own.upper(), "https://hub.example.org"):
        connect(page.port, origin).close()
    page.said.clear()
    strangers = [
        "http://evil.example",
        f"http://evil.example:{page.port}",
        "http://localhost:1",
        "http://localhost",
        f"https://hub.example.org.evil.example:{page.port}",
        f"ftp://localhost:{page.port}",
        f"http://localhost@evil.example:{page.port}",
        "null",
        "",
        "http://[",
    ]
    for origin in strangers:
        with pytest.raises(websockets.exceptions.InvalidStatus, match="403"):
            connect(page.port, origin)
    assert len(page.said) == len(strangers)
    assert "DIFFTILE_VIEWER_ORIGINS" in page.said[0] and "'http://evil.example'" in page.said[0]


@pytest.mark.parametrize(
    ("origin", "host", "welcome"),
    [
        ("http://localhost:9000", "localhost:9000", True),  # by ssh, at another port
        ("http://127.0.0.1:8080", "127.0.0.1:8080", True),
        ("http://[::1]:8080", "[::1]:8080", True),
        ("http://192.168.1.5:8080", "192.168.1.5:8080", True),
        ("http://render.lab:8080", "render.lab:8080", True),
        ("http://evil.example:8080", "evil.example:8080", False),  # whose name leads here
        ("http://evil.example:8080", "localhost:8080", False),
        ("http://127.0.0.1.evil.example:8080", "127.0.0.1.evil.example:8080", False),
        ("http://localhost:3000", "localhost:8080", False),
        ("https://hub.org", "10.0.0.1:8080", True),
        ("https://hub.org:444", "10.0.0.1:8080", False),
    ],
)
def test_who_may_connect(origin: str, host: str, welcome: bool) -> None:
    headers = {"Origin": [origin], "Host": [host]}
    guests = page_guests.Guests("render.lab", ("https://hub.org",))
    fault = guests.fault_of(SimpleNamespace(get_all=lambda name: headers[name]))
    assert (fault is None) == welcome


def test_sites_that_may_show_a_page(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(page_guests.VARIABLE, "https://Hub.org/, http://a.b:81")
    found = page_guests.allowed_origins(["https://c.d"])
    assert found == ("https://c.d", "https://hub.org", "http://a.b:81")
    for wrong in ("hub.org", "https://hub.org/user", "ws://hub.org", "https://"):
        with pytest.raises(ViewerError, match=r"like https://hub\.org, not"):
            page_guests.allowed_origins([wrong])


def test_a_server_without_a_gate_is_not_served() -> None:
    with pytest.raises(RuntimeError, match="serves pages in an unknown way"):
        guests = page_guests.Guests("localhost")
        with page_gate.gated(guests, page_gate.RefusalLog(), page_document.Document("", guests)):
            pass


def fetched(page: Any, path: str, **headers: str) -> tuple[int, str, bytes]:
    """Return the status, the type and the contents of a file of a page."""
    connection = http.client.HTTPConnection("localhost", page.port, timeout=_PATIENCE)
    connection.request("GET", path, headers=headers)
    answer = connection.getresponse()
    found = answer.status, answer.headers.get("Content-Type", ""), answer.read()
    connection.close()
    return found


@pytest.mark.parametrize("path", ["/", "/?a=b", "/index.html"])
def test_the_document_has_the_title_and_the_icon_of_the_app(page: Any, path: str) -> None:
    status, kind, body = fetched(page, path)
    packed = fetched(page, path, **{"Accept-Encoding": "gzip"})
    assert packed[:2] == (status, kind) and gzip.decompress(packed[2]) == body
    text = body.decode()
    assert (status, kind) == (200, "text/html; charset=utf-8")
    assert re.findall("<title>.*?</title>", text) == ["<title>&lt;a page&gt; – difftile</title>"]
    (icon,) = re.findall(r'<link rel="icon" href="data:image/svg\+xml,([^"]*)"', text)
    assert ElementTree.fromstring(unquote(icon)).tag.endswith("svg")
    assert "250.44 221.61" not in text  # of viser's icon
    assert "&lt;a page&gt;: waiting for the first picture" in text
    assert fetched(page, "/nothing.js")[0] == 404


def test_the_last_picture_is_there_without_a_connection(page: Any) -> None:
    page.document.picture = lambda: None
    assert fetched(page, "/difftile-picture.jpg")[0] == 404
    page.document.picture = page.page.picture
    status, kind, body = fetched(page, "/difftile-picture.jpg?1", **{"Sec-Fetch-Site": "none"})
    assert (status, kind) == (200, "image/jpeg")
    with Image.open(io.BytesIO(body)) as image:
        assert image.size == (600, 400)
    for headers in (
        {"Host": f"evil.example:{page.port}"},
        {"Host": "["},
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
    ):
        assert fetched(page, "/difftile-picture.jpg", **headers)[::2] == (403, b"")
    for host in ("127.0.0.1:9000", "[::1]:8080", "hub.example.org"):
        assert fetched(page, "/difftile-picture.jpg", Host=host)[0] == 200
