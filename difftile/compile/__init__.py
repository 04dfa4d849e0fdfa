"""From a function and the types of its arguments to stages of compiled code.

A `Specialisation` has the stages of a kernel for one key of argument types, and its checks of
indices and races. A `Stage` is a part of a kernel in which each field has two versions; everything
derived from it (adjoint, tangents, their combinations) is made on request and cached. An
`AdjointPlan` states which contents of fields an adjoint reads. `limits.py` runs the checks of
indices and remembers the conditions under which later launches need none; `ownership.py` does the
same for races. `definition.py` says what the annotations of parameters mean,
`language_functions.py` has the functions of the kernel language that Python calls too.
"""
