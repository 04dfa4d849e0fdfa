"""Checks of gradients and of rules against finite differences."""
