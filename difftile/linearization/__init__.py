"""Stretches of launches as linear maps: pullbacks, pushforwards, batches, second derivatives."""
