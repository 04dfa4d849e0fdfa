"""Derivatives of steps by sweeps in any mode, and stretches of launches as linear maps."""
