"""Who may connect to a page: browsers that show the page itself, and no other sites.

Every site that a browser shows may open connections to any address that the browser reaches. The
browser says which site it is, in the header Origin (RFC 6454), and leaves the rest to the server.
Names are compared with a list as well, since a site may let its own name lead to this machine.
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
    """What a request says about itself."""

    def get_all(self, key: str) -> list[str]:
        """Return all values of a header, whose name is in any case."""
        ...


@dataclass(frozen=True)
class Guests:
    """Those who may connect.

    Args:
        host: The one that the page was asked to be at.
        origins: Other sites that may show the page, such as a proxy of notebooks.
    """

    host: str
    origins: tuple[str, ...] = ()

    def fault_of(self, headers: Headers) -> str | None:
        """Return why a request for a connection is refused; None if it is not.

        Programs that are no browsers say nothing of a site, and may connect.
        """
        given, hosts = headers.get_all("Origin"), headers.get_all("Host")
        if not given:
            return None
        if len(given) > 1 or len(hosts) != 1:
            return "it says more than one site"
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
            f"it comes from the site {origin[:100]!r}; if that is to show the page, name it in the "
            f"environment variable {VARIABLE}"
        )

    def _is_here(self, name: str) -> bool:
        own = socket.gethostname().lower()
        short = own.partition(".")[0]
        return name in ("localhost", self.host.lower(), own, short, f"{short}.local") or _is_ip(
            name
        )


def allowed_origins(given: Sequence[str] = ()) -> tuple[str, ...]:
    """Return the other sites that may show a page: some, and those of the environment.

    Raises:
        ViewerError: One is no site.
    """
    named = [one.strip() for one in os.environ.get(VARIABLE, "").split(",")]
    found: list[str] = []
    for one in (*given, *filter(None, named)):
        parts = urlsplit(one.rstrip("/").lower())
        if parts.scheme not in ("http", "https") or not parts.netloc or parts.path or parts.query:
            raise ViewerError(f"a site that may show the page is like https://hub.org, not {one!r}")
        found.append(f"{parts.scheme}://{parts.netloc}")
    return tuple(found)


def _is_ip(name: str) -> bool:
    """Tell whether a name is an address itself, which no site can let lead elsewhere."""
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True
