"""Planted faults: small wrong changes to difftile, which show what its tests notice.

`python -m tests.faults --help` runs them. `*.txt` has the faults, one file for each package:

    = name-of-fault
    One sentence: what is wrong now, and why that is not the same as before where it is not plain.
    @ difftile/ad/reverse.py
      a line as it stands in the source, after two spaces
    - a line that goes
    + a line that comes

The lines of a hunk that stay or go have to stand in exactly one place of the file. Several hunks
may follow each other; entries are separated by empty lines, and an empty line of the source is its
prefix alone. A fault whose sentence begins with "Equivalent:" is not counted: nothing can kill it.
"""
