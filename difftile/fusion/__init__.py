"""Runs of launches as one program."""
