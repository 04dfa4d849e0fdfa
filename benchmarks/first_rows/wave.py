"""Two hundred steps of the wave equation, the demo of that name."""

from typing import Any

import difftile as dt
from benchmarks.first_rows import inputs
from scenes.wave import Wave, WaveScene


def run(quick: bool) -> list[Any]:
    """Return the loss, and its gradient by the initial heights."""
    initial, target = inputs.wave(quick)
    wave = Wave(WaveScene(target), inputs.wave_steps(quick))
    wave.initial.from_numpy(initial)
    with dt.Tape(wave.loss):
        wave.run()
    return [wave.loss, wave.initial.grad]
