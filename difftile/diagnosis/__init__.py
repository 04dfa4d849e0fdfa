"""Why a gradient is zero, not finite or enormous: observers of a tape, and pictures of it."""
