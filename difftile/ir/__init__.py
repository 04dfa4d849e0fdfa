"""The typed intermediate representation: types, nodes, traversal, printing, checking, building.

A `Program` has parameters (fields and numbers), hidden fields of one element (`temps`) and a body.
Each value is defined once; a local variable that is assigned again becomes a new value, joined by
the results of `If` and the carries of `For`. Only `Load`, `Store`, `Accumulate` and `Combine` (an
atomic maximum, product ...) touch memory. `Let(out, op, args)` names a row of `OPS`. A
`ParallelFor` stands at the top level; one thread runs everything below it. `Ruled` marks a body
whose derivative is given by rules, which are regions next to the body; `Derivative` requests the
derivative of a body.

Nodes never change. What passes ask of a block is a `@fact` (`facts.py`), computed once and cached
with the block (decision 111). Passes replace statements by the one rewriter (`rewrite.py`) and read
them by `walk.py`. A program prints as text (`printer.py`), and the text parses back (`parse.py`).

A `Derived` program (`derived.py`) states the role of each of its parameters: `Same` (a parameter of
the primal), `Before` and `After` (contents of a field before or after the stage), `Bar` (a
gradient), `Dot(role)` (a tangent along one of several directions), `Lane(role)` (with an axis for
many directions), `Scratch`, `Shape`. `reverse`, `forward`, `tangent_only`, `batch` and
`bind_gradients` return derived programs and compose (decision 25).
"""
