"""Program to program, one file each; `optimise` is the order in which they run.

`affine`, `slices`, `extents`, `versions`, `conflicts`, `known_indices` and `index_bounds` only
analyse programs. All of them count with the forms of `affine` and the intervals of `intervals`.
Each pass has a file of cases in `tests/passes/`.

*Races.* `conflicts.races` finds accesses of different iterations that may touch the same element,
`conflicts.clashes` such stores. `meetings` writes two iterations as linear constraints and
`integers` solves them with the extents and numbers of a launch. Stores matter only where
derivatives pass and `dt.unique` does not promise distinct indices; `promises` verifies that promise
under debug.

*Stages.* `stages.split` cuts the program where a field would need a third version: written, read,
and written again. Each stage reads every field as it was before the stage, as it is after it
(`versions`, `precedence`), or a value from in between. Most kernels have one stage. Locals that
cross stages go through hidden fields.

*Indices.* Under debug, `bounds` puts a test and a `Fail` before each access that may be out of
bounds. Without debug, `known_indices` keeps the part of the program that computes indices from
sizes and integers, and `index_bounds` bounds these indices at a launch: values are affine forms of
loop indices (`symbols`), and conditions bound the loop indices. Accesses that bounds cannot decide
are evaluated, as Python or compiled (decision 108).
"""
