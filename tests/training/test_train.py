"""`difftile train`: its output, resuming, and its messages for mistakes."""

from __future__ import annotations

import errno
import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import difftile as dt
from difftile.cli import main
from difftile.datasets import load, read_splats
from difftile.datasets.images import picture_size
from difftile.training import Options, Trainer, gaussians_of, initial, run, splats_of
from difftile.training.initial import first_gaussians
from difftile.training.run_checkpoint import latest, read
from scenes.balls import shots
from tests.datasets.generated import write_dataset
from tests.datasets.writers import write_picture
from tests.device_arrays import counted, device_arrays
from tests.training.started import Started

pytestmark = pytest.mark.compiled

STEPS = 9


@pytest.fixture(scope="module", autouse=True)
def one_thread() -> Iterator[None]:
    """Atomic sums come in any order where there are more, so that last bits differ."""
    dt.init(arch="cpu", cpu_max_num_threads=1)
    yield
    dt.init(arch="cpu")


@pytest.fixture(autouse=True)
def started_once(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    """Runs use compiled code; their initial options are recorded here."""
    calls: list[dict[str, Any]] = []
    monkeypatch.setattr(run, "dt", Started(calls.append))
    return calls


@pytest.fixture(scope="module")
def balls(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Data sets of tiny pictures, by format."""
    folder = tmp_path_factory.mktemp("balls")
    for kind in ("colmap-bin", "nerfstudio"):
        write_dataset(folder / kind, kind, shots(9, 20, 14))
    return {path.name: path for path in folder.iterdir()}


def train(data: Path, out: Path, *more: str) -> int:
    """Run the command with few steps and only the tested parts."""
    fixed = ["--steps", str(STEPS), "--sh-degree", "1", "--points", "50", "--threads", "1"]
    return main(["train", str(data), "--out", str(out), *fixed, *more])


def busy(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let gaussians come and go every other step."""
    make = Trainer.__init__

    def made(self: Trainer, *args: Any, **more: Any) -> None:
        make(self, *args, **more)
        if self.strategy is not None:
            self.strategy.start, self.strategy.stop, self.strategy.every = 0, STEPS, 2

    monkeypatch.setattr(Trainer, "__init__", made)


def interrupted_at(step: int, monkeypatch: pytest.MonkeyPatch, number: int = signal.SIGINT) -> None:
    """Press Ctrl-C, or send another signal, in the middle of a step."""
    advance = Trainer.advance

    def pressed(self: Trainer) -> None:
        if self.step == step - 1:
            os.kill(os.getpid(), number)
        advance(self)

    monkeypatch.setattr(Trainer, "advance", pressed)


@pytest.mark.parametrize("kind", ["colmap-bin", "nerfstudio"])
def test_a_run_writes_splats_metrics_and_pictures(
    balls: dict[str, Path],
    kind: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    started_once: list[dict[str, Any]],
) -> None:
    assert train(balls[kind], tmp_path / "out", "--background", "0,0.5,1") == 0
    out = capsys.readouterr().out
    lines = out.splitlines()
    assert lines[:3] == [
        f"found {load(balls[kind]).found}",
        "views: 7 to train on, 2 held out (every 8th)",
        "pictures: 20 x 14 pixels",
    ]
    start = {"colmap-bin": "200 gaussians at points of the data set"}.get(kind, "50 gaussians, ")
    assert lines[3].startswith(f"start: {start}")
    assert started_once == [{"arch": "cpu", "seed": 0, "cpu_max_num_threads": 1}]
    metrics = json.loads((tmp_path / "out" / "metrics.json").read_text())
    count = 200 if kind == "colmap-bin" else 50
    assert metrics["gaussians"] == count
    assert metrics["steps"] == STEPS
    assert metrics["views"] == {"training": 7, "held_out": 2}
    assert metrics["options"]["background"] == [0.0, 0.5, 1.0]
    assert len(metrics["each"]) == 2
    mean = np.mean([one["psnr"] for one in metrics["each"].values()])
    assert metrics["mean"]["psnr"] == pytest.approx(mean)
    assert f"{mean:.2f} dB, SSIM {metrics['mean']['ssim']:.4f} on 2 held out views" in out
    splats = read_splats(tmp_path / "out" / "point_cloud.ply")
    assert (len(splats), splats.sh_degree, splats.dropped) == (count, 1, 0)
    for name in ("held_out.png", "curve.png"):
        assert min(picture_size(tmp_path / "out" / name)) > 100


def test_corrections_of_views_go_on_exactly_and_are_reported(
    balls: dict[str, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    more = ("--optimise-poses", "--exposure", "--strategy", "none", "--no-pictures")
    whole, parts = tmp_path / "whole", tmp_path / "parts"
    assert train(balls["colmap-bin"], whole, *more) == 0
    metrics = json.loads((whole / "metrics.json").read_text())
    assert metrics["options"]["optimise_poses"]
    assert metrics["options"]["exposure"]
    moved = metrics["cameras_moved"]
    assert 0 < moved["distance"]["mean"] < moved["distance"]["most"] < 0.2
    assert 0 < moved["degrees"]["mean"] < moved["degrees"]["most"] < 3.0
    assert f"{moved['degrees']['mean']:.2g} degrees on average" in capsys.readouterr().out
    with pytest.MonkeyPatch.context() as context:
        interrupted_at(5, context)
        assert train(balls["colmap-bin"], parts, *more) == 130
    assert train(balls["colmap-bin"], parts, "--resume") == 0
    clouds = [(folder / "point_cloud.ply").read_bytes() for folder in (whole, parts)]
    assert clouds[0] == clouds[1]
    assert json.loads((parts / "metrics.json").read_text())["mean"] == metrics["mean"]


def test_without_held_out_views_the_others_are_measured(
    balls: dict[str, Path], tmp_path: Path
) -> None:
    options = ("--hold-out", "0", "--no-pictures", "--strategy", "none", "--antialiased")
    assert train(balls["colmap-bin"], tmp_path, *options) == 0
    metrics = json.loads((tmp_path / "metrics.json").read_text())
    assert metrics["measured_on"] == "training"
    assert len(metrics["each"]) == 9
    assert not list(tmp_path.glob("*.png"))


@pytest.mark.parametrize("strategy", ["default", "mcmc"])
def test_an_interrupted_run_goes_on_exactly(
    balls: dict[str, Path],
    strategy: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    busy(monkeypatch)
    options = ("--strategy", strategy, "--no-pictures", "--seed", "3")
    whole, parts = tmp_path / "whole", tmp_path / "parts"
    assert train(balls["colmap-bin"], whole, *options) == 0
    with monkeypatch.context() as context:
        interrupted_at(5, context)
        assert train(balls["colmap-bin"], parts, *options) == 130
    assert "interrupted after 5 of 9 steps; --resume continues" in capsys.readouterr().out
    assert len(read_splats(parts / "point_cloud.ply")) != 200
    assert not (parts / "metrics.json").exists()
    assert train(balls["colmap-bin"], parts, "--resume") == 0
    clouds = [(folder / "point_cloud.ply").read_bytes() for folder in (whole, parts)]
    assert clouds[0] == clouds[1]
    one, other = (read(latest(folder) or folder) for folder in (whole, parts))
    assert one.state.keys() == other.state.keys()
    for name, array in one.state.items():
        np.testing.assert_array_equal(array, other.state[name], err_msg=name)
    np.testing.assert_array_equal(one.history, other.history)
    scores = [
        json.loads((folder / "metrics.json").read_text())["mean"] for folder in (whole, parts)
    ]
    assert scores[0] == scores[1]
    assert int(one.state["step"]) == STEPS


def test_a_run_may_go_on_for_longer(balls: dict[str, Path], tmp_path: Path) -> None:
    options = ("--no-pictures", "--strategy", "none", "--save-every", "2")
    assert train(balls["nerfstudio"], tmp_path, *options) == 0
    kept = sorted(path.name for path in (tmp_path / "checkpoints").iterdir())
    assert kept == ["step_00000008.npz", "step_00000009.npz"]
    again = ["train", str(balls["nerfstudio"]), "--out", str(tmp_path), "--resume", "--no-pictures"]
    assert main([*again, "--steps", "11"]) == 0
    assert json.loads((tmp_path / "metrics.json").read_text())["steps"] == 11


def test_a_resumed_run_looks_for_no_start(
    balls: dict[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    options = ("--strategy", "none", "--no-pictures")
    with monkeypatch.context() as context:
        interrupted_at(5, context)
        assert train(balls["nerfstudio"], tmp_path, *options) == 130

    def look(*_: object) -> None:
        raise AssertionError

    monkeypatch.setattr(initial, "points_of", look)
    assert train(balls["nerfstudio"], tmp_path, "--resume") == 0


@pytest.mark.parametrize("strategy", ["default", "mcmc"])
def test_gaussians_learn(strategy: str, tmp_path: Path) -> None:
    write_dataset(tmp_path, "colmap-bin", shots(5, 20, 14))
    data = load(tmp_path)
    options = Options(steps=60, strategy=strategy, sh_degree=2, hold_out=0)
    trainer = Trainer(data, options)
    assert trainer.strategy is not None
    trainer.strategy.start, trainer.strategy.every = 0, 10
    before = trainer.scores(trainer.training)
    for _ in range(40):
        trainer.advance()
    scores = trainer.scores(trainer.training)
    assert np.mean([one.psnr for one in scores]) > np.mean([one.psnr for one in before]) + 1.0
    assert len(trainer.gaussians) > 200
    again = Trainer(data, options)
    again.load_state_dict(trainer.state_dict())
    for one, other in zip(scores, again.scores(again.training), strict=True):
        np.testing.assert_array_equal(one.image, other.image)


def test_views_of_several_sizes(balls: dict[str, Path], tmp_path: Path) -> None:
    shutil.copytree(balls["nerfstudio"], tmp_path / "data")
    file = tmp_path / "data" / "transforms.json"
    content = json.loads(file.read_text())
    for k in (0, 4):  # one is held out, one trained on
        picture = tmp_path / "data" / content["frames"][k]["file_path"]
        write_picture(picture, np.full((28, 40, 3), 0.5))
        content["frames"][k].update(w=40, h=28, fl_x=50.0, fl_y=50.0, cx=20.0, cy=14.0)
    file.write_text(json.dumps(content))
    data = load(tmp_path / "data")
    trainer = Trainer(data, Options(steps=STEPS, points=50, sh_degree=1))
    for _ in range(7):
        trainer.advance()
    shapes = [score.image.shape for score in trainer.scores(range(9))]
    assert sorted(shapes) == [(14, 20, 3)] * 7 + [(28, 40, 3)] * 2
    assert shapes[7] == (28, 40, 3)


# Mistakes


def complaint(capsys: pytest.CaptureFixture[str], *argv: object) -> str:
    with pytest.raises(SystemExit) as stop:
        main(["train", *map(str, argv)])
    assert stop.value.code == 2
    err = capsys.readouterr().err
    assert err.startswith("difftile train: error: ")
    assert err.count("\n") == 1
    return err.removeprefix("difftile train: error: ").removesuffix("\n")


@pytest.mark.parametrize(
    ("argv", "line"),
    [
        ([], "the following arguments are required: DATASET, --out"),
        (["data"], "the following arguments are required: --out"),
        (["--step", "3", "data", "--out=o"], "unknown option '--step'; did you mean '--steps'?"),
        (["--steps=0"], "argument --steps: expected a whole number above 0, not '0'"),
        (["--hold-out=-1"], "argument --hold-out: expected a whole number from 0, not '-1'"),
        (["--sh-degree=4"], "argument --sh-degree: invalid choice: 4 (choose from 0, 1, 2, 3)"),
        (["--strategy=grow"], "argument --strategy: invalid choice: 'grow' (choose from "),
        (["--background=red"], "argument --background: expected black, white or three numbers fr"),
        (["--background=0,0,2"], "argument --background: expected black, white or three numbers"),
    ],
)
def test_wrong_arguments(capsys: pytest.CaptureFixture[str], argv: list[str], line: str) -> None:
    assert complaint(capsys, *argv).startswith(line)


def test_wrong_folders(
    balls: dict[str, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    data, out = balls["colmap-bin"], tmp_path / "out"
    line = complaint(capsys, tmp_path / "none", "--out", out)
    assert line.endswith("none: is not there; expected a folder of pictures and cameras.")
    assert complaint(capsys, tmp_path, "--out", out).startswith(f"{tmp_path}: holds no cameras; ")
    line = complaint(capsys, data, "--out", out, "--hold-out", 1)
    assert line.endswith("has 9 views, which are held out; expected one to train on.")
    line = complaint(capsys, data, "--out", out, "--downscale", 99)
    assert line.endswith("is 20 x 14; expected 99 pixels along each axis.")
    assert not (out / "checkpoints").exists()
    (tmp_path / "file").touch()
    assert "File exists" in complaint(capsys, data, "--out", tmp_path / "file")
    line = complaint(capsys, data, "--out", out, "--resume")
    assert line == f"{out} has no checkpoints of a run to resume: leave --resume out"


def test_a_distorted_camera_is_undistorted(
    balls: dict[str, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    shutil.copytree(balls["nerfstudio"], tmp_path / "data")
    file = tmp_path / "data" / "transforms.json"
    file.write_text(file.read_text().replace('"k1": 0.0', '"k1": 0.1'))
    options = ("--no-pictures", "--strategy", "none", "--steps", "1")
    assert train(tmp_path / "data", tmp_path / "out", *options) == 0
    assert "pictures undistorted to " in capsys.readouterr().out
    file.write_text(file.read_text().replace("OPENCV", "ORTHOPHOTO"))
    line = complaint(capsys, tmp_path / "data", "--out", tmp_path / "other")
    assert "has the model ORTHOPHOTO; expected one of OPENCV, PINHOLE" in line


def test_runs_that_do_not_fit(
    balls: dict[str, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    data, out = balls["nerfstudio"], tmp_path / "out"
    assert train(data, out, "--no-pictures", "--strategy", "none") == 0
    capsys.readouterr()
    line = complaint(capsys, data, "--out", out)
    assert line == f"{out} has a run already: pass --resume, or choose another folder"
    line = complaint(capsys, data, "--out", out, "--resume", "--sh-degree", 2)
    assert line == f"--sh-degree is 2, and the run in {out} has 1: leave it out"
    shutil.copytree(data, tmp_path / "fewer")
    file = tmp_path / "fewer" / "transforms.json"
    content = json.loads(file.read_text())
    file.write_text(json.dumps({**content, "frames": content["frames"][:-1]}))
    line = complaint(capsys, tmp_path / "fewer", "--out", out, "--resume")
    assert line.endswith(
        f"has 8 views, which differ from those of the run in {out}; expected its 9 views."
    )
    last = latest(out)
    assert last is not None
    last.write_bytes(last.read_bytes()[:1000])
    line = complaint(capsys, data, "--out", out, "--resume")
    assert f"{last.name}: cannot be read (" in line
    assert line.endswith("Hint: remove it, to go on from the one before.")


def last_line(capsys: pytest.CaptureFixture[str]) -> str:
    return capsys.readouterr().err.splitlines()[-1]


def broken_at(step: int, error: BaseException, monkeypatch: pytest.MonkeyPatch) -> None:
    """Raise an error in the midst of a step, after the optimiser has moved the gaussians."""
    moved = dt.optim.Adam.step

    def move(self: Any, *args: Any) -> None:
        moved(self, *args)
        calls.append(1)
        if len(calls) == step:
            raise error

    calls: list[int] = []
    monkeypatch.setattr(dt.optim.Adam, "step", move)


@pytest.fixture(scope="module")
def cloud(balls: dict[str, Path], tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """The splats of a run without a fault."""
    with pytest.MonkeyPatch.context() as context:
        context.setattr(run, "dt", Started())
        busy(context)
        out = tmp_path_factory.mktemp("whole")
        assert train(balls["colmap-bin"], out, "--no-pictures") == 0
    return (out / "point_cloud.ply").read_bytes()


def goes_on(data: Path, out: Path, cloud: bytes) -> None:
    assert train(data, out, "--resume", "--no-pictures") == 0
    assert (out / "point_cloud.ply").read_bytes() == cloud


ERRORS = [
    (dt.SolverError("All gaussians have faded,\nand none is left."), 1, ": error: All gaussians"),
    (MemoryError(), 1, ": error: out of memory; "),
    (KeyboardInterrupt(), 130, ": interrupted: "),
]


@pytest.mark.parametrize(("error", "code", "start"), ERRORS)
def test_a_run_that_fails_in_a_step_goes_on_from_its_last_good_state(
    balls: dict[str, Path],
    cloud: bytes,
    error: BaseException,
    code: int,
    start: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    busy(monkeypatch)
    monkeypatch.setattr(run, "_KEEPING", 0)
    with monkeypatch.context() as context:
        broken_at(6, error, context)
        assert train(balls["colmap-bin"], tmp_path, "--no-pictures") == code
    line = last_line(capsys)
    assert line.startswith(f"difftile train{start}")
    saved = tmp_path / "checkpoints" / "step_00000005.npz"
    assert line.endswith(f"; --resume continues from step 5, {saved}".removeprefix("; "))
    goes_on(balls["colmap-bin"], tmp_path, cloud)


def test_a_fault_of_the_program_is_shown_and_the_run_saved(
    balls: dict[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(run, "_KEEPING", 0)
    broken_at(3, RuntimeError("a bug"), monkeypatch)
    with pytest.raises(RuntimeError, match="a bug") as caught:
        train(balls["nerfstudio"], tmp_path)
    assert "--resume continues from step 2," in caught.value.__notes__[0]


def test_a_picture_that_turns_unreadable_ends_a_run_between_steps(
    balls: dict[str, Path],
    cloud: bytes,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    busy(monkeypatch)
    image = dt.datasets.View.image
    order: list[int] = []

    def read_picture(self: dt.datasets.View) -> Any:
        order.append(1)
        if len(order) == 4:
            raise dt.DatasetError(self.path, "is cut off", "a whole picture")
        return image(self)

    with monkeypatch.context() as context:
        context.setattr(dt.datasets.View, "image", read_picture)
        context.setattr("difftile.training.trainer._AHEAD", 1)
        assert train(balls["colmap-bin"], tmp_path, "--no-pictures") == 1
    line = last_line(capsys)
    assert "is cut off" in line
    assert "--resume continues from step 3, " in line
    goes_on(balls["colmap-bin"], tmp_path, cloud)


@pytest.mark.skipif(os.name == "nt", reason="signals of POSIX")
@pytest.mark.parametrize(("number", "code"), [("SIGTERM", 143), ("SIGHUP", 129)])
def test_signals_end_a_run_between_steps(
    balls: dict[str, Path],
    cloud: bytes,
    number: str,
    code: int,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    busy(monkeypatch)
    with monkeypatch.context() as context:
        interrupted_at(5, context, getattr(signal, number))
        assert train(balls["colmap-bin"], tmp_path, "--no-pictures") == code
    assert latest(tmp_path) == tmp_path / "checkpoints" / "step_00000005.npz"
    goes_on(balls["colmap-bin"], tmp_path, cloud)


def test_a_full_disk_is_one_line(
    balls: dict[str, Path],
    cloud: bytes,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    busy(monkeypatch)
    written: list[int] = []

    def write(number: int) -> None:
        written.append(number)
        if len(written) > 1:
            raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as context:
        context.setattr("difftile.files.writing.os.fsync", write)
        assert train(balls["colmap-bin"], tmp_path, "--no-pictures", "--save-every", "2") == 1
    line = last_line(capsys)
    place = tmp_path / "checkpoints" / "step_00000004.npz"
    full = f"[Errno 28] No space left on device: '{place}'"
    failed = f"no checkpoint could be written ({full})"
    assert line.startswith(f"difftile train: error: {full}; {failed}")
    assert "; --resume continues from step 2, " in line
    assert [path.name for path in (tmp_path / "checkpoints").iterdir()] == ["step_00000002.npz"]
    goes_on(balls["colmap-bin"], tmp_path, cloud)


def test_a_loss_that_is_not_finite_ends_a_run(
    balls: dict[str, Path],
    cloud: bytes,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    busy(monkeypatch)
    monkeypatch.setattr(run, "_KEEPING", 0)
    advance = Trainer.advance

    def broken(self: Trainer) -> None:
        advance(self)
        if self.step == 3:
            self._loss.fill(np.nan)
            self.gaussians.means.fill(np.nan)

    with monkeypatch.context() as context:
        context.setattr(Trainer, "advance", broken)
        assert train(balls["colmap-bin"], tmp_path, "--no-pictures") == 1
    line = last_line(capsys)
    assert line.startswith("difftile train: error: the loss of step 3 is nan; --resume continues")
    assert "from step 2, " in line
    goes_on(balls["colmap-bin"], tmp_path, cloud)


def test_no_state_with_numbers_that_are_not_finite_is_saved(
    balls: dict[str, Path],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    advance = Trainer.advance

    def broken(self: Trainer) -> None:
        advance(self)
        if self.step == STEPS:
            self.gaussians.scales.fill(np.inf)

    monkeypatch.setattr(run, "_KEEPING", 0)
    monkeypatch.setattr(Trainer, "advance", broken)
    assert train(balls["nerfstudio"], tmp_path) == 1
    line = last_line(capsys)
    assert "the state after step 9 has inf in 'gaussians.scales' at index (0, 0); --res" in line
    assert read(latest(tmp_path) or tmp_path).step == 8


def test_the_state_in_the_midst_of_a_step_is_refused(
    balls: dict[str, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    trainer = Trainer(load(balls["nerfstudio"]), Options(points=10, sh_degree=0))
    trainer.advance()
    state = trainer.state_dict()
    with monkeypatch.context() as context:
        broken_at(1, MemoryError(), context)
        with pytest.raises(MemoryError):
            trainer.advance()
    with pytest.raises(dt.LaunchError, match="in the midst of its changes"):
        trainer.state_dict()
    trainer.load_state_dict(state)
    assert trainer.state_dict()["step"] == 1


def test_help_starts_nothing() -> None:
    program = (
        "import sys; from difftile.cli import main\n"
        "try: main(['train', '--help'])\n"
        "except SystemExit: print({'numpy', 'taichi', 'matplotlib'} & {*sys.modules})"
    )
    command = [sys.executable, "-c", program]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout.startswith("usage: difftile train [-h] --out DIR")
    assert done.stdout.endswith("\nset()\n")


# From Python


def test_splats_become_gaussians_and_back() -> None:
    draw = np.random.default_rng(0)
    for rest in (0, 3, 15):
        given = dt.datasets.Splats(
            **{name: draw.normal(size=(5, 3)) for name in ("means", "scales", "sh0")},
            quaternions=draw.normal(size=(5, 4)),
            opacities=draw.normal(size=5),
            shN=draw.normal(size=(5, rest, 3)),
        )
        again = splats_of(gaussians_of(given))
        for name in ("means", "scales", "sh0", "quaternions", "opacities", "shN"):
            np.testing.assert_array_equal(getattr(again, name), getattr(given, name))


def test_gaussians_begin_at_points_or_around_what_cameras_look_at(
    balls: dict[str, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    data = load(balls["colmap-bin"])
    gaussians, told, _ = first_gaussians(data, Options(most=150))
    assert told == "150 gaussians at points of the data set"
    assert len(gaussians) == 150
    assert data.points is not None
    places = {tuple(place) for place in data.points.positions.astype(np.float32)}
    assert {tuple(place) for place in gaussians.means.to_numpy()} <= places
    monkeypatch.setattr(initial, "points_of", lambda *_: (np.zeros((0, 3)), np.zeros((0, 3))))
    drawn, told, _ = first_gaussians(load(balls["nerfstudio"]), Options(points=500, sh_degree=0))
    assert told == "500 gaussians, 500 at random places in front of the cameras"
    means = drawn.means.to_numpy()
    np.testing.assert_allclose(means.min(axis=0), -2, atol=0.1)  # 4 away, towards the middle
    np.testing.assert_allclose(means.max(axis=0), 2, atol=0.1)
    assert "shN" not in drawn


def test_harmonics_join_in_the_course_of_a_run(balls: dict[str, Path]) -> None:
    trainer = Trainer(load(balls["nerfstudio"]), Options(steps=300, points=10, strategy="none"))
    degrees = []
    for step in (0, 9, 10, 20, 30, 299):
        trainer.step = step
        degrees.append(trainer.degree)
    assert degrees == [0, 0, 1, 2, 3, 3]


def test_every_view_comes_once_in_a_turn(balls: dict[str, Path]) -> None:
    trainer = Trainer(load(balls["nerfstudio"]), Options(points=10))
    turns = []
    for turn in range(2):
        steps = range(7 * turn, 7 * turn + 7)
        order = []
        for trainer.step in steps:
            order += trainer.views_of(trainer.step)
        turns.append(order)
    assert sorted(turns[0]) == sorted(turns[1]) == [*range(7)]
    assert turns[0] != turns[1]


def test_pictures_stay_on_devices(balls: dict[str, Path], monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[str] = []
    image = dt.datasets.View.image

    def counted_image(self: dt.datasets.View) -> Any:
        read.append(self.name)
        return image(self)

    monkeypatch.setattr(initial, "points_of", lambda *_: (np.zeros((0, 3)), np.zeros((0, 3))))
    monkeypatch.setattr(dt.datasets.View, "image", counted_image)
    with device_arrays():
        trainer = Trainer(load(balls["nerfstudio"]), Options(points=10, sh_degree=0))
        for _ in range(7):
            trainer.advance()
        with counted() as counts:
            trainer.advance()
        assert counts["MemcpyDtoH"] <= 1  # the length of the lists
        for k in trainer.training:
            target = trainer._studio.hang(*trainer._studio.easels(k)).to_numpy()[0]
            np.testing.assert_array_equal(target, trainer._studio.picture(k).colours)
        assert np.isfinite([trainer.loss, trainer.psnr]).all()
    assert sorted(set(read[:7])) == sorted(read[:7])
    assert len(read) == 14  # once for steps, and once by `picture` here


@pytest.mark.slow
def test_held_out_views_are_learned(tmp_path: Path) -> None:
    write_dataset(tmp_path, "colmap-bin", shots(16, 64, 48))
    assert main(["train", str(tmp_path), "--out", str(tmp_path / "out"), "--steps", "1000"]) == 0
    metrics = json.loads((tmp_path / "out" / "metrics.json").read_text())
    assert metrics["mean"]["psnr"] > 29.0
