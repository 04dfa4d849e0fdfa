"""Derivatives of programs, as programs.

`reverse` takes a stage and the fields with gradients. For each region it first computes the values
of the region again, then visits the statements backwards. Adjoints of values are values; `Load`
becomes `Accumulate` into the gradient, `Store` reads an element of the gradient and sets it to
zero, `Accumulate` reads it. A loop with a `Combine` is preceded by a loop that counts the
contenders for a maximum, or the factors that are zero (`atomics`). Loops run backwards with their
carried adjoints. Where these need carried values of the primal, `checkpoints` keeps them at FANOUT
positions a level in a small array of the thread, and runs segments again; a `while` counts its
iterations on the way forward and thins its checkpoints. Dead code elimination then removes all
values that the derivative does not need, so that only values with a nonlinear use are read, and
therefore kept.

A value that took a loop to compute and was stored is read back (`reuse_results`). Values that the
stage itself has overwritten (`passes.precedence.stale_loads`) come from logs (`log`, decision 28):
the adjoint first runs the stage again, on copies, and keeps what such loads find.

`forward` follows every statement with its tangent. The tangent of a field is read and written where
the field is, so forward mode needs neither stages nor old values. Tangents of componentwise ops
follow from the adjoint formulas; other rows state theirs (`jvp`). Where an adjoint may be zero only
because a value was not selected (`masks`), formulas that can be infinite are guarded: 0 * inf stays
0.

`derive` expands the derivatives that a program requests, directly after the frontend. `ruled` puts
rules in place of derivatives of bodies, `pushed_rules` in forward mode, where a backward rule is
transposed; emitted programs contain only the bodies (`passes.inline_primals`). `local_terms`,
`internal_variables` and `local_hessian` compute Hessians of sums of local terms, one small dense
block an iteration (decision 30).
"""
