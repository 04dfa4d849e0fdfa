"""The document of a page: viser's own, with the title and the icon of the app.

viser asks for pictures only after it has set up WebGL, which takes seconds on a slow machine and
fails on others. Until it shows its first picture, an image covers its canvas, which is loaded again
and again; it is all that a browser without WebGL shows.
"""

from __future__ import annotations

import gzip
import html
import http
import io
import re
from collections.abc import Callable
from typing import Any
from urllib.parse import quote

from PIL import Image
from websockets.datastructures import Headers
from websockets.http11 import Response

from difftile.viewer.backends.icon import as_hex, as_svg
from difftile.viewer.backends.page_guests import Guests
from difftile.viewer.primitives import Bytes
from difftile.viewer.theme import BACKGROUND, INK

SHOWN = "difftile-shown"  # what the key in the local storage ends with when viser shows pictures
PICTURE = "difftile-picture.jpg"
_QUALITY = 90  # of JPEG
_COVER = f"""
<style>
#difftile {{position: fixed; inset: 0; z-index: 2; pointer-events: none; overflow: hidden;
  background: {as_hex(BACKGROUND)}; color: {as_hex(INK)}; font: 15px sans-serif;
  display: grid; place-items: center}}
#difftile img {{position: absolute; width: 100%; height: 100%; object-fit: contain}}
</style>
<div id="difftile"><p>{{waiting}}</p><img alt="" src="{PICTURE}" hidden /></div>
<script>
(() => {{
  const cover = document.getElementById("difftile"), image = cover.querySelector("img");
  const notes = () => Object.keys(localStorage).filter(key => key.endsWith("{SHOWN}"));
  let covers = true, kept = true;
  image.onload = () => {{ image.hidden = false; }};
  const load = async () => {{  // an image that is loaded by its address would keep the page loading
    try {{
      const answer = await fetch("{PICTURE}?" + Date.now()), old = image.src;
      if (answer.ok) image.src = URL.createObjectURL(await answer.blob());
      if (answer.ok && old.startsWith("blob:")) URL.revokeObjectURL(old);
    }} catch {{}}
    if (covers) setTimeout(load, 500);
  }};
  try {{ notes().forEach(key => localStorage.removeItem(key)); }} catch {{ kept = false; }}
  const follow = () => {{
    const canvas = document.querySelector("#root canvas");
    if (canvas && (!kept || notes().length)) {{
      covers = false;
      setTimeout(() => cover.remove(), 200);  // which the canvas needs to draw its picture
      return;
    }}
    if (canvas) {{
      const {{left, top, width, height}} = canvas.getBoundingClientRect();
      Object.assign(cover.style, {{inset: "auto", left: left + "px", top: top + "px",
        width: width + "px", height: height + "px"}});
    }}
    setTimeout(follow, 50);
  }};
  setTimeout(load, 500);
  follow();
}})();
</script>
"""


class Document:
    """Answers the requests for the document and for the last picture, before viser's server does.

    Args:
        title: The title of the app.
        guests: The sites that may show the page; others do not get the picture.

    Attributes:
        picture: Returns the last picture, shape (height, width, 3), or None before the first. It is
            called in the thread of viser.
    """

    def __init__(self, title: str, guests: Guests) -> None:
        self.picture: Callable[[], Bytes | None] = lambda: None
        self._title, self._guests = title, guests
        self._changed: dict[str, bytes] = {}  # by the encoding of the contents

    def answer(self, request: Any, respond: Callable[[], Response | None]) -> Response | None:
        """Return the answer to a request; `respond` returns viser's."""
        name = request.path.partition("?")[0].strip("/")
        if name == PICTURE:
            return self._picture(request.headers)
        found = respond()
        if name not in ("", "index.html") or found is None or found.status_code != 200:
            return found
        packed = found.headers.get("Content-Encoding", "identity")
        if packed not in self._changed:
            body = gzip.decompress(found.body) if packed == "gzip" else found.body
            body = self._change(body.decode()).encode()
            self._changed[packed] = gzip.compress(body) if packed == "gzip" else body
        return _response(self._changed[packed], "text/html; charset=utf-8", packed)

    def _change(self, document: str) -> str:
        title = html.escape(self._title)
        named = title if "difftile" in title.lower() else f"{title} – difftile"
        heading = f"<title>{named}</title>"
        document = re.sub("<title>.*?</title>", lambda _: heading, document, count=1)
        icon = f'<link rel="icon" href="data:image/svg+xml,{quote(as_svg())}" />'
        document = re.sub(r'<link\s+rel="icon".*?>', lambda _: icon, document, count=1, flags=re.S)
        head, body, rest = document.rpartition("<body>")
        cover = _COVER.replace("{waiting}", f"{title}: waiting for the first picture")
        return f"{head}{body}{cover}{rest}" if body else document

    def _picture(self, headers: Any) -> Response:
        shown_by = headers.get("Sec-Fetch-Site", "none")
        if self._guests.fault_of_host(headers) or shown_by not in ("none", "same-origin"):
            return Response(http.HTTPStatus.FORBIDDEN, "Forbidden", Headers(), b"")
        image = self.picture()
        if image is None:
            return Response(http.HTTPStatus.NOT_FOUND, "Not Found", Headers(), b"")
        packed = io.BytesIO()
        Image.fromarray(image).save(packed, "jpeg", quality=_QUALITY)
        return _response(packed.getvalue(), "image/jpeg")


def _response(body: bytes, kind: str, encoding: str = "identity") -> Response:
    headers = Headers()
    headers["Content-Type"] = kind
    headers["Content-Encoding"] = encoding
    headers["Content-Length"] = str(len(body))
    headers["Cache-Control"] = "no-store"
    return Response(http.HTTPStatus.OK, "OK", headers, body)
