"""The tiers of the suite: which tests a run has, from the table in CONTRIBUTING.md.

A file belongs to the tier of the longest path in `PATHS` that it is under. Tests that are marked
`slow` or `gpu` belong to tier 4 wherever they are.
"""

from __future__ import annotations

import hashlib
import os
import subprocess
from collections.abc import Collection
from functools import cache
from pathlib import Path

from tests.layers import below

ROOT = Path(__file__).parent.parent
USUAL = frozenset(range(4))
LAST = 4

MEANING, CODE, RUNTIME, VILLAGE = range(4)
TITLES = ("meaning", "code", "runtime", "village", "slow, gpu")

PATHS: dict[str, int] = {
    "tests": RUNTIME,
    # No compiler is needed.
    "tests/ad/test_random_lengths.py": MEANING,
    "tests/ad/test_small_derivatives.py": MEANING,
    "tests/distributed/test_one_process.py": MEANING,
    "tests/faults": MEANING,
    "tests/fields/test_derived.py": MEANING,
    "tests/fields/test_step_expression.py": MEANING,
    "tests/fields/test_stop_recording.py": MEANING,
    "tests/frontend/test_lowering.py": MEANING,
    "tests/frontend/test_narrow_products.py": MEANING,
    "tests/geometry/test_neighbours.py": MEANING,
    "tests/interop/test_jax_bends.py": MEANING,
    "tests/interop/test_slices.py": MEANING,
    "tests/interop/test_small_operations.py": MEANING,
    "tests/interop/test_torch_views.py": MEANING,
    "tests/ir": MEANING,
    "tests/lang": MEANING,
    "tests/launch/test_argument_kinds.py": MEANING,
    "tests/launch/test_walk.py": MEANING,
    "tests/meaning": MEANING,
    "tests/ops": MEANING,
    "tests/packed/test_in_python.py": MEANING,
    "tests/passes": MEANING,
    "tests/recording/test_revolve.py": MEANING,
    "tests/recording/test_small_memory.py": MEANING,
    "tests/render/test_small_pictures.py": MEANING,
    "tests/rotations/test_half_turns.py": MEANING,
    "tests/runtime/test_small_runs.py": MEANING,
    "tests/runtime/test_step_programs.py": MEANING,
    "tests/schedule/test_strips.py": MEANING,
    "tests/solvers/test_stored_states.py": MEANING,
    "tests/substrate/test_as_python.py": MEANING,
    "tests/substrate/test_batches.py": MEANING,
    "tests/substrate/test_emitted_python.py": MEANING,
    "tests/substrate/test_strides.py": MEANING,
    "tests/transforms/test_detached_fields.py": MEANING,
    "tests/test_code_lines.py": MEANING,
    "tests/test_layers.py": MEANING,
    "tests/test_lengths.py": MEANING,
    "tests/testing/test_slopes.py": MEANING,
    "tests/testing/test_small_checks.py": MEANING,
    "tests/textures/test_texture_values.py": MEANING,
    "tests/textures/test_wraps.py": MEANING,
    "tests/training/test_strategy_states.py": MEANING,
    "tests/worlds/test_resets.py": MEANING,
    "tests/wrong": MEANING,
    # Each op, statement and form as machine code.
    "tests/ad/test_hunt.py": CODE,
    "tests/ad/test_programs.py": CODE,
    "tests/frontend/test_constructs.py": CODE,
    "tests/golden": CODE,
    "tests/ops/test_accuracy.py": CODE,
    "tests/ops/test_dense.py": CODE,
    "tests/ops/test_ops_in_taichi.py": CODE,
    "tests/substrate/test_device_code.py": CODE,
    "tests/substrate/test_vector_additions.py": CODE,
    "tests/substrate/test_vector_exp.py": CODE,
    "tests/substrate/test_vector_loops.py": CODE,
    "tests/substrate/test_vector_math.py": CODE,
    # Files that need a compiler, in folders that need none.
    "tests/ir/test_facts.py": RUNTIME,
    "tests/ops/test_compositions.py": RUNTIME,
    "tests/ops/test_conformance_numbers.py": RUNTIME,
    "tests/ops/test_eig.py": RUNTIME,
    "tests/ops/test_exact.py": RUNTIME,
    "tests/ops/test_nan.py": RUNTIME,
    "tests/passes/test_divisions.py": RUNTIME,
    "tests/passes/test_factor.py": RUNTIME,
    "tests/passes/test_known_zeros.py": RUNTIME,
    "tests/passes/test_lanes.py": RUNTIME,
    "tests/passes/test_large_ranges.py": RUNTIME,
    "tests/passes/test_shifts.py": RUNTIME,
    "tests/passes/test_small_integers.py": RUNTIME,
    "tests/passes/test_speculate.py": RUNTIME,
    "tests/passes/test_together.py": RUNTIME,
    # What stands on the language, and whole processes.
    "tests/benchmarks": VILLAGE,
    "tests/commands": VILLAGE,
    "tests/datasets": VILLAGE,
    "tests/distributed": VILLAGE,
    "tests/files": VILLAGE,
    "tests/gallery": VILLAGE,
    "tests/geometry": VILLAGE,
    "tests/interop": VILLAGE,
    "tests/newcomer": VILLAGE,
    "tests/process": VILLAGE,
    "tests/test_docs.py": VILLAGE,
    "tests/test_notebooks.py": VILLAGE,
    "tests/test_packaging.py": VILLAGE,
    "tests/training": VILLAGE,
    "tests/viewer": VILLAGE,
    "tests/worlds": VILLAGE,
}

# The parts of the library that the tests of a folder are about; they depend on all below these.
# Files that no folder has run always.
ABOUT: dict[str, tuple[str, ...]] = {
    "tests/datasets": ("datasets",),
    "tests/distributed": ("distributed", "training"),
    "tests/files": ("files",),
    "tests/gallery": ("__init__", "cli"),
    "tests/geometry": ("geometry",),
    "tests/interop": ("torch", "jax"),
    "tests/newcomer": ("__init__", "commands"),
    "tests/process": ("__init__", "commands"),
    "tests/training": ("training",),
    "tests/viewer": ("viewer",),
    "tests/worlds": ("worlds",),
}


class TierError(Exception):
    """An option that names no tier or no revision, in one line."""


def parsed(text: str) -> frozenset[int]:
    """Return the tiers that an option names: '2', '0,1' or '0-3'.

    Raises:
        TierError: There is no such tier.
    """
    found: set[int] = set()
    for part in text.split(","):
        numbers = part.split("-")[:2]
        if not all(n.isdecimal() and int(n) <= LAST for n in numbers):
            raise TierError(f"--tier {text}: there are tiers 0 to {LAST}, as in --tier 0-2")
        found.update(range(int(numbers[0]), int(numbers[-1]) + 1))
    if not found:
        raise TierError(f"--tier {text}: the last tier comes before the first")
    return frozenset(found)


@cache
def tier_of(path: str) -> int:
    """Return the tier of a file or folder, by its path from the root of the checkout."""
    while path not in PATHS:
        path = path.rpartition("/")[0] or "tests"
    return PATHS[path]


def tier_of_test(path: str, marks: Collection[str]) -> int:
    """Return the tier of a test, by its file and its marks."""
    return LAST if {"slow", "gpu"} & {*marks} else tier_of(path)


def tiers_under(path: str) -> set[int]:
    """Return the tiers of all that a folder has."""
    return {tier_of(path), *(tier for one, tier in PATHS.items() if one.startswith(path + "/"))}


def touched_since(base: str) -> frozenset[str]:
    """Return the files that differ from a revision, those that are not committed included.

    Raises:
        TierError: The revision is unknown, or the checkout has no history.
    """
    try:
        subprocess.run(
            ["git", "merge-base", "--is-ancestor", base, "HEAD"],
            cwd=ROOT,
            check=True,
            capture_output=True,
        )
    except (OSError, subprocess.CalledProcessError):
        raise TierError(f"BASE={base}: no revision that HEAD descends from") from None
    changed = _git("diff", "--name-only", base).splitlines()
    return frozenset(changed + _git("ls-files", "--others", "--exclude-standard").splitlines())


def _git(*words: str) -> str:
    return subprocess.run(
        ["git", *words], cwd=ROOT, check=True, capture_output=True, text=True
    ).stdout


def is_drawn(test: str, draw: str, one_in: int) -> bool:
    """Tell whether a draw takes a test."""
    digest = hashlib.blake2b(f"{draw} {test}".encode(), digest_size=4).digest()
    return int.from_bytes(digest, "little") % one_in == 0


def draw() -> str:
    """Return what draws tests that are long, or compile all: DRAW, or the hash of HEAD."""
    if given := os.environ.get("DRAW"):
        return given
    try:
        return _git("rev-parse", "HEAD").strip()
    except (OSError, subprocess.CalledProcessError):
        return "0"  # a source distribution


def untouched(touched: Collection[str]) -> frozenset[str]:
    """Return the folders of tier 3 that need not run, since all that they are about is as it was.

    Args:
        touched: The files that have changed.
    """
    found: set[str] = set()
    for folder, parts in ABOUT.items():
        needed = frozenset[str]().union(*map(below, parts))
        if not any(_matters(path, folder, needed) for path in touched):
            found.add(folder)
    return frozenset(found)


def _matters(path: str, folder: str, needed: Collection[str]) -> bool:
    """Tell whether a file that has changed matters to the tests of a folder."""
    first, _, rest = path.partition("/")
    match first:
        case "difftile":
            return rest.partition("/")[0].rpartition(".py")[0] in needed or (
                rest.partition("/")[0] in needed
            )
        case "docs" | "benchmarks":
            return False
        case "demos" | "scenes":
            return folder in ("tests/gallery", "tests/newcomer")
        case "tests":
            other = any(path.startswith(f"{one}/") for one in PATHS if one != "tests")
            return path.startswith(f"{folder}/") or (not other and "/test_" not in path)
        case _:
            return not path.endswith(".md")
