"""Kernels, launches and the tape."""
