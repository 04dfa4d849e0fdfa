"""Training of splats: what grows, what goes, and the command that does it all."""
