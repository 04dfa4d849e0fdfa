"""The rule for connections to a page: browsers that show the page itself, and no other sites.

Any site in a browser may open connections to every address that the browser reaches. The browser
only names the site, in the header Origin (RFC 6454); refusing it is up to the server. Host names
are compared with a list as well, since a site may resolve its own name to this machine.
"""

from __future__ import annotations

import ipaddress
import os
import socket
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol
from urllib.parse import urlsplit

from difftile.diagnostics import ViewerError

VARIABLE = "DIFFTILE_VIEWER_ORIGINS"


class Headers(Protocol):
    """The headers of a request."""

    def get_all(self, key: str) -> list[str]:
        """Return all values of a header; its name ignores case."""
        ...


@dataclass(frozen=True)
class Guests:
    """The sites that may connect.

    Args:
        host: The host name of the page.
        origins: Other sites that may show the page, such as a proxy of notebooks.
    """

    host: str
    origins: tuple[str, ...] = ()

    def fault_of(self, headers: Headers) -> str | None:
        """Return why a request for a connection is refused, or None.

        Programs other than browsers name no site, and may connect.
        """
        given, hosts = headers.get_all("Origin"), headers.get_all("Host")
        if not given:
            return None
        if len(given) > 1 or len(hosts) != 1:
            return "it names more than one site"
        origin, host = given[0].lower(), hosts[0].lower()
        if origin in self.origins:
            return None
        try:
            site = urlsplit(origin)
            name = site.hostname or ""
        except ValueError:
            return f"its site is {origin[:100]!r}"
        if site.scheme in ("http", "https") and site.netloc == host and self._is_here(name):
            return None
        return (
            f"it comes from the site {origin[:100]!r}; to let that site show the page, name it in "
            f"the environment variable {VARIABLE}"
        )

    def fault_of_host(self, headers: Headers) -> str | None:
        """Return why a request that names no site is refused, or None.

        A site that resolves its own name to this machine is found by the header Host.
        """
        hosts = headers.get_all("Host")
        try:
            name = urlsplit(f"//{hosts[0].lower()}").hostname or "" if len(hosts) == 1 else ""
        except ValueError:
            name = ""
        if self._is_here(name) or name in {urlsplit(one).hostname for one in self.origins}:
            return None
        return f"it is for the host {name[:100]!r}"

    def _is_here(self, name: str) -> bool:
        """Return whether a host name means this machine, or is an address, which is safe."""
        own = socket.gethostname().lower()
        short = own.partition(".")[0]
        if name in ("localhost", self.host.lower(), own, short, f"{short}.local"):
            return True
        try:
            ipaddress.ip_address(name)
        except ValueError:
            return False
        return True


def allowed_origins(given: Sequence[str] = ()) -> tuple[str, ...]:
    """Return the other sites that may show a page: given ones, and ones from the environment.

    Raises:
        ViewerError: One is not a site.
    """
    named = [one.strip() for one in os.environ.get(VARIABLE, "").split(",")]
    found: list[str] = []
    for one in (*given, *filter(None, named)):
        parts = urlsplit(one.rstrip("/").lower())
        if parts.scheme not in ("http", "https") or not parts.netloc or parts.path or parts.query:
            raise ViewerError(f"write a site that shows the page like https://hub.org, not {one!r}")
        found.append(f"{parts.scheme}://{parts.netloc}")
    return tuple(found)
