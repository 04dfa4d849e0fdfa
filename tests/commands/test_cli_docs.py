"""The output in docs/command_line.md is that of the command line."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from difftile.cli import main
from difftile.commands import doctor
from difftile.commands.doctor import Outcome

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "command_line.md").read_text(encoding="utf-8")
PROGRAM = re.findall(r"^```python\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)[0]
CONSOLE = "".join(re.findall(r"^```console\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL))
ROBOTS = {  # one that loads, one that loads without its contacts, and one that does not
    "ant.xml": (ROOT / "scenes" / "models" / "ant.xml").read_text(encoding="utf-8"),
    "terrain.xml": """<mujoco>
  <asset><hfield name="hills" nrow="2" ncol="2" elevation="0 0 1 0" size="1 1 0.1 0.1"/></asset>
  <worldbody>
    <geom type="hfield" hfield="hills"/>
    <body pos="0 0 1"><freejoint/><geom name="ball" size="0.1"/></body>
  </worldbody>
</mujoco>""",
    "gripper.xml": """<mujoco>
  <worldbody><body name="pad"><joint/><geom size="0.1" pos="0 0 -1"/></body></worldbody>
  <actuator><adhesion body="pad" ctrlrange="0 1"/></actuator>
</mujoco>""",
}
EXAMPLES = re.findall(r"^\$ difftile (.*)\n((?:(?!\$ ).*\n)*)", CONSOLE, re.MULTILINE)


def test_there_are_examples() -> None:
    assert len(EXAMPLES) >= 7
    assert len(EXAMPLES) == CONSOLE.count("$ ")


@pytest.mark.parametrize(("command", "shown"), EXAMPLES, ids=[command for command, _ in EXAMPLES])
def test_examples_print_what_is_shown(
    command: str,
    shown: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Three dots stand for anything. Devices are tested elsewhere."""
    works = Outcome(True, "works", str(tmp_path), 0.4, 6e-6)
    monkeypatch.setattr(doctor, "self_test", lambda substrate, device: works)
    monkeypatch.setattr(doctor, "window", lambda: "by tkinter")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "decay.py").write_text(PROGRAM, encoding="utf-8")
    (tmp_path / "robots").mkdir()
    for name, text in ROBOTS.items():
        (tmp_path / "robots" / name).write_text(text, encoding="utf-8")
    try:
        code = main(shlex.split(command))
    except SystemExit as stop:
        code = stop.code
    out, err = capsys.readouterr()
    pattern = ".*?".join(re.escape(part) for part in re.split(r"\.\.\.(?!\))", shown))
    assert re.fullmatch(pattern, err + out, re.DOTALL), err + out
    assert bool(code) == ("error: " in err or " refused " in out)
