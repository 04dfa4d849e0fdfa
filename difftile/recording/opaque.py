"""Opaque steps, whose inside a tape does not see: they bring their own reverse.

A step reads and writes whole fields; `watching` finds out which it writes.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import field, fields, is_dataclass
from typing import TYPE_CHECKING, Any, Protocol, cast, runtime_checkable

import numpy as np

from difftile.diagnostics import Label, Span, TapeError, render
from difftile.fields.exchange import HostArray
from difftile.fields.field import Field
from difftile.fields.storage import Storage
from difftile.ir.types import is_float
from difftile.ranks import current
from difftile.recording.meeting import meet
from difftile.recording.steps import Derivatives, StepRecord, TapeStep
from difftile.recording.uses import Keeps, Use
from difftile.recording.watching import closed, held, watched
from difftile.records import dataclass
from difftile.substrate import Buffer, Pool, apart, current_session, keep, unpin

if TYPE_CHECKING:
    from difftile.recording.replayed_fields import ReverseContext


_SAMPLES = 64  # numbers of a field that are compared when a step is run again


class OpaqueStep(ABC):
    """The interface of opaque steps.

    A tape with a limit, and `@dt.checkpoint`, run steps again: the same fields must lead to the
    same results, and only the fields in `uses` may change.

    Args:
        name: The name of the step in pictures.
        uses: The uses of its fields, one entry for each memory.
        kind: A word that errors and summaries put before the name.
        approximate: Whether its reverse is known to be no exact derivative.
    """

    is_contained: bool = False
    """Whether a run writes only the fields that it declares as written, and opens no tape."""

    is_seen: bool = True
    """Whether sweeps see all that the rule for tangents computes: launches, copies, steps."""

    communicates: bool = False
    """Whether a run needs all ranks, which run the same such steps in the same order.

    Steps that call others find out: a first run that communicates says so too.
    """

    has_parameters: bool = False
    """Whether gradients end in the step itself, as in the parameters of a module that it calls."""

    def __init__(
        self, name: str, uses: Sequence[Use], *, kind: str = "", approximate: bool = False
    ) -> None:
        self.name = name
        self.title = f"{kind} '{name}'" if kind else name
        self.uses = tuple(uses)
        self.approximate = approximate

    @abstractmethod
    def run(self) -> Any:
        """Do the work, with no tape open; return the values that the reverse needs."""

    @abstractmethod
    def reverse(self, then: ReverseContext, saved: Any) -> None:
        """Add to the gradients of the fields that the step reads, with no tape open.

        Args:
            then: The fields as they were, with gradients to read (`grad_in` of written fields)
                and to add to (`grad_out` of read fields, zero to begin with).
            saved: The result of `run`.
        """

    def reverse_in_place(self, record: OpaqueRecord, gradient: Callable[[Field], Field]) -> bool:
        """Run the reverse directly on the gradients of the backward pass, if that is possible.

        This saves the copies, clears and sums that separate gradients need.

        Args:
            record: A run of the step through which a gradient passes.
            gradient: Returns the gradient of a field that the pass works on.

        Returns:
            Whether it was done; otherwise nothing has changed, and `reverse` runs on gradients of
            its own.
        """
        return False

    def push(self, at: Sequence[ReverseContext], saved: Any) -> bool:
        """Push tangents, if the step implements this; else they go by the transpose of `reverse`.

        Args:
            at: The fields with the tangents before the step in `grad_out`, and those after it to be
                set in `grad_in`; behind them the tangents of all that, by part
                (`ir.derived.part_of`).
            saved: The result of `run`.

        Returns:
            Whether it was done, which with one part is a must. Tangents along further directions
            follow from a sweep through the rule otherwise.
        """
        raise NotImplementedError

    @property
    def pushes(self) -> bool:
        """Whether the step implements `push`."""
        return type(self).push is not OpaqueStep.push

    @property
    def push_uses(self) -> tuple[Use, ...]:
        """The uses of the fields where tangents are pushed: they keep what `push` reads."""
        return self.uses

    def derivative(self, at: Sequence[ReverseContext], saved: Any) -> bool:
        """Run `reverse` and push tangents through it, if the step implements this.

        A step without one is differentiated by way of its `reverse`, which has to be made of
        launches, copies and other steps then.

        Args:
            at: The fields as for `reverse`, which this does as well, and behind them the tangents
                of all that, by part (`ir.derived.part_of`): of the contents, of `grad_in`, and, to
                be set, of `grad_out`.
            saved: The result of `run`.

        Returns:
            Whether it was done.
        """
        return False

    def of_second_order(
        self, at: Sequence[ReverseContext]
    ) -> tuple[ReverseContext, ReverseContext]:
        """Return the fields and their tangents for `derivative`, along one direction.

        Raises:
            TapeError: There are several directions, and this step knows no third derivatives.
        """
        if len(at) == 2:
            return at[0], at[1]
        title = f"A third derivative of {self.title} is needed here, and is not known."
        labels = () if self.place is None else (Label(self.place, "called here"),)
        raise TapeError(render(title, labels, (), self.advice("third")))

    def reads_saved(self, saved: Any) -> bool:
        """Tell whether the rules compute with numbers in the result of `run`."""
        return False

    @property
    def place(self) -> Span | None:
        """The place where the user called the step, for errors."""
        return None

    def advice(self, word: str) -> str:
        """Return a hint for a step whose derivative is not known.

        Args:
            word: The derivative: 'forward', 'second' for the derivative of its backward, 'third'.
        """
        return "compute it with kernels."

    def around_rule(self) -> AbstractContextManager[object]:
        """Return the context in which the rules of the step run."""
        return nullcontext()

    def settle(self, uses: Sequence[Use], *, flows: bool) -> None:
        """Called after the first run with the written fields; raise if these cannot be recorded.

        Args:
            uses: The uses of the fields in that run.
            flows: Whether a gradient passes through it.
        """
        return


class Pushing(OpaqueStep):
    """A step with its rule for tangents in place of its reverse.

    Args:
        step: The step.
    """

    def __init__(self, step: OpaqueStep) -> None:
        super().__init__(step.name, step.push_uses, approximate=step.approximate)
        self.title = step.title
        self.is_seen = step.is_seen
        self.is_contained = step.is_contained
        self.communicates = step.communicates
        self._step = step

    def run(self) -> Any:
        """Do the work of the step."""
        return self._step.run()

    def settle(self, uses: Sequence[Use], *, flows: bool) -> None:
        """Check the uses as the step itself does; it needs no reverse."""
        self._step.settle(uses, flows=False)

    def reverse(self, then: ReverseContext, saved: Any) -> None:
        """Push tangents."""
        self._step.push([then], saved)

    def derivative(self, at: Sequence[ReverseContext], saved: Any) -> bool:
        """Push tangents along several directions, if the step implements this."""
        return self._step.push(at, saved)

    def reads_saved(self, saved: Any) -> bool:
        """Tell whether the rule computes with numbers in the result of `run`."""
        return self._step.reads_saved(saved)

    def around_rule(self) -> AbstractContextManager[object]:
        """Return the context in which the rules of the step run."""
        return self._step.around_rule()

    @property
    def place(self) -> Span | None:
        """The place where the user called the step, for errors."""
        return self._step.place

    def advice(self, word: str) -> str:
        """Return the hint of the step."""
        return self._step.advice(word)


@dataclass(slots=True, eq=False)
class Opaque(TapeStep):
    """An opaque step as a tape holds it.

    Args:
        step: The step.
        uses: The uses of its fields; which are written is known after the first run.
        constant: Whether its results are constant, as inside `dt.no_grad()`.
    """

    step: OpaqueStep
    uses: tuple[Use, ...]
    constant: bool
    _saved_nbytes: int = 0
    _settled: bool = False
    _communicated: bool = False
    _results: list[HostArray] = field(default_factory=list[HostArray])

    @property
    def reads(self) -> list[Field]:
        """The fields that the step reads."""
        return [use.field for use in self.uses if use.reads]

    @property
    def writes(self) -> list[Field]:
        """The fields that the step writes, or may write."""
        return [use.field for use in self.uses if use.writes is not False]

    @property
    def fields(self) -> list[Field]:
        """All fields of the step."""
        return [use.field for use in self.uses]

    @property
    def communicates(self) -> bool:
        """Whether several ranks run the step together."""
        return self._communicated or (self.step.communicates and current().size > 1)

    @property
    def signature(self) -> str:
        """The step as all ranks call it, without names and sizes that differ among them."""
        if not self.step.communicates:
            # What it calls may use other fields on each rank, as exchanges at the ends of a grid.
            is_split = any(use.field.split is not None for use in self.uses)
            return f"{type(self.step).__name__} {self.step.name}, {is_split}"
        fields = (f"{use.field.element} {len(use.field.shape)}" for use in self.uses)
        return f"{type(self.step).__name__}({', '.join(fields)})"

    @property
    def saved_nbytes(self) -> int:
        """The bytes of the result of the latest run, if a gradient passes through."""
        return self._saved_nbytes

    def accesses(self) -> Iterator[tuple[Field, bool]]:
        """Yield the fields."""
        for use in self.uses:
            yield use.field, use.overwrites

    def growth(self, leaving: Callable[[Storage], int], *, recording: bool) -> int:
        """Return the bytes that the step may add to the old values."""
        growth = self.saved_nbytes if recording else 0
        for use in self.uses:
            storage = use.field.storage
            keeps = use.keeps in (Keeps.BEFORE, Keeps.BOTH) and not self.constant
            if use.writes is None or (use.writes and recording and keeps):
                growth += storage.buffer.nbytes
            elif use.writes:
                growth += leaving(storage)
        return growth

    def passes_to(self, outputs: Collection[Storage]) -> bool:
        """Tell whether a gradient passes through the step to an output."""
        return self.flows and any(field.storage in outputs for field in self.writes)

    @property
    def flows(self) -> bool:
        """Whether a gradient passes through the step."""
        return (
            not self.constant
            and (
                self.step.has_parameters
                or any(use.reads and use.field.has_grads for use in self.uses)
            )
            and any(use.writes and use.field.has_grads for use in self.uses)
        )

    def run(self, records: list[StepRecord] | None, *, repeats: bool = False) -> object:
        """Do the work and add its record; return the result of the step."""
        saved, record = self.execute(record=records is not None, repeats=repeats)
        if records is not None and record is not None:
            records.append(record)
        return saved

    def execute(self, *, record: bool, repeats: bool = False) -> tuple[object, OpaqueRecord | None]:
        """Do the work.

        Args:
            record: Keep the values that the reverse needs.
            repeats: Compare the results with the results of the first run.

        Returns:
            The result of the step, and the record if there is something to reverse.

        Raises:
            LaunchError: A field was written that is declared to be read only.
            TapeError: The results differ from the first ones.
        """
        if self.communicates:
            again = f"{self.step.title}, run again" if self._settled else self.step.title
            meet(again, f"{self.signature}, {again == self.step.title}")
        begun = current().waiting.begun
        watching = held if self.step.is_contained else watched
        with watching(self.step.title, self.uses, record=record) as writes, apart():
            if self.step.is_contained:
                saved = self.step.run()
            else:
                with closed(keeping={use.field.storage for use in self.uses}):
                    saved = self.step.run()
                self.uses = writes.uses(again=self._settled)
            flows = self.flows
            if not self._settled:
                self._communicated = current().waiting.begun != begun and current().size > 1
                self.step.settle(self.uses, flows=flows)
            self._settled = True
            if repeats:
                self._compare()
            self._saved_nbytes = nbytes_of(saved) if flows else 0
            # The gradients of the written fields are used up, even where none passes.
            if not record or not any(use.writes and use.field.has_grads for use in self.uses):
                return saved, None
            return saved, self._recorded(saved, writes.before, flows)

    def _compare(self) -> None:
        """Compare samples of the written numbers with the first run.

        Raises:
            TapeError: They differ by more than rounding and the order of sums explain.
        """
        results: list[HostArray] = []
        for one in self.writes:
            if is_float(one.element):
                numbers = one.storage.buffer.array().reshape(-1)
                results.append(numbers[:: 1 + numbers.size // _SAMPLES].astype(np.float64))
        for before, now in zip(self._results, results, strict=False):
            size = np.max(np.abs(before), initial=0.0, where=np.isfinite(before))
            if not np.allclose(before, now, rtol=0.0, atol=0.01 * size, equal_nan=True):
                raise TapeError(
                    f"{self.step.title} gave other results when it was run again. On a tape with a "
                    "limit, and in a checkpoint, they must follow from its arguments alone: pass "
                    "what it draws random numbers from."
                )
        self._results = self._results or results

    def _recorded(
        self, saved: object, before: Mapping[Storage, Buffer], flows: bool
    ) -> OpaqueRecord:
        kept: dict[Storage, Buffer] = {}
        left: dict[Storage, Buffer] = {}
        for use in self.uses if flows else ():
            storage = use.field.storage
            if use.keeps in (Keeps.BEFORE, Keeps.BOTH):
                kept[storage] = before[storage]
                before[storage].pins += 1
            elif use.keeps is Keeps.AFTER:
                kept[storage] = keep(storage)
            if use.keeps is Keeps.BOTH:
                left[storage] = keep(storage)
        return OpaqueRecord(self, kept, left, saved if flows else None)


@dataclass(slots=True, eq=False)
class OpaqueRecord(StepRecord):
    """One run of an opaque step.

    Args:
        opaque: The step.
        kept: The pinned buffers that the reverse reads.
        left: The contents from after the step of fields whose earlier contents are kept as well.
        saved: The result of the run, if a gradient passes through.
        pool: Counts the bytes of that.
    """

    opaque: Opaque
    kept: dict[Storage, Buffer]
    left: dict[Storage, Buffer]
    saved: object
    pool: Pool = field(default_factory=lambda: current_session().pool)
    _counted_nbytes: int = 0

    @property
    def step(self) -> Opaque:
        """The step."""
        return self.opaque

    @property
    def counted_nbytes(self) -> int:
        """The bytes of the result, once they are counted."""
        return self._counted_nbytes

    @property
    def buffers(self) -> tuple[Buffer, ...]:
        """The pinned buffers."""
        return (*self.kept.values(), *self.left.values())

    @property
    def pinned(self) -> Iterable[Buffer]:
        """The buffers that are kept, those of launches that the result holds included."""
        return (*self.buffers, *_buffers_of(self.saved))

    def count_saved(self) -> None:
        """Count the result among the old values of the session."""
        self._counted_nbytes = self.opaque.saved_nbytes
        self.pool.keep(self._counted_nbytes)

    def reverse(self, gradients: Derivatives) -> None:
        """Run the reverse of the step."""
        gradients.opaque(self)

    def release(self) -> None:
        """Release the old values."""
        buffers, nbytes = self.buffers, self._counted_nbytes
        self.kept, self.left, self.saved, self._counted_nbytes = {}, {}, None, 0
        unpin(*buffers)
        self.pool.keep(-nbytes)


@runtime_checkable
class HoldsBuffers(Protocol):
    """A result of a step that holds records, and the buffers that these have pinned."""

    def pinned(self) -> Iterator[Buffer]:
        """Yield the buffers."""
        ...


def _buffers_of(saved: object) -> Iterator[Buffer]:
    """Yield the buffers that are pinned by records in the result of a step."""
    parts: Iterable[object] = ()
    if isinstance(saved, HoldsBuffers):
        yield from saved.pinned()
    elif isinstance(saved, Mapping):
        parts = cast("Mapping[object, object]", saved).values()
    elif isinstance(saved, (tuple, list)):
        parts = cast("Sequence[object]", saved)
    elif is_dataclass(saved):
        parts = [getattr(saved, one.name) for one in fields(saved)]
    for part in parts:
        yield from _buffers_of(part)


def nbytes_of(saved: object) -> int:
    """Return the bytes of the arrays and fields in the result of a step."""
    if isinstance(saved, (tuple, list)):
        return sum(nbytes_of(one) for one in cast("Sequence[object]", saved))
    if isinstance(saved, Mapping):
        return sum(nbytes_of(one) for one in cast("Mapping[object, object]", saved).values())
    nbytes = getattr(saved, "nbytes", 0)
    return nbytes if isinstance(nbytes, int) else 0
