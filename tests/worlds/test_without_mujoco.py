"""Models from archives of arrays in a process that has no MuJoCo."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np

from difftile import ti, worlds
from tests.worlds.conformance import model, numbers

SCRIPT = """
import sys
sys.modules["mujoco"] = None  # importing it fails
import numpy as np
from difftile import ti, worlds
sim = worlds.Worlds(worlds.load_arrays(sys.argv[1]), 3, dtype=ti.f64)
qpos, qvel = np.load(sys.argv[2])
sim.qpos.from_numpy(qpos)
sim.qvel.from_numpy(qvel)
sim.step(substeps=4)
np.save(sys.argv[2], [sim.qpos.to_numpy(), sim.qvel.to_numpy()])
try:
    worlds.load("<mujoco/>")
except ImportError as error:
    print(error)
"""


def test_archives_step_without_mujoco_to_the_same_bits(tmp_path: Path) -> None:
    """Four substeps there, and four steps here."""
    archive, states = tmp_path / "a.npz", tmp_path / "states.npy"
    model("cartpole").save(archive)
    given = numbers()["cartpole"]["states"]
    qpos, qvel = (np.array([state[key] for state in given]) for key in ("qpos", "qvel"))
    np.save(states, [qpos, qvel])
    sim = worlds.Worlds(model("cartpole"), 3, dtype=ti.f64)
    sim.qpos.from_numpy(qpos)
    sim.qvel.from_numpy(qvel)
    for _ in range(4):
        sim.step()
    command = [sys.executable, "-c", SCRIPT, str(archive), str(states)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "pip install difftile[worlds]" in done.stdout
    found = np.load(states)
    np.testing.assert_array_equal(found[0], sim.qpos.to_numpy())
    np.testing.assert_array_equal(found[1], sim.qvel.to_numpy())
    assert (found[0] != qpos).any()
