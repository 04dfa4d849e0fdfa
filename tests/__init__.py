"""Tests of the library, in folders named after the package that they test."""
