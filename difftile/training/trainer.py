"""`Trainer`: gaussians that are fitted to the pictures of a data set."""

from __future__ import annotations

import math
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, final

import numpy as np
import numpy.typing as npt

import difftile as dt
from difftile import ti
from difftile.diagnostics import DatasetError, LaunchError
from difftile.ranks import agree, current
from difftile.render.similarity import SIZE
from difftile.tracebacks import boundary
from difftile.training.corrections import Corrections, fitted_exposure
from difftile.training.delivery import Delivery, drawer_of
from difftile.training.densify import Densification
from difftile.training.depths import DepthMaps
from difftile.training.initial import first_gaussians, splats_from, splats_of
from difftile.training.masks import Masks
from difftile.training.mcmc import MCMC
from difftile.training.options import Options
from difftile.training.rates import STEPS, STEPS_PER_DEGREE, optimiser, rate_of_centres
from difftile.training.rows_of_ranks import total_of
from difftile.training.scores import Score, similarity
from difftile.training.state import Part, restore, state_of
from difftile.training.studio import Easel, Studio

ALIGNED = 60  # steps by which the camera of a held-out view is moved
_AHEAD = 8  # steps from the reading of a picture to its use
DISSIMILARITY = 0.2  # the weight of 1 - SSIM in the loss; the rest is the weight of differences


@final
class Trainer:
    """A run of training: gaussians, their optimiser, and the strategy to add and remove them.

    Each step draws the gaussians as one view shows them, or several (`Options.batch`), and moves
    them against the gradient of a loss: the mean over these views of 0.8 times the mean absolute
    difference from the picture plus 0.2 times 1 - SSIM, both over the pixels that count (`Masks`),
    and of the difference from its depth map if these are used (`DepthMaps`). The views, and
    all random numbers, depend only on the seed and the number of the step. A step reads nothing
    from a device but the length of the lists of gaussians: a gradient that is not finite counts as
    0, and `loss` and `psnr` are read when they are asked for.

    Rates and numbers are gsplat's for 30,000 steps. A run of another length scales their
    schedule: the rate of centres, the steps at which bands of harmonics join, and the range of
    steps in which gaussians come and go.

    Args:
        data: The data set.
        options: The options of the run.
        search: Look for points in the pictures if the data set has none; a run that continues from
            a state needs no start.
        dtype: The type of the numbers; single precision is enough, except to compare runs.

    Attributes:
        options: The options of the run, with the degree of harmonics of its start.
        masks: The masks of the views.
        start: A note on the places of the initial gaussians.
        checksum: A number that differs where the initial gaussians do; 0 on one rank.
        whole: Whether the latest step has ended; False after an error in the midst of its changes.

    Raises:
        DatasetError: All views are held out, depth maps are to be used and no view to train on has
            one, or the splats to start from cannot be read.
    """

    @boundary
    def __init__(
        self,
        data: dt.datasets.Dataset,
        options: Options,
        *,
        search: bool = True,
        dtype: Any = ti.f32,
    ) -> None:
        self._dtype = dtype
        self.masks, views = Masks.of(data.views, options)
        data = replace(data, views=views)
        train, held_out = data.split(options.hold_out)
        if not train:
            raise DatasetError(
                data.folder, f"has {len(data.views)} views, which are held out", "one to train on"
            )
        self.depths = DepthMaps(data, (*train, *held_out), len(train), options, self.masks, dtype)
        self.step = 0
        self.whole = True
        self.held_out = range(len(train), len(train) + len(held_out))
        self.training = range(len(train))
        first = first_gaussians(data, options, search=search, dtype=dtype)
        gaussians, self.start, self._degree = first
        self.options = options = replace(options, sh_degree=self._degree)
        self.checksum = _checksum(gaussians) if current().size > 1 else 0
        self.gaussians = gaussians if current().size == 1 else dt.distributed.SplitRows(gaussians)
        self._delivery = Delivery()
        self.optimiser = optimiser(
            self.gaussians,
            data.scale,
            steps=options.steps,
            batch=options.batch,
            nonfinite="zero",
        )
        self.strategy = _strategy(data.scale, options)
        self.corrections = Corrections(
            len(train) + len(held_out), len(train), data.scale, options, dtype
        )
        self._studio = Studio(
            (*train, *held_out), self._splatter, self.corrections, self.masks, dtype
        )
        self._loss = dt.zeros((), self._dtype, grad=True)
        self._mine: list[Easel] = []  # that this rank drew in the latest step
        self._orders: dict[int, npt.NDArray[np.intp]] = {}  # of views, by turn

    def __reduce__(self) -> Any:
        raise LaunchError(
            "A Trainer reads pictures in threads, and is neither pickled nor copied. Save its "
            "state_dict(), and give it to load_state_dict() of another one of the same data."
        )

    def _splatter(self, width: int, height: int) -> dt.render.Splatter:
        background = self.options.background
        return dt.render.Splatter(
            width,
            height,
            antialiased=self.options.antialiased,
            background=background if any(background) else None,
            depth=self.options.depth > 0,
        )

    @property
    def views(self) -> Sequence[dt.datasets.View]:
        """The training views, followed by the held-out views."""
        return self._studio.views

    @property
    def count(self) -> int:
        """The number of gaussians, of all ranks."""
        return total_of(self.gaussians)

    @property
    def degree(self) -> int:
        """The last band of harmonics in the next step."""
        if self.options.start:
            return self._degree
        every = max(1, round(STEPS_PER_DEGREE * self.options.steps / STEPS))
        return min(self.step // every, self._degree)

    def advance(self) -> None:
        """Make a step; `loss` and `psnr` then belong to the gaussians before it."""
        self._expect()
        easels = self._studio.easels(*self.views_of(self.step))
        drawers = [drawer_of(image) for image in range(len(easels))]
        share = 1.0 / len(easels)
        self._mine = [one for one, drawer in zip(easels, drawers, strict=True) if self._is(drawer)]
        for easel in self._mine:
            self._studio.hang(easel)
        self._loss.fill(0.0)
        with self._tape() as tape:  # a tape of a loss would read it, and wait for the device
            shown = self._projected(easels, drawers, self._loss)
            for easel, one in zip(self._mine, shown, strict=True):
                self._add_loss(easel, one, share)
            if isinstance(self.strategy, MCMC):
                self.strategy.penalty(self.gaussians, self._loss)
        tape.backward(self._loss)
        self.corrections.add_gradients()
        self.whole = False
        self.optimiser.step()
        self.corrections.step([easel.view for easel in easels])
        self.step += 1
        if self.strategy is not None:
            drawn = [easel.splatter for easel in easels]
            self.strategy.after_step(self.step, self.gaussians, drawn)
        self.whole = True

    def _tape(self) -> dt.Tape:
        """Return the tape of a step, which keeps fewer bytes than a snapshot of its fields has."""
        return dt.Tape()

    def _is(self, rank: int) -> bool:
        return current().rank == rank

    def _projected(
        self, easels: Sequence[Easel], drawers: Sequence[int], loss: dt.Field
    ) -> list[dt.render.Projected]:
        """Project gaussians for easels; return those for the images that this rank draws.

        Args:
            easels: The easels, the same on each rank.
            drawers: The rank that draws each of the images.
            loss: The loss of this rank; see `Delivery`.
        """
        for easel in easels:
            easel.splatter.sh_degree = self.degree
        if not isinstance(self.gaussians, dt.distributed.SplitRows):
            return [easel.project(self.gaussians) for easel in easels]
        projections = [partial(easel.project, self.gaussians) for easel in easels]
        return self._delivery(self.gaussians, projections, drawers, loss)

    def _add_loss(self, easel: Easel, shown: dt.render.Projected, share: float) -> None:
        """Draw the view of an easel, and add the difference from its picture to the loss."""
        target, mask, splatter = easel.target, easel.mask, easel.splatter
        image = easel.expose(easel.blend(shown), self._loss, share)
        padding = _padding(splatter.width, splatter.height)
        dt.render.l1(image, target, self._loss, share * (1.0 - DISSIMILARITY), mask=mask)
        counted = easel.counted(image)
        dt.render.dssim(*counted, self._loss, share * DISSIMILARITY, padding, mask=mask)
        if mask is not None:
            self.masks.add_outside(easel.rendering.alpha, mask, self._loss, share)
        self.depths.add(easel.view, easel.rendering, self.step, self._loss, share)

    def _expect(self) -> None:
        """Let the pictures of the next steps be read ahead."""
        for ahead in range(1, _AHEAD):
            for image, k in enumerate(self.views_of(self.step + ahead)):
                if self._is(drawer_of(image)):
                    self._studio.expect(k)

    def views_of(self, step: int) -> list[int]:
        """Return the views of a step, one for each image of its batch."""
        batch = self.options.batch
        return [self.view_of(number) for number in range(step * batch, (step + 1) * batch)]

    def view_of(self, number: int) -> int:
        """Return the view of an image, from one random order of all views after another.

        Args:
            number: The number of images drawn before it in the run.
        """
        turn, place = divmod(number, len(self.training))
        if turn not in self._orders:
            draw = np.random.default_rng((self.options.seed, 2, turn))
            self._orders = {
                **{k: order for k, order in self._orders.items() if k == turn - 1},
                turn: draw.permutation(len(self.training)),
            }
        return int(self._orders[turn][place])

    @property
    def loss(self) -> float:
        """The loss of the latest step; where there are several ranks, each of them asks for it."""
        return agree(float(self._loss[None]))

    @property
    def psnr(self) -> float:
        """The mean PSNR of the images of the latest step [dB]; `scores` draws other images.

        Where there are several ranks, each of them asks for it.
        """
        return agree(sum(easel.psnr() for easel in self._mine)) / self.options.batch

    def scores(self, which: Sequence[int]) -> list[Score]:
        """Return the similarity of images to the pictures of some views.

        With optimised poses the camera of a held-out view is first moved to fit its picture. With
        exposures that of a held-out view is fitted to the left half of its picture, and the right
        half counts; other views have their own. Where there are several ranks, each of them calls
        this, and rank 0 gets the scores.

        Args:
            which: Views, by their place in `views`.
        """
        found = [self._score(k) for k in which]
        return [one for one in found if one is not None]

    def _score(self, k: int) -> Score | None:
        (easel,) = self._studio.easels(k)
        splatter = easel.splatter
        if k in self.held_out and self.corrections.poses is not None:
            self._align(easel)
        drawn = self._draw(easel, dt.zeros((), self._dtype, grad=True))
        if drawn is None:
            return None
        picture, mask = self._studio.picture(k)
        image = drawn.to_numpy()[0]
        depth = self.depths.error(k, easel.rendering)
        start = 0  # the first column that counts
        if self.corrections.exposures is not None:
            exposure = self.corrections.exposures.to_numpy()[k]
            if k in self.held_out:
                start = splatter.width // 2
                weights = None if mask is None else mask[:, :start]
                exposure = fitted_exposure(image[:, :start], picture[:, :start], weights)
            image = image @ exposure[:, :3].T + exposure[:, 3]
        image = np.clip(image, 0.0, 1.0)  # as a file would hold it
        padding = _padding(splatter.width - start, splatter.height)
        parts = [None if one is None else one[:, start:] for one in (image, picture, mask)]
        measured = similarity(*parts, padding, self._dtype)
        return Score(self.views[k].name, *measured, image, picture, depth, mask)

    def _draw(self, easel: Easel, loss: dt.Field) -> dt.Field | None:
        """Draw the view of an easel on rank 0; other ranks get no image."""
        shown = self._projected([easel], [0], loss)
        return easel.blend(shown[0]) if shown else None

    def _align(self, easel: Easel) -> None:
        """Move the camera of a held-out view to where the gaussians look most like its picture."""
        loss = dt.zeros((), self._dtype, grad=True)
        for step in self.corrections.alignment(easel.view, ALIGNED):
            loss.fill(0.0)
            with dt.Tape() as tape:
                drawn = self._draw(easel, loss)
                if drawn is not None:
                    dt.render.l1(drawn, self._studio.hang(easel), loss, mask=easel.mask)
            tape.backward(loss)
            self.corrections.add_gradients()
            step()

    # Saving

    def splats(self) -> dt.datasets.Splats | None:
        """Return the gaussians for files; each rank calls this, and rank 0 gets them."""
        if not isinstance(self.gaussians, dt.distributed.SplitRows):
            return splats_of(self.gaussians)
        own = self.gaussians.to_numpy()
        arrays = {name: self.gaussians.collect(array) for name, array in own.items()}
        return splats_from(arrays) if current().rank == 0 else None

    def state_dict(self) -> dict[str, npt.NDArray[Any]]:
        """Return, as arrays by name, all that later steps depend on except data set and options.

        Where there are several ranks, each of them calls this, and rank 0 gets the rows of all.

        Raises:
            LaunchError: An error has ended the latest step in the midst of its changes.
        """
        if not self.whole:
            raise LaunchError(
                f"Trainer: an error has ended step {self.step} in the midst of its changes, and "
                "the state is of no use. Load an earlier one by load_state_dict()."
            )
        return state_of(self._parts(), self.gaussians, self.step)

    def load_state_dict(self, saved: Mapping[str, npt.ArrayLike]) -> None:
        """Continue from a state that `state_dict` returned, on any number of ranks.

        Each rank gives the rows of all.

        Raises:
            LaunchError: The state belongs to a run with other options, or has numbers that are not
                finite.
            FieldError: The rows of the gaussians do not fit.
            DatasetError: The state is in a file that cannot be read.
        """
        step = restore(self._parts(), self.gaussians, saved)
        self.step, self.whole = step, True

    def _parts(self) -> dict[str, Part | None]:
        return {
            "optimiser": self.optimiser,
            "strategy": self.strategy,
            "corrections": self.corrections,
        }


def _checksum(gaussians: dt.Rows) -> int:
    total = 0
    for array in gaussians.to_numpy().values():
        total = zlib.crc32(array.tobytes(), total)
    return total


def _padding(width: int, height: int) -> str:
    """Return the padding of SSIM: windows within the image, if they fit into it."""
    return "valid" if min(width, height) >= SIZE else "same"


def _strategy(scale: float, options: Options) -> Densification | MCMC | None:
    def spread(step: int) -> int:
        return round(step * options.steps / STEPS)

    def apart(steps: int) -> int:  # by as many images, in fewer steps
        return max(1, round(steps / options.batch))

    if options.strategy == "default":
        return Densification(
            scale,
            start=spread(500),
            stop=spread(15_000),
            every=apart(100),
            reset_every=apart(3000),
            most=options.most,
            seed=options.seed,
        )
    if options.strategy == "mcmc":
        return MCMC(
            rate_of_centres(scale * math.sqrt(options.batch), options.steps),
            most=options.most,
            start=spread(500),
            stop=spread(25_000),
            every=apart(100),
            seed=options.seed,
        )
    return None
