"""A browser without a screen, and someone at its keyboard and mouse: Chromium by its own driver.

https://www.w3.org/TR/webdriver2 specifies the protocol of the driver.
"""

from __future__ import annotations

import base64
import importlib.util
import io
import json
import shutil
import subprocess
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import numpy as np
from PIL import Image

TOOLS = ("chromium", "chromedriver")
# No sandbox, which root and containers cannot have.
FLAGS = ("--headless=new", "--no-sandbox", "--disable-dev-shm-usage")
# WebGL without a GPU.
WEBGL = (
    "--use-gl=angle",
    "--use-angle=swiftshader",
    "--enable-unsafe-swiftshader",
)
BUTTONS = {"left": 0, "middle": 1, "right": 2}


def missing_browser() -> str:
    """Return the packages that a page needs and that are missing, or an empty text."""
    if importlib.util.find_spec("viser") is None:
        return "viser not found: pip install 'difftile[viewer]'"
    missing = [tool for tool in TOOLS if shutil.which(tool) is None]
    return f"{' and '.join(missing)} not found: apt-get install chromium-driver" if missing else ""


@dataclass(frozen=True)
class Browser:
    """A browser with one page.

    Attributes:
        session: The address of the driver's session.
    """

    session: str

    def ask(self, command: str, **values: Any) -> Any:
        """Send a command to the driver; return its answer."""
        return _post(f"{self.session}/{command}", values)

    def go(self, address: str) -> None:
        self.ask("url", url=address)

    def run(self, script: str) -> Any:
        """Return the result of a script on the page."""
        return self.ask("execute/sync", script=script, args=[])

    def picture(self) -> np.ndarray:
        """Return the visible page: red, green and blue in bytes, shape (h, w, 3)."""
        with urlopen(f"{self.session}/screenshot", timeout=30) as answer:
            data = base64.b64decode(json.load(answer)["value"])
        return np.asarray(Image.open(io.BytesIO(data)).convert("RGB"))

    def drag(self, *places: tuple[float, float], button: str = "left") -> None:
        """Press a button at the first place, move on to the others, and let it go."""
        act: list[dict[str, Any]] = []
        for x, y in places:
            act.append({"type": "pointerMove", "duration": 60, "x": round(x), "y": round(y)})
            if len(act) == 1:
                act.append({"type": "pointerDown", "button": BUTTONS[button]})
        act.append({"type": "pointerUp", "button": BUTTONS[button]})
        self._act("pointer", act)

    def click(self, x: float, y: float) -> None:
        self.drag((x, y))

    def scroll(self, x: float, y: float, down: int) -> None:
        """Turn the wheel at a place [px]."""
        act = {"type": "scroll", "x": round(x), "y": round(y), "deltaX": 0, "deltaY": down}
        self._act("wheel", [act])

    def press(self, *keys: str) -> None:
        """Press keys, one after the other."""
        downs_and_ups = [{"type": kind, "value": key} for key in keys for kind in _PRESS]
        self._act("key", downs_and_ups)

    def _act(self, device: str, actions: list[dict[str, Any]]) -> None:
        self.ask("actions", actions=[{"type": device, "id": device, "actions": actions}])


_PRESS = ("keyDown", "keyUp")


@contextmanager
def browsing(width: int = 1200, height: int = 800, *, webgl: bool = True) -> Generator[Browser]:
    """Have a browser for a while."""
    flags = (*FLAGS, *(WEBGL if webgl else ("--disable-gpu", "--disable-3d-apis")))
    command = ["chromedriver", "--port=0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as driver:
        assert driver.stdout is not None
        try:
            lines = iter(driver.stdout.readline, "")
            said = next(line for line in lines if "started successfully on port" in line)
            address = f"http://localhost:{said.split()[-1].rstrip('.')}/session"
            options = {"args": [*flags, f"--window-size={width},{height}"]}
            wanted = {"alwaysMatch": {"goog:chromeOptions": options}}
            session = _post(address, {"capabilities": wanted})["sessionId"]
            yield Browser(f"{address}/{session}")
            urlopen(Request(f"{address}/{session}", method="DELETE"), timeout=30).close()
        finally:
            driver.terminate()


def _post(address: str, values: dict[str, Any]) -> Any:
    data = json.dumps(values).encode()
    request = Request(address, data, {"Content-Type": "application/json"})
    try:
        with urlopen(request, timeout=60) as answer:
            return json.load(answer)["value"]
    except HTTPError as error:
        with error:
            said = json.load(error)["value"]
        raise RuntimeError(f"{address}: {said['message']}") from None
