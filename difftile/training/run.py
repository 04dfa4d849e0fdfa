"""A run of `difftile train`: trains, saves, and writes the results into a folder."""

from __future__ import annotations

import json
import math
import time
from collections import Counter
from collections.abc import Mapping
from dataclasses import fields, replace
from pathlib import Path
from typing import Any, final

import numpy as np

import difftile as dt
from difftile.arguments import Parser
from difftile.diagnostics import (
    DatasetError,
    DifftileError,
    FieldError,
    LaunchError,
    SolverError,
)
from difftile.files.writing import write_bytes
from difftile.progress import progress_bar
from difftile.ranks import current
from difftile.ranks.waiting import PeerFailed
from difftile.signals import Signals
from difftile.training.masks import Masks
from difftile.training.options import Options
from difftile.training.plots import save_curve, save_strip
from difftile.training.report import metrics_of, told
from difftile.training.run_checkpoint import RunCheckpoint, fault_of, latest, read, save, step_of
from difftile.training.together import (
    Mistake,
    check_alike,
    end_where_one_fails,
    first_code,
    first_decides,
    is_first,
    report,
    say,
)
from difftile.training.trainer import Trainer

_INTERRUPTED = 130  # the exit code that a shell reports for a program ended by SIGINT
_FAILED = 1
_MAY_CHANGE = ("steps",)  # options that may differ when a run is resumed
_SIZES = 4  # of pictures that are told, the most common ones
_KEEPING = 50  # seconds of training for each second of keeping states
_MEASURED = 1000  # the approximate number of times that loss and PSNR are recorded


def run(given: Mapping[str, Any], parser: Parser) -> int:
    """Train as the arguments say.

    Args:
        given: The arguments by name; of `Options` only those on the command line.
        parser: The parser, which reports mistakes.

    Returns:
        The exit code: 0, 1 if training failed, or the code of the signal that ended it: 130 for
        Ctrl-C, 143 for SIGTERM, 129 for SIGHUP.

    Raises:
        SystemExit: With code 2: the data set or the folder is invalid.
    """
    session, said = None, ""
    try:
        session = _begun(given)
    except (DifftileError, OSError) as error:
        said = str(error)
    end_where_one_fails(said, parser)
    assert session is not None
    check_alike(session.start, parser)
    say(session.described())
    try:
        code = session.train(given["save_every"])
        try:
            session.finish(pictures=not given["no_pictures"], whole=not code)
        except Exception as error:
            error.add_note("the steps are saved, and --resume writes the results")
            raise
    except KeyboardInterrupt as error:
        report(parser, "interrupted", _said(error))
        return _INTERRUPTED
    except (DifftileError, OSError, MemoryError) as error:
        if is_first() or not isinstance(error, PeerFailed):  # rank 0 says it for all
            report(parser, "error", _said(error))
        return _FAILED
    return code


def _begun(given: Mapping[str, Any]) -> _Session:
    """Return the run that the arguments describe, before its first step.

    Raises:
        DifftileError: The data set, the folder or an argument is invalid.
        OSError: A file cannot be read, or the folder made.
    """
    out: Path = given["out"]
    chosen = {one.name: given[one.name] for one in fields(Options) if one.name in given}
    before = _before(out, given["resume"], chosen)
    options = Options(**chosen)
    if before is not None:
        options = replace(before.options, **{k: chosen[k] for k in _MAY_CHANGE if k in chosen})
    data = dt.datasets.load(
        given["dataset"],
        downscale=options.downscale,
        images=options.images,
        background=options.background,
        allow_outside=given["allow_outside"],
        missing=options.missing,
        model=options.model or None,
    )
    say("\n  ".join((f"found {data.found}", *data.notes)))
    engine = current()
    masks, views = Masks.of(data.views, options)
    own = replace(data, views=views[engine.rank :: engine.size])
    dt.datasets.verify(own, depths=options.depth > 0, masks=masks.weighs, progress=is_first())
    more = {} if given["threads"] is None else {"cpu_max_num_threads": given["threads"]}
    dt.init(arch=given["arch"], seed=options.seed, **more)
    if is_first():
        out.mkdir(parents=True, exist_ok=True)
    return _Session(data, options, out, before)


def _said(error: BaseException) -> str:
    """Return an error and its notes as the end of a line."""
    notes = [" ".join(note.split()) for note in getattr(error, "__notes__", ())]
    said = "; ".join(filter(None, [_plain(error), *notes]))
    return f": {said}" if said else ""


def _plain(error: BaseException) -> str:
    """Return the message of an error in one line."""
    if isinstance(error, MemoryError):
        return "out of memory"
    return " ".join(str(error).split()).rstrip(".")


def _before(out: Path, resume: bool, chosen: Mapping[str, Any]) -> RunCheckpoint | None:
    """Return the run to resume, if requested; it must fit the arguments."""
    last = latest(out)
    if not resume:
        if last is not None:
            raise Mistake(f"{out} has a run already: pass --resume, or choose another folder")
        return None
    if last is None:
        raise Mistake(f"{out} has no checkpoints of a run to resume: leave --resume out")
    found = read(last)
    for name, value in chosen.items():
        had = getattr(found.options, name)
        if value != had and name not in _MAY_CHANGE:
            option = f"--{name.replace('_', '-')}"
            raise Mistake(f"{option} is {value}, and the run in {out} has {had}: leave it out")
    return found


@final
class _Session:
    """A run with its folder.

    Args:
        data: What to learn.
        options: How.
        out: The folder.
        before: The run to go on with.
    """

    def __init__(
        self, data: dt.datasets.Dataset, options: Options, out: Path, before: RunCheckpoint | None
    ) -> None:
        self._data, self._out = data, out
        self._trainer = Trainer(data, options, search=before is None)
        self._options = self._trainer.options
        self._names = [view.name for view in self._trainer.views]
        self._history: list[tuple[float, ...]] = []
        self._seconds = 0.0
        self._code = 0  # of the signal that ends the run
        self._failed = False  # whether the present state is of no use
        self._kept: RunCheckpoint | None = None  # the last good state
        self._keep_from = 0.0  # the time of the next one [s]
        if before is not None:
            if [*before.views] != self._names:
                raise DatasetError(
                    data.folder,
                    f"has {len(self._names)} views, which differ from those of the run in {out}",
                    f"its {len(before.views)} views",
                )
            try:
                self._trainer.load_state_dict(before.state)
            except (LaunchError, FieldError) as error:
                raise DatasetError(
                    before.path or out,
                    f"does not fit this run ({str(error).rstrip('.')})",
                    "its checkpoint",
                ) from None
            self._history = [tuple(row) for row in before.history.tolist()]
            self._seconds = before.seconds

    @property
    def start(self) -> str:
        """The options and the first gaussians, for a comparison of ranks."""
        return f"{self._options} {self._trainer.step} {self._trainer.checksum}"

    def described(self) -> str:
        """Return notes on the views and the start, a line for each."""
        trainer, every = self._trainer, self._options.hold_out
        held_out = [view.held_out for view in self._data.views]
        rule = "of the data set" if any(one is not None for one in held_out) else "every "
        if rule == "every ":
            rule += {1: "one", 2: "second", 3: "third"}.get(every, f"{every}th")
        out = f"{len(trainer.held_out)} held out ({rule})" if trainer.held_out else "none held out"
        sizes = Counter((view.width, view.height) for view in trainer.views)
        parts = [
            f"{w} x {h} pixels" + (f" ({count} views)" if len(sizes) > 1 else "")
            for (w, h), count in sizes.most_common()
        ]
        shown = parts[:_SIZES] + [f"{len(parts) - _SIZES} other sizes"] * (len(parts) > _SIZES)
        lines = [
            f"views: {len(trainer.training)} to train on, {out}",
            f"pictures: {', '.join(shown)}",
        ]
        if self._options.depth:
            lines.append(f"depth maps: of {len(trainer.depths)} of the views to train on")
        if trainer.masks.count:
            lines.append(trainer.masks.described())
        if not trainer.step:
            lines.append(f"start: {trainer.start}")
        return "\n".join(lines)

    def train(self, save_every: int) -> int:
        """Make the remaining steps, and save a checkpoint however they end.

        Returns:
            0, or the exit code of the signal that ended the run.
        """
        with Signals() as signals:
            try:
                self._advance(save_every, signals)
                self.save()
            except BaseException as error:
                error.add_note(self._rescue())
                raise
        trainer, steps = self._trainer, self._options.steps
        if trainer.step >= steps:
            return 0
        say(f"interrupted after {trainer.step} of {steps} steps; --resume continues")
        return self._code

    def _advance(self, save_every: int, signals: Signals) -> None:
        trainer, steps = self._trainer, self._options.steps
        each = max(1, steps // _MEASURED)
        began = time.perf_counter() - self._seconds
        bar = progress_bar(
            total=steps,
            initial=min(trainer.step, steps),
            unit="step",
            desc="train",
            shown=is_first(),
        )
        with bar:
            while trainer.step < steps and not self._ended(signals):
                trainer.advance()
                bar.update()
                self._seconds = time.perf_counter() - began
                if trainer.step % each == 0 or trainer.step == steps:
                    loss, decibels = trainer.loss, trainer.psnr
                    if not math.isfinite(loss):
                        self._failed = True
                        raise SolverError(f"the loss of step {trainer.step} is {loss}")
                    count = trainer.count
                    self._history.append((trainer.step, loss, decibels, count))
                    bar.set_postfix_str(f"loss {loss:.4f}, {decibels:.1f} dB, {count} gaussians")
                    self._keep()
                if trainer.step % save_every == 0:
                    self.save()

    def _ended(self, signals: Signals) -> bool:
        """Return whether a signal has come, to this rank or another."""
        self._code = first_code(signals.code)
        return self._code != 0

    def _keep(self) -> None:
        """Keep the state in memory of the host, for a run that fails in the middle of a step."""
        began = time.perf_counter()
        if first_decides(began >= self._keep_from):
            checkpoint = self._checkpoint()
            if is_first() and fault_of(checkpoint.state) is None:
                self._kept = checkpoint
            now = time.perf_counter()
            self._keep_from = now + _KEEPING * (now - began)

    def save(self) -> None:
        """Write a checkpoint.

        Raises:
            SolverError: The state has numbers that are not finite.
        """
        checkpoint = self._checkpoint()
        fault = fault_of(checkpoint.state) if is_first() else None
        if first_decides(fault is not None):
            self._failed = True
            raise SolverError(f"the state after step {self._trainer.step} {fault or 'is invalid'}")
        if is_first():
            save(self._out, checkpoint)

    def _checkpoint(self) -> RunCheckpoint:
        state = self._trainer.state_dict()
        history = np.array(self._history, np.float64).reshape(-1, 4)
        return RunCheckpoint(self._options, self._names, self._seconds, history, state)

    def _rescue(self) -> str:
        """Save the last good state of a run that has failed; return a note for its error.

        Where there are several ranks, this is the one in memory: the others may have ended.
        """
        failed = ""
        if not is_first():
            return failed
        lost = self._failed or not self._trainer.whole or current().size > 1
        try:
            good = None if lost else self._checkpoint()
            if good is None or fault_of(good.state) is not None:
                good = self._kept
            last = latest(self._out)
            if good is not None and good.step > (step_of(last) if last is not None else 0):
                save(self._out, good)
        except Exception as error:  # whatever keeps the state from being read or written
            failed = f"no checkpoint could be written ({_plain(error)}); "
        last = latest(self._out)
        if last is None:
            return f"{failed}there is no checkpoint to resume from"
        return f"{failed}--resume continues from step {step_of(last)}, {last}"

    def finish(self, *, pictures: bool, whole: bool) -> None:
        """Write splats, metrics and pictures, on rank 0.

        Args:
            pictures: Whether to draw.
            whole: Whether all steps were made.
        """
        trainer = self._trainer
        splats = trainer.splats()
        dropped = (
            0 if splats is None else dt.datasets.write_splats(self._out / "point_cloud.ply", splats)
        )
        if not whole:
            return
        measured = trainer.held_out or trainer.training
        scores = trainer.scores(measured)
        if not is_first():
            return
        metrics = metrics_of(trainer, self._data, scores)
        metrics |= {"seconds": round(self._seconds, 3), "gaussians_not_finite": dropped}
        write_bytes(self._out / "metrics.json", (json.dumps(metrics, indent=1) + "\n").encode())
        if pictures:
            save_strip(self._out / f"{metrics['measured_on']}.png", scores)
            save_curve(self._out / "curve.png", np.array(self._history))
        print(f"{told(metrics)} in {self._seconds:.0f} s; {self._out}")
