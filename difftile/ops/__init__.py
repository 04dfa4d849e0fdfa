"""The table of operations, and building programs from its rows.

A row (`row.py`) holds the name, types, derivatives, meaning in NumPy, domain and kinks of one
operation; formulas are written over rows (`formula.py`). `check.py` decides whether a program is
legal: `dt.init(debug=True)` and the tests run it after each pass.

Random numbers come from one op, a hash of the thread, the draw, the stream and the seed
(`random.py`). The frontend numbers threads and draws, and each launch takes one new stream more
than it has parallel loops. The adjoint evaluates the same op again, so no random numbers are
stored.
"""
