"""Tier 0: what programs mean, without a compiler.

The meaning of a program (`meaning.py`) is compared with the function that a user wrote, run by
Python; with dual numbers and complex steps, for all derived programs; and with the meaning of the
same program after each transformation of its loops.
"""
