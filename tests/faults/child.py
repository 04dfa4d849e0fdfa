"""A process that runs tests in a copy of the tree; what to run comes through its standard input."""

from __future__ import annotations

import json
import os
import sys
from multiprocessing.connection import Connection
from pathlib import Path

import pytest

from tests.faults.session import Plugin, collect, enter, run_items


def main() -> None:
    request = json.load(sys.stdin)
    connection = Connection(request["connection"], readable=False)
    enter(Path(request["folder"]))

    def run(session: pytest.Session) -> None:
        run_items(session, plugin, request["tests"], connection, stop=request["stop"])
        os._exit(0)

    plugin = Plugin(run)
    files = dict.fromkeys(name.partition("::")[0] for name in request["tests"])
    collect([*files], request["options"], plugin)
    connection.send(("error", "tests could not be collected"))


if __name__ == "__main__":
    main()
