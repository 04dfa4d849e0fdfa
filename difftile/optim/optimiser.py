"""The base of optimisers with one gradient per step: steps, state, clipping, bounds."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, TypeAlias, TypedDict, cast

import numpy as np
import numpy.typing as npt

import difftile as dt
from difftile.diagnostics import FieldError, LaunchError, SolverError, brief, counted
from difftile.fields.recording import check_no_tape
from difftile.fields.rows import Change, rows_of
from difftile.habits import taught
from difftile.markup import html_block, html_table
from difftile.optim.fresh_gradients import FreshGradients
from difftile.optim.gradient_norm import GradientNorm, OwnedElements, first_not_finite, owned_of
from difftile.optim.parameters import (
    FieldsLike,
    PerField,
    after,
    follow_rows,
    in_short,
    number,
    of_each,
    owned_part,
    parameters_of,
)
from difftile.optim.saved import Wanted, restored
from difftile.optim.shards import Shards, state_dtype, state_type
from difftile.optim.update import launches, move
from difftile.ranks import agree
from difftile.tracebacks import boundary

Rate: TypeAlias = "float | Callable[[int], float]"
"""A learning rate: a number, or a function from the number of steps taken to one."""

Rates: TypeAlias = "Rate | PerField[Rate]"
Bound: TypeAlias = "float | PerField[float | None] | None"
_NOT_FINITE = ("raise", "skip", "zero", "ignore")


@dataclass(frozen=True, slots=True)
class UpdateRule:
    """The update of an element in a step, and the state that it keeps.

    Args:
        change: A func; see `update`.
        slots: The names of the fields of its state, in the order in which it takes them.
        squares: The slots that hold means or maxima of squares, which are not negative.
    """

    change: Callable[..., Any]
    slots: tuple[str, ...]
    squares: tuple[str, ...] = ()


class Shared(TypedDict, total=False):
    """The options of every optimiser; see `Optimiser`."""

    low: Bound
    high: Bound
    clip_norm: float | None
    clip_value: float | None
    nonfinite: str
    sharded: bool
    reduce: str | None


@taught("optimiser", "An optimiser")
class Optimiser(ABC):
    """Moves fields against their gradients, in one launch a step for fields of one precision.

    A step reads `x.grad` of every field and does not change it. Of a field that is split among
    ranks, each rank moves the elements that it owns: halos stay as they are until they are
    exchanged, and cells outside of the domain keep the boundary values of the program.
    The state of a field is kept in fields of the same shape, by name in `state`: in single
    precision for fields in half.

    Args:
        fields: A field of floats with a gradient, a field of structs (its members are moved),
            `dt.Rows` (its fields are moved), a leaf tensor of torch that requires grad, a sequence
            of those, or a mapping from names to them. `state` has the same names. A step follows
            the `.grad` that a tensor has then; one that has none stays as it is.
        lr: The learning rate; or a function from the number of steps done to it, such as those in
            `dt.optim.schedules`; or a mapping from each field, or its name, to one of the two.
        weight_decay: A number, or a mapping from each field to one.
        low: The least value of each component, which steps do not pass; or by field.
        high: The largest one; or by field.
        clip_norm: Gradients whose norm, over all fields together, is larger are scaled down to it.
        clip_value: Components of gradients are kept between -clip_value and clip_value.
        nonfinite: The reaction to a gradient that is not finite: "raise" an error, "skip" the step
            and count it in `skipped`, in both cases before anything is changed; take "zero" for
            each component that is not finite; or "ignore" it. The last two save the launch of the
            test, and the wait for the device.
        sharded: Whether each of the ranks that run the program together moves a part of the fields,
            and has the state of that part only: `state` has fields of shape (elements,) for it.
            All ranks make the optimiser, step, and save together. The fields are the same on all
            ranks, and are so after a step.
        reduce: With `sharded`, how a step combines the gradients of the ranks where they are moved:
            "sum" or "mean". By default they are the same on all ranks already, as after
            `dt.distributed.all_reduce`, which sends twice as much.

    Raises:
        FieldError: A field has no gradient, is given twice, or cannot be moved.
        LaunchError: An option is out of range.
    """

    rule: ClassVar[UpdateRule]

    @boundary
    def __init__(
        self,
        fields: FieldsLike,
        lr: Rates,
        weight_decay: float | PerField[float],
        *,
        low: Bound = None,
        high: Bound = None,
        clip_norm: float | None = None,
        clip_value: float | None = None,
        nonfinite: str = "raise",
        sharded: bool = False,
        reduce: str | None = None,
    ) -> None:
        self.parameters = parameters_of(fields, self._who, tensors=True)
        self.steps = 0
        self.skipped = 0
        self.grad_norm: float | None = None
        self.lr = lr
        decays = of_each(weight_decay, self.parameters, f"{self._who}: weight_decay")
        self._decays = [number(decay, f"{self._who}: weight_decay") for decay in decays]
        self._bounds = self._checked_bounds(low, high)
        if clip_norm is not None and clip_value is not None:
            raise LaunchError(
                f"{self._who} clips by norm or by value: give clip_norm or clip_value."
            )
        self._clip_norm = self._limit("clip_norm", clip_norm)
        self._clip_value = self._limit("clip_value", clip_value)
        if nonfinite not in _NOT_FINITE:
            names = ", ".join(map(repr, _NOT_FINITE))
            raise LaunchError(f"{self._who}: nonfinite is one of {names}, not {brief(nonfinite)}.")
        if nonfinite == "zero" and clip_norm is not None:
            raise LaunchError(
                f"{self._who}: a norm of gradients that are not finite is not finite. Give "
                "clip_value with nonfinite='zero', or clip_norm with nonfinite='skip'."
            )
        self._nonfinite = nonfinite
        self._shards = self._made_shards(sharded, reduce)
        self._norm = GradientNorm()
        self._launches = launches([one.field for one in self.parameters])
        self.state: dict[str, dict[str, dt.Field]] = {}
        for k, one in enumerate(self.parameters):
            shape = one.field.shape if self._shards is None else self._shards.state_shape(k)
            slots = () if shape is None else self._used()
            self.state[one.name] = {
                slot: dt.zeros(shape or (), state_type(one.field)) for slot in slots
            }
        follow_rows(self.parameters, self)
        self._fresh = FreshGradients(self.parameters)

    @abstractmethod
    def _used(self) -> tuple[str, ...]:
        """Return the slots that the rule uses with these options."""

    @abstractmethod
    def _numbers(self, steps: int, lr: float, decay: float) -> tuple[float | None, ...]:
        """Return the rule's numbers for a step.

        Args:
            steps: The number of steps that have moved the field before.
            lr: The learning rate.
            decay: The weight decay.
        """

    @property
    def _who(self) -> str:
        """The optimiser in messages."""
        return f"dt.optim.{type(self).__name__}"

    def __repr__(self) -> str:
        return f"<{self._who} of {in_short(self.parameters)}: {', '.join(self._progress())}>"

    def _repr_html_(self) -> str:
        rows = [
            (one.name, str(one.field.element), str(one.field.shape), _shown_rate(rate))
            for one, rate in zip(self.parameters, self._rates, strict=True)
        ]
        head = ("field", "type", "shape", "learning rate")
        return html_block(f"{self._who}: {', '.join(self._progress())}", html_table(head, rows))

    def _progress(self) -> Iterator[str]:
        rates = dict.fromkeys(map(_shown_rate, self._rates))
        yield f"lr {next(iter(rates)) if len(rates) == 1 else 'by field'}"
        yield counted(self.steps, "step")
        if self.skipped:
            yield f"{self.skipped} skipped"
        if self.grad_norm is not None:
            yield f"norm of the gradient {self.grad_norm:.4g}"

    @property
    def lr(self) -> Rates:
        """The learning rate, as it was given; it may be set again between steps."""
        return self._lr

    @lr.setter
    def lr(self, lr: Rates) -> None:
        rates = of_each(lr, self.parameters, f"{self._who}: lr")
        for rate in rates:
            if not callable(rate):
                number(rate, f"{self._who}: lr")
        self._lr = lr
        self._rates: list[Rate] = rates

    @boundary
    def step(self, *, visible: dt.Field | None = None) -> bool:
        """Move all fields; return False if the step was skipped.

        Args:
            visible: The rows that move: integers, shape (rows,), for fields with so many rows. Rows
                with 0 stay as they are, and so does their state, as if the step had not been. (Such
                a step is called sparse or selective Adam elsewhere.)

        Raises:
            TapeError: A tape is open.
            FieldError: `visible` does not fit the fields.
            SolverError: With `nonfinite="raise"`, a gradient is not finite; nothing was changed.
            LaunchError: A schedule gave no learning rate.
        """
        check_no_tape(f"{self._who}: step()")
        if visible is not None:
            self._check_visible(visible)
        present = self._fetch_tensors()
        if self._had_pass():
            self._fresh.clear_others(self.parameters)
        fields, gradients, counted = self._moved()
        scale = 1.0
        looks = self._nonfinite in ("raise", "skip")
        if looks or self._clip_norm is not None:
            self.grad_norm = self._norm(counted, self._launches, is_divided=self._is_divided)
            if not math.isfinite(self.grad_norm) and looks:
                if self._nonfinite == "raise":
                    wrong = first_not_finite(self.parameters, counted)
                    raise SolverError(
                        f"{self._who}: {wrong}; no field was moved. "
                        "dt.Tape(loss, diagnose=True) says where that comes from, and "
                        "nonfinite='skip' leaves such steps out."
                    )
                self.skipped += 1
                return False
            if self._clip_norm is not None:
                scale = min(1.0, self._clip_norm / (self.grad_norm + 1e-6))
        rates = [
            number(rate(self.steps) if callable(rate) else rate, f"{self._who}: lr")
            for rate in self._rates
        ]
        numbers = [
            self._numbers(self.steps - one.missed, rate, decay)
            for one, rate, decay in zip(self.parameters, rates, self._decays, strict=True)
        ]
        shared = self._nonfinite == "zero" or None, scale, self._clip_value
        for group in self._launches:
            places = [k for k in group if present[k] and fields[k] is not None]
            if not places:
                continue
            split = self.parameters[places[0]].field.split
            move(
                self.rule.change,
                tuple(fields[k] for k in places),
                tuple(gradients[k] for k in places),
                tuple(self._state_of(k) for k in places),
                tuple(numbers[k] for k in places),
                tuple((*shared, *self._bounds[k]) for k in places),
                visible if split is None or visible is None else visible[split.owned[0]],
            )
        if self._shards is not None:
            self._shards.give(self.parameters)
        self.steps += 1
        self._fresh.note(self.parameters)
        for one, moved in zip(self.parameters, present, strict=True):
            if one.tensor is not None:
                one.tensor.stepped(moved)
        return True

    def _made_shards(self, sharded: bool, reduce: str | None) -> Shards | None:
        """Return the division of the fields among ranks, if it is asked for and there are several.

        Raises:
            LaunchError: An option is invalid.
        """
        if reduce not in (None, "sum", "mean"):
            raise LaunchError(f"{self._who}: reduce is 'sum' or 'mean', not {brief(reduce)}.")
        if reduce is not None and not sharded:
            raise LaunchError(
                f"{self._who}: reduce={reduce!r} is for sharded=True. Otherwise the tape combines "
                "gradients, dt.Tape(loss, reduce=dist.Gradients(fields)), or after it "
                "dist.all_reduce(fields)."
            )
        if not sharded:
            return None
        shards = Shards(self.parameters, self._who, reduce)
        return shards if shards.size > 1 else None

    @property
    def _is_divided(self) -> bool:
        """Whether ranks have different gradients, so that all of them make up the norm."""
        return self._shards is not None or any(one.field.split for one in self.parameters)

    def _had_pass(self) -> bool:
        """Tell whether there was a backward pass since the last step, with shards on any rank."""
        had = self._fresh.has_pass
        return bool(agree(float(had), "max")) if self._shards is not None else had

    def _moved(
        self,
    ) -> tuple[Sequence[dt.ArrayLike | None], Sequence[dt.ArrayLike | None], list[OwnedElements]]:
        """Return fields to move and their gradients, None for none, and what counts in the norm."""
        shards = self._shards
        if shards is None:
            fields = [owned_part(one.field, one.field) for one in self.parameters]
            counted = owned_of(self.parameters)
            by_place = {one.place: one.gradient for one in counted}
            return fields, [by_place.get(k) for k in range(len(fields))], counted
        shards.fetch(self.parameters)
        counted = [
            OwnedElements(k, part, is_part=True, start=shards.own[k].start)
            for k, part in enumerate(shards.gradients)
            if part is not None
        ]
        return shards.fields, shards.gradients, counted

    def _state_of(self, k: int) -> tuple[dt.ArrayLike | None, ...]:
        """Return the elements of the state of a parameter that move with it, by slot."""
        one = self.parameters[k]
        fields = map(self.state[one.name].get, self.rule.slots)
        return tuple(f if f is None else owned_part(f, one.field) for f in fields)

    def _fetch_tensors(self) -> list[bool]:
        """Take the gradients of tensors; return which parameters have a gradient."""
        present = [one.tensor is None or one.tensor.fetch() for one in self.parameters]
        self.parameters = tuple(
            one if one.tensor is None else replace(one, field=one.tensor.field)
            for one in self.parameters
        )
        return present

    def _check_visible(self, visible: dt.Field) -> None:
        if self._shards is not None:
            raise FieldError(
                f"{self._who}: with sharded=True fields move whole; 'visible' is for rows."
            )
        if len(visible.shape) != 1 or visible.element_shape or visible.numpy_dtype.kind == "f":
            raise FieldError(
                f"{self._who}: visible is a field of integers of shape (rows,), not "
                f"{brief(visible)}."
            )
        for one in self.parameters:
            if one.field.shape[:1] != visible.shape:
                raise FieldError(
                    f"{self._who}: visible has {counted(len(visible), 'row')}, and {one} has other "
                    "rows. Give fields with other rows an optimiser of their own."
                )

    def zero_grads(self) -> None:
        """Set the gradients of the fields to zero, as a tape does for its fields.

        The `.grad` of tensors becomes None.
        """
        dt.zero_grads([one.field for one in self.parameters])
        for one in self.parameters:
            if one.tensor is not None:
                one.tensor.tensor.grad = None

    def follow(self, change: Change) -> None:
        """Continue with other rows; the state of each row goes with it."""
        for one in self.parameters:
            if one.field.storage in change.fields:
                state = self.state[one.name]
                for slot in state:  # one by one, so that old and new ones are never all there
                    state[slot] = change.beside(state[slot])
        self.parameters = after(self.parameters, change)

    # Saving

    def __getstate__(self) -> dict[str, Any]:
        if self._shards is not None:
            raise FieldError(
                f"{self._who}: a part of an optimiser is not pickled. Save state_dict(), which is "
                "whole, and load it on any number of ranks."
            )
        rows = [rows_of(one.field) for one in self.parameters]
        return vars(self) | {"_fresh": self._fresh.used(self.parameters), "_rows": rows}

    def __setstate__(self, state: dict[str, Any]) -> None:
        state = dict(state)
        used, _ = (state.pop(name) for name in ("_fresh", "_rows"))
        vars(self).update(state)
        follow_rows(self.parameters, self)
        self._fresh = FreshGradients.known(self.parameters, used)

    def state_dict(self) -> dict[str, npt.NDArray[Any]]:
        """Return, as arrays by name, all that later steps depend on except fields and options.

        `np.savez(path, **optimiser.state_dict())` writes them to a file. With `sharded` all ranks
        call it, each gets all of the state, and any number of ranks can load it.
        """
        arrays = (
            {key: field.to_numpy() for key, field in self._state_fields().items()}
            if self._shards is None
            else self._shards.whole(self.parameters, self.state, self._used())
        )
        if self._has_tensors:
            arrays["missed"] = np.array([float(one.missed) for one in self.parameters])
        return {"rule": np.array(type(self).__name__), "steps": np.array(self.steps), **arrays}

    @boundary
    def load_state_dict(self, saved: Mapping[str, npt.ArrayLike]) -> None:
        """Continue from a state that `state_dict` returned, or `np.load` of it.

        Restore rows first if their number has changed since: `rows.from_numpy(saved_rows)`. Nothing
        is changed if an error is raised.

        Raises:
            LaunchError: The state belongs to another optimiser or to other fields, or has numbers
                that are not finite.
            DatasetError: The state is in a file that cannot be read.
            TapeError: A tape is open.
        """
        check_no_tape(f"{self._who}: load_state_dict()")
        wanted = {
            f"{one.name}.{slot}": Wanted(
                (*one.field.shape, *one.field.element_shape),
                state_dtype(one.field),
                slot in self.rule.squares,
            )
            for one in self.parameters
            for slot in self._used()
        }
        if self._has_tensors:
            size = len(self.parameters)
            wanted["missed"] = Wanted((size,), np.dtype(np.float64), square=True)
        steps, arrays = restored(saved, type(self).__name__, wanted)
        for k, one in enumerate(self.parameters):
            for slot, field in self.state[one.name].items():
                values = arrays[f"{one.name}.{slot}"]
                shards = self._shards
                field.from_numpy(values if shards is None else shards.own_part(k, values))
        if self._has_tensors:
            for one, missed in zip(self.parameters, arrays["missed"], strict=True):
                if one.tensor is not None:
                    one.tensor.missed = int(missed)
        self.steps = steps

    @property
    def _has_tensors(self) -> bool:
        return any(one.tensor is not None for one in self.parameters)

    def _state_fields(self) -> dict[str, dt.Field]:
        """Return the fields of the state by parameter and slot: 'w1.mean'."""
        return {
            f"{name}.{slot}": field
            for name, slots in self.state.items()
            for slot, field in slots.items()
        }

    # Options

    def _limit(self, name: str, value: float | None) -> float | None:
        return None if value is None else number(value, f"{self._who}: {name}", above=True)

    def _checked_bounds(self, low: Bound, high: Bound) -> list[tuple[float | None, float | None]]:
        found: list[tuple[float | None, float | None]] = []
        lows = of_each(low, self.parameters, f"{self._who}: low", some=True)
        highs = of_each(high, self.parameters, f"{self._who}: high", some=True)
        for least, most in zip(lows, highs, strict=True):
            pair = tuple(
                None
                if one is None
                else number(one, f"{self._who}: {name}", low=-math.inf, above=True)
                for name, one in (("low", least), ("high", most))
            )
            found.append(cast("tuple[float | None, float | None]", pair))
            if None not in pair and not least <= most:
                raise LaunchError(f"{self._who}: low = {least} is above high = {most}.")
        return found


def _shown_rate(rate: Rate) -> str:
    return "a schedule" if callable(rate) else f"{rate:g}"
