"""Kernels as users hold them: launched, recorded, differentiated.

`Kernel.__call__` finds a prepared launch for its arguments and performs it. Everything else that a
call does is a wrapper in `calls.py`, chosen when the launch is prepared (decision 119). A `Tape`
has a `TapeRecorder`; its passes are in `backward_pass.py`. `step.py` has `dt.Step`, the base of
operations with derivatives of their own; calls of custom ops, kernels with rules and functions of
PyTorch and JAX are steps. A func called from Python (`caller.py`) is a kernel of its own:
`shapes.py` finds the shape of the call and broadcasts each field to it as a view.

Launches may wait (`queue.py`): launches that repeat, or that a loop over `dt.steps` makes, run
together as one program until something reads memory (`Storage.buffer`). `dt.repeat` (`repeat.py`)
lets Python run the body for one period and one step, with step numbers that remember their
expressions; if nothing has forced the launches to run, all steps are one run, otherwise Python
continues (decision 107).

Operators, reductions and numbers of fields are kernels, which this package puts into `fields`.
"""

from difftile.runtime import field_operators as field_operators
from difftile.runtime import field_reductions as field_reductions
from difftile.runtime import number_operations as number_operations
