"""Scripts that end in any state: nothing is printed but what they print, and their own error."""

from __future__ import annotations

import itertools
import os
import subprocess
import sys
from pathlib import Path

import pytest

HEAD = """\
import atexit, sys, threading
import numpy as np
import difftile as dt

dt.init(arch={arch!r})

@dt.kernel
def grow(x, y):
    for i in x:
        y[i] += x[i] * x[i]

x, y, loss = dt.ones(4, grad=True), dt.zeros(4, grad=True), dt.zeros((), grad=True)
grow(x, y)
kept = []
"""
# States in which objects of the library are when Python ends.
STATES = {
    "open tape": "tape = dt.Tape()\ntape.__enter__()\ngrow(x, y)",
    "tape with a limit": (
        "tape = dt.Tape(memory='1kB')\ntape.__enter__()\nfor _ in range(9):\n    grow(x, y)"
    ),
    "tape that ran backward": "with dt.Tape() as tape:\n    grow(x, y)\ntape.backward({y: 1.0})",
    "tape that was not used": "with dt.Tape() as tape:\n    grow(x, y)",
    "loop in the middle": "steps = iter(dt.steps(9))\nnext(steps)\ngrow(x, y)",
    "launches that wait": "for t in dt.steps(9):\n    grow(x, y)",
    "loops that are kept": (
        "for name in 'ab':\n    it = iter(dt.steps(9))\n    for t in it:\n        grow(x, y)\n"
        "it = iter(dt.steps(9))\nnext(it)"
    ),
    "loop on a tape": (
        "tape = dt.Tape()\ntape.__enter__()\nsteps = iter(dt.steps(9))\nnext(steps)\ngrow(x, y)"
    ),
    "pullback": "z, pull = dt.vjp(lambda x: grow(x, y) or y, x)",
    "linear map": "z, push = dt.linearize(lambda x: grow(x, y) or y, x)",
    "shared array": "a = np.from_dlpack(x)\nb = np.asarray(y)",
    "view and texture": "v = x[1:]\nkept += [v, x.grad, v.to_numpy()]",
    "cycle": "kept.append(kept)\nkept += [x, y, grow, dt.Tape()]",
    "thread": "t = threading.Thread(target=lambda: grow(x, y))\nt.start()",
    "tape in a thread": (
        "def work():\n    with dt.Tape() as own:\n        grow(x, y)\n        kept.append(own)\n"
        "t = threading.Thread(target=work)\nt.start()\nt.join()"
    ),
    "fields at exit": "atexit.register(lambda: grow(x, y))\natexit.register(lambda: y.to_numpy())",
    "hidden in sys": "with dt.Tape() as tape:\n    grow(x, y)\nsys.kept = [tape, x, dt.steps(3)]",
    "forgotten gradient": "g = dt.grad(lambda x: (grow(x, y), dt.sum(y))[1])\nkept.append(g)",
}
ENDS = {
    "end": ("", 0, ""),
    "exit": ("sys.exit(3)", 3, ""),
    "error": ("raise ValueError('own')", 1, "ValueError: own"),
    "error that is kept": (
        "def fails():\n    local = [x, y, kept, dict(globals())]\n    raise ValueError('own')\n"
        "fails()",
        1,
        "ValueError: own",
    ),
    "error in a loop": (
        "for t in dt.steps(9):\n    grow(x, y)\n    raise ValueError('own')",
        1,
        "ValueError: own",
    ),
    "error in a block": (
        "with dt.no_grad():\n    grow(x, y)\n    raise ValueError('own')",
        1,
        "ValueError: own",
    ),
}
PAIRS = [*itertools.product(STATES, ENDS)]


@pytest.mark.parametrize(
    ("state", "end"),
    [
        pytest.param(*pair, marks=[] if k % 11 == 0 else pytest.mark.slow, id=" - ".join(pair))
        for k, pair in enumerate(PAIRS)
    ],
)
def test_nothing_is_printed_at_the_end(state: str, end: str, tmp_path: Path) -> None:
    text, code, error = ENDS[end]
    file = tmp_path / "script.py"
    file.write_text(f"{HEAD.format(arch='cpu')}\n{STATES[state]}\n{text}\n", encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-X", "dev", "-W", "ignore", file],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONFAULTHANDLER": "1"},
    )
    assert done.returncode == code, done.stderr
    said = [line for line in done.stderr.splitlines() if not line.startswith("[")]
    assert (said[-1] if said else "") == error, done.stderr
    assert "Exception ignored" not in done.stderr
    if not error:
        assert not said
