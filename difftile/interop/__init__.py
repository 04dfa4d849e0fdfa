"""Functions over fields as operations on arrays of other libraries, by address.

An `Operation` is a function over fields with the names of its arrays. An `OperationPlan` runs it
for arrays of certain shapes and types: the caller owns all memory, including results and gradients,
and the plan's fields are placed over the memory of each call in turn (`lent.py`). A `Linear`
differentiates a plan for some of the arrays; what its `Sweep` keeps serves any number of backward
passes. An operation of one launch with one stage needs no fields: kernel and adjoint are bound
once, and each call passes the buffers (`direct.py`). `foreign_call.py` is the reverse: a call of
another library's function as a step of a tape. The packages `torch` and `jax` are built on both
(decisions 48 to 50).
"""
