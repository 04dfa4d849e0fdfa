"""Kernels as users hold them: launched, recorded, differentiated."""
