"""Records of launches and other steps, the histories that keep them, and their reversal."""
