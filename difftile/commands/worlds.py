"""`difftile worlds check`: which models of robots below a folder load, and why others do not."""

from __future__ import annotations

import json
import os
import queue
import re
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from difftile.arguments import Parser, positive_float, positive_int
from difftile.progress import progress_bar

_ABOUT = """\
Load the models of robots below a folder, MJCF and URDF, and list those that difftile.worlds does
not load, with the features that it lacks.

A mesh that is absent is replaced by a tetrahedron, which the line of the file says.
"""
_AFTER = """\
states:
  loads       worlds.load(file)
  skips       worlds.load(file, collisions="skip", sensors="skip")
  refused     a feature is not supported
  no joints   nothing moves; part of other models, or a scene
  fragment    a file that others include
  unread      not XML, or it names files outside of its folder, which --allow-outside reads
  mujoco      MuJoCo refuses the file
  crashed     MuJoCo ended the process
  timed out   after --timeout seconds

The exit code is 0 if all models that MuJoCo compiles, and that have joints, load.
"""
_STATES = (
    *("loads", "skips", "refused", "no joints", "fragment"),
    *("unread", "mujoco", "crashed", "timed out"),
)
_FAILED = ("skips", "refused", "unread", "crashed", "timed out")
_INCLUDES = re.compile(r"<\s*include\s[^>]*file\s*=\s*[\"']([^\"']+)[\"']")
_SUFFIXES = (".xml", ".urdf", ".mjcf")


def main(argv: Sequence[str] | None = None) -> int:
    """Check a folder, print its rows, and return the exit code."""
    parser = Parser("difftile worlds", _ABOUT, epilog=_AFTER)
    parser.add_argument("action", choices=["check"], metavar="check", help="what to do")
    parser.add_argument("folder", type=Path, metavar="FOLDER", help="the folder, or one file")
    parser.add_argument("--json", action="store_true", help="print one object of JSON")
    parser.add_argument("--allow-outside", action="store_true", help="read files outside of theirs")
    parser.add_argument("--timeout", type=positive_float, default=60.0, help="seconds for a file")
    parser.add_argument("--jobs", type=positive_int, default=1, help="processes; default: 1")
    options = parser.parse_args(argv)
    if not options.folder.exists():
        parser.error(f"there is no folder '{options.folder}'")
    out = sys.stderr if options.json else sys.stdout
    print(f"Checking the models below {options.folder} ...", file=out, flush=True)
    files = _files(options.folder)
    included = _included(files)
    rows: list[dict[str, Any]] = []
    with progress_bar(desc="models", unit="file", total=len(files)) as bar:
        for path, row in _answers(files, options):
            bar.update()
            if row["state"] == "other":
                continue
            if row["state"] == "mujoco" and path.resolve() in included:
                row["state"] = "fragment"
            at = options.folder if options.folder.is_dir() else path.parent
            rows.append({"file": str(path.relative_to(at)), **row})
            if not options.json:
                bar.clear()
                print(_line(rows[-1]), flush=True)
    if options.json:
        print(json.dumps({"files": rows, **_counts(rows)}, indent=1))
    else:
        print(_summary(rows))
    return int(any(row["state"] in _FAILED for row in rows))


def _files(folder: Path) -> list[Path]:
    """Return the files that may be models, in the order of their names."""
    if folder.is_file():
        return [folder]
    found = (Path(at) / name for at, _, names in os.walk(folder) for name in names)
    return sorted(path for path in found if path.suffix.lower() in _SUFFIXES)


def _included(files: Sequence[Path]) -> set[Path]:
    """Return the files that others include."""
    found: set[Path] = set()
    for path in files:
        text = path.read_text(encoding="utf-8", errors="replace")
        found |= {(path.parent / name).resolve() for name in _INCLUDES.findall(text)}
    return found


def _answers(files: Sequence[Path], options: Any) -> Iterator[tuple[Path, dict[str, Any]]]:
    """Yield the row of each file, in their order."""
    free: queue.SimpleQueue[Worker] = queue.SimpleQueue()
    command = [sys.executable, "-m", "difftile.worlds.check"]
    command += ["--allow-outside"] * options.allow_outside
    workers = [Worker(command, options.timeout) for _ in range(options.jobs)]
    for one in workers:
        free.put(one)

    def ask(path: Path) -> dict[str, Any]:
        worker = free.get()
        try:
            return worker.ask(path)
        finally:
            free.put(worker)

    try:
        with ThreadPoolExecutor(options.jobs) as pool:
            yield from zip(files, pool.map(ask, files), strict=True)
    finally:
        for one in workers:
            one.end()


class Worker:
    """A process that loads models; another one after a crash, or after a file that takes too long.

    Args:
        command: Its command, of which each line of input gets a line of JSON.
        timeout: Seconds for a file.
    """

    def __init__(self, command: Sequence[str], timeout: float) -> None:
        self._command = command
        self._timeout = timeout
        self._process: subprocess.Popen[str] | None = None

    def ask(self, path: Path) -> dict[str, Any]:
        """Return the row of a file."""
        process = self._process or subprocess.Popen(
            self._command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            encoding="utf-8",
        )
        self._process = process
        assert process.stdin is not None and process.stdout is not None
        late = threading.Event()

        def stop() -> None:
            late.set()
            process.kill()

        timer = threading.Timer(self._timeout, stop)
        timer.start()
        try:
            process.stdin.write(f"{path.resolve()}\n")
            process.stdin.flush()
            answer = process.stdout.readline()
        except BrokenPipeError:
            answer = ""
        finally:
            timer.cancel()
        if answer.endswith("\n"):
            return json.loads(answer)
        self.end()
        if late.is_set():
            return {"state": "timed out", "why": f"after {self._timeout:g} s"}
        return {"state": "crashed", "why": f"exit code {process.returncode}"}

    def end(self) -> None:
        """End the process, if there is one."""
        if self._process is not None:
            self._process.kill()
            self._process.communicate()
            self._process = None


def _line(row: dict[str, Any]) -> str:
    """Return the line of a file."""
    said = [f"{name} ({n})" for name, n in row.get("reasons", {}).items()]
    if row["state"] == "loads":
        said = [f"nv {row['nv']}, {row['slots']} slots, {row['seconds']:.2f} s"]
    if "why" in row:
        said.append(re.sub(r"\s+", " ", str(row["why"])))
    notes = row.get("notes", [])
    if notes:
        more = f" and {len(notes) - 1} more" if notes[1:] else ""
        said.append(f"[{notes[0]}{more}]")
    return f"  {row['state']:10} {row['file']}  {', '.join(said)}".rstrip()


def _counts(rows: Sequence[dict[str, Any]]) -> dict[str, dict[str, int]]:
    """Return the number of files in each state, and that of files that each feature stops."""
    states = Counter(row["state"] for row in rows)
    features = Counter(name for row in rows for name in row.get("reasons", {}))
    return {
        "states": {name: states[name] for name in _STATES if states[name]},
        "features": dict(features.most_common()),
    }


def _summary(rows: Sequence[dict[str, Any]]) -> str:
    counts = _counts(rows)
    lines = ["", "Files by state:"]
    lines += [f"  {n:5}  {name}" for name, n in counts["states"].items()] or ["  no model"]
    if counts["features"]:
        lines += ["", "Files by feature that is not supported:"]
        lines += [f"  {n:5}  {name}" for name, n in counts["features"].items()]
    return "\n".join(lines)
