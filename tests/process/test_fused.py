"""Launches that wait, as processes fork, restart and end: all is as without fusion."""

from __future__ import annotations

import pytest

from tests.process.running import run

# Eight launches add 0.5 each; `ended` adds it eleven times more.
NOTED = "[4.0, 4.0, 4.0, 4.0, 4.0]"
SAID = {
    "ended": [f"{NOTED} {NOTED}", "[9.5, 9.5, 9.5, 9.5, 9.5]"],
    "forked": [
        "FieldError: difftile was started before this process was forked,",
        *(NOTED for _ in range(3)),
        "no error: 6",
        "960.0",
    ],
    "restarted": 4 * ["FieldError: <field f64 (5,)> was made be", NOTED],
}


@pytest.mark.parametrize("name", SAID)
def test_a_process_forks_restarts_and_ends_as_without_fusion(name: str) -> None:
    ended = run("fused", name, "always")
    said = [line for line in ended.stdout.splitlines() if not line.startswith("[Taichi]")]
    assert said == SAID[name], ended.stderr
    assert ended.returncode == (name == "ended")
    raised = "Traceback" in ended.stderr and ended.stderr.rstrip().endswith("ValueError")
    assert raised if name == "ended" else not ended.stderr
