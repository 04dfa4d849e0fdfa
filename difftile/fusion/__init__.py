"""Runs of launches as one program.

A run (`launch/run.py`) consists of the launches of one period and the number of repetitions.
`period.py` composes the programs of the stages into one of a period, and their adjoints likewise;
`program.py` compiles it in one of three forms (`passes/time_loop`, `unroll_periods`), and
`fused_run.py` binds it to memory, with tables of the numbers that differ between periods and slabs
of the contents that adjoints read (decision 37).
"""
