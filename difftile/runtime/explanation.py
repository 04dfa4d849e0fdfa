"""The report of `kernel.explain()`: roles, kept contents, additions, vectors, cuts, costs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from difftile.ad.activity import active_values
from difftile.ad.missing_gradients import Cut, Flow, follow
from difftile.compile.adjoint_plan import AdjointPlan, make_plans
from difftile.compile.arguments import Arguments, field_at
from difftile.compile.specialisation import Specialisation
from difftile.compile.stage import Stage
from difftile.diagnostics import NotDifferentiable, Span, counted, located
from difftile.fields.field import Field
from difftile.frontend.parameters import as_written
from difftile.ir.derived import After, Bar, Before
from difftile.ir.nodes import (
    Accumulate,
    Alloc,
    Array,
    Block,
    For,
    Let,
    Load,
    ParallelFor,
    Program,
    Ruled,
    Stmt,
    Store,
    Value,
    Var,
    While,
)
from difftile.ir.types import FLOATS, I32, scalar_of
from difftile.ir.walk import (
    WRITES,
    bound,
    definitions,
    operands,
    regions,
    rules,
    size_of,
    walk,
)
from difftile.launch.prepared_launch import PreparedLaunch
from difftile.runtime.schedule_report import schedule_report
from difftile.runtime.set_schedule import graded_of
from difftile.runtime.vector_report import vector_report
from difftile.substrate import current_session


def explain(name: str, launch: PreparedLaunch, codes: Sequence[Specialisation]) -> str:
    """Return a report on the fields of a kernel and on the needs of its adjoint.

    Args:
        name: The kernel, in the words of an error.
        launch: The launch that is explained.
        codes: All its specialisations.
    """
    code = launch.code
    as_if, graded = not any(launch.grads()), graded_of(launch)
    seconds = sum(code.seconds for code in codes)
    seconds += sum(one.seconds for code in codes for s in code.stages for one in s.compiled)
    head = f"{name}: {counted(len(codes), 'specialisation')}, compiled in {seconds:.2f} s"
    sections = [head, _parameters(launch), _in_order(code.stages), _runs(launch)]
    if code.rules:
        words = " and ".join(sorted(code.rules))
        sections.append(
            f"A rule of its own: {words}. The rest describes the derivative of the body."
        )
    try:
        plans = make_plans(code, graded)
    except NotDifferentiable as error:
        sections += [schedule_report(launch, ()), vector_report(launch, ())]
        sections.append(f"Adjoint: none. {error}")
    else:
        sections += [
            _kept(plans, launch.values, as_if),
            _adds(plans),
            _loops(plans),
            schedule_report(launch, plans),
            vector_report(launch, plans),
            _cuts(plans, code, graded),
            _rules(plans),
        ]
        if code.streams:
            streams = counted(code.streams, "stream")
            sections.append(f"Random numbers: {streams} a launch; the adjoint draws them again")
        sections.append(_sizes(code, plans))
    return "\n\n".join(section for section in sections if section)


# Runs


def _runs(launch: PreparedLaunch) -> str:
    """Return how launches that repeat run together, or why they do not."""
    if launch.fusion is not None:
        return f"Runs: launched one by one, because {launch.fusion}"
    return f"Runs: launches that repeat are one program ({launch.fused})" if launch.fused else ""


# Parameters


def _parameters(launch: PreparedLaunch) -> str:
    rows = [f"  {name}: {role}, {type_}" for name, role, type_ in parameter_rows(launch)]
    return "\n".join(("Parameters", *rows))


def parameter_rows(launch: PreparedLaunch) -> Iterator[tuple[str, str, str]]:
    """Yield name, role and type of each parameter."""
    code = launch.code
    stages = code.stages
    hidden = {temp.storage for temp in code.temps}
    for k, (param, value) in enumerate(zip(code.params, launch.values, strict=True)):
        if isinstance(value, Field) and isinstance(param, Array):
            if value.storage not in hidden:
                grad = ", with gradient" if value.has_grads else ""
                type_ = f"{value.element} {value.shape}{grad}"
                yield param.name, _role(param, stages), type_
        elif isinstance(param, Var) and not (code.streams and 0 <= k - code.drawn_at < 2):
            scalar = scalar_of(param.type)
            kind = "float" if scalar in FLOATS else "int" if scalar == I32 else str(scalar)
            name = as_written(param.name)
            yield name, kind, "a constant to derivatives"


def _role(array: Array, stages: Iterable[Stage]) -> str:
    stmts = [s for stage in stages for s in walk(stage.program.body)]
    read = any(isinstance(s, Load) and s.array is array for s in stmts)
    writes = [s for s in stmts if isinstance(s, WRITES) and s.array is array]
    if not writes:
        return "In" if read else "not used"
    if not read and all(isinstance(s, Accumulate) for s in writes):
        return "Sum"
    return "InOut" if read or not all(isinstance(s, Store) for s in writes) else "Out"


def _in_order(stages: Iterable[Stage]) -> str:
    """Return the loops that are not parallel, with the locals that order their iterations."""
    lines: dict[str, None] = {}
    for stage in stages:
        for stmt in _at_top(stage.program.body):
            names = ", ".join(dict.fromkeys(f"'{one.name}'" for one in stmt.carries if one.name))
            if stmt.span is not None:
                lines[f"  line {stmt.span.line}{f': carries {names}' if names else ''}"] = None
    return "\n".join(("Loops that one thread runs, in order", *lines)) if lines else ""


def _at_top(block: Block) -> Iterable[For | While]:
    for stmt in block.stmts:
        if isinstance(stmt, (For, While)):
            yield stmt
        elif not isinstance(stmt, ParallelFor):
            for region in regions(stmt):
                yield from _at_top(region)


# The needs of the adjoint


def _kept(plans: Sequence[AdjointPlan], values: Arguments, as_if: bool) -> str:
    lines: list[str] = []
    total = 0
    for plan in plans:
        if plan.adjoint is None:
            continue
        program, bars = plan.adjoint.code.program, plan.adjoint.fields(Bar)
        before, after = plan.adjoint.fields(Before), plan.adjoint.fields(After)
        arrays = [*before.values(), *after.values()]
        for number, (array, k) in enumerate(zip(arrays, plan.kept, strict=True)):
            when = "before" if number < len(before) else "after"
            nbytes = field_at(values, k).nbytes
            total += nbytes
            lines.append(f"  {plan.code.params[k].name} as it is {when} it, {nbytes} bytes")
            needing = _needing(program, array, tuple(bars.values()))
            lines += [f"    for {located(span)}" for span in needing]
    title = "Kept for the adjoint"
    title += ", if all float fields had gradients" if as_if else ""
    title += f": at most {total} bytes a launch, where a later one overwrites them"
    return "\n".join((title, *lines)) if lines else f"{title.split(':')[0]}: nothing"


def _needing(program: Program, array: Array, bars: tuple[Array, ...]) -> list[Span]:
    """Return the user's expressions whose adjoints use a field's contents, or follow from them.

    Args:
        program: The adjoint.
        array: The field.
        bars: The gradients.
    """
    stmts = list(walk(program.body))
    adjoints = active_values(program, (*bars, *program.temps))
    follows: set[Value] = {s.out for s in stmts if isinstance(s, Load) and s.array is array}
    found: dict[Span, None] = {}
    while True:
        before = len(follows)
        for stmt in stmts:
            inside = (result for region in regions(stmt) for result in region.results)
            if not any(v in follows for v in (*operands(stmt), *inside)):
                continue
            made = {*definitions(stmt), *bound(stmt)}
            follows |= made - adjoints
            adds = isinstance(stmt, Accumulate) and any(i in follows for i in stmt.index)
            if stmt.span is not None and (adds or (isinstance(stmt, Let) and made & adjoints)):
                found[stmt.span] = None
        if len(follows) == before:
            break
    return sorted(found, key=lambda span: (span.line, span.column))


def _adds(plans: Sequence[AdjointPlan]) -> str:
    found: dict[str, None] = {}
    for plan in plans:
        if plan.adjoint is None:
            continue
        bars = {bar: field for field, bar in plan.adjoint.fields(Bar).items()}
        for task in plan.adjoint.code.program.body.stmts:
            for stmt in walk(Block((task,))):
                if isinstance(stmt, Accumulate) and stmt.array in bars:
                    name = bars[stmt.array].name
                    found[f"  the gradient of {name}: {_manner(task, stmt, plan)}"] = None
    return "\n".join(("How the adjoint adds up", *found)) if found else ""


def _manner(task: Stmt, stmt: Accumulate, plan: AdjointPlan) -> str:
    if not isinstance(task, ParallelFor):
        return "in order, by one thread"
    if stmt.atomic:
        blocked = any(isinstance(s, For) and s.span == task.span for s in task.body.stmts)
        if blocked:
            return "summed in blocks, one atomic addition each"
        others = ", or copies for threads, or one thread" if current_session().on_host else ""
        return f"atomic{others}, {located(stmt.span)}"
    assert plan.adjoint is not None
    (array,) = (a for a, bar in plan.adjoint.fields(Bar).items() if bar is stmt.array)
    loads = [
        (loop, s)
        for loop in plan.stage.program.body.stmts
        if isinstance(loop, ParallelFor)
        for s in walk(loop.body)
        if isinstance(s, Load) and s.array is array and s.span == stmt.span
    ]
    if any(s.index[: array.type.ndim] != loop.indices[: array.type.ndim] for loop, s in loads):
        return "gathered, each element by an iteration of its own"
    return "each element by its own iteration, not atomic"


def _loops(plans: Sequence[AdjointPlan]) -> str:
    lines: dict[str, None] = {}
    for plan in plans:
        if plan.adjoint is None:
            continue
        stmts = list(walk(plan.adjoint.code.program.body))
        runs = Counter(s.span for s in stmts if isinstance(s, (For, While)))
        kept: dict[Span | None, int] = {}
        for stmt in stmts:
            if isinstance(stmt, Alloc):
                kept[stmt.span] = kept.get(stmt.span, 0) + (stmt.array.size or 0)
        for stmt in walk(plan.stage.program.body):
            if isinstance(stmt, (For, While)) and stmt.span is not None:
                how = "is not needed"
                if stmt.span in kept:
                    again = runs[stmt.span] > 2  # forwards and backwards
                    how = "runs again from checkpoints" if again else "keeps its values"
                    how += f", {kept[stmt.span]} numbers a thread"
                elif stmt.span in runs:
                    how = "runs backwards without checkpoints"
                lines[f"  line {stmt.span.line}: {how}"] = None
    return "\n".join(("Loops in the adjoint", *lines)) if lines else ""


# Cuts and rules


def _cuts(plans: Sequence[AdjointPlan], code: Specialisation, graded: Sequence[bool]) -> str:
    pairs = zip(code.params, graded, strict=True)
    sources = {param for param, has in pairs if has and isinstance(param, Array)}
    found: dict[Cut, None] = {}
    flows = {array: Flow(True) for array in sources}
    for plan in plans:
        passage = follow(plan.stage.program, flows, sources)
        for flow in passage.flows.values():
            found |= dict.fromkeys(flow.cuts)
        flows |= passage.flows
    ordered = sorted(found, key=_place)
    lines = [f"  {located(cut.span)}: {cut.reason}" for cut in ordered]
    title = "Cut: values that depend on fields with gradients without a derivative"
    return "\n".join((title, *lines)) if lines else ""


def _place(cut: Cut) -> tuple[int, int, str]:
    return (0, 0, cut.reason) if cut.span is None else (cut.span.line, cut.span.column, cut.reason)


def _rules(plans: Sequence[AdjointPlan]) -> str:
    lines: dict[str, None] = {}
    for stmt in (stmt for plan in plans for stmt in walk(plan.stage.program.body)):
        if isinstance(stmt, Ruled) and rules(stmt):
            approximate = any(rule.approximate for rule in rules(stmt))
            lines[
                f"  {located(stmt.span)}{', an approximate derivative' if approximate else ''}"
            ] = None
    return "\n".join(("Derivatives by rules", *lines)) if lines else ""


# Sizes


def _sizes(code: Specialisation, plans: Sequence[AdjointPlan]) -> str:
    lines = [f"  {step}: {counted(size, 'statement')}" for step, size in code.sizes.items()]
    several = len(plans) > 1
    for k, plan in enumerate(plans, 1):
        stage = plan.stage
        which = f" of stage {k}" if several else ""
        lines.append(
            f"  forward{which}: {counted(size_of(stage.primal.code.program), 'statement')}"
        )
        if plan.adjoint is not None:
            size = counted(size_of(plan.adjoint.code.program), "statement")
            lines.append(f"  adjoint{which}: {size}")
    return "\n".join(("Programs on the way", *lines))
