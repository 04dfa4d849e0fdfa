"""`@dt.kernel`: specialising a function on its arguments, and launching it."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Hashable, Iterator, Mapping
from contextlib import suppress
from types import FunctionType
from typing import Any, TypeAlias, overload

from difftile.compile.annotations import Kind
from difftile.compile.arguments import Arguments, CallArgs, CallKwargs
from difftile.compile.by_name import ByName
from difftile.compile.compile_function import check_rule, compile_kernel
from difftile.compile.definition import Body, Definition
from difftile.compile.func import Func, plain, watch
from difftile.compile.methods import BoundKernel, check_class, is_data_oriented
from difftile.compile.redefinition import redefines
from difftile.compile.specialisation import Specialisation
from difftile.compile.stage import Adjoint, Wishes
from difftile.diagnostics import (
    DifftileError,
    KernelError,
    LaunchError,
    brief,
    counted,
    did_you_mean,
)
from difftile.fields.field import Field
from difftile.fields.pending import PENDING, run_pending
from difftile.fields.recording import RECORDING
from difftile.frontend.annotations import resolve
from difftile.habits import taught
from difftile.ir.nodes import Array
from difftile.ir.types import Type, is_float
from difftile.launch.captured import captured, current_captures
from difftile.launch.copied_arguments import CopiedArguments
from difftile.launch.forms import opened_again
from difftile.launch.overlaps import check_apart, detached_and_written
from difftile.launch.parse_arguments import HostArrays, parse_arguments
from difftile.launch.parsed_arguments import ParsedArguments
from difftile.launch.prepared_launch import PreparedLaunch, RecentLaunches, invariant_key
from difftile.linearization.sweep import forward_of
from difftile.markup import html_block, html_lines, html_table, prompt_text
from difftile.ops.vocabulary import RuleMeaning, is_lambda
from difftile.runtime.calls import performer
from difftile.runtime.explanation import explain, parameter_rows
from difftile.runtime.explicit import (
    run_adjoint,
    run_adjoint_of_step,
    run_tangents,
    run_tangents_of_step,
)
from difftile.runtime.number_flow import Places, numbers_in_fields
from difftile.runtime.queue import QUEUE
from difftile.runtime.ruled_launch import RuledLaunch, rule_arguments
from difftile.runtime.set_schedule import check_launch, check_lines, with_steps
from difftile.substrate import LOCK, Native, Session, current_session, raise_first
from difftile.tracebacks import boundary, shorten

Compiled: TypeAlias = dict[Hashable, list[Specialisation]]
Steps: TypeAlias = dict[str, Mapping[int, str]]
"""The steps that are set for parallel loops, as `Wishes`."""


@taught("kernel", "A kernel")
class Kernel(ByName):
    """A kernel: call it with fields and numbers to launch it.

    The first call compiles the kernel for the types of its arguments; shapes are run-time values.

    Args:
        function: The function.
        body: Its body, if that is not what the function says.
        compiled: The compiled code of a kernel with the same body, which this one shares.
        steps: The steps that are set for its parallel loops, which come with the code.

    Attributes:
        batches: The compiled code of its batches, whatever their numbers of worlds are.
        natives: Native kernels of the library's own that may run instead of the kernel, under
            'kernel', and of its rules, under 'backward' and 'forward'.
    """

    _is_difftile_kernel = True

    def __init__(
        self,
        function: FunctionType,
        body: Body | None = None,
        compiled: Compiled | None = None,
        steps: Steps | None = None,
    ) -> None:
        self.function = function
        resolve(function)
        functools.update_wrapper(self, function)
        self._body = Definition(function) if body is None else body
        self._signature = inspect.Signature(self._body.parameters)
        self._names = [p.name for p in self._body.parameters]
        self._specialisations: Compiled = {} if compiled is None else compiled
        self._steps: Steps = {} if steps is None else steps
        self.batches: dict[Hashable, tuple[Compiled, Steps]] = {}
        self._latest: Specialisation | None = None
        self._launches = RecentLaunches()
        self._rules: dict[str, RuleMeaning] = {}
        self.natives: dict[str, Native] = {}
        self._places: Places = {}
        watch(self)

    @functools.cached_property
    def _kinds(self) -> list[Kind]:
        return list(self._body.kinds.values())

    def forget(self) -> None:
        """Invalidate the compiled code: funcs that the kernel calls have changed."""
        run_pending()
        self._specialisations.clear()
        self._launches.clear()

    def forget_launch(self) -> None:
        """Discard prepared launches: fields have changed their types."""
        run_pending()
        self._launches.clear()

    def __repr__(self) -> str:
        return self._body.title

    def _repr_html_(self) -> str:
        return html_block(self._body.title.strip("<>"), *self._about())

    def _about(self) -> Iterator[str]:
        """Yield HTML of the latest launch: its parameters and its compiled code."""
        launch = self._launches.latest
        if launch is None:
            yield html_lines(["compiled at its first launch"])
            return
        yield html_table(("parameter", "role", "type"), parameter_rows(launch))
        count = sum(len(codes) for codes in self._specialisations.values())
        rules = "".join(f", with a {word} rule" for word in self._rules)
        yield html_lines([f"{counted(count, 'specialisation')}{rules}"])

    def __get__(self, instance: object, owner: type | None = None) -> Any:
        """Return the kernel as a method of an object."""
        if instance is None:
            return self
        if not is_data_oriented(instance):
            check_class(f"Kernel '{self.function.__name__}'", instance)
        return BoundKernel(self, instance)

    def __call__(self, *args: object, **kwargs: object) -> Any:
        """Launch the kernel; on an open tape the launch is recorded.

        Returns:
            The result of the kernel: a Python number, an array of the components of a vector or
            matrix, or a tuple of such values. Passed to another kernel on the same tape, a number
            carries its gradient.

        Raises:
            LaunchError: The arguments do not fit the parameters.
            KernelError: The body is not a program of the kernel language.
            IndexOutOfRange: An index would leave a shape; the kernel was not launched. Or, under
                debug, an index that depends on the contents of fields has left one; the launch has
                run to its end.
            IntegerTooLarge: The same of an index or a bound of a loop that does not fit 32 bits.
            DivisionByZero: The same of an integer that is divided by zero.
            AssertionFailure: Under debug an assertion does not hold; the launch has run to its end.
        """
        try:
            if PENDING.run is not None and not kwargs and QUEUE.takes(self, args):
                return None
            recording = RECORDING.get()
            body = recording.body
            if body is not None:
                args, kwargs = body.numbers(self._bind(args, kwargs)), {}
            try:
                if recording.recorder is not None and not recording.constant:
                    args, kwargs = numbers_in_fields(self, args, kwargs, self._places)
                found = None if kwargs else self._launches.repeated(args)
                launch, values = found or self._ready(args, kwargs)
            except HostArrays:
                return self._call_with_copies(args, kwargs)
            if body is not None:
                body.launched(launch)
            return launch.perform(self, launch, values, recording, args, kwargs)
        except Exception as error:
            shorten(error)
            raise

    def _call_with_copies(self, args: CallArgs, kwargs: CallKwargs) -> Any:
        """Launch on a device with arrays of the host among the arguments."""
        if kwargs or len(args) != len(self._names):
            args = self._bind(args, kwargs)
        copies = CopiedArguments(self, args, self._names, self._kinds)
        found = self(*copies.args)
        copies.put_back()
        return found

    @boundary
    def bwds(self, *args: object, **kwargs: object) -> None:
        """Run the adjoint of one launch, without a tape.

        The arguments are the same as for the launch. Fields hold their contents from before it,
        and hold them afterwards as well. The adjoint reads `grad_in` of the fields that the launch
        writes and adds to `grad_out` of the fields that it reads. The gradient of a field that is
        only written stays unchanged; where a field is both, its one gradient changes from the
        gradient of the contents after the launch to the gradient of the contents before. Kernels
        that draw random numbers draw the numbers of their last launch again.

        Raises:
            LaunchError: The arguments do not fit, a tape is open, or no gradient comes in.
            KernelError: The body is not a program of the kernel language, or has no adjoint.
        """
        with LOCK:
            launch, values = self._ready_without_tape("bwds", args, kwargs)
            if launch.code.streams:
                launch.draw_again(values)
            if "backward" in self._rules:
                step = self.ruled("backward", launch, values, args, kwargs)
                run_adjoint_of_step(repr(self), step)
            else:
                run_adjoint(repr(self), launch, values)

    @boundary
    def fwds(self, *args: object, **kwargs: object) -> None:
        """Launch the kernel and push tangents through the launch, without a tape.

        Gradient buffers hold the tangents: `grad_out` for the contents before the launch, `grad_in`
        for the contents after it; one buffer serves as both by default. Tangents are set and not
        added to. For a kernel with a backward rule and without a forward rule, the transpose of
        the backward is used.

        Raises:
            LaunchError: The arguments do not fit, a tape is open, or no field has a gradient.
            KernelError: The body is not a program of the kernel language.
        """
        with LOCK:
            launch, values = self._ready_without_tape("fwds", args, kwargs)
            if launch.code.streams:
                launch.draw_anew(values)
            if self._rules:
                word = "backward" if "backward" in self._rules else "forward"
                step = self.ruled(word, launch, values, args, kwargs)
                run_tangents_of_step(repr(self), forward_of(step))
            else:
                run_tangents(repr(self), launch, values)
            if launch.session.debug:
                raise_first()

    # Rules

    def backward(self, rule: object = None, *, approx: bool = False) -> Any:
        """Give the kernel a backward rule; a decorator.

        The rule is a kernel over the same parameters, which reads `grad_in` of the fields that the
        kernel writes, and adds to `grad_out` of fields that it reads: `x.grad_out[i] += ...`.
        Fields hold their contents from before the launch; fields that the kernel writes and does
        not read hold their contents from after it; `x.before[i]` and `x.after[i]` ask for either.
        Elements that the kernel stores have lost the gradient of their former contents, as always.
        The body of the kernel is not differentiated any more.

        Args:
            rule: A function, or a kernel.
            approx: Whether reports name the rule as an approximate derivative.

        Raises:
            LaunchError: The rule is not a function, has other parameters, or there is one already.
        """
        return self._with_rule("backward", rule, approx)

    def forward(self, rule: object = None, *, approx: bool = False) -> Any:
        """Give the kernel a forward rule; a decorator.

        As `backward`, but `grad_out` of a field is the tangent of its contents before the launch,
        which the rule reads, and `grad_in` the tangent of its contents after it, which it sets.

        Args:
            rule: A function, or a kernel.
            approx: Whether reports name the rule as an approximate derivative.

        Raises:
            LaunchError: The rule is not a function, has other parameters, or there is one already.
        """
        return self._with_rule("forward", rule, approx)

    @property
    def body(self) -> Body:
        """The function, or the program made from one."""
        return self._body

    @property
    def rules(self) -> dict[str, RuleMeaning]:
        """The rules of the kernel: 'backward', 'forward'."""
        return dict(self._rules)

    @boundary
    def _with_rule(self, word: str, rule: object, approx: bool) -> Any:
        if rule is None:
            return functools.partial(self._with_rule, word, approx=approx)
        function = rule.function if isinstance(rule, Kernel) else plain(rule)
        if word in self._rules and not redefines(function, self._rules[word].function):
            raise LaunchError(f"{self!r} has a {word} rule already; remove one of the two.")
        check_rule(self.function, function, word)
        self._rules[word] = RuleMeaning(function, approx)
        self.forget()
        return rule

    def ruled(
        self,
        word: str,
        launch: PreparedLaunch,
        values: Arguments,
        args: CallArgs,
        kwargs: CallKwargs,
    ) -> RuledLaunch:
        """Return a launch whose derivative is computed by a rule."""
        if kwargs or len(args) != len(self._names):
            args = self._bind(args, kwargs)
        opened = opened_again(launch.several, args)
        if opened is None:
            raise LaunchError(f"{self!r}: an argument changed while the kernel was launched.")
        own = values[: launch.captured_at]
        rules = {
            word: (rule, rule_arguments(rule, launch, own, opened))
            for word, rule in launch.code.rules.items()
        }
        approximate = self._rules[word].approximate
        name = self.function.__name__
        return RuledLaunch(name, launch, values, rules, word, approximate=approximate)

    # Launches

    def _ready_without_tape(
        self, method: str, args: CallArgs, kwargs: CallKwargs
    ) -> tuple[PreparedLaunch, Arguments]:
        """Return the prepared launch for derivatives without a tape."""
        recording = RECORDING.get()
        if recording.recorder is not None:
            raise LaunchError(
                f"{self!r}: {method}() is for launches without a tape, and one is open."
            )
        run_pending()
        launch, values = self._ready(args, kwargs)
        launch.check_if_suspect(values)
        for one in launch.derived:
            one.refresh()
            if one.has_grads:
                raise LaunchError(
                    f"{self!r}: {method}() passes derivatives through one launch only, and {one!r} "
                    "follows from other fields: launch the kernel on a tape."
                )
        return launch, values

    def _ready(self, args: CallArgs, kwargs: CallKwargs) -> tuple[PreparedLaunch, Arguments]:
        """Return the prepared launch for some arguments, and the values of its parameters."""
        if kwargs or len(args) != len(self._names):
            args = self._bind(args, kwargs)
        session = current_session()
        found, _kept = self._launches.find(args, session)
        if found is None:
            with LOCK:
                launch = self._prepare(args, session)
            found = launch, launch.values.copy()
        self._latest = found[0].code
        return found

    def prepared(self, args: CallArgs) -> tuple[PreparedLaunch, Arguments]:
        """Return the prepared launch for some arguments, and the values of its parameters.

        Raises:
            LaunchError: The arguments do not fit the parameters.
            KernelError: The body is not a program of the kernel language.
            IndexOutOfRange: An index would leave a shape.
        """
        launch, values = self._ready(args, {})
        launch.check_if_suspect(values)
        return launch, values

    def _prepare(self, args: CallArgs, session: Session) -> PreparedLaunch:
        """Find or compile the specialisation for some arguments, and bind it to their fields."""
        parsed = parse_arguments(self, self._body, args, session)
        code, outside = self._specialise(parsed, session)
        mixed = ""
        if len({one.storage for one in parsed.arrays.values()}) < len(parsed.arrays):
            mixed = detached_and_written(code, parsed.values)
        if mixed:
            parsed = parse_arguments(self, self._body, args, session, joined=True)
            code, outside = self._specialise(parsed, session)
        if outside:  # arguments that overlap are parts of one field already
            check_apart([one for one in (*parsed.values, *outside) if isinstance(one, Field)])
        drawn = (0, 0) if code.streams else ()
        values: Arguments = [*parsed.values, *outside, *drawn, *code.temps]
        opened = tuple(parsed.args)
        invariant = invariant_key(sorted(parsed.others))
        positions = {name: position for name, position, _ in parsed.objects}
        launch = PreparedLaunch(
            code,
            values,
            tuple(parsed.numbers),
            tuple(parsed.objects),
            invariant,
            invariant(opened),
            captured(code.captures, opened, positions, values, len(parsed.values)),
            parsed.arrays,
            len(parsed.values),
            tuple(parsed.statics),
            tuple(parsed.several),
            mixed,
        )
        if session is not current_session():
            raise LaunchError(
                f"{self!r}: dt.init() was called while its launch was prepared; launch it again."
            )
        if launch.suspect is not None:
            # Before other threads see the launch: the check finds numbers that need no checks.
            with suppress(KernelError):  # which the launch raises
                launch.check(launch.values)
        launch.perform = performer(launch, frozenset(self._rules))
        self._launches.add(launch)
        return launch

    def _specialise(
        self, parsed: ParsedArguments, session: Session
    ) -> tuple[Specialisation, Arguments]:
        """Return the specialisation for some arguments, and the values that it captures."""
        key = tuple(parsed.key)
        for code in self._specialisations.get(key, ()):
            if code.session is session:
                outside = current_captures(code.captures, parsed.arrays, parsed.known)
                if outside is not None:
                    return code, outside
        name, meanings = self.function.__name__, parsed.meanings
        given = self._body, self._rules, parsed.signature, meanings, session, self.natives
        code = compile_kernel(name, *given)
        if self._steps:
            check_lines(self.function, code, self._steps)
            code.wish(dict(self._steps))
        self._specialisations.setdefault(key, []).append(code)
        outside = current_captures(code.captures, parsed.arrays, parsed.known)
        if outside is None:
            raise LaunchError(
                f"{self!r}: a captured name changed while the kernel was compiled; launch it again."
            )
        return code, outside

    def _bind(self, args: CallArgs, kwargs: CallKwargs) -> CallArgs:
        for name in kwargs:
            if name not in self._names:
                guess = did_you_mean(name, self._names) or f"it has {', '.join(self._names)}."
                raise LaunchError(f"{self!r} has no argument '{name}'; {guess}")
        try:
            bound = self._signature.bind(*args, **kwargs)
        except TypeError as error:
            raise LaunchError(f"{self!r}: {error}.") from None
        bound.apply_defaults()
        return tuple(bound.arguments[name] for name in self._names)

    def result_types(self, *args: object, **kwargs: object) -> tuple[Type, ...]:
        """Return the types of the kernel's results for some arguments, without a launch."""
        result = self._ready(args, kwargs)[0].code.result
        return () if result is None else result.types

    # Looking inside

    @boundary
    @prompt_text
    def source(self, mode: str = "forward") -> str:
        """Return the Taichi source of the latest specialisation.

        Args:
            mode: "forward" or "adjoint"; the adjoint is that for gradients of all float fields.

        Raises:
            LaunchError: The kernel has not been launched yet, or the mode is unknown.
        """
        if mode not in ("forward", "adjoint"):
            raise LaunchError(f"source(mode) is 'forward' or 'adjoint', not {brief(mode)}.")
        if self._latest is None:
            raise LaunchError(f"{self!r} is compiled on its first launch; launch it before.")
        texts: list[str] = []
        for stage in self._latest.stages:
            if mode == "forward":
                texts.append(stage.primal.code.source())
                continue
            params = (*stage.program.params, *stage.program.temps)
            wanted = frozenset(
                p for p in params if isinstance(p, Array) and is_float(p.type.element)
            )
            adjoint = stage.code(Adjoint(wanted))
            if adjoint is not None:
                texts.append(adjoint.code.source())
        return "\n\n".join(texts if mode == "forward" else reversed(texts))

    @boundary
    @prompt_text
    def explain(self, *args: object, **kwargs: object) -> str:
        """Return a report on the kernel's parameters and on the needs of its adjoint.

        The report names roles, the contents that a tape keeps and the expressions that need them,
        atomic additions, how loops run backwards, where gradients are cut, rules, and the time that
        compiling took.

        Args:
            args: The arguments of a launch, which is compiled and not run; without arguments, the
                latest launch.
            kwargs: The same by name.

        Raises:
            LaunchError: The kernel has not been launched yet and no arguments are given, or they do
                not fit.
        """
        if args or kwargs or not self._names:
            self._ready(args, kwargs)
        if self._launches.latest is None:
            raise LaunchError(
                f"{self!r} is compiled on its first launch; launch it before, or give explain() "
                "the arguments of a launch."
            )
        return explain(repr(self), self._launches.latest, self._codes())

    @property
    def latest_launch(self) -> PreparedLaunch | None:
        """The latest launch, or the latest that was explained."""
        return self._launches.latest

    def _codes(self) -> list[Specialisation]:
        return [code for several in self._specialisations.values() for code in several]

    @boundary
    def schedule(self, stage: str, line: int, steps: str | None) -> Kernel:
        """Set how a parallel loop runs, in launches from now on.

        `explain()` lists the loops by stage and line, and the steps that they have. A launch in
        which the loop cannot have the steps raises an error. Kernels whose steps are set are not
        fused with other launches. Under debug and on arch="python" programs run as they are
        written.

        Args:
            stage: "forward", "adjoint" or "tangent".
            line: The line of the loop in your file.
            steps: The steps, such as "serial", "threads", "threads, copies(y)" or
                "grid, lanes(32)"; None for the automatic choice at each launch.

        Returns:
            The kernel, so that calls can be chained.

        Raises:
            ScheduleMismatch: There is no such stage, loop or step, or the loop cannot have the
                steps in the latest launch. Before the first launch, that launch raises it.
        """
        run_pending()
        with LOCK:
            before = dict(self._steps)
            after = with_steps(self.function, before, stage, line, steps)
            launch = self._launches.latest
            try:
                self._set_steps(after)
                if launch is not None and steps is not None:
                    check_lines(self.function, launch.code, {stage: {line: steps}})
                    if launch.session.schedules:
                        check_launch(self.function, launch, {stage: {line: steps}})
            except DifftileError:
                self._set_steps(before)
                raise
            self._launches.rebind()
        return self

    def _set_steps(self, steps: Wishes) -> None:
        self._steps.clear()
        self._steps.update(steps)
        for code in self._codes():
            code.wish(steps)


@overload
def kernel(function: object) -> Kernel: ...
@overload
def kernel() -> Callable[[object], Kernel]: ...
@boundary
def kernel(function: object = None) -> Any:
    """Make a function a kernel; the decorator `@dt.kernel`, or `@dt.kernel()`.

    Raises:
        LaunchError: The object is not a plain Python function.
    """
    if function is None:
        return kernel
    if isinstance(function, (Kernel, Func)):
        kind = "a kernel" if isinstance(function, Kernel) else "a func"
        raise LaunchError(f"{function!r} is {kind} already; remove one of the two decorators.")
    if not isinstance(function, FunctionType):
        raise LaunchError(f"@dt.kernel decorates a function, not {brief(function)}.")
    if is_lambda(function):
        raise LaunchError("@dt.kernel decorates a 'def': a lambda can only be a func.")
    return Kernel(function)
