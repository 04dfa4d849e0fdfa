"""Why a gradient is zero, not finite or enormous: observers of a tape, and pictures of it.

With `diagnose`, a tape reports its launches (values and kinks) and its backward pass
(`gradients.py`) to a `Diagnosis`. A launch or adjoint that made a number infinite runs again in a
`Sandbox`, on copies, in the interpreter, where `origins` follows such numbers back to the statement
that produced them. Of many iterations, `passes/instrument` lets `search` find the first one at
fault, and only that one runs. `influence` explains a gradient of zero by following all dependence,
smooth or not, through the stages of the launches (`ad/missing_gradients`). `findings` writes the
results as text. `trace.py` folds the repetitions of a tape for `tape.visualize`, and `picture.py`
draws fields as lines that launches touch.
"""
