"""Make the parts of the map that are missing: `python -m tests.faults.map --tests tests/passes`.

Each file of tests runs in a fork of its own, after all were collected: `python -m tests.faults`
starts this for files that are in no map yet.
"""

from tests.faults import probes

if __name__ == "__main__":
    probes.install()  # before anything imports difftile

import argparse
import functools
import os
import shutil
import sys
import tempfile
import time
from collections.abc import Sequence
from multiprocessing.connection import Connection
from pathlib import Path

import numpy as np
import pytest

from tests.faults import reach
from tests.faults.children import share, watch
from tests.faults.session import Plugin, collect, fork, run_items

_LIMIT = 900.0  # seconds that a test may take

# The tests of each map.
_SELECTED = {
    "usual": ("--tier", "0-3", "--long", "none"),
    "long": ("--tier", "0-3", "--long", "all"),
    "slow": ("--tier", "0-4", "--long", "all"),
}


def _child(
    session: pytest.Session, plugin: Plugin, names: list[str], folder: Path, connection: Connection
) -> None:
    folder /= "reached"
    os.environ.update(probes.environment(folder))
    probes.forget()

    def extra() -> tuple[bytes, bool]:
        reached, others = probes.take(), [*probes.take_others(folder)]
        for path, line in others:
            reached.setdefault(path, probes.array_for(path))[line] = 1
        return reach.row(reached).tobytes(), bool(others)

    run_items(session, plugin, names, connection, stop=False, extra=extra)


def _make(session: pytest.Session, plugin: Plugin, name: str, jobs: int) -> None:
    at_import = reach.row(probes.take())
    only = reach.Known(0.0, True, False, int(np.unpackbits(at_import).sum()))
    folder = Path(tempfile.mkdtemp(prefix="faults-"))
    files: dict[str, list[str]] = {path: [] for path in session.config.args}
    for item in session.items:
        files.setdefault(item.nodeid.partition("::")[0], []).append(item.nodeid)
    # Other tests have other imports.
    part = f"{reach.COLLECTION}-{reach.tree()}-{len(files)}"
    reach.write_part(name, part, {reach.COLLECTION: only}, [at_import])
    print(f"{len(files)} files of tests are in no map yet", flush=True)

    def work(file: str) -> str:
        place = folder / file.replace("/", "--")
        tests: dict[str, reach.Known] = {}
        rows: list[np.ndarray] = []
        left, bad = files[file], ""
        while left:
            pid, connection = fork(functools.partial(_child, session, plugin, left, place), place)
            outcome = watch(pid, connection, limit=lambda _: _LIMIT, budget=3600.0)
            shutil.rmtree(place, ignore_errors=True)
            told = {test: (seconds, extra) for test, seconds, extra in outcome.ran}
            for test in {**told, **outcome.failed}:
                # A test that ended the process told nothing.
                seconds, (bits, apart) = told.get(test, (_LIMIT, (bytes(len(at_import)), False)))
                rows.append(np.frombuffer(bits, np.uint8))
                size = int(np.unpackbits(rows[-1]).sum())
                tests[test] = reach.Known(seconds, test not in outcome.failed, apart, size)
            bad += "".join(f"\n    {test}: {why}" for test, why in outcome.failed.items())
            left = [] if outcome.complete else [test for test in left if test not in tests]
        reach.write_part(name, file, tests, rows)
        return f"{len(tests)} tests{bad}"

    started = time.monotonic()
    for k, (file, said) in enumerate(share(work, list(files), jobs, folder), 1):
        seconds = time.monotonic() - started
        print(f"{k:4}/{len(files)} {seconds:6.0f} s  {file}: {said}", flush=True)


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser("python -m tests.faults.map", description=__doc__)
    parser.add_argument("--name", choices=[*_SELECTED], default="usual")
    parser.add_argument("--tests", nargs="+", default=["tests"])
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    options = parser.parse_args(argv)
    plugin = Plugin(lambda session: _make(session, plugin, options.name, options.jobs))
    return collect(options.tests, _SELECTED[options.name], plugin)


if __name__ == "__main__":
    code = main()
    sys.stdout.flush()
    os._exit(code)  # before builtins go, which have the probes of finalisers
