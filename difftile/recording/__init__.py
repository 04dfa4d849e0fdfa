"""Records of launches and other steps, the histories that keep them, and their reversal.

A recorder receives events of three kinds: a launch, a write from Python, an opaque step (decision
121). The record of a launch holds an `AdjointPlan`, the arguments, and the buffers whose contents
the adjoint reads. These buffers are pinned. A launch or a write that would overwrite a pinned
buffer moves the field to a fresh buffer first: with a copy, or without one where a loop overwrites
the whole field (the request `Renamed` of a stage). Where it overwrites a small box only
(`passes.extents`), the field stays, and a `Patch` keeps the old contents of the box. So old values
are kept exactly where they are needed. A `Replay` runs the adjoints of the records in reverse; pins
end as it proceeds. Old contents that are mostly zero are packed (decision 10).

One gradient buffer serves as gradient before and after a launch. Where a field has two, or
gradients accumulate over tapes, the replay works in a buffer of its own, which is added at the end.
A tape clears the gradients of the fields that it records; `computed_gradients.py` knows which tape
each gradient comes from.

A history with a limit (`limited_history.py`) keeps steps that can be run again and snapshots, which
pin buffers in the same way; `schedule.py` decides the positions of new snapshots (decision 6).

An opaque step (`opaque.py`) states which fields it uses (`uses.py`) and brings its own derivatives.
Its fields are pinned while it runs (`watching.py`), so that a write moves the field: the moves tell
the tape which fields were written. In reverse, `replayed_fields.py` gives the rule fields over the
pinned buffers, with gradients that start at zero and are added to those of the replay. No tape is
open while a step or its rule runs, and the gradients of all other fields are restored afterwards,
so both may use tapes of their own.
"""
