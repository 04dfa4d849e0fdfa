"""Derivatives of functions of fields and arrays, as functions."""
