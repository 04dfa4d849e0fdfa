"""The parts of the library, and which may import which."""

from __future__ import annotations

_COMPILER = {"diagnostics", "habits", "ir", "ops", "records"}
_SHOWN = {"markup", "tracebacks", "user_line"}
_LOWERED = _COMPILER | _SHOWN | {"lang"}
_RUNNING = _LOWERED | {"frontend", "passes", "schedule", "ad", "meaning", "substrate", "fields"}

_RECORDED = _RUNNING | {"compile", "launch", "fusion", "recording"}
_LANGUAGE = _RECORDED | {"linearization", "diagnosis", "runtime"}

# Every package and module of `difftile`, and the others that it may import.
ALLOWED: dict[str, set[str]] = {
    "records": set(),
    "diagnostics": {"records"},
    "habits": {"diagnostics"},
    "files": {"diagnostics"},
    "ir": {"diagnostics", "records"},
    "ops": {"diagnostics", "ir", "records"},
    "lang": _COMPILER,
    "frontend": _COMPILER,
    "passes": _COMPILER,
    "schedule": _COMPILER | {"passes"},
    "ad": _COMPILER | {"passes"},
    "meaning": _COMPILER,
    "uncollected": set(),
    "compiling": set(),
    "user_line": {"records"},
    "ranks": {"diagnostics", "records"},
    "substrate": _COMPILER
    | {"lang", "caches", "compiling", "meaning", "passes", "ranks", "releases", "schedule"}
    | {"uncollected"},
    "keywords": {"diagnostics", "habits"},
    "tracebacks": {"diagnostics", "keywords"},
    "markup": set(),
    "fields": _LOWERED | {"files", "substrate"},
    "compile": _RUNNING | {"compiling", "uncollected"},
    "launch": _RUNNING | {"compile", "releases"},
    "fusion": _RUNNING | {"compile", "compiling", "launch"},
    "recording": _RUNNING | {"compile", "launch", "fusion", "ranks"},
    "linearization": _RECORDED,
    "diagnosis": _RECORDED,
    "runtime": _RECORDED | {"linearization", "diagnosis"},
    "solvers": _LANGUAGE | {"ranks"},
    "optim": _LANGUAGE | {"files", "ranks", "solvers"},
    "transforms": _LANGUAGE,
    "jax": _LANGUAGE | {"interop", "optim", "transforms"},
    "torch": _LANGUAGE | {"interop", "optim", "transforms"},
    "testing": _LANGUAGE | {"ranks"},
    "interop": _LANGUAGE | {"transforms"},
    "textures": _LANGUAGE,
    "rotations": _LANGUAGE | {"textures"},
    "packed": _LANGUAGE,
    "prefix_sums": _LANGUAGE,
    "sorting": _LANGUAGE | {"prefix_sums"},
    "geometry": _LANGUAGE | {"prefix_sums", "sorting"},
    "render": _LANGUAGE | {"geometry", "prefix_sums", "rotations", "sorting", "textures"},
    "distributed": _LANGUAGE
    | {"files", "markup", "optim", "prefix_sums", "progress", "ranks", "solvers", "transforms"},
    "datasets": {"diagnostics", "files", "progress", "tracebacks"},
    "training": _LANGUAGE
    | {
        "arguments",
        "datasets",
        "distributed",
        "files",
        "optim",
        "prefix_sums",
        "progress",
        "ranks",
        "render",
        "rotations",
        "signals",
        "sorting",
    },
    "worlds": _LANGUAGE
    | {"arguments", "files", "optim", "progress", "rotations", "signals", "torch", "viewer"},
    # Apps show fields, regardless of their origin.
    "viewer": _RUNNING | {"ranks"},
    "__init__": {
        "datasets",
        "diagnostics",
        "distributed",
        "fields",
        "geometry",
        "habits",
        "jax",
        "compile",
        "lang",
        "launch",
        "ops",
        "runtime",
        "solvers",
        "optim",
        "packed",
        "prefix_sums",
        "render",
        "rotations",
        "sorting",
        "testing",
        "textures",
        "torch",
        "training",
        "transforms",
        "caches",
        "uncollected",
        "viewer",
    },
    # The command line stands apart: it answers without starting Taichi.
    "arguments": set(),
    "announcing": {"ranks", "ticking"},
    "progress": {"ranks", "ticking"},
    "signals": set(),
    "ticking": set(),
    "releases": set(),
    "caches": set(),
    "cli": {"arguments"},
    "commands": _LANGUAGE
    | {"announcing", "arguments", "files", "progress", "ranks", "releases", "ticking"},
    "__main__": {"cli"},
}
# The packages that a user could have written: they import `difftile`, its files and its errors, and
# for the table above each public name is an import of the module that it comes from.
VILLAGE: set[str] = {
    *("datasets", "geometry", "optim", "packed", "render", "rotations"),
    *("textures", "training", "viewer", "worlds"),
}
# Packages whose steps and sweeps are the engine's own. They import inner modules as the table above
# permits, and public names from `difftile` as well (decision 145).
ENGINE_USERS: set[str] = {"distributed", "solvers"}
VILLAGE_IMPORTS: set[str] = {
    *("difftile", "difftile.diagnostics", "difftile.files"),
    "difftile.ranks",  # the engines between processes, which know no fields
    *("difftile.arguments", "difftile.progress"),  # which demos import as well
    "difftile.signals",  # of the process, which know nothing of the language
}
# What else they import: the module, the packages that do, and why it is not public.
INNER: dict[str, tuple[set[str], str]] = {
    "difftile.distributed.messaging": ({"training"}, "messages of parts of memory, without copies"),
    "difftile.fields.exchange": (
        {"optim", "render", "textures"},
        "arrays of users, or errors in the words of fields",
    ),
    "difftile.fields.recording": (
        {"optim", "render", "training"},
        "steps that are prepared once hide their launches themselves; what may vary, and what is "
        "observed, decides which launches they leave out; errors of calls on a tape",
    ),
    "difftile.fields.rows": ({"optim", "training"}, "followers are told how rows have changed"),
    "difftile.fields.storage": ({"training"}, "gradients of earlier contents, sent in place"),
    "difftile.habits": ({"optim"}, "hints about names of other libraries"),
    "difftile.ir.nodes": ({"render"}, "the program that a native kernel stands for"),
    "difftile.ir.types": ({"render"}, "the types of its parameters"),
    "difftile.linearization.flat": ({"optim"}, "Jacobians of functions that fill fields"),
    "difftile.linearization.pullback": ({"optim"}, "launches that are kept for derivatives"),
    "difftile.markup": ({"optim"}, "tables in notebooks, in the style of fields"),
    "difftile.prefix_sums": ({"render", "training"}, "sums that keep their memory"),
    "difftile.recording.opaque": ({"training"}, "a step with messages, which reverses in place"),
    "difftile.recording.perform": ({"training"}, "that step"),
    "difftile.recording.reduction": ({"optim"}, "which gradients are sums over ranks already"),
    "difftile.recording.replayed_fields": ({"training"}, "that step"),
    "difftile.recording.tapes": ({"optim"}, "whether a backward pass has run since a step"),
    "difftile.recording.uses": ({"training"}, "that step"),
    "difftile.render.similarity": ({"training"}, "the least size of images for SSIM"),
    "difftile.runtime.number_flow": ({"optim"}, "whether a number carries a derivative"),
    "difftile.runtime.scipy": ({"optim"}, "the error where SciPy is missing"),
    "difftile.solvers.space": ({"optim"}, "vectors of fields, which solvers have as well"),
    "difftile.solvers.state": ({"optim"}, "such vectors"),
    "difftile.solvers.vectors": ({"optim"}, "such vectors"),
    "difftile.sorting": ({"render"}, "it is public there, `dt.render.Sorter`"),
    "difftile.substrate": (
        {"render", "training", "viewer"},
        "native kernels, and memory, of a session; the windows of compilers, which it alone may "
        "import",
    ),
    "difftile.textures.directions": (
        {"render", "rotations"},
        "vectors of length 1, safe for any length",
    ),
    "difftile.tracebacks": (
        {"datasets", "optim", "render", "textures", "training", "viewer"},
        "it hides the frames of the library itself",
    ),
}
# The floors of packages whose modules know much of each other. A module imports only from those
# below and from its own, what type checkers alone import included.
FLOORS: dict[str, dict[str, set[str]]] = {
    "fields": {
        "numbers": {
            *("any_field", "numbers", "step_expression", "step_number"),
            *("exchange", "arithmetic", "window", "strides"),
        },
        "storage": {"pending", "split", "storage", "marked", "gradient_changes"},
        "values": {"elements", "recording", "values", "halos"},
        "access": {
            *("host_access", "as_numbers", "element", "assign"),
            *("export", "reductions", "shown"),
        },
        "fields": {"view", "field", "array_like", "gradients"},
        "made of fields": {
            *("number_field", "derived", "named_fields", "rows", "structs"),
            *("create", "foreign", "arrays", "array_kinds", "as_field", "saved"),
        },
    },
    "runtime": {
        "parts of calls, and reports": {
            *("inputs", "outputs", "mapped", "operands", "shapes", "number_flow", "explicit"),
            *("perform_run", "body_check", "source_location", "poison", "scipy"),
            *("tape_options", "tape_summary", "met_fields", "peak_bytes"),
            *("vector_report", "schedule_report"),
        },
        "steps with rules": {"step", "host_op", "custom_op", "rule_in_place", "ruled_launch"},
        "tapes": {"tape_recorder", "backward_pass", "checkpoint", "tape_checks", "tape"},
        "launches": {"queue", "calls", "set_schedule", "explanation", "measured_schedules"},
        "kernels": {"kernel", "batched", "caller", "whole_writes", "funcs", "steps"},
        "made of kernels": {
            *("field_operators", "field_reductions", "number_operations", "repeat"),
        },
    },
}
# The names of classes that stand in several modules; all others have one.
SAME_NAMES = {
    # The types of programs, and what kernels and Python call those.
    *("Matrix", "Vector", "Struct"),
    # A step of a schedule, and what it stands for.
    *("Grid", "Rows", "VectorMath"),
    # What a robot learns, and a unit of parallel work.
    "Task",
    # Public in several packages.
    *("Backend", "Optimiser", "Part", "View"),
    *("NativeKernel", "Run"),
}
# The folders next to the library. `difftile` stands for its public API.
ALLOWED_OUTSIDE: dict[str, set[str]] = {
    "scenes": {"difftile"},  # and no other scene: each file is there to be copied
    "demos": {
        *("difftile", "difftile.announcing", "difftile.arguments", "difftile.compiling"),
        *("difftile.progress", "difftile.worlds.learn", "difftile.worlds.robots"),
        *("scenes", "demos"),
    },
    "benchmarks": {
        *("difftile", "difftile.announcing", "difftile.arguments", "difftile.worlds.learn"),
        *("difftile.worlds.robots", "scenes", "demos", "benchmarks", "tests"),
    },
}


def below(part: str) -> frozenset[str]:
    """Return all that a part depends on, itself included."""
    found, pending = {part}, [part]
    while pending:
        for one in ALLOWED[pending.pop()] - found:
            found.add(one)
            pending.append(one)
    return frozenset(found)
